"""Lowerings that write elements to places of a copy."""

import math

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.lowerings.arithmetic import scaled
from dycl.backends.onnx.lowerings.indexing import AdvancedIndex
from dycl.backends.onnx.lowerings.slices import replace_rows
from dycl.backends.onnx.nan import unless_nan
from dycl.backends.onnx.pieces import (
    expand_like,
    filled,
    flatten,
    gather,
    reshape,
    reshape_like,
    slice_axis,
    transpose,
    unsqueeze,
)
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import UNKNOWN, Value, highest, is_float, lowest, wider


def _scatter(
    b: Builder, x: Value, axis: int, index: Value, source: Value, reduction: str = "none", target: Value | None = None
) -> Value:
    """A copy of `x` (or of `target`) with the elements of `source` at the places of `index` along one axis."""
    base = x if target is None else target
    if not x.rank:
        base, index, source = (reshape(b, value, [1]) for value in (base, index, source))
        return reshape(b, b.node("ScatterElements", base, index, source, shape=(1,), reduction=reduction), [])
    return b.node("ScatterElements", base, index, source, shape=x.shape, axis=axis, reduction=reduction)


def _trimmed(b: Builder, source: Value, index: Value) -> Value:
    """The part of the source that the index covers."""
    if source.shape == index.shape and UNKNOWN not in source.shape:
        return source
    axes = [axis for axis in range(source.rank) if source.shape[axis] != index.shape[axis] or UNKNOWN in source.shape]
    if not axes:
        return source
    ends = b.vector([b.size_of(index, axis) for axis in axes])
    return b.node("Slice", source, b.constant([0] * len(axes)), ends, b.constant(axes), shape=index.shape)


_REDUCTIONS = {"add": "add", "sum": "add", "multiply": "mul", "prod": "mul", "amax": "max", "amin": "min"}


@lowers(
    "aten.scatter.src",
    "aten.scatter.value",
    "aten.scatter.reduce",
    "aten.scatter.value_reduce",
    "aten.scatter_add.default",
)
def scatter(b: Builder, a: Arguments) -> Value:
    x, index = a.tensor("self"), _in_a_row(b, b.cast(a.tensor("index"), "int64"), a)
    if a.has("value"):
        source = expand_like(b, b.number(a.number("value"), x.dtype), index)
    else:
        source = _trimmed(b, _in_a_row(b, b.cast(a.tensor("src"), x.dtype), a), index)
    reduction = "add" if "scatter_add" in a.target else "none"
    if a.has("reduce"):
        reduction = _REDUCTIONS[a.text("reduce")]
    return _scatter(b, x, a.axis("dim", x.rank), index, source, reduction)


def _in_a_row(b: Builder, value: Value, a: Arguments) -> Value:
    """A number as a row of one, where the tensor that it is put into has a dimension."""
    return reshape(b, value, [1]) if a.tensor("self").rank and not value.rank else value


@lowers("aten.scatter_reduce.two")
def scatter_reduce(b: Builder, a: Arguments) -> Value:
    x, index = a.tensor("self"), _in_a_row(b, b.cast(a.tensor("index"), "int64"), a)
    source = _trimmed(b, _in_a_row(b, b.cast(a.tensor("src"), x.dtype), a), index)
    return _reduced(b, x, a.axis("dim", x.rank), index, source, a.text("reduce"), a.flag("include_self"))


@lowers("aten.index_reduce.default")
def index_reduce(b: Builder, a: Arguments) -> Value:
    x, index = a.tensor("self"), b.cast(a.tensor("index"), "int64")
    source = b.cast(a.tensor("source"), x.dtype)
    axis = a.axis("dim", x.rank)
    rows, source, index = (value if value.rank else reshape(b, value, [1]) for value in (x, source, index))
    column = unsqueeze(b, index, [place for place in range(rows.rank) if place != axis])
    result = _reduced(b, rows, axis, expand_like(b, column, source), source, a.text("reduce"), a.flag("include_self"))
    return result if x.rank else reshape(b, result, [])


