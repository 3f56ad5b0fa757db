"""Widening: what would never come round becomes a value that the input determines.

Two states at the same program points and positions of static iterators may differ in numbers only: a count of skipped
layers, a loop's counter. They share a block in which those numbers are host values. Dimensions are widened more
reluctantly, where a loop makes a tensor grow: they become named dimensions. Structure is never widened.
"""

from dataclasses import dataclass
from typing import Any

from dycl.hcfg.types import HostType, TensorType, ValueType
from dycl.rewrite.signals import Refused
from dycl.rewrite.skeleton import Skeleton, Tag

_NUMBERS = {int: "int", float: "float"}


def without_numbers(skeleton: Any, dimensions: bool) -> Any:
    """The skeleton with its numbers (and, if asked, its dimensions) left out: what widening never touches."""
    if not isinstance(skeleton, tuple) or not skeleton:
        return skeleton
    match skeleton:
        case (Tag.ATOM, kind, _, value) if kind in _NUMBERS and _fits(value):
            return ("number", _NUMBERS[kind])
        case (Tag.DICT, cls, items, *rest):
            values = tuple((key, without_numbers(value, dimensions)) for key, value in items)
            return (Tag.DICT, cls, values, *(without_numbers(part, dimensions) for part in rest))
        case (Tag.SET, *_):
            return skeleton
        case (Tag.HOST, kind) if kind != "bool":
            return ("number", kind)
        case (Tag.TENSOR, dtype, shape, _) if dimensions:
            return (Tag.TENSOR, dtype, len(shape))
        case (Tag.ITERATOR, items, position):
            return (Tag.ITERATOR, _without_list_numbers(items, dimensions), position)
        case _:
            return tuple([without_numbers(part, dimensions) for part in skeleton])


def _fits(value: int | float) -> bool:
    """Whether a number can be a host value, which has 64 bits."""
    return isinstance(value, float) or -(2**63) <= value < 2**63


def _without_list_numbers(items: Any, dimensions: bool) -> Any:
    """Items of a static iterator keep their numbers: positions in it stay static."""
    return without_numbers(items, dimensions) if items and items[0] is Tag.LIST else items


def program_points(skeleton: Any) -> Any:
    """Where a state is: the functions, positions and iterator positions of its frames."""
    if not isinstance(skeleton, tuple) or not skeleton:
        return ()
    match skeleton:
        case (Tag.FRAME, function, position, _, values, *_):
            return ((function, position), *(point for value in values for point in program_points(value)))
        case (Tag.ITERATOR, _, position):
            return ((Tag.ITERATOR, position),)
        case _:
            return tuple(point for part in skeleton for point in program_points(part))


class Widening:
    """Merges states that differ in numbers or dimensions only."""

    def __init__(self) -> None:
        self._names: dict[tuple[Any, Any], str] = {}

    def merge(self, old: Any, new: Any) -> Any:
        """The narrowest skeleton that both fit; `old` itself if `new` fits it already."""
        if old == new:
            return old
        if not isinstance(old, tuple) or not isinstance(new, tuple):
            raise Refused("DY011", "two states that should share a block differ in more than numbers")
        match old, new:
            case ((Tag.ATOM, kind, *_), (Tag.ATOM, *_)) if kind in _NUMBERS:
                return (Tag.HOST, _NUMBERS[kind])
            case ((Tag.HOST, _), (Tag.ATOM, *_)):
                return old
            case ((Tag.ATOM, *_), (Tag.HOST, _)):
                return new
            case ((Tag.TENSOR, dtype, old_shape, _), (Tag.TENSOR, _, new_shape, _)):
                shape = tuple(map(self._dimension, old_shape, new_shape))
                return (Tag.TENSOR, dtype, shape, None)
            case _ if len(old) == len(new):
                return tuple([self.merge(left, right) for left, right in zip(old, new, strict=True)])
        raise Refused("DY011", "two states that should share a block differ in more than numbers")

    def _dimension(self, old: Any, new: Any) -> Any:
        """Equal dimensions stay; a pair that differs gets a name, the same for every equal pair."""
        if old == new and isinstance(old, int):
            return old
        return self._names.setdefault((old, new), f"d{len(self._names)}")


def renamed_dimensions(skeleton: Any, names: dict[str, str] | None = None) -> Any:
    """The skeleton with its named dimensions numbered in order of appearance."""
    names = {} if names is None else names
    if not isinstance(skeleton, tuple) or not skeleton:
        return skeleton
    if skeleton[0] is Tag.TENSOR and len(skeleton) == 4:
        _, dtype, shape, strides = skeleton
        new = tuple(size if isinstance(size, int) else names.setdefault(size, f"d{len(names)}") for size in shape)
        return (Tag.TENSOR, dtype, new, strides)
    return tuple([renamed_dimensions(part, names) for part in skeleton])


def leaf_types(skeleton: Any) -> list[tuple[ValueType, tuple[int, ...] | None]]:
    """Type and strides of each leaf of a skeleton, in order."""
    if not isinstance(skeleton, tuple) or not skeleton:
        return []
    match skeleton:
        case (Tag.ATOM, *_):
            return []
        case (Tag.HOST, kind):
            return [(HostType(kind), None)]
        case (Tag.TENSOR, dtype, shape, strides):
            return [(TensorType(dtype, shape), strides)]
        case _:
            return [leaf for part in skeleton for leaf in leaf_types(part)]


@dataclass(frozen=True, slots=True)
class Fixed:
    """A number that one state fixes and the block it enters leaves open."""

    value: int | float


def leaf_sources(general: Skeleton, special: Skeleton) -> list[int | Fixed]:
    """For each leaf of `general`: which leaf of `special` it takes, or the number that stands there."""
    sources: list[int | Fixed] = []
    count = 0

    def walk(left: Any, right: Any) -> None:
        nonlocal count
        if not isinstance(left, tuple) or not left or left[0] is Tag.ATOM:
            return
        if left[0] in (Tag.HOST, Tag.TENSOR) and isinstance(right, tuple):
            if right[0] is Tag.ATOM:
                sources.append(Fixed(right[3]))
            else:
                sources.append(count)
                count += 1
            return
        for one, other in zip(left, right, strict=True):
            walk(one, other)

    walk(general, special)
    return sources


def leaf_names(skeleton: Skeleton) -> tuple[str, ...]:
    """A name for each leaf of a state: its variable's where it has one."""
    found: list[str] = []

    def visit(part: Any, name: str) -> None:
        if not isinstance(part, tuple) or not part or part[0] is Tag.ATOM:
            return
        if part[0] is Tag.FRAME:
            _, _, _, registers, values, *rest = part
            for register, value in zip(registers, values, strict=True):
                visit(value, register if register.isidentifier() else "value")
            visit(tuple(rest), "value")
        elif part[0] in (Tag.HOST, Tag.TENSOR):
            found.append(name)
        else:
            for item in part:
                visit(item, name)

    visit(skeleton, "value")
    used: dict[str, int] = {}
    names: list[str] = []
    for name in found:
        number = used.get(name, 0)
        used[name] = number + 1
        names.append(name if number == 0 else f"{name}.{number}")
    return tuple(names)
