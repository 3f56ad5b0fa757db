"""Widening: what would never come round becomes a value that the input determines.

Two states at the same program points and positions of static iterators may differ in numbers only: a count of skipped
layers, a loop's counter. They share a block in which those numbers are host values. Dimensions are widened more
reluctantly, where a loop makes a tensor grow: they become named dimensions. Structure is never widened.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeGuard, cast

from dycl.hcfg.types import Dimension, DType, HostKind, HostType
from dycl.rewrite.knowledge import Place
from dycl.rewrite.record.layouts import Layout, common, in_order
from dycl.rewrite.record.number_classes import PYTHON_TYPES
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.items import ArrayItem, KnownItem, NumberItem, Template, TensorItem, TupleItem
from dycl.rewrite.state.skeleton import (
    AtomNode,
    ConstantNode,
    DictNode,
    FrameNode,
    GrownNode,
    HostArrayNode,
    HostNode,
    IteratorNode,
    ListNode,
    RowsNode,
    SetNode,
    SharedNode,
    Skeleton,
    TensorNode,
    TupleNode,
)
from dycl.rewrite.state.whole_state import StateNode, has_parts, rebuilt, with_parts

_NUMBERS: dict[type, HostKind] = {int: "int", float: "float"}
_FLOATS = ("float16", "bfloat16", "float32", "float64")


class NumberKey(NamedTuple):
    """Stands in a key for a number of this kind, known or open."""

    kind: HostKind
    tag: str = "number key"


class TensorKey(NamedTuple):
    """Stands in a key for a tensor with this many dimensions, known or computed."""

    dtype: DType
    rank: int
    tag: str = "tensor key"


class TableKey(NamedTuple):
    """Stands in a key for a list of any length, with the number of dimensions of each value in its items."""

    template: Template
    ranks: tuple[int, ...]
    tag: str = "table key"


class TableColumn(NamedTuple):
    """What a table has for one value in its items; its shape is one item's, or that of all items stacked."""

    dtype: DType
    shape: tuple[Dimension, ...]


def _may_change(part: object) -> TypeGuard[tuple[object, ...]]:
    """Whether something that widening is about may stand inside: most parts of a state are passed by."""
    return part.cls in _NUMBERS if type(part) is AtomNode else has_parts(part)


def without_numbers(part: object, dimensions: bool, constants: bool = False) -> Any:
    """What widening never touches: a part of a state without numbers and, if asked, dimensions and constants."""
    if not _may_change(part):
        return part
    match part:
        case AtomNode(cls, _, value) if _fits(value):
            return NumberKey(_NUMBERS[cls])
        case DictNode(items=items):
            return part._replace(
                items=tuple([(key, without_numbers(value, dimensions, constants)) for key, value in items]),
                factory=without_numbers(part.factory, dimensions, constants),
                attributes=without_numbers(part.attributes, dimensions, constants),
            )
        case SetNode():
            return part
        case HostNode(kind) if kind != "bool":
            return NumberKey(kind)
        case SharedNode(tensor):
            return without_numbers(tensor, dimensions, constants)
        case TensorNode(dtype, shape) | ConstantNode(dtype, shape) if dimensions:
            return TensorKey(dtype, len(shape))
        case GrownNode(template, columns) if dimensions:
            return TableKey(template, tuple(len(column.shape) - 1 for column in columns))
        case RowsNode(items) if dimensions and (table := _as_table(items)) is not None:
            return TableKey(table[0], tuple(len(column.shape) for column in table[1]))
        case TensorNode(dtype, shape) | ConstantNode(dtype, shape) if constants:
            return TensorNode(dtype, shape, None)
        case ConstantNode(dtype, shape, _, layout) | TensorNode(dtype, shape, layout) if dtype in _FLOATS:
            return TensorNode(dtype, shape, None if layout == in_order(shape) else layout)
        case IteratorNode(items=items):
            # Items of a static iterator keep their numbers: positions in it stay static.
            is_list = isinstance(items, ListNode)
            return part._replace(items=without_numbers(items, dimensions, constants)) if is_list else part
        case _:
            return with_parts(part, lambda inner: without_numbers(inner, dimensions, constants))


def _as_table(items: tuple[Skeleton, ...]) -> tuple[Template, list[TableColumn]] | None:
    """The kind of a list's items, and the column that each of their values makes; None if they differ."""
    found = []
    for item in items:
        columns: list[TableColumn] = []
        found.append((_template(item, columns), columns or [TableColumn("bool", (0,))]))
    return found[0] if all(kind == found[0] for kind in found) else None


def _template(item: Skeleton, columns: list[TableColumn]) -> Template:
    match item:
        case SharedNode(tensor):
            return _template(tensor, columns)
        case TensorNode(dtype, shape) | ConstantNode(dtype, shape):
            columns.append(TableColumn(dtype, shape))
            return TensorItem(dtype)
        case HostArrayNode(scalar, tensor):
            _template(tensor, columns)
            return ArrayItem(columns[-1].dtype, scalar)
        case HostNode(kind):
            columns.append(TableColumn(HostType(kind).tensor.dtype, ()))
            return NumberItem(kind)
        case AtomNode(cls) if cls in (bool, int, float):
            return _template(HostNode(cast(HostKind, cls.__name__)), columns)
        case AtomNode(cls, _, value):
            return KnownItem(cls, value)
        case TupleNode(cls, parts):
            return TupleItem(cls, tuple([_template(part, columns) for part in parts]))
        case _:
            raise AssertionError(f"no item of a table: {item}")


def _fits(value: int | float) -> bool:
    """Whether a number can be a host value, which has 64 bits."""
    return isinstance(value, float) or -(2**63) <= value < 2**63


