"""Lowerings that read elements by their places."""

from collections.abc import Sequence

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import (
    concat,
    filled,
    flatten,
    gather,
    reshape,
    reshape_like,
    slice_axis,
    squeeze,
    transpose,
    unsqueeze,
)
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import UNKNOWN, Size, Value, broadcast


@lowers("aten.index_select.default")
def index_select(b: Builder, a: Arguments) -> Value:
    x, index = a.tensor("self"), a.tensor("index")
    if not x.rank:
        return x
    index = index if index.rank else reshape(b, index, [1])
    return gather(b, x, index, a.axis("dim", x.rank))


@lowers("aten.gather.default")
def gather_elements(b: Builder, a: Arguments) -> Value:
    x, index = a.tensor("self"), b.cast(a.tensor("index"), "int64")
    axis = a.axis("dim", x.rank)
    if not x.rank or not index.rank:
        flat, places = flatten(b, x), flatten(b, index)
        return reshape_like(b, gather(b, flat, places, 0), index)
    return b.node("GatherElements", x, index, shape=index.shape, axis=axis)


@lowers("aten.take.default")
def take(b: Builder, a: Arguments) -> Value:
    return gather(b, flatten(b, a.tensor("self")), a.tensor("index"), 0)


@lowers("aten.nonzero.default", "aten.argwhere.default")
def nonzero(b: Builder, a: Arguments) -> Value:
    x = b.cast(a.tensor("self"), "bool")
    if not x.rank:
        return squeeze_columns(b, x)
    return transpose(b, _nonzero_rows(b, x), [1, 0])


def squeeze_columns(b: Builder, flag: Value) -> Value:
    """The empty place of a single flag: one row if it is set, else none."""
    rows = b.node("NonZero", reshape(b, flag, [1]), dtype="int64", shape=(1, UNKNOWN))
    return b.node("Slice", transpose(b, rows, [1, 0]), *map(b.constant, ([0], [0], [1])), shape=(UNKNOWN, 0))


def _nonzero_rows(b: Builder, mask: Value) -> Value:
    return b.node("NonZero", mask, dtype="int64", shape=(mask.rank, UNKNOWN))


@lowers("aten.nonzero_static.default")
def nonzero_static(b: Builder, a: Arguments) -> Value:
    x, size = b.cast(a.tensor("self"), "bool"), a.size("size")
    if not x.rank:
        b.refuse("the places of a single number")
    rows = transpose(b, _nonzero_rows(b, x), [1, 0])
    rest = filled(b, a.integer("fill_value"), "int64", [size, x.rank])
    return slice_axis(b, b.node("Concat", rows, rest, shape=(UNKNOWN, x.rank), axis=0), 0, 0, size)


@lowers("aten.nonzero_numpy.default")
def nonzero_numpy(b: Builder, a: Arguments) -> list[Value]:
    x = b.cast(a.tensor("self"), "bool")
    return mask_places(b, x if x.rank else reshape(b, x, [1]))


def mask_places(b: Builder, mask: Value) -> list[Value]:
    """The places of a mask's set flags, one 1-d tensor an axis."""
    rows = _nonzero_rows(b, mask)
    if mask.rank == 1:
        return [squeeze(b, rows, [0])]
    pieces = b.outputs("Split", [rows], [("int64", (1, UNKNOWN))] * mask.rank, axis=0, num_outputs=mask.rank)
    return [squeeze(b, piece, [0]) for piece in pieces]


@lowers("aten.masked_select.default")
def masked_select(b: Builder, a: Arguments) -> Value:
    x, mask = a.tensor("self"), a.tensor("mask")
    shape = broadcast((x.shape, mask.shape))
    if x.shape != mask.shape or UNKNOWN in shape:
        together = b.node("Or", b.node("Equal", x, x), mask)
        target = b.shape_of(Value(together.name, "bool", shape))
        x = b.node("Expand", x, target, shape=shape)
        mask = b.node("Expand", mask, target, shape=shape)
    return b.node("Compress", flatten(b, x), flatten(b, mask), shape=(UNKNOWN,), axis=0)


