"""The smallest and largest number that a tensor can hold, as far as the block's own operations tell.

int((x > 0).sum())     0 to the number of x's elements
x.argmax()             0 to the number of x's elements, less one
n % 4                  0 to 3
min(max(n, 0), 5)      0 to 5
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dycl.hcfg.subnet import Argument, Operation, Ref
from dycl.hcfg.types import Dimension, TensorType

Bounds = tuple[float, float]
_DEEPEST = 200
# A dimension that is longer fills more memory than a model has.
_LARGEST_SIZE = 2.0**31


Makers = Mapping[Ref, tuple[Operation, int]]
"""Which operation made a tensor, and which of its results it is."""


class Walk:
    """Follows a tensor back through the operations that it was made by.

    What is not a number makes some whole number when it is converted. Where that was not looked at, it is in no bounds
    unless `numbers_only` says so.
    """

    def __init__(self, types: Sequence[TensorType], makers: Makers, numbers_only: bool = True) -> None:
        self.types = types
        self.makers = makers
        self.numbers_only = numbers_only
        self._known: dict[Ref, Bounds | None] = {}

    def of(self, argument: Argument, depth: int = _DEEPEST) -> Bounds | None:
        """The least and the greatest number that an argument can hold; None if that is not known."""
        if isinstance(argument, int | float):
            return (float(argument), float(argument))
        if not isinstance(argument, Ref) or not depth:
            return None
        if self.types[argument.index].dtype == "bool":
            return (0, 1)
        if argument not in self.makers:
            return None
        if argument not in self._known:
            self._known[argument] = self._made(argument, depth)
        return self._known[argument]

    def places_along(self, argument: Argument) -> Dimension | None:
        """The size of a dimension if each element is one of its places, not counted from the end."""
        column: Argument = None
        for _ in range(_DEEPEST):
            if not isinstance(argument, Ref) or argument not in self.makers:
                return None
            operation, position = self.makers[argument]
            name = _name(operation)
            if (name in _CONVERSIONS and self.types[argument.index].dtype != "int64") or name not in _SAME_PLACES:
                return self._found_along(operation, position, column)
            column = _column(name, operation.arguments, position)
            argument = operation.arguments["self"]
        return None

    def lies_within(self, argument: Argument, low: Any, size: Dimension) -> bool:
        """Whether all elements are from `low`, which is 0 or `-size`, to `size`, without it."""
        if self.places_along(argument) == size:
            return True
        found = self.of(argument)
        return isinstance(size, int) and found is not None and low <= found[0] and found[1] < size

    def _found_along(self, operation: Operation, position: int, column: Argument) -> Dimension | None:
        name, source = _name(operation), operation.arguments.get("self")
        if not isinstance(source, Ref):
            return None
        shape = self.types[source.index].shape or (1,)
        if name == "nonzero_numpy":
            return shape[position]
        if name == "nonzero":
            return shape[0] if len(shape) == 1 else shape[column] if isinstance(column, int) else None
        if name not in _FINDS and not (name in _FIND_PLACES and position):
            return None
        axis = operation.arguments.get("dim")
        if isinstance(axis, int):
            return shape[axis]
        sizes = [size for size in shape if isinstance(size, int)]
        return math.prod(sizes) if len(sizes) == len(shape) and axis is None else None

    def _made(self, argument: Ref, depth: int) -> Bounds | None:
        if isinstance(size := self.places_along(argument), int):
            return (0.0, size - 1.0)
        operation, position = self.makers[argument]
        name = _name(operation)
        if position and name not in _PIECES:
            return None
        if "other" in operation.arguments and name in _OF_TWO:
            name = _OF_TWO[name]
        found = self._computed(name, argument, operation.arguments, depth)
        if found is None or name not in _LEADS_BEYOND:
            return found
        return _held(found, self.types[argument.index].dtype)

    def _computed(self, name: str, result: Ref, arguments: Mapping[str, Argument], depth: int) -> Bounds | None:
        if name in _SAME:
            return self.of(arguments["self"], depth - 1)
        if name in ("sum", "count_nonzero"):
            return self._sum(name, result, arguments, depth)
        if name == "sym_size":
            return (0.0, _LARGEST_SIZE)
        if name == "full":
            return self.of(arguments["fill_value"], depth)
        rule = _RULES.get(name)
        if rule is None or arguments.get("alpha", 1) != 1 or arguments.get("rounding_mode") is not None:
            return None
        names = ("min", "max") if name == "clamp" else ("other",)
        operands = [self.of(arguments[key], depth - 1) for key in ("self", *names) if key in arguments]
        if name == "where":
            operands = [self.of(arguments[key], depth - 1) for key in ("self", "other")]
        if self.types[result.index].dtype in _EXACT_TO:
            if None in operands and not self.numbers_only:
                return None
            rule = _REAL_RULES.get(name, rule)
        return rule(*operands)

    def _sum(self, name: str, result: Ref, arguments: Mapping[str, Argument], depth: int) -> Bounds | None:
        source = arguments["self"]
        assert isinstance(source, Ref)
        inside = (0.0, 1.0) if name == "count_nonzero" else self.of(source, depth - 1)
        sizes = [self.types[ref.index].shape for ref in (source, result)]
        if inside is None or any(isinstance(size, str) for shape in sizes for size in shape):
            return None
        before, after = (math.prod(size for size in shape if isinstance(size, int)) for shape in sizes)
        count = before // max(after, 1)
        return (inside[0] * count, inside[1] * count)


_FINDS = {"argmax", "argmin", "argsort"}
_FIND_PLACES = {"max", "min", "topk", "sort", "median", "kthvalue", "mode", "cummax", "cummin"}
_PIECES = {"unbind", "split", "chunk"}
_OF_TWO = {"max": "maximum", "min": "minimum"}
_CONVERSIONS = {"_to_copy", "to"}
_LEADS_BEYOND = {*_CONVERSIONS, "add", "sub", "mul", "neg", "abs", "sum"}
"""What may give numbers that the elements' type cannot hold."""
_SAME_PLACES = {
    *_PIECES,
    *_CONVERSIONS,
    *("clone", "reshape", "view", "select", "detach", "alias", "squeeze", "unsqueeze", "index_select", "slice"),
    *("gather", "index", "take", "contiguous", "transpose", "t", "flatten", "expand", "permute"),
}
_SAME = {*_SAME_PLACES, "sort", "topk", "max", "min", "amax", "amin"}
_LIMITS = {
    "uint8": (0.0, 2.0**8),
    **{f"int{bits}": (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) for bits in (8, 16, 32, 64)},
}
_EXACT_TO = {"float16": 2.0**11, "bfloat16": 2.0**8, "float32": 2.0**24, "float64": 2.0**53}
"""Up to where numbers of a type hold all whole numbers."""


