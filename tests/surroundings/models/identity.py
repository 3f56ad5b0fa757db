"""Which things are one and the same: a thing from before the call stays it, under whatever name."""

import datetime
import decimal
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn


class TwoNames(nn.Module):
    """A tensor has two names, of which one is set to something else."""

    def __init__(self) -> None:
        super().__init__()
        self.first: Tensor | None
        self.first = self.second = torch.zeros(2)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.first = None
        return x + int(self.first is self.second)


class NamesOfBuffer(nn.Module):
    """A buffer has a second name, and stands in a list; the name goes back and forth."""

    table: Tensor
    chosen: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.ones(2))
        self.all = [self.table, torch.zeros(2)]
        self.chosen = self.all[1]

    def forward(self, x: Tensor) -> tuple[Tensor, bool, bool]:
        if x.sum() > 0:
            self.chosen = self.all[1 - int(self.chosen is self.all[1])]
        return x + self.chosen, self.chosen is self.table, self.chosen is self.all[0]


class LocalName(nn.Module):
    """A local variable keeps a tensor of the model across a decision."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.ones(2)

    def forward(self, x: Tensor) -> tuple[Tensor, bool]:
        scale = self.scale
        if x.sum() > 0:
            x = x + 1
        return x, scale is self.scale


class WrittenByLocalName(nn.Module):
    """A tensor of the model is written in place by a local variable's name, behind a decision."""

    def __init__(self) -> None:
        super().__init__()
        self.total = torch.zeros(2)

    def forward(self, x: Tensor) -> Tensor:
        total = self.total
        if x.sum() > 0:
            total += 1
        return x + total + self.total


class ChosenFunction(nn.Module):
    """Which of the functions that were made with the model is chosen, asked of their list."""

    def __init__(self) -> None:
        super().__init__()
        self.functions: list[Callable[[Tensor], Tensor]] = [lambda x: x + 1, lambda x: x * 2]
        self.function = self.functions[0]

    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        if x.sum() > 0:
            self.function = self.functions[1 - self.functions.index(self.function)]
        return self.function(x), self.functions.index(self.function)


class ChosenSlice(nn.Module):
    """A slice has two names."""

    def __init__(self) -> None:
        super().__init__()
        self.part: slice | None
        self.part = self.whole = slice(0, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, bool]:
        if x.sum() > 0:
            self.part = None if self.part is self.whole else self.whole
        return x[self.whole], self.part is self.whole


class FunctionWithOtherDefaults(nn.Module):
    """The defaults of a function are changed by code that runs natively."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.function: Callable[..., Tensor] = lambda x, n=1: x + n

    def forward(self, x: Tensor) -> Tensor:
        vars(type(self.function))["__defaults__"].__set__(self.function, (2,))
        if x.sum() > 0:
            x = self.function(x)
        return x


class SetAside(nn.Module):
    """What cannot be copied is held and let go, and not used."""

    def __init__(self) -> None:
        super().__init__()
        self.items: Iterator[int] | None = iter([1, 2])

    def forward(self, x: Tensor) -> Tensor:
        if self.items is not None:
            x = x + 1
        if x.sum() > 0:
            self.items = None
        return x


class Amount(nn.Module):
    """Decimal numbers and dates are kept."""

    def __init__(self) -> None:
        super().__init__()
        self.amount = decimal.Decimal("0.0")
        self.day = datetime.date(2020, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.amount = (self.amount + 1) % 3
            self.day = datetime.date(2021, 1, 1)
        return x + float(self.amount) + self.day.year


class GrowingAmount(nn.Module):
    """A decimal number that is another one after each call."""

    refused = "DY011"

    def __init__(self) -> None:
        super().__init__()
        self.amount = decimal.Decimal(0)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.amount = self.amount + 1
        return x + float(self.amount)


class _Held:
    """Something that can be referred to weakly."""

    number = 1


class Dropped(nn.Module):
    """A weak reference to what the call drops."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.held: _Held | None = _Held()
        self.reference = weakref.ref(self.held)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.held = None
        return x + (1 if self.reference() is None else 2)


class DroppedFromTable(nn.Module):
    """A table whose entries die with their values."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.held: _Held | None = _Held()
        self.table = weakref.WeakValueDictionary({"held": self.held})

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.held = None
        return x + len(self.table)


class DroppedBehindProxy(nn.Module):
    """What stands for an object that the call drops."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.held: _Held | None = _Held()
        self.proxy = weakref.proxy(self.held)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.held = None
        number: int = self.proxy.number
        return x + number


class _Child(nn.Module):
    """A part that knows the whole."""

    def __init__(self, parent: nn.Module) -> None:
        super().__init__()
        self.parent = weakref.ref(parent)
        self.__dict__["proxy"] = weakref.proxy(parent)

    def forward(self, x: Tensor) -> Tensor:
        parent: Any = self.parent()
        product: Tensor = x * parent.factor + self.__dict__["proxy"].factor
        return product


class Parent(nn.Module):
    """A part refers weakly to the whole, which stays."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = 3
        self.child = _Child(self)

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.factor += 1
        return self.child(x)
