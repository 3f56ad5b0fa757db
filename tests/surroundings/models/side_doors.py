"""What is written is got at by ways that no name leads along: classes of libraries, fields of C objects, registries."""

import builtins
import collections
import functools
import gc
import importlib
import operator
import sys
import threading
import types
import weakref
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

_builtins: Any = builtins
_builtins.list_in_builtins = [0]
_user_dict: Any = collections.UserDict
_user_dict.list_on_class = [0]
_encoder: Any = importlib.import_module("json.encoder")
_encoder.list_on_encoder = [0]
_thread: Any = threading.current_thread()
_thread.list_on_thread = [0]
_count = [0]


def _turn(items: list[int]) -> None:
    items[0] = 1 - items[0]


class _Turns(nn.Module):
    """A model that turns the one number of a list, which `items` finds."""

    def items(self) -> list[int]:
        """The list."""
        return _count

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            _turn(self.items())
        return self.items()[0]


class OnALibrarysClass(_Turns):
    """A list hangs on a class of a library, and is found by way of an object."""

    made: ClassVar[Any] = collections.UserDict()

    def items(self) -> list[int]:
        found: list[int] = self.made.list_on_class
        return found


class InBuiltins(_Turns):
    """A name that is found among the builtins."""

    def items(self) -> list[int]:
        found: list[int] = list_in_builtins  # type: ignore[name-defined] # noqa: F821
        return found


class InTheTableOfModules(_Turns):
    """A list of a library's module, which the model does not name."""

    def items(self) -> list[int]:
        module: Any = sys.modules["json.encoder"]
        found: list[int] = module.list_on_encoder
        return found


class OnTheThread(_Turns):
    """A list hangs on the thread."""

    refused = "DY007"

    def items(self) -> list[int]:
        found: list[int] = threading.current_thread().list_on_thread  # type: ignore[attr-defined]
        return found


class ByGlobals(_Turns):
    """The global variables of a function."""

    refused = "DY002"

    def items(self) -> list[int]:
        found: list[int] = _turn.__globals__["_count"]
        return found


class BySubclasses(_Turns):
    """The classes that are made from another."""

    def items(self) -> list[int]:
        found: list[int] = _Base.__subclasses__()[0].stats  # type: ignore[attr-defined]
        return found


class _Base:
    pass


class _Derived(_Base):
    stats: ClassVar[list[int]] = [0]


class ByAllObjects(_Turns):
    """All objects of the process."""

    refused = "DY002"

    def items(self) -> list[int]:
        return next(found for found in gc.get_objects() if found is _count)


class InAGenericAlias(_Turns):
    """An alias holds what it was made with."""

    def __init__(self) -> None:
        super().__init__()
        self.alias: Any = types.GenericAlias(list, ([0],))

    def items(self) -> list[int]:
        found: list[int] = self.alias.__args__[0]
        return found


class InAGetter(_Turns):
    """So does what gets an item."""

    def __init__(self) -> None:
        super().__init__()
        self.key = _Key()
        self.get: Any = operator.itemgetter(self.key)

    def items(self) -> list[int]:
        found: list[int] = self.get({self.key: self.key.stats})
        return found


class _Key:
    def __init__(self) -> None:
        self.stats = [0]


class InAnError(_Turns):
    """Errors have fields besides what they were made with."""

    def __init__(self) -> None:
        super().__init__()
        self.error: Any = AttributeError("a", name="b", obj=[0])

    def items(self) -> list[int]:
        found: list[int] = self.error.obj
        return found


class InAFieldOfAnArray(_Turns):
    """An array of records that hold objects."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.array: Any = np.zeros(1, dtype=[("o", object)])
        self.array["o"][0] = [0]

    def items(self) -> list[int]:
        found: list[int] = self.array["o"][0]
        return found


class _Tagged(property):
    pass


class _WithTag:
    value: Any = _Tagged(lambda self: 1)


_WithTag.__dict__["value"].tag = [0]


class OnAProperty(_Turns):
    """A list hangs on a property."""

    def items(self) -> list[int]:
        found: list[int] = _WithTag.__dict__["value"].tag
        return found


class InAComparison(_Turns):
    """What `cmp_to_key` makes holds what is compared."""

    def __init__(self) -> None:
        super().__init__()
        self.key: Any = functools.cmp_to_key(lambda one, other: 0)([0])

    def items(self) -> list[int]:
        found: list[int] = self.key.obj
        return found


class WeakWithCallback(nn.Module):
    """Code that runs when an object is dropped."""

    refused = "DY009"

    def __init__(self) -> None:
        super().__init__()
        self.held: Any = _Key()
        self.reference = weakref.ref(self.held, lambda _: _turn(_count))

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.held = None
        return _count[0]


class ElementByElementOrWritten(nn.Module):
    """A buffer is changed element by element on one path and written on the other, which makes it the input's."""

    refused = "DY004"
    held: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("held", torch.ones(2))

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.held.apply_(lambda element: element + 1)
        else:
            self.held.copy_(x)
        return x + self.held