def _reduced(b: Builder, x: Value, axis: int, index: Value, source: Value, how: str, include: bool) -> Value:
    """A copy of `x` with what meets at each place combined; the element of `x` itself only if it is to be included."""
    if x.dtype == "bool":
        x, source = b.cast(x, "int64"), b.cast(source, "int64")
        return b.cast(_reduced(b, x, axis, index, source, how, include), "bool")
    base = x
    if not include:
        neutral = {"prod": 1, "amax": lowest(x.dtype), "amin": highest(x.dtype)}.get(how, 0)
        base = _scatter(b, x, axis, index, expand_like(b, b.number(neutral, x.dtype), index))
    if how in ("amax", "amin"):
        return scatter_extreme(b, axis, index, source, _REDUCTIONS[how], base)
    if how != "mean":
        return _scatter(b, x, axis, index, source, _REDUCTIONS[how], base)
    total = _scatter(b, x, axis, index, source, "add", base)
    ones = expand_like(b, b.number(1, x.dtype), index)
    start = expand_like(b, b.number(1 if include else 0, x.dtype), x)
    count = b.node("Max", _scatter(b, x, axis, index, ones, "add", start), b.number(1, x.dtype))
    if is_float(x.dtype):
        return b.node("Div", total, count)
    return b.node("Div", b.node("Sub", total, b.node("Mod", total, count)), count)


def scatter_extreme(b: Builder, axis: int, index: Value, source: Value, reduction: str, base: Value) -> Value:
    """A copy of `base` with the greatest or least elements that meet at each place; NaN if any of them is."""
    wide, wide_source = (b.cast(value, wider(base.dtype)) for value in (base, source))

    def usual() -> list[Value]:
        return [_scatter(b, wide, axis, index, wide_source, reduction)]

    def careful() -> list[Value]:
        before, added = (b.cast(b.node("IsNaN", value), "int32") for value in (wide, wide_source))
        found = b.cast(_scatter(b, before, axis, index, added, "add"), "bool")
        return [b.node("Where", found, b.number(math.nan, wide.dtype), *usual())]

    (result,) = unless_nan(b, [wide, wide_source], usual, careful)
    return b.cast(result, base.dtype)


@lowers(
    "aten.index_add.default",
    "aten.index_copy.default",
    "aten.index_fill.int_Scalar",
    "aten.index_fill.int_Tensor",
)
def index_rows(b: Builder, a: Arguments) -> Value:
    x, index = a.tensor("self"), b.cast(a.tensor("index"), "int64")
    rows = x if x.rank else reshape(b, x, [1])
    index = index if index.rank else reshape(b, index, [1])
    axis = a.axis("dim", x.rank)
    if a.has("value"):
        sizes = b.sizes_of(rows)
        sizes[axis] = b.size_of(index, 0)
        source = filled(b, a.number("value"), x.dtype, sizes)
    else:
        source = b.cast(a.tensor("source"), x.dtype)
        source = source if source.rank else reshape(b, source, [1])
    adds = "index_add" in a.target
    if adds:
        source = scaled(b, source, a.number("alpha"))
        size = b.size_of(rows, axis)
        if isinstance(size, Value):
            # To no rows at all nothing is added, whatever the index: ONNX Runtime would look for its places.
            given = b.number(b.size_of(index, 0), "int64")
            count = b.node("Mul", given, b.node("Min", size, b.constant(1)))
            index, source = slice_axis(b, index, 0, 0, count), slice_axis(b, source, axis, 0, count)
    result = replace_rows(b, rows, axis, index, source, "add" if adds else "none")
    return result if x.rank else reshape(b, result, [])


@lowers("aten.put.default")
def put(b: Builder, a: Arguments) -> Value:
    x, index, source = a.tensor("self"), b.cast(a.tensor("index"), "int64"), a.tensor("source")
    flat, places, values = (flatten(b, value) for value in (x, index, b.cast(source, x.dtype)))
    return reshape_like(b, _scatter(b, flat, 0, places, values, "add" if a.flag("accumulate") else "none"), x)


