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
from dycl.hcfg.types import TensorType

Bounds = tuple[float, float]
_DEEPEST = 200
# A dimension that is longer fills more memory than a model has.
_LARGEST_SIZE = 2.0**31


Makers = Mapping[Ref, tuple[Operation, int]]
"""Which operation made a tensor, and which of its results it is."""


class Walk:
    """Follows a tensor back through the operations that it was made by."""

    def __init__(self, types: Sequence[TensorType], makers: Makers) -> None:
        self.types = types
        self.makers = makers
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

    def _made(self, argument: Ref, depth: int) -> Bounds | None:
        operation, position = self.makers[argument]
        name = operation.target.split(".")[1]
        arguments = operation.arguments
        if name in _FIND_PLACES and position:
            return self._places(arguments)
        if position and name not in _PIECES:
            return None
        if "other" in arguments and name in _OF_TWO:
            name = _OF_TWO[name]
        if name in _SAME:
            return self.of(arguments["self"], depth - 1)
        if name in ("sum", "count_nonzero"):
            return self._sum(name, argument, arguments, depth)
        if name in ("argmax", "argmin"):
            return self._places(arguments)
        if name == "argsort":
            return self._places(arguments)
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

    def _places(self, arguments: Mapping[str, Argument]) -> Bounds | None:
        source, axis = arguments["self"], arguments.get("dim")
        assert isinstance(source, Ref)
        shape = self.types[source.index].shape
        sizes: Any = shape if axis is None else (shape[axis],) if shape else ()  # type: ignore[index]
        return None if any(isinstance(size, str) for size in sizes) else (0.0, math.prod(sizes) - 1.0)


_FIND_PLACES = {"max", "min", "topk", "sort", "median", "kthvalue", "mode", "cummax", "cummin"}
_PIECES = {"unbind", "split", "chunk"}
_OF_TWO = {"max": "maximum", "min": "minimum"}
_SAME = {
    *_PIECES,
    *("_to_copy", "clone", "reshape", "view", "select", "detach", "alias", "squeeze", "unsqueeze", "index_select"),
    *("slice", "gather", "index", "take", "sort", "topk", "contiguous", "transpose", "t"),
    *("max", "min", "amax", "amin", "floor", "ceil", "round", "trunc", "flatten", "expand", "permute", "to"),
}


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
}
