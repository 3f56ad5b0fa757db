"""Widening: what would never come round becomes a value that the input determines.

Two states at the same program points and positions of static iterators may differ in numbers only: a count of skipped
layers, a loop's counter. They share a block in which those numbers are host values. Dimensions are widened more
reluctantly, where a loop makes a tensor grow: they become named dimensions. Structure is never widened.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from dycl.hcfg.types import DType, HostType
from dycl.rewrite.knowledge import Place
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.skeleton import Skeleton, Tag, is_flat
from dycl.rewrite.state.tables import Template
from dycl.rewrite.state.thaw import constant_tensor

_NUMBERS = {int: "int", float: "float"}
_FLOATS = ("float16", "bfloat16", "float32", "float64")


def _has_no_parts(skeleton: Any) -> bool:
    """Whether nothing that widening is about stands inside: the short way past most of a state."""
    if type(skeleton) is not tuple or not skeleton:
        return True
    tag = skeleton[0]
    if tag is Tag.ATOM:
        return skeleton[1] not in _NUMBERS
    return tag is Tag.PINNED or tag is Tag.SEEN or tag is Tag.TOKEN


def without_numbers(skeleton: Any, dimensions: bool, constants: bool = False) -> Any:
    """The skeleton without its numbers and, if asked, its dimensions and constants: what widening never touches."""
    if _has_no_parts(skeleton):
        return skeleton
    match skeleton:
        case (Tag.ATOM, kind, _, value) if kind in _NUMBERS and _fits(value):
            return ("number", _NUMBERS[kind])
        case (Tag.DICT, cls, items, *rest):
            values = tuple((key, without_numbers(value, dimensions, constants)) for key, value in items)
            return (Tag.DICT, cls, values, *(without_numbers(part, dimensions, constants) for part in rest))
        case (Tag.SET, *_):
            return skeleton
        case (Tag.HOST, kind) if kind != "bool":
            return ("number", kind)
        case (Tag.SHARED, tensor):
            return without_numbers(tensor, dimensions, constants)
        case ((Tag.TENSOR | Tag.CONSTANT), dtype, shape, _) if dimensions:
            return (Tag.TENSOR, dtype, len(shape))
        case (Tag.GROWN, Template() as template, columns) if dimensions:
            return (Tag.GROWN, template, tuple(len(column[2]) - 1 for column in columns))
        case (Tag.ROWS, items) if dimensions and (table := _as_table(items)) is not None:
            return (Tag.GROWN, table[0], tuple(len(shape) for _, shape in table[1]))
        case ((Tag.TENSOR | Tag.CONSTANT), dtype, shape, _) if constants:
            return (Tag.TENSOR, dtype, shape)
        case (Tag.CONSTANT, dtype, shape, _) if dtype in _FLOATS:
            return (Tag.TENSOR, dtype, shape, None)
        case (Tag.TENSOR, dtype, shape, strides) if dtype in _FLOATS:
            return (Tag.TENSOR, dtype, shape, None if strides == _contiguous(shape) else strides)
        case (Tag.ITERATOR, items, position, known):
            return (Tag.ITERATOR, _without_list_numbers(items, dimensions, constants), position, known)
        case _:
            return tuple([without_numbers(part, dimensions, constants) for part in skeleton])


def _as_table(items: Any) -> tuple[Template, list[tuple[DType, tuple[Any, ...]]]] | None:
    """The kind of a list's items, and the element type and shape of each of their values; None if they differ."""
    found = []
    for item in items:
        values: list[tuple[DType, tuple[Any, ...]]] = []
        found.append((Template(_template(item, values)), values or [("bool", (0,))]))
    return found[0] if all(kind == found[0] for kind in found) else None


def _template(item: Any, values: list[tuple[DType, tuple[Any, ...]]]) -> Skeleton:
    match item:
        case (Tag.SHARED, tensor):
            return _template(tensor, values)
        case ((Tag.TENSOR | Tag.CONSTANT), dtype, shape, _):
            values.append((dtype, shape))
            return (Tag.TENSOR, dtype)
        case (Tag.HOST, kind):
            values.append((HostType(kind).tensor.dtype, ()))
            return (Tag.HOST, kind)
        case (Tag.ATOM, kind, _, _) if kind in (bool, int, float):
            return _template((Tag.HOST, kind.__name__), values)
        case (Tag.TUPLE, cls, parts):
            return (Tag.TUPLE, cls, tuple([_template(part, values) for part in parts]))
        case _:
            return tuple(item)


