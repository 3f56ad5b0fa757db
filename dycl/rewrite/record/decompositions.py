"""An operation by smaller ones, as PyTorch itself or the library that defines it computes it."""

from typing import Any

from torch._decomp import decomposition_table
from torch._library.custom_ops import OPDEFS
from torch._ops import OpOverload

from dycl.rewrite.record.memory.sharing import is_composite
from dycl.rewrite.record.schemas import is_mutable, name_of

_DEEPEST = 3
# Decompositions that give something else than the operation: this one counts labels behind the end of their list.
_UNEQUAL = {"aten.multilabel_margin_loss_forward.default"}


class Decompositions:
    """Takes operations apart, and notices where that leads back to the operation itself."""

    def __init__(self) -> None:
        self._within: list[OpOverload[Any, Any]] = []

    @property
    def within_known(self) -> bool:
        """Whether an operation of PyTorch's own is being taken apart, of which it was asked whether it computes it."""
        return bool(self._within) and self._within[-1].namespace == "aten"

    def result(self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the smaller operations give, or `NotImplemented`."""
        # Some decompositions are in terms of the operation itself: they are there for another purpose.
        if is_mutable(func) or name_of(func) in _UNEQUAL or self._within.count(func) == _DEEPEST:
            return NotImplemented
        self._within.append(func)
        try:
            return _smaller(func, args, kwargs)
        finally:
            self._within.pop()


def _smaller(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if is_composite(func):
        return func.decompose(*args, **kwargs)
    if func in decomposition_table:
        return decomposition_table[func](*args, **kwargs)
    if func._schema.name in OPDEFS:
        # An operation that a library defines in Python: what it does is what its function does.
        return OPDEFS[func._schema.name]._init_fn(*args, **kwargs)
    return NotImplemented