def _name(operation: Operation) -> str:
    return operation.target.split(".")[1]


def _column(name: str, arguments: Mapping[str, Argument], position: int) -> Argument:
    """The column of a matrix that an operation picks, if it does."""
    if name not in ("select", "unbind") or arguments.get("dim", 0) not in (1, -1):
        return None
    return position if name == "unbind" else arguments["index"]


def _held(found: Bounds, dtype: str) -> Bounds | None:
    """The bounds of numbers that were converted or computed with, unless they may be too large for their type."""
    low, high = found
    if dtype in _LIMITS:
        return (math.trunc(low), math.trunc(high)) if _LIMITS[dtype][0] <= low and high < _LIMITS[dtype][1] else None
    most = _EXACT_TO.get(dtype, 0.0)
    rounding = 2 / most if most else 0.0
    fits = -most <= low and high <= most
    return (low - abs(low) * rounding, high + abs(high) * rounding) if fits else None


def _each(combine: Callable[[float, float], float]) -> Callable[..., Bounds | None]:
    def rule(left: Bounds | None, right: Bounds | None) -> Bounds | None:
        if left is None or right is None:
            return None
        corners = [combine(one, other) for one in left for other in right]
        return (min(corners), max(corners))

    return rule


def _remainder(left: Bounds | None, right: Bounds | None) -> Bounds | None:
    if right is None or right[0] != right[1] or not right[0]:
        return None
    return (0.0, right[0] - 1) if right[0] > 0 else (right[0] + 1, 0.0)


def _real_remainder(left: Bounds | None, right: Bounds | None) -> Bounds | None:
    if right is None or right[0] != right[1] or not right[0]:
        return None
    return (min(0.0, right[0]), max(0.0, right[0]))


def _quotient(left: Bounds | None, right: Bounds | None) -> Bounds | None:
    if left is None or right is None or right[0] != right[1] or right[0] <= 0:
        return None
    return (left[0] // right[0], left[1] // right[0])


def _smaller(left: Bounds | None, right: Bounds | None) -> Bounds | None:
    low = min(left[0] if left else -math.inf, right[0] if right else -math.inf)
    return (low, min(left[1] if left else math.inf, right[1] if right else math.inf))


def _larger(left: Bounds | None, right: Bounds | None) -> Bounds | None:
    high = max(left[1] if left else math.inf, right[1] if right else math.inf)
    return (max(left[0] if left else -math.inf, right[0] if right else -math.inf), high)


def _clamp(value: Bounds | None, low: Bounds | None = None, high: Bounds | None = None) -> Bounds | None:
    raised = value if low is None else _larger(value, low)
    return raised if high is None else _smaller(raised, high)


def _negated(value: Bounds | None, *_: Any) -> Bounds | None:
    return None if value is None else (-value[1], -value[0])


def _size(value: Bounds | None, *_: Any) -> Bounds | None:
    if value is None:
        return None
    low = 0.0 if value[0] <= 0 <= value[1] else min(map(abs, value))
    return (low, max(map(abs, value)))


def _either(left: Bounds | None, right: Bounds | None) -> Bounds | None:
    return None if left is None or right is None else (min(left[0], right[0]), max(left[1], right[1]))


def _whole(value: Bounds | None, *_: Any) -> Bounds | None:
    return None if value is None or not all(map(math.isfinite, value)) else (math.floor(value[0]), math.ceil(value[1]))


_RULES: dict[str, Callable[..., Bounds | None]] = {
    "add": _each(lambda left, right: left + right),
    "sub": _each(lambda left, right: left - right),
    "mul": _each(lambda left, right: left * right),
    "neg": _negated,
    "abs": _size,
    "remainder": _remainder,
    "floor_divide": _quotient,
    "minimum": _smaller,
    "maximum": _larger,
    "clamp": _clamp,
    "where": _either,
    **dict.fromkeys(("floor", "ceil", "round", "trunc"), _whole),
}
_REAL_RULES = {"remainder": _real_remainder}