def _fits(value: int | float) -> bool:
    """Whether a number can be a host value, which has 64 bits."""
    return isinstance(value, float) or -(2**63) <= value < 2**63


def _without_list_numbers(items: Any, dimensions: bool, constants: bool) -> Any:
    """Items of a static iterator keep their numbers: positions in it stay static."""
    return without_numbers(items, dimensions, constants) if items and items[0] is Tag.LIST else items


def _contiguous(shape: tuple[Any, ...]) -> tuple[int, ...] | None:
    """The strides of a tensor whose elements lie in order; None if a size is open."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        if not isinstance(size, int):
            return None
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def numbers_widened(old: Skeleton, new: Skeleton) -> Skeleton:
    """`new` with those numbers open that stood at the same place in `old` with another value."""
    before = dict(_numbers(old, ()))

    def changed(part: Any, path: Place) -> Any:
        if _has_no_parts(part):
            return part
        match part:
            case (Tag.ATOM, kind, _, value) if kind in _NUMBERS:
                return (Tag.HOST, _NUMBERS[kind]) if before.get(path, (kind, value)) != (kind, value) else part
            case ((Tag.ATOM | Tag.SET | Tag.ITERATOR), *_):
                return part
            case (Tag.FRAME, function, position, names, values, *rest):
                opened = [changed(value, (*path, name)) for name, value in zip(names, values, strict=True)]
                return (Tag.FRAME, function, position, names, tuple(opened), *rest)
            case (Tag.DICT, cls, items, *rest):
                kept = [(key, changed(value, (*path, place))) for place, (key, value) in enumerate(items)]
                return (Tag.DICT, cls, tuple(kept), *rest)
            case _:
                return tuple([changed(inner, (*path, place)) for place, inner in enumerate(part)])

    return changed(new, ())  # type: ignore[no-any-return]


def _numbers(part: Any, path: Place) -> Iterator[tuple[Place, tuple[type, Any]]]:
    """Every number in a state with its place, those that are open with no value."""
    if _has_no_parts(part):
        return
    match part:
        case (Tag.ATOM, kind, _, value) if kind in _NUMBERS and _fits(value):
            yield path, (kind, value)
        case (Tag.HOST, kind) if kind != "bool":
            yield path, ({"int": int, "float": float}[kind], None)
        case ((Tag.ATOM | Tag.SET | Tag.ITERATOR), *_):
            return
        case (Tag.FRAME, _, _, names, values, *_):
            for name, value in zip(names, values, strict=True):
                yield from _numbers(value, (*path, name))
        case (Tag.DICT, _, items, *_):
            for place, (_, value) in enumerate(items):
                yield from _numbers(value, (*path, place))
        case _:
            for place, inner in enumerate(part):
                yield from _numbers(inner, (*path, place))


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
            case (((Tag.TENSOR | Tag.CONSTANT), dtype, old_shape, _), ((Tag.TENSOR | Tag.CONSTANT), _, new_shape, _)):
                shape = tuple(map(self._dimension, old_shape, new_shape))
                strides = _strides(old)
                return (Tag.TENSOR, dtype, shape, strides if strides == _strides(new) else None)
            case ((Tag.SHARED, tensor), _):
                return (Tag.SHARED, self.merge(tensor, new[1] if new[0] is Tag.SHARED else new))
            case (_, (Tag.SHARED, tensor)):
                return (Tag.SHARED, self.merge(old, tensor))
            case (((Tag.ROWS | Tag.GROWN), *_), ((Tag.ROWS | Tag.GROWN), *_)) if not _same_rows(old, new):
                return self._table(old, new)
            case _ if len(old) == len(new):
                return tuple([self.merge(left, right) for left, right in zip(old, new, strict=True)])
        raise Refused("DY011", "two states that should share a block differ in more than numbers")

    def _table(self, old: Any, new: Any) -> Any:
        """Two lists of different lengths, as one of a length that the input decides."""
        (template, left), (_, right) = _table_of(old), _table_of(new)
        columns = [
            (Tag.TENSOR, dtype, tuple(map(self._dimension, shape, other)), None)
            for (dtype, shape), (_, other) in zip(left, right, strict=True)
        ]
        return (Tag.GROWN, template, tuple(columns))

    def _dimension(self, old: Any, new: Any) -> Any:
        """Equal dimensions stay; a pair that differs gets a new name, the same for every equal pair."""
        return old if old == new else self._names.setdefault((old, new), f"new{len(self._names)}")


def _strides(skeleton: Any) -> tuple[int, ...] | None:
    tag, _, shape, strides = skeleton
    return strides if tag is Tag.TENSOR else _contiguous(shape)


def _same_rows(old: Any, new: Any) -> bool:
    """Whether two lists can be merged item by item."""
    if old[0] is not new[0] or old[0] is Tag.GROWN:
        return old[0] is new[0]
    return [without_numbers(item, True) for item in old[1]] == [without_numbers(item, True) for item in new[1]]


def _table_of(skeleton: Any) -> tuple[Template, list[tuple[DType, tuple[Any, ...]]]]:
    """The kind of a list's items, and the element type and shape of each column that they make."""
    if skeleton[0] is Tag.GROWN:
        return skeleton[1], [(dtype, shape) for _, dtype, shape, _ in skeleton[2]]
    table = _as_table(skeleton[1])
    assert table is not None
    return table[0], [(dtype, (len(skeleton[1]), *shape)) for dtype, shape in table[1]]


