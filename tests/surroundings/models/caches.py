"""Functions whose results Python keeps: as many as they are told to, one result for all arguments that are equal."""

import dataclasses
import functools
from typing import Any

import torch
from torch import Tensor, nn


def _kept(maxsize: int | None, **options: Any) -> Any:
    return functools.lru_cache(maxsize=maxsize, **options)(lambda *args, **kwargs: [*args, *kwargs.items(), 0])


class _Counts(nn.Module):
    """Counts in a list that a function keeps, one for each sign of the input."""

    def __init__(self, maxsize: int | None) -> None:
        super().__init__()
        self.kept = _kept(maxsize)

    def forward(self, x: Tensor) -> int:
        counts = self.kept(1) if x.sum() > 0 else self.kept(2)
        counts[-1] += 1
        counts[-1] %= 5
        return int(counts[-1])


class KeepsTwo(_Counts):
    """There is room for both."""

    def __init__(self) -> None:
        super().__init__(2)


class KeepsOne(_Counts):
    """One is forgotten when the other is asked for."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__(1)


class KeepsNone(_Counts):
    """Every call makes a list of its own."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__(0)


class ForgetsNumbers(nn.Module):
    """A number that is forgotten is computed again, and nobody can tell."""

    def __init__(self) -> None:
        super().__init__()
        self.double: Any = functools.lru_cache(maxsize=1)(lambda number: number * 2)

    def forward(self, x: Tensor) -> int:
        return int(self.double(1) if x.sum() > 0 else self.double(2) + self.double(3))


class FilledBefore(nn.Module):
    """What was asked for before the model is there, and stays there."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = _kept(4)
        self.kept(1)[-1] = 50
        self.kept(2, 3)[-1] = 60

    def forward(self, x: Tensor) -> Any:
        return self.kept(1)[-1] if x.sum() > 0 else (self.kept(2, 3)[-1], self.kept(3)[-1])


class FilledBeforeAndFull(nn.Module):
    """What was asked for before would be forgotten."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.kept = _kept(2)
        self.kept(1)[-1] = 50
        self.kept(2)[-1] = 60

    def forward(self, x: Tensor) -> Any:
        return self.kept(1)[-1] if x.sum() > 0 else self.kept(3)[-1]


@dataclasses.dataclass(frozen=True)
class _Setting:
    number: int
    label: str = dataclasses.field(default="", compare=False)


class _Labels(nn.Module):
    def __init__(self, first: str, second: str) -> None:
        super().__init__()
        self.label = functools.cache(lambda setting: setting.label)
        self.first, self.second = first, second

    def forward(self, x: Tensor) -> str:
        setting = _Setting(2, self.first) if x.sum() > 0 else _Setting(2, self.second)
        return str(self.label(setting))


class EqualSettings(_Labels):
    """Equal arguments that nothing tells apart."""

    def __init__(self) -> None:
        super().__init__("warm", "warm")


class EqualSettingsThatDiffer(_Labels):
    """Whoever asks first decides what the other gets."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__("hot", "cold")


class _Kinds(nn.Module):
    def __init__(self, typed: bool) -> None:
        super().__init__()
        self.kind = functools.lru_cache(typed=typed)(lambda one, other: type(one).__name__)

    def forward(self, x: Tensor) -> str:
        return str(self.kind(1, 2) if x.sum() > 0 else self.kind(1.0, 2))


class EqualNumbersOfTwoTypes(_Kinds):
    """1 and 1.0 are one argument."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__(False)


class EqualNumbersToldApart(_Kinds):
    """1 and 1.0 are two arguments."""

    def __init__(self) -> None:
        super().__init__(True)


_label = functools.cache(lambda setting: setting.label)


def _told(setting: _Setting) -> Any:
    return _label(setting)


class AskedByAHelper(nn.Module):
    """Equal settings that differ, and a function that has no decision in it asks for them."""

    refused = "DY007"

    def forward(self, x: Tensor) -> Any:
        return _told(_Setting(2, "hot")) if x.sum() > 0 else _told(_Setting(2, "cold"))


_counted = functools.cache(lambda setting: [0, setting.label])


class _AsksItself(nn.Module):
    """Has no decision in it, and is called by a helper that has none."""

    def forward(self, x: Tensor) -> Any:
        kept = _counted(_Setting(2, "warm"))
        kept[0] = (kept[0] + 1) % 3
        return x * kept[0]


def _asks(module: nn.Module, x: Tensor) -> Any:
    return module(x)


class AskedFarBelow(nn.Module):
    """What asks is called by others that the machine would run natively."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = _AsksItself()

    def forward(self, x: Tensor) -> Any:
        return _asks(self.inner, x) if x.sum() > 0 else _asks(self.inner, x + 1)


class ByName(nn.Module):
    """Arguments by name, asked for before and in the call."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = _kept(None)
        self.kept(a=1)[-1] = 7

    def forward(self, x: Tensor) -> Any:
        return self.kept(a=1)[-1] if x.sum() > 0 else self.kept(a=2)[-1]


class _Rebinds(nn.Module):
    h: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("h", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        self.h = self.h + x
        return self.h


class CalledWithOtherBuffers(nn.Module):
    """A module is called with another tensor in the place of a buffer that it sets."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = _Rebinds()

    def forward(self, x: Tensor) -> Any:
        y = torch.func.functional_call(self.inner, {"h": torch.ones(1)}, (x,))
        return y, self.inner.h


class CalledWithOtherBuffersByCase(CalledWithOtherBuffers):
    """The same behind a decision."""

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            return super().forward(x)
        return self.inner(x), self.inner.h
