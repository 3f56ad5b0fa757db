"""Classes of numbers: Python's own, those made from them, and others that compute with them."""

import functools
import numbers
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import torch

from dycl.hcfg.types import HostKind
from dycl.rewrite.signals import DecisionMet, Refused

PYTHON_TYPES: dict[HostKind, type] = {"bool": bool, "int": int, "float": float}
_IN_TURN = ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and", "or", "xor")
_ALONE = ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "bool", "int", "float", "index", "round")
_COMPUTES = (*_ALONE, *("trunc", "floor", "ceil"), *_IN_TURN, *(f"r{name}" for name in _IN_TURN))


@functools.cache
def kind_of_class(cls: type) -> HostKind | None:
    """The kind of a class's numbers, if it is one of Python's or, as an `IntEnum`, computes as that does."""
    base = next((kind for kind in PYTHON_TYPES.values() if issubclass(cls, kind)), None)
    if base is None or issubclass(cls, np.generic):
        return None
    methods = [f"__{name}__" for name in _COMPUTES if f"__{name}__" in vars(base)]
    same = all(getattr(cls, name) is getattr(base, name) for name in methods)
    return cast(HostKind, base.__name__) if same else None


def require_no_other_number(value: Any) -> None:
    """Refuse a number of a class that may compute with an input-dependent one in a way of its own."""
    if isinstance(value, numbers.Number) and not isinstance(value, np.generic):
        reason = f"a `{type(value).__name__}` is taken together with a number that only the input determines"
        raise Refused("DY002", reason, "use Python's own numbers")


class LargeNumbers:
    """Whether a program has whole numbers that may be as large as they can be.

    Where it has none, what is counted by small steps needs no look: no program lives long enough to count to 64 bits.
    """

    def __init__(self, learn: Callable[[], None], are_known: Callable[[], bool]) -> None:
        self._learn, self._are_known = learn, are_known
        self._met = self._counted = False

    def meet(self, number: torch.Tensor, bounds: Callable[[torch.Tensor], Any]) -> torch.Tensor:
        """Take note of a whole number that was read or multiplied; gives the number."""
        if not self._met and number.dtype == torch.int64 and bounds(number) is None:
            self._met = True
            if self._counted:
                self._learn()
        return number

    def are_there(self) -> bool:
        """Whether such a number may have got into what is counted here."""
        if self._met:
            self._learn()
        self._counted = True
        return self._are_known()


class Undetermined:
    """A number that natively run code cannot have: who asks for it has met a decision."""

    __slots__ = ()

    def __int__(self) -> int:
        raise DecisionMet("`int` of a number that only the input determines")

    def __float__(self) -> float:
        raise DecisionMet("`float` of a number that only the input determines")

    def __index__(self) -> int:
        raise DecisionMet("a number that only the input determines is used as an index")
