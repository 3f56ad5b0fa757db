"""Lowerings of what is done to each stretch of an axis: reductions of segments, products of groups."""

import math

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.lowerings.linear import matmul
from dycl.backends.onnx.lowerings.reductions import for_all
from dycl.backends.onnx.lowerings.scattering import scatter_extreme
from dycl.backends.onnx.lowerings.slices import replace_rows
from dycl.backends.onnx.pieces import (
    END,
    arange,
    concat,
    expand,
    filled,
    guarded,
    reduce,
    slice_axis,
    transpose,
    unsqueeze,
)
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import UNKNOWN, Value


@lowers("aten.segment_reduce.default")
def segment_reduce(b: Builder, a: Arguments) -> Value:
    x, how = a.tensor("data"), a.text("reduce")
    axis = a.integer("axis") % x.rank
    edges = _edges(b, a, x, axis)
    if edges.rank != axis + 1:
        b.refuse("segments that are not given for each slice")
    count = b.size("Sub", b.size_of(edges, axis), 1)
    # A row's segment is the last one that begins at or before it; rows outside all segments go to one more.
    rows = unsqueeze(b, arange(b, b.size_of(x, axis)), [1])
    begun = b.cast(b.node("LessOrEqual", unsqueeze(b, edges, [axis]), rows), "int64")
    number = b.node("Sub", reduce(b, "ReduceSum", begun, [axis + 1], keepdim=False), b.constant(1))
    number = b.node("Where", b.node("Less", number, b.constant(0)), b.number(count, "int64"), number)
    neutral = {"max": -math.inf, "min": math.inf, "prod": 1.0}.get(how, 0.0)
    initial = a.real("initial") if a.has("initial") else neutral
    sizes = b.sizes_of(x)
    start = filled(b, initial, x.dtype, [*sizes[:axis], b.size("Add", count, 1), *sizes[axis + 1 :]])
    if how in ("max", "min") or axis:
        spread = expand(b, unsqueeze(b, number, range(axis + 1, x.rank)), sizes, x.shape)
    if how in ("max", "min"):
        result = scatter_extreme(b, axis, spread, x, how, start)
    elif axis:
        reduction = "mul" if how == "prod" else "add"
        result = b.node("ScatterElements", start, spread, x, shape=start.shape, axis=axis, reduction=reduction)
    else:
        result = replace_rows(b, start, 0, number, x, "mul" if how == "prod" else "add")
    result = slice_axis(b, result, axis, 0, count)
    if how != "mean":
        return result
    lengths = b.node("Sub", slice_axis(b, edges, axis, 1, END), slice_axis(b, edges, axis, 0, -1))
    lengths = unsqueeze(b, b.cast(lengths, x.dtype), range(axis + 1, x.rank))
    mean = b.node("Div", result, lengths, shape=result.shape)
    if not a.has("initial"):
        return mean
    return b.node("Where", b.node("Equal", lengths, b.number(0, x.dtype)), b.number(initial, x.dtype), mean)


def _edges(b: Builder, a: Arguments, x: Value, axis: int) -> Value:
    """Where the segments of each slice begin, and where the last one ends."""
    if a.has("offsets"):
        return b.cast(a.tensor("offsets"), "int64")
    if not a.has("lengths"):
        b.refuse("segments by `indices`")
    lengths = b.cast(a.tensor("lengths"), "int64")
    if lengths.rank != axis + 1:
        b.refuse("segments that are not given for each slice")
    ends = b.node("CumSum", lengths, b.constant(axis), shape=lengths.shape)
    if not a.flag("unsafe"):
        totals = reduce(b, "ReduceSum", lengths, [axis], keepdim=False)
        same = b.node("Equal", totals, b.number(b.size_of(x, axis), "int64"))
        ends = guarded(b, ends, for_all(b, same, range(axis), keepdim=False))
    return concat(b, [filled(b, 0, "int64", [*b.sizes_of(lengths)[:-1], 1]), ends], axis)


@lowers("aten._grouped_mm.default")
def grouped_mm(b: Builder, a: Arguments) -> Value:
    x, y = a.tensor("self"), a.tensor("mat2")
    if a.has("bias") or a.result.dtype != x.dtype:
        b.refuse("a bias or another element type")
    if x.rank == y.rank == 3:
        return matmul(b, x, y)
    offsets = a.optional("offs")
    if offsets is None:
        b.refuse("no offsets")
    ends = b.cast(offsets, "int64")
    starts = concat(b, [b.constant([0]), slice_axis(b, ends, 0, 0, -1)], 0)
    if x.rank == y.rank:
        return _inner_groups(b, x, y, starts, ends)
    if x.rank == 3:
        # Groups of columns: as rows of the transposed product.
        x, y = transpose(b, y, [1, 0]), transpose(b, x, [0, 2, 1])
        return transpose(b, _row_groups(b, x, y, starts, ends), [1, 0])
    return _row_groups(b, x, y, starts, ends)


def _stretch(b: Builder, x: Value, axis: int, start: Value, end: Value) -> Value:
    shape = x.shape[:axis] + (UNKNOWN,) + x.shape[axis + 1 :]
    return b.node("Slice", x, *(unsqueeze(b, bound, [0]) for bound in (start, end)), b.constant([axis]), shape=shape)


def _row_groups(b: Builder, x: Value, y: Value, starts: Value, ends: Value) -> Value:
    """Each group of rows times its own matrix; 0 for rows of no group."""
    result = expand(b, b.number(0, x.dtype), [b.size_of(x, 0), b.size_of(y, 2)])

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        (result,), (matrix, start, end) = states, slices

        def some() -> list[Value]:
            group = b.node("MatMul", _stretch(b, x, 0, start, end), matrix, shape=(UNKNOWN, y.shape[2]))
            pieces = [_stretch(b, result, 0, b.constant(0), start), group, _stretch(b, result, 0, end, b.constant(END))]
            return [b.node("Concat", *pieces, shape=result.shape, axis=0)]

        return b.choose(b.node("Less", start, end), some, lambda: [result]), []

    return b.scan([result], [y, starts, ends], 0, step)[0]


def _inner_groups(b: Builder, x: Value, y: Value, starts: Value, ends: Value) -> Value:
    """A product for each group of columns of the first matrix and rows of the second."""
    blank = expand(b, b.number(0, x.dtype), [b.size_of(x, 0), b.size_of(y, 1)])

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        start, end = slices

        def some() -> list[Value]:
            left, right = _stretch(b, x, 1, start, end), _stretch(b, y, 0, start, end)
            return [b.node("MatMul", left, right, shape=blank.shape)]

        return [], b.choose(b.node("Less", start, end), some, lambda: [blank])

    return b.scan([], [starts, ends], 0, step)[0]
