"""Classes are written, which is followed as far as plain values go; modules are, which is refused."""

import sys
from typing import ClassVar

from torch import Tensor, nn

_items = [0]
_count = 0


class ClassAttribute(nn.Module):
    """An attribute of the model's own class."""

    count = 0

    @classmethod
    def reset(cls) -> None:
        """Forget."""
        cls.count = 0

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            type(self).count += 1
        return self.count


class ClassAttributeForAWhile(nn.Module):
    """Written and written back in one call, with a decision between."""

    mode = 0

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            ClassAttributeForAWhile.mode = 1
        y = x * 2
        if y.sum() > -1:
            y = y + 1
        y = y + ClassAttributeForAWhile.mode
        ClassAttributeForAWhile.mode = 0
        return y


class _Holder:
    count = 0
    items: ClassVar = [0]

    @classmethod
    def bump(cls) -> None:
        cls.count += 1


def _forget_count() -> None:
    _Holder.count = 0


class NativeClassMethod(nn.Module):
    """A class method of another class, run natively."""

    reset = staticmethod(_forget_count)

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            _Holder.bump()
        return _Holder.count


class ClassOfAnObject(nn.Module):
    """The same through an object."""

    reset = staticmethod(_forget_count)

    def __init__(self) -> None:
        super().__init__()
        self.holder = _Holder()

    def step(self) -> None:
        self.holder.bump()

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.step()
        return self.holder.count


class ListOfAClass(nn.Module):
    """A list that a class holds."""

    @classmethod
    def reset(cls) -> None:
        """Forget."""
        _Holder.items[0] = 0

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            _Holder.items[0] += 1
        return int(_Holder.items[0])


class GlobalVariable(nn.Module):
    """A global variable."""

    refused = "DY007"

    def forward(self, x: Tensor) -> int:
        global _count  # noqa: PLW0603
        if x.sum() > 0:
            _count += 1
        return _count


def _bump() -> None:
    global _count  # noqa: PLW0603
    _count += 1


class NativeGlobalVariable(nn.Module):
    """A global variable that natively run code changes."""

    refused = "DY007"

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            _bump()
        return _count


class GlobalTable(nn.Module):
    """A global variable by its module's table."""

    refused = "DY007"

    def step(self) -> None:
        vars(sys.modules[__name__])["_count"] += 1

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.step()
        return _count


class GlobalList(nn.Module):
    """A list in a global variable."""

    @classmethod
    def reset(cls) -> None:
        """Forget."""
        _items[0] = 0

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            _items[0] += 1
        return _items[0]


class ListOfAModule(nn.Module):
    """The same through an import in the call."""

    @classmethod
    def reset(cls) -> None:
        """Forget."""
        _items[0] = 0

    def forward(self, x: Tensor) -> int:
        from tests.surroundings.models import classes  # noqa: PLW0406

        if x.sum() > 0:
            classes._items[0] += 1
        return classes._items[0]


class ClassInsideTheModel(nn.Module):
    """A class that stands in the model's."""

    class Inner:
        """A class that counts."""

        hits = 0

    @classmethod
    def reset(cls) -> None:
        """Forget."""
        cls.Inner.hits = 0

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            setattr(self.Inner, "hits", self.Inner.hits + 1)  # noqa: B010
        return self.Inner.hits


class MethodReplaced(nn.Module):
    """A method is overridden in the model itself."""

    def act(self, x: Tensor) -> Tensor:
        return x

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            vars(self)["act"] = lambda x: x + 1
        return self.act(x)
