"""What functions hold is written: closures, defaults, partial calls, bound methods, caches."""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


class ListInClosure(nn.Module):
    """A function counts in a list that it is closed over."""

    def __init__(self) -> None:
        super().__init__()
        calls = [0]

        def act(x: Tensor) -> int:
            if x.sum() > 0:
                calls[0] += 1
            return calls[0]

        self.act = act

    def forward(self, x: Tensor) -> int:
        return self.act(x)


class NumberInClosure(nn.Module):
    """A function counts in a variable of the function around it."""

    def __init__(self) -> None:
        super().__init__()
        calls = 0

        def act(x: Tensor) -> int:
            nonlocal calls
            if x.sum() > 0:
                calls += 1
            return calls

        self.act = act

    def forward(self, x: Tensor) -> int:
        return self.act(x)


class NativeClosure(nn.Module):
    """So does one without a decision, which runs natively."""

    def __init__(self) -> None:
        super().__init__()
        calls = 0

        def count() -> int:
            nonlocal calls
            calls += 1
            return calls

        self.count = count

    def forward(self, x: Tensor) -> int:
        return self.count() if x.sum() > 0 else -1


class Partial(nn.Module):
    """What a partial call has as its first argument."""

    def __init__(self) -> None:
        super().__init__()

        def last_of(memory: list[int], x: Tensor) -> int:
            was = memory[0]
            memory[0] = 1 if x.sum() > 0 else 0
            return was

        self.last_of = functools.partial(last_of, [5])

    def forward(self, x: Tensor) -> int:
        return self.last_of(x)


class _Counter:
    def __init__(self) -> None:
        self.count = 0

    def step(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.count += 1
        return self.count


class BoundMethod(nn.Module):
    """The object of a bound method."""

    def __init__(self) -> None:
        super().__init__()
        self.step = _Counter().step

    def forward(self, x: Tensor) -> int:
        return self.step(x)


class BuiltinMethod(nn.Module):
    """The list of a builtin method."""

    def __init__(self) -> None:
        super().__init__()
        items = [0]
        self.put: Callable[[int, int], None] = items.__setitem__
        self.get: Callable[[int], int] = items.__getitem__

    def forward(self, x: Tensor) -> int:
        was = self.get(0)
        self.put(0, 1 if x.sum() > 0 else 0)
        return was


class ListAsDefault(nn.Module):
    """A default argument that is a list."""

    @staticmethod
    def last(sign: int, memory: list[int] = [0]) -> int:  # noqa: B006
        was = memory[0]
        memory[0] = sign
        return was

    @classmethod
    def reset(cls) -> None:
        """Forget."""
        defaults: Any = cls.last.__defaults__
        defaults[0][0] = 0

    def forward(self, x: Tensor) -> int:
        return self.last(1) if x.sum() > 0 else self.last(0)


class GrowingDefault(nn.Module):
    """A default argument that every call adds to."""

    refused = "DY011"

    def forward(self, x: Tensor, seen: list[int] = []) -> Tensor:  # noqa: B006
        seen.append(1)
        return x if x.sum() > len(seen) else -x


class TensorAsDefault(nn.Module):
    """A default argument that is a tensor, written in place."""

    refused = "DY007"

    @staticmethod
    def total(x: Tensor, sum_so_far: Tensor = torch.zeros(2)) -> Tensor:  # noqa: B008
        sum_so_far.add_(x)
        return sum_so_far.clone()

    def forward(self, x: Tensor) -> Tensor:
        return self.total(x) if x.sum() > 0 else x


class Cached(nn.Module):
    """A function whose results are kept, a mask for instance."""

    @staticmethod
    @functools.cache
    def mask(size: int) -> Tensor:
        return torch.tril(torch.ones(size, size))

    def forward(self, x: Tensor) -> Tensor:
        return self.mask(x.shape[0]) @ x if x.sum() > 0 else x


class CachedAndChanged(nn.Module):
    """A result that is kept, and changed by whoever gets it."""

    @staticmethod
    @functools.lru_cache(maxsize=4)
    def memory(size: int) -> list[int]:
        return [0] * size

    @classmethod
    def reset(cls) -> None:
        """Forget."""
        cls.memory.cache_clear()

    def forward(self, x: Tensor) -> int:
        memory = self.memory(2)
        was = memory[0]
        memory[0] = 1 if x.sum() > 0 else 0
        return was


class CachedWithEffect(nn.Module):
    """A function that counts how often it is really called."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.calls = [0]

        @functools.cache
        def slow(number: int) -> int:
            self.calls[0] += 1
            return number + self.calls[0]

        self.slow = slow

    def forward(self, x: Tensor) -> int:
        return self.slow(1) if x.sum() > 0 else self.calls[0]


class _Steps:
    """An object with a method whose results are kept."""

    def __init__(self) -> None:
        self.count = 0

    @functools.lru_cache  # noqa: B019
    def step(self, by: int) -> int:
        """Count."""
        self.count += by
        return by


_steps = _Steps()
_stepping: list[Callable[[int], int]] = [_steps.step]


def _step() -> None:
    _steps.step(1)


def _step_by_list() -> None:
    list(map(_stepping[0], [1, 1]))


class CachedMethodInHelper(nn.Module):
    """A helper without decisions calls a method whose results are kept, and that counts."""

    refused = "DY007"

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            _step()
        return _steps.count


class CachedMethodInList(nn.Module):
    """The same, by a function that is written in C."""

    refused = "DY007"

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            _step_by_list()
        return _steps.count


class CachedProperty(nn.Module):
    """A property that is computed once."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = 5

    @functools.cached_property
    def start(self) -> int:
        """The first step."""
        self.steps += 1
        return self.steps

    def forward(self, x: Tensor) -> int:
        return self.start if x.sum() > 0 else self.steps


class AttributeOfFunction(nn.Module):
    """A function counts in an attribute of its own."""

    refused = "DY007"

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            _counting.count += 1  # type: ignore[attr-defined]
        return _counting.count  # type: ignore[attr-defined,no-any-return]


def _counting() -> None: ...


_counting.count = 0  # type: ignore[attr-defined]
