"""Whole programs run in turns: how often they visit their blocks, and how long they take."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from dycl.hcfg.nodes import BlockId
from dycl.runtime import Program
from dycl.runtime.choice import AUTO

_LEAST_ROUNDS = 3
_LONG = 0.2
_QUANTILE = 0.2

Call = tuple[tuple[Any, ...], Mapping[str, Any]]
"""The arguments of a call."""


_NO_WORSE = 1.01
"""How much longer than the best program the choice may take before it is given up: no measurement is more exact."""

Made = TypeVar("Made")


def quickest(seconds: Mapping[str, float]) -> str:
    """Which of some programs to keep: the choice made of parts, or a backend alone if that is quicker."""
    best = min(seconds, key=seconds.__getitem__)
    return AUTO if seconds[AUTO] <= _NO_WORSE * seconds[best] else best


@dataclass(frozen=True, slots=True)
class Trial(Generic[Made]):
    """The calls that a choice of backends is made for, and how what was made becomes a program that runs."""

    calls: Sequence[Call]
    loaded: Callable[[Made], Program]
    budget: float
    """For about how many seconds programs are run."""

    def visits(self, made: Made) -> Counter[BlockId]:
        """How often the program visits its blocks, in all calls."""
        program = self.loaded(made)
        found: Counter[BlockId] = Counter()
        for args, kwargs in self.calls:
            found.update(program.trace(*args, **kwargs).path.blocks)
        return found

    def seconds(self, programs: Mapping[str, Made]) -> dict[str, float]:
        """How long each program takes for all calls: a low quantile of many rounds, in which they take turns."""
        loaded = {name: self.loaded(made) for name, made in programs.items()}
        times: dict[str, list[float]] = {name: [] for name in loaded}
        order = list(loaded)
        until = time.perf_counter() + self.budget
        while len(times[order[0]]) < _LEAST_ROUNDS or time.perf_counter() < until:
            for name in order:
                times[name].append(self._round(loaded[name], is_warm=min(times[name], default=0.0) > _LONG))
            order.append(order.pop(0))
        return {name: sorted(found)[int(len(found) * _QUANTILE)] for name, found in times.items()}

    def _round(self, program: Program, is_warm: bool) -> float:
        """How long all calls take; the first time is left out if they are short: others were in the caches."""
        if not is_warm:
            self._run(program)
        began = time.perf_counter()
        self._run(program)
        return time.perf_counter() - began

    def _run(self, program: Program) -> None:
        program.reset()
        for args, kwargs in self.calls:
            program(*args, **kwargs)
