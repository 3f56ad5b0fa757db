"""Writes to what libraries own, to what caches keep and to what makes missing items, in helpers that decide nothing."""

import collections
import functools
import itertools
import logging
import math
import random
import types
import warnings
from typing import Any

import numpy as np
from torch import Tensor, nn
from torch.nn import functional as F

_math: Any = math
_nn: Any = nn
_F: Any = F
_np: Any = np
_logging: Any = logging


class _Counts(nn.Module):
    refused: Any = "DY007"

    def count(self) -> int:
        raise NotImplementedError

    def forward(self, x: Tensor) -> Any:
        number = self.count()
        return (x * number if x.sum() > 0 else x), number


class OnAModule(_Counts):
    def __init__(self) -> None:
        super().__init__()
        _math.calls = 0

    def count(self) -> int:
        _math.calls += 1
        return int(_math.calls)


class OnAClass(_Counts):
    def __init__(self) -> None:
        super().__init__()
        _nn.Linear.calls = 0

    def count(self) -> int:
        _nn.Linear.calls += 1
        return int(_nn.Linear.calls)


class InAListOfAClass(_Counts):
    def __init__(self) -> None:
        super().__init__()
        _nn.Linear.seen = []

    def count(self) -> int:
        _nn.Linear.seen.append(1)
        return len(_nn.Linear.seen)


class OnAFunction(_Counts):
    def __init__(self) -> None:
        super().__init__()
        _F.relu.calls = 0

    def count(self) -> int:
        _F.relu.calls += 1
        return int(_F.relu.calls)


class OnALogger(_Counts):
    def __init__(self) -> None:
        super().__init__()
        self.log: Any = _logging.getLogger("counts")
        self.log.calls = 0

    def count(self) -> int:
        self.log.calls += 1
        found: int = self.log.calls
        return found


class _Random(random.Random):
    calls = 0


class OnASourceOfNumbers(_Counts):
    refused: Any = None

    def __init__(self) -> None:
        super().__init__()
        self.source = _Random(0)

    def count(self) -> int:
        self.source.calls = (self.source.calls + 1) % 3
        return self.source.calls


class InTheDefaultsOfAFunction(_Counts):
    def __init__(self) -> None:
        super().__init__()

        def scaled(*, by: int = 0) -> int:
            return by

        self.scaled: Any = scaled

    def count(self) -> int:
        self.scaled.__kwdefaults__["by"] += 1
        found: int = self.scaled()
        return found


class InAFunctionForArrays(_Counts):
    def __init__(self) -> None:
        super().__init__()
        calls: list[int] = []
        self.function: Any = _np.frompyfunc(lambda value: len(calls.__iadd__([1])), 1, 1)

    def count(self) -> int:
        found: int = self.function(1)
        return found


@functools.cache
def _cell() -> types.SimpleNamespace:
    return types.SimpleNamespace(held=None)


def _smoothed(x: Tensor) -> Tensor:
    cell = _cell()
    cell.held = x if cell.held is None else cell.held * 0.5 + x
    held: Tensor = cell.held
    return held


class InACache(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        _cell.cache_clear()

    def forward(self, x: Tensor) -> Any:
        held = _smoothed(x)
        return held + 0 if held.sum() > 0 else -held


class OnceInACache(nn.Module):
    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    @functools.cache  # noqa: B019
    def once(self) -> None:
        self.number += 1

    def forward(self, x: Tensor) -> Any:
        self.once()
        return (x if x.sum() > 0 else -x) * self.number


class MissingItems(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        numbers = [0]

        def new() -> int:
            numbers[0] += 1
            return numbers[0]

        self.ids: dict[str, int] = collections.defaultdict(new)

    def forward(self, x: Tensor) -> Any:
        return self.ids["up" if x.sum() > 0 else "down"]


class MissingItemsOfAnIterator(nn.Module):
    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.ids: dict[str, int] = collections.defaultdict(itertools.count().__next__)

    def forward(self, x: Tensor) -> Any:
        return self.ids["up" if x.sum() > 0 else "down"]


class ModulesThatCount(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.inner = nn.Linear(2, 2)

    def named_modules(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return super().named_modules(*args, **kwargs)

    def forward(self, x: Tensor) -> Any:
        return (self.inner(x) if x.sum() > 0 else x), self.calls


def _counter() -> Any:
    number = 0

    def count() -> int:
        nonlocal number
        number += 1
        return number

    return count


class CounterOfTheCall(nn.Module):
    def forward(self, x: Tensor) -> Any:
        count = _counter()
        count()
        if x.sum() > 0:
            count()
        y = x + 1 if x[0] > 2 else x
        return y, count()


class DispatchOfTheCall(nn.Module):
    def forward(self, x: Tensor) -> Any:
        @functools.singledispatch
        def told(value: Any) -> str:
            return "other"

        if x.sum() > 0:
            told.register(int, lambda value: "number")
        y = x + 1 if x[0] > 2 else x
        return y, told(1), told("a")


class SetsWithRoom(nn.Module):
    """Sets whose order depends on what they held before."""

    def forward(self, x: Tensor) -> Any:
        many = set(range(0, 160, 8))
        many -= set(range(16, 80, 8))
        few = {17, 1, 9} | {25, 33}
        few.discard(17)
        copied = few.copy()
        y = x + 1 if x.sum() > 0 else x
        return y, list(many), list(few), list(copied), list(many & few)


class LoggerOfTheCall(nn.Module):
    """An attribute of a logger that the call gets by its name."""

    refused = "DY007"

    def forward(self, x: Tensor) -> Any:
        logger = logging.getLogger("tests.made_in_the_call")
        if x.sum() > 0:
            logger.seen = 1  # type: ignore[attr-defined]
        return getattr(logger, "seen", 0)


class _Counting:
    """An object that counts how often it is shown."""

    def __init__(self) -> None:
        self.shown = 0

    def __str__(self) -> str:
        self.shown += 1
        return "shown"


class CountedWhenPrinted(nn.Module):
    """What is printed changes when its text is made."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.counting = _Counting()

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            print(self.counting)
        return self.counting.shown


class CountedWhenWarned(CountedWhenPrinted):
    """The same, in a warning."""

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            warnings.warn(self.counting, stacklevel=1)  # type: ignore[call-overload]
        return self.counting.shown