@lowers("aten.index_put.default", "aten._unsafe_index_put.default")
def index_put(b: Builder, a: Arguments) -> Value:
    x, indices = a.tensor("self"), a.optional_tensors("indices")
    values = b.cast(a.tensor("values"), x.dtype)
    accumulate = a.flag("accumulate")
    given = [index for index in indices if index is not None]
    masks = [index for index in given if index.dtype in ("bool", "uint8")]
    if any(not mask.rank for mask in masks):
        b.refuse("a single flag is used as a mask")
    if len(given) == len(masks) == 1 and indices[0] is not None and not accumulate and not _per_element(values):
        mask = b.cast(given[0], "bool")
        one = values if not values.rank else reshape(b, values, [])
        return b.node("Where", unsqueeze(b, mask, range(mask.rank, x.rank)), one, x, shape=x.shape)
    if any(0 in index.shape for index in given):
        return x
    where = AdvancedIndex(b, x, indices)
    moved = transpose(b, x, where.order)
    places = where.places(b)
    rank = len(where.shape) + len(where.rest)
    # The values' axes are those of PyTorch's result; bring them to (indexed, rest) as well.
    back = where.arranged(rank)
    values = unsqueeze(b, values, range(rank - values.rank))
    values = transpose(b, values, [back.index(axis) for axis in range(rank)])
    sizes = b.sizes_of(places)[:-1] + b.sizes_of(moved)[len(where.axes) :]
    values = b.node("Expand", values, b.vector(sizes), shape=where.shape + where.rest)
    reduction = "add" if accumulate else "none"
    result = b.node("ScatterND", moved, places, values, shape=moved.shape, reduction=reduction)
    return transpose(b, result, [where.order.index(axis) for axis in range(x.rank)])


def _per_element(values: Value) -> bool:
    """Whether different places may get different values."""
    return any(size != 1 for size in values.shape)


@lowers("aten.masked_scatter.default")
def masked_scatter(b: Builder, a: Arguments) -> Value:
    x, mask, source = a.tensor("self"), a.tensor("mask"), a.tensor("source")
    if x.shape != mask.shape or UNKNOWN in x.shape:
        together = b.node("Or", b.node("Equal", x, x), mask)
        x, mask = (expand_like(b, value, together) for value in (x, mask))
    flags = flatten(b, mask)
    order = b.node("CumSum", b.cast(flags, "int64"), b.constant(0), shape=flags.shape)
    # Where the mask is not set, any element will do, so long as there is one: pad for an empty source.
    places = b.node("Where", flags, order, b.constant(0))
    flat = flatten(b, b.cast(source, x.dtype))
    padded = b.node("Concat", b.constant([0], x.dtype), flat, shape=(UNKNOWN,), axis=0)
    return b.node("Where", mask, reshape_like(b, gather(b, padded, places, 0), x), x, shape=x.shape)


@lowers("aten.diagonal_scatter.default", "aten.diag_embed.default")
def on_diagonal(b: Builder, a: Arguments) -> Value:
    embed = "diag_embed" in a.target
    source = a.tensor("self" if embed else "src")
    rank = source.rank + 1
    first, second, offset = a.axis("dim1", rank), a.axis("dim2", rank), a.integer("offset")
    if embed:
        side = b.size("Add", b.size_of(source, source.rank - 1), abs(offset))
        sizes = b.sizes_of(source)[:-1] + [side, side]
        moved = filled(b, 0, source.dtype, sizes)
    else:
        x = a.tensor("self")
        moved = transpose(b, x, [axis for axis in range(rank) if axis not in (first, second)] + [first, second])
    rows, columns = b.size_of(moved, rank - 2), b.size_of(moved, rank - 1)
    if not isinstance(rows, int) or not isinstance(columns, int):
        b.refuse("the matrix's size is only known at run time")
    places = [row * columns + row + offset for row in range(rows) if 0 <= row + offset < columns]
    outer = b.sizes_of(moved)[:-2]
    flat = reshape(b, moved, [*outer, rows * columns])
    result = replace_rows(b, flat, rank - 2, b.constant(places), b.cast(source, moved.dtype))
    matrix = reshape(b, result, [*outer, rows, columns])
    front = [axis for axis in range(rank) if axis not in (first, second)]
    order = [*front, first, second]
    return transpose(b, matrix, [order.index(axis) for axis in range(rank)])
