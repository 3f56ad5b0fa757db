"""Random numbers: recorded like other values, and refused only where something depends on them.

A model often draws a number that it does not use outside training, such as whether to drop a layer. So a draw is an
operation of the block like any other; it is left out if nothing needs it, and refused if something does (`draws.py`).
"""

import random
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import torch

from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import Handler
from dycl.rewrite.signals import DecisionMet, Refused, Restart

_FLOATS = ("random", "uniform", "gauss", "normalvariate", "expovariate", "betavariate", "triangular")
_WHOLE = ("randint", "randrange", "getrandbits")
_OTHERS = ("choice", "choices", "sample", "shuffle", "randbytes")
_NUMPY_FLOATS = ("rand", "random", "random_sample", "uniform", "normal", "randn", "standard_normal")
_NUMPY_OTHERS = ("randint", "choice", "permutation", "shuffle", "binomial", "poisson", "beta", "exponential")


def _stand_in(name: str) -> Any:
    def draw(*args: Any, **kwargs: Any) -> Any:
        raise DecisionMet(f"a random number from `{name}`")

    return draw


STAND_INS: dict[tuple[Any, str], Any] = {
    (module, name): _stand_in(f"{module.__name__}.{name}")
    for module, names in ((random, (*_FLOATS, *_WHOLE, *_OTHERS)), (np.random, (*_NUMPY_FLOATS, *_NUMPY_OTHERS)))
    for name in names
}


def _number(name: str, whole: bool) -> Handler:
    def draw(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name.startswith("numpy") and (kwargs.get("size") is not None or (args and "rand" in name)):
            raise Refused("DY005", f"`{name}` draws random numbers")
        machine.recorder.draw_name = f"`{name}` draws random numbers"
        if whole:
            return HostValue("int", torch.randint(2, ()), machine.recorder)
        return HostValue("float", torch.rand((), dtype=torch.float64), machine.recorder)

    return draw


def _refused(name: str) -> Handler:
    def draw(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise Refused("DY005", f"`{name}` draws random numbers")

    return draw


def _handler(module: Any, name: str) -> Handler:
    full = f"{module.__name__}.{name}"
    if name in _OTHERS or (module is np.random and name in _NUMPY_OTHERS):
        return _refused(full)
    return _number(full, name in _WHOLE)


_CLOCKS = (time.time, time.perf_counter, time.monotonic, time.process_time)


def _now(clock: Any) -> Handler:
    def read(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        machine.recorder.draw_name = f"`time.{clock.__name__}` depends on when the program runs"
        return HostValue("float", torch.rand((), dtype=torch.float64), machine.recorder)

    return read


HANDLERS: dict[Any, Handler] = {
    **{clock: _now(clock) for clock in _CLOCKS},
    **{
        function: _handler(module, name)
        for (module, name), stand_in in STAND_INS.items()
        for function in (stand_in, getattr(module, name))
    },
}


class DrawWatch:
    """Refuses code that draws from a random number generator which PyTorch's operations do not show.

    The state of the process's generators tells, as long as no other thread runs. Where one does, and a state has
    changed, the block runs once more under a profiler, which sees the calls of its own thread alone; NumPy's calls are
    not seen by it, so there the state must stay the same in one of several runs.
    """

    def __init__(self) -> None:
        self._closely = False
        self._runs_left = 3
        self._before: dict[str, Any] | None = None
        """The states before the run in which one of them changed, if another thread may have done it."""

    @contextmanager
    def none_drawn(self) -> Iterator[None]:
        """Raise Refused after what is inside the `with` block if it draws, Restart if that is not clear yet."""
        before, calls = _states(), list[str]()
        try:
            with _calls_of_generators(calls) if self._closely else nullcontext():
                yield
        except BaseException:
            if threading.active_count() == 1 or calls:
                _set_states(self._before or before)
            else:
                self._look_closely(before)
            raise
        changed, alone = self._look_closely(before), threading.active_count() == 1
        if not alone and not calls and changed == ["numpy"] and self._runs_left:
            self._runs_left -= 1
            raise Restart
        if calls or "numpy" in changed or (changed and alone):
            if alone or calls:
                _set_states(self._before or before)
            raise Refused("DY005", "a random number generator is used on the way to here")

    def _look_closely(self, before: dict[str, Any]) -> list[str]:
        """The names of states that have changed; Restart, to see who did it, if that may have been another thread."""
        changed = [name for name, state in _states().items() if not _same(before[name], state)]
        if changed and threading.active_count() > 1 and not self._closely:
            self._closely, self._before = True, before
            raise Restart
        return changed


@contextmanager
def _calls_of_generators(found: list[str]) -> Iterator[None]:
    """Note the calls of generators' methods that this thread makes."""
    around = sys.getprofile()

    def look(frame: Any, event: str, argument: Any) -> None:
        if event == "c_call" and isinstance(attribute(argument, "__self__"), random.Random | torch.Generator):
            name = argument.__name__
            if "state" not in name:
                found.append(name)

    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(around)


def _states() -> dict[str, Any]:
    return {"python": random.getstate(), "numpy": np.random.get_state(), "torch": torch.get_rng_state()}


def _set_states(states: dict[str, Any]) -> None:
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])
    torch.set_rng_state(states["torch"])


def _same(before: Any, after: Any) -> bool:
    if isinstance(before, torch.Tensor):
        return torch.equal(before, after)
    # Numbers, texts and, in NumPy's state, one array.
    plain = ([item.tobytes() if isinstance(item, np.ndarray) else item for item in state] for state in (before, after))
    return next(plain) == next(plain)
