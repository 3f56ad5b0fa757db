"""Random numbers: recorded like other values, and refused only where something depends on them.

A model often draws a number that it does not use outside training, such as whether to drop a layer. So a draw is an
operation of the block like any other; it is left out if nothing needs it, and refused if something does (`draws.py`).
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import Handler
from dycl.rewrite.signals import DecisionMet, Refused

_FLOATS = ("random", "uniform", "gauss", "normalvariate", "expovariate", "betavariate", "triangular")
_WHOLE = ("randint", "randrange", "getrandbits")
_OTHERS = ("choice", "choices", "sample", "shuffle", "randbytes")
_NUMPY_FLOATS = ("rand", "random", "random_sample", "uniform", "normal", "randn", "standard_normal")
_NUMPY_OTHERS = ("randint", "choice", "permutation", "shuffle", "binomial", "poisson", "beta", "exponential")


def _stand_in(name: str) -> Any:
    def draw(*args: Any, **kwargs: Any) -> Any:
        raise DecisionMet(f"a random number from `{name}`")

    return draw


_STAND_INS: dict[tuple[Any, str], Any] = {
    (module, name): _stand_in(f"{module.__name__}.{name}")
    for module, names in ((random, (*_FLOATS, *_WHOLE, *_OTHERS)), (np.random, (*_NUMPY_FLOATS, *_NUMPY_OTHERS)))
    for name in names
}


@contextmanager
def visible_draws() -> Iterator[None]:
    """Let Python's and NumPy's random functions be seen by the machine while it runs the program."""
    before = {(module, name): getattr(module, name) for module, name in _STAND_INS}
    for (module, name), stand_in in _STAND_INS.items():
        setattr(module, name, stand_in)
    try:
        yield
    finally:
        for (module, name), function in before.items():
            setattr(module, name, function)


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


RANDOM_HANDLERS: dict[Any, Handler] = {
    **{clock: _now(clock) for clock in _CLOCKS},
    **{
        function: _handler(module, name)
        for (module, name), stand_in in _STAND_INS.items()
        for function in (stand_in, getattr(module, name))
    },
}


@contextmanager
def none_drawn() -> Iterator[None]:
    """Refuse code that draws from a random number generator which PyTorch's operations do not show."""
    python, numpy, pytorch = random.getstate(), np.random.get_state(), torch.get_rng_state()
    yield
    same_in_numpy = all(map(np.array_equal, numpy, np.random.get_state()))
    if random.getstate() != python or not same_in_numpy or not torch.equal(torch.get_rng_state(), pytorch):
        random.setstate(python)
        np.random.set_state(numpy)
        torch.set_rng_state(pytorch)
        raise Refused("DY005", "a random number generator is used on the way to here")