class AdvancedIndex:
    """The places that a list of index tensors, with gaps, points at.

    `places` has one column an indexed axis; `order` brings the indexed axes to the front.
    """

    def __init__(self, b: Builder, x: Value, indices: Sequence[Value | None]) -> None:
        found: dict[int, Value] = {}
        axis = 0
        for index in indices:
            if index is None:
                axis += 1
            elif index.dtype in ("bool", "uint8"):
                mask = b.cast(index, "bool")
                for place in mask_places(b, mask):
                    found[axis] = place
                    axis += 1
            else:
                found[axis] = b.cast(index, "int64")
                axis += 1
        self.axes = sorted(found)
        self.indices = [found[axis] for axis in self.axes]
        self.shape = broadcast(index.shape for index in self.indices)
        rest = [axis for axis in range(x.rank) if axis not in found]
        self.order = self.axes + rest
        self.rest = tuple(x.shape[axis] for axis in rest)
        adjacent = self.axes == list(range(self.axes[0], self.axes[-1] + 1))
        # The indexed axes' result stands where they were if they are adjacent, else in front.
        self.position = self.axes[0] if adjacent and not _apart(indices) else 0

    def together(self, b: Builder) -> list[Value]:
        """The indices, broadcast to one shape."""
        if len(self.indices) == 1:
            return self.indices
        total = self.indices[0]
        for index in self.indices[1:]:
            total = b.node("Add", total, index)
        target = Value(total.name, "int64", self.shape)
        return [
            index
            if index.shape == self.shape and UNKNOWN not in self.shape
            else b.node("Expand", index, b.shape_of(target), shape=self.shape)
            for index in self.indices
        ]

    def places(self, b: Builder) -> Value:
        """One row an element: its place in the indexed axes."""
        columns = [unsqueeze(b, index, [index.rank]) for index in self.together(b)]
        return concat(b, columns, len(self.shape))

    def arranged(self, rank: int) -> list[int]:
        """The order that brings the result's axes from (indexed, rest) to where PyTorch has them."""
        indexed = list(range(len(self.shape)))
        rest = list(range(len(self.shape), rank))
        return rest[: self.position] + indexed + rest[self.position :]


def _apart(indices: Sequence[Value | None]) -> bool:
    """Whether a gap lies between two index tensors."""
    given = [place for place, index in enumerate(indices) if index is not None]
    return given != list(range(given[0], given[-1] + 1))


@lowers("aten.index.Tensor", "aten._unsafe_index.Tensor")
def index(b: Builder, a: Arguments) -> Value:
    x, indices = a.tensor("self"), a.optional_tensors("indices")
    scalars = [item for item in indices if item is not None and item.dtype in ("bool", "uint8") and not item.rank]
    if scalars:
        b.refuse("a single flag is used as a mask")
    where = AdvancedIndex(b, x, indices)
    if len(where.indices) == 1:
        return gather(b, x, where.indices[0], where.axes[0])
    moved = transpose(b, x, where.order)
    picked = b.node("GatherND", moved, where.places(b), shape=where.shape + where.rest)
    return transpose(b, picked, where.arranged(picked.rank))


@lowers("aten.one_hot.default")
def one_hot(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    classes = a.integer("num_classes")
    if classes < 0:
        b.refuse("how many classes there are is only known at run time")
    return b.cast(b.node("Equal", unsqueeze(b, x, [x.rank]), b.constant(range(classes))), "int64")


@lowers("aten.diagonal.default")
def diagonal(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    first, second = a.axis("dim1", x.rank), a.axis("dim2", x.rank)
    offset = a.integer("offset")
    order = [axis for axis in range(x.rank) if axis not in (first, second)]
    moved = transpose(b, x, [*order, first, second])
    rows, columns = b.size_of(moved, moved.rank - 2), b.size_of(moved, moved.rank - 1)
    length = b.size("Min", b.size("Add", rows, min(offset, 0)), b.size("Sub", columns, max(offset, 0)))
    length = b.size("Max", length, 0)
    flat = reshape(b, moved, [*b.sizes_of(moved)[:-2], b.size("Mul", rows, columns)])
    start = b.size("Add", max(offset, 0), b.size("Mul", max(-offset, 0), columns))
    return gather(b, flat, _steps(b, start, b.size("Add", columns, 1), length), flat.rank - 1)


def _steps(b: Builder, start: Size, step: Size, count: Size) -> Value:
    """`count` numbers from `start` on, `step` apart."""
    if isinstance(start, int) and isinstance(step, int) and isinstance(count, int):
        return b.constant([start + step * number for number in range(count)])
    numbers = b.node("Range", b.constant(0), b.number(count, "int64"), b.constant(1), shape=(UNKNOWN,))
    return b.node("Add", b.node("Mul", numbers, b.number(step, "int64")), b.number(start, "int64"))


@lowers("aten.unfold.default")
def unfold(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    if not x.rank:
        return slice_axis(b, reshape(b, x, [1]), 0, 0, a.integer("size"))
    axis = a.axis("dimension", x.rank)
    size, step = a.integer("size"), a.integer("step")
    count = b.size("Add", b.size("Div", b.size("Sub", b.size_of(x, axis), size), step), 1)
    starts = unsqueeze(b, _steps(b, 0, step, count), [1])
    windows = gather(b, x, b.node("Add", starts, b.constant(range(size))), axis)
    order = [place for place in range(windows.rank) if place != axis + 1]
    return transpose(b, windows, [*order, axis + 1])
