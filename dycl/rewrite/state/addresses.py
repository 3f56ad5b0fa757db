"""Numbers that tell objects apart: what `id`, and `hash` of an object without a hash of its own, give.

Behind a decision the program goes on with copies of its objects, so the number becomes the copy's, wherever it is kept.
"""

from collections.abc import Callable
from typing import Any

from dycl.rewrite.signals import Refused


class Address(int):
    """The number of an object. It can be compared and be a key; nothing can be computed from it."""

    owner: Any
    told_by: Callable[[Any], int]

    def __new__(cls, told_by: Callable[[Any], int], owner: Any) -> "Address":
        made = super().__new__(cls, told_by(owner))
        made.owner, made.told_by = owner, told_by
        return made


def _refuse(self: Any, *args: Any) -> Any:
    raise Refused("DY009", "a number is computed from the address of an object", "keep the object itself")


for _name in (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "and", "or", "xor", "lshift", "rshift"),
    *("radd", "rsub", "rmul", "rtruediv", "rfloordiv", "rmod", "rdivmod", "rpow", "rand", "ror", "rxor", "rlshift"),
    *("lt", "le", "gt", "ge"),
    *("rrshift", "neg", "pos", "abs", "invert", "int", "float", "index", "repr", "str", "format", "round"),
):
    setattr(Address, f"__{_name}__", _refuse)