def numbers_widened(old: StateNode, new: StateNode) -> StateNode:
    """`new` with those numbers open that stood at the same place in `old` with another value."""
    before = dict(_numbers(old, ()))

    def changed(part: object, path: Place) -> Any:
        if not _may_change(part):
            return part
        match part:
            case AtomNode(cls, _, value):
                return HostNode(_NUMBERS[cls]) if before.get(path, (cls, value)) != (cls, value) else part
            case SetNode() | IteratorNode():
                return part
            case FrameNode(names=names, values=values):
                opened = [changed(value, (*path, name)) for name, value in zip(names, values, strict=True)]
                return part._replace(values=tuple(opened))
            case DictNode(items=items):
                kept = [(key, changed(value, (*path, place))) for place, (key, value) in enumerate(items)]
                return part._replace(items=tuple(kept))
            case _:
                return rebuilt(part, [changed(inner, (*path, place)) for place, inner in enumerate(part)])

    return rebuilt(new, [changed(part, (place,)) for place, part in enumerate(new)])


def _numbers(part: object, path: Place) -> Iterator[tuple[Place, tuple[type, object]]]:
    """Every number in a state with its place, those that are open with no value."""
    if not _may_change(part):
        return
    match part:
        case AtomNode(cls, _, value):
            if _fits(value):
                yield path, (cls, value)
        case HostNode(kind) if kind != "bool":
            yield path, (PYTHON_TYPES[kind], None)
        case SetNode() | IteratorNode():
            return
        case FrameNode(names=names, values=values):
            for name, value in zip(names, values, strict=True):
                yield from _numbers(value, (*path, name))
        case DictNode(items=items):
            for place, (_, value) in enumerate(items):
                yield from _numbers(value, (*path, place))
        case _:
            for place, inner in enumerate(part):
                yield from _numbers(inner, (*path, place))


def merged(old: StateNode, new: StateNode) -> StateNode:
    """The narrowest state that both fit; equal to `old` if `new` fits it already."""
    return renamed_dimensions(rebuilt(old, map(_Widening().merge, old, new)))


class _Widening:
    """Merges states that differ in numbers or dimensions only."""

    def __init__(self) -> None:
        self._names: dict[tuple[Dimension, Dimension], str] = {}

    def merge(self, old: object, new: object) -> Any:
        """The narrowest part that both fit; `old` itself if `new` fits it already."""
        if old == new:
            return old
        match old, new:
            case AtomNode(cls), AtomNode() if cls in _NUMBERS:
                return HostNode(_NUMBERS[cls])
            case HostNode(), AtomNode():
                return old
            case AtomNode(), HostNode():
                return new
            case ((TensorNode() | ConstantNode()), (TensorNode() | ConstantNode())):
                layout = common(_layout(old), _layout(new), (old.shape, new.shape))
                return TensorNode(old.dtype, tuple(map(self._dimension, old.shape, new.shape)), layout)
            case SharedNode(tensor), SharedNode(other):
                return SharedNode(self.merge(tensor, other))
            case SharedNode(tensor), _:
                return SharedNode(self.merge(tensor, new))
            case _, SharedNode(tensor):
                return SharedNode(self.merge(old, tensor))
            case ((RowsNode() | GrownNode()), (RowsNode() | GrownNode())) if not _same_rows(old, new):
                return self._table(old, new)
            case tuple(), tuple() if type(old) is type(new) and len(old) == len(new):
                return rebuilt(old, map(self.merge, old, new))
        raise Refused("DY011", "two states that should share a block differ in more than numbers")

    def _table(self, old: RowsNode | GrownNode, new: RowsNode | GrownNode) -> GrownNode:
        """Two lists of different lengths, as one of a length that the input decides."""
        (template, left), (_, right) = table_of(old), table_of(new)
        columns = [
            TensorNode(column.dtype, tuple(map(self._dimension, column.shape, other.shape)), None)
            for column, other in zip(left, right, strict=True)
        ]
        return GrownNode(template, tuple(columns))

    def _dimension(self, old: Dimension, new: Dimension) -> Dimension:
        """Equal dimensions stay; a pair that differs gets a new name, the same for every equal pair."""
        return old if old == new else self._names.setdefault((old, new), f"new{len(self._names)}")


def _layout(node: TensorNode | ConstantNode) -> Layout:
    return node.layout if isinstance(node, TensorNode) else node.strides


def _same_rows(old: RowsNode | GrownNode, new: RowsNode | GrownNode) -> bool:
    """Whether two lists can be merged item by item."""
    if isinstance(old, RowsNode) and isinstance(new, RowsNode):
        return bool(without_numbers(old.items, True) == without_numbers(new.items, True))
    return type(old) is type(new)


def table_of(node: RowsNode | GrownNode) -> tuple[Template, list[TableColumn]]:
    """The kind of a list's items, and the columns that they make."""
    if isinstance(node, GrownNode):
        return node.template, [TableColumn(column.dtype, column.shape) for column in node.columns]
    table = _as_table(node.items)
    assert table is not None
    return table[0], [TableColumn(column.dtype, (len(node.items), *column.shape)) for column in table[1]]


def renamed_dimensions(state: StateNode) -> StateNode:
    """The state with its named dimensions numbered in order of appearance."""
    names: dict[str, str] = {}

    def renamed(part: object) -> object:
        if not has_parts(part):
            return part
        if type(part) is not TensorNode:
            return with_parts(part, renamed)
        sizes = [size if isinstance(size, int) else names.setdefault(size, f"d{len(names)}") for size in part.shape]
        return TensorNode(part.dtype, tuple(sizes), part.layout)

    return rebuilt(state, map(renamed, state))