def renamed_dimensions(skeleton: Any, names: dict[str, str] | None = None) -> Any:
    """The skeleton with its named dimensions numbered in order of appearance."""
    names = {} if names is None else names
    if is_flat(skeleton):
        return skeleton
    if skeleton[0] is Tag.TENSOR and len(skeleton) == 4:
        _, dtype, shape, strides = skeleton
        new = tuple(size if isinstance(size, int) else names.setdefault(size, f"d{len(names)}") for size in shape)
        return (Tag.TENSOR, dtype, new, strides)
    return tuple([renamed_dimensions(part, names) for part in skeleton])


@dataclass(frozen=True, slots=True)
class Fixed:
    """A number or constant that one state fixes and the block it enters leaves open."""

    value: int | float | torch.Tensor


@dataclass(frozen=True, slots=True)
class Stacked:
    """Values that one state has one by one and the block it enters has as a table."""

    rows: "tuple[int | Fixed, ...]"
    dtype: DType
    shape: tuple[Any, ...]


Source = int | Fixed | Stacked


def leaf_sources(general: Skeleton, special: Skeleton) -> list[Source]:
    """For each leaf of `general`: where in `special` it comes from, by number if it is a leaf there too."""
    sources: list[Source] = []
    count = 0

    def single(right: Any) -> int | Fixed:
        nonlocal count
        if right[0] is Tag.ATOM:
            return Fixed(right[3])
        if right[0] is Tag.CONSTANT:
            return Fixed(constant_tensor(*right[1:]))
        count += 1
        return count - 1

    def values(item: Any) -> list[int | Fixed]:
        match item:
            case (Tag.SHARED, tensor):
                return values(tensor)
            case (Tag.TUPLE, _, parts):
                return [value for part in parts for value in values(part)]
            case ((Tag.TENSOR | Tag.CONSTANT | Tag.HOST), *_):
                return [single(item)]
            case (Tag.ATOM, kind, *_) if kind in (bool, int, float):
                return [single(item)]
            case _:
                return []

    def walk(left: Any, right: Any) -> None:
        if not isinstance(left, tuple) or not left or left[0] is Tag.ATOM:
            return
        if left[0] in (Tag.HOST, Tag.TENSOR) and isinstance(right, tuple):
            sources.append(single(right))
            return
        if left[0] is Tag.GROWN and right[0] is Tag.ROWS:
            rows = [values(item) or [Fixed(torch.zeros(0, dtype=torch.bool))] for item in right[1]]
            for number, (dtype, shape) in enumerate(_table_of(right)[1]):
                sources.append(Stacked(tuple(row[number] for row in rows), dtype, shape))
            return
        if left[0] is Tag.SHARED and right[0] is not Tag.SHARED:
            walk(left[1], right)
            return
        for one, other in zip(left, right, strict=True):
            walk(one, other)

    walk(general, special)
    return sources
