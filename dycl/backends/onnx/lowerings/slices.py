"""Lowerings that take stretches of a tensor or put them back: slices, splits, flips, rolls."""

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import (
    END,
    concat,
    flatten,
    gather,
    reshape_like,
    slice_axis,
    squeeze,
    unsqueeze,
)
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import UNKNOWN, Size, Value


@lowers("aten.slice.Tensor")
def sliced(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    axis = a.axis("dim", x.rank)
    start: Size = a.size("start") if a.has("start") else 0
    end: Size = a.size("end") if a.has("end") else END
    if start == 0 and end == x.shape[axis] and a.size("step") == 1:
        return x
    if start == 0 and isinstance(end, int) and end >= END and a.size("step") == 1:
        return x
    return slice_axis(b, x, axis, start, end, a.size("step"))


@lowers("aten.select.int")
def select(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    return gather(b, x, b.number(a.size("index"), "int64"), a.axis("dim", x.rank))


@lowers("aten.narrow.default")
def narrow(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    axis = a.axis("dim", x.rank)
    start, length = a.size("start"), a.size("length")
    if isinstance(start, int) and start < 0:
        start = b.size("Add", start, b.size_of(x, axis))
    elif not isinstance(start, int):
        start = _from_front(b, b.number(start, "int64"), b.size_of(x, axis))
    return slice_axis(b, x, axis, start, b.size("Add", start, length))


def _from_front(b: Builder, index: Value, size: Size) -> Value:
    """An index counted from the front, though it may count from the end."""
    wrapped = b.node("Add", index, b.number(size, "int64"))
    return b.node("Where", b.node("Less", index, b.constant(0)), wrapped, index)


@lowers("aten.slice_scatter.default")
def slice_scatter(b: Builder, a: Arguments) -> Value:
    x, source = a.tensor("self"), b.cast(a.tensor("src"), a.tensor("self").dtype)
    axis = a.axis("dim", x.rank)
    size = b.size_of(x, axis)
    start = _bound(b, a.size("start") if a.has("start") else 0, size)
    end = _bound(b, a.size("end") if a.has("end") else END, size)
    step = a.integer("step")
    if step == 1:
        if start == 0 and end == size:
            return source
        end = b.size("Max", start, end)
        return concat(b, [slice_axis(b, x, axis, 0, start), source, slice_axis(b, x, axis, end, END)], axis)
    places = b.node("Range", *(b.number(number, "int64") for number in (start, end, step)), shape=(UNKNOWN,))
    return replace_rows(b, x, axis, places, source)


def replace_rows(b: Builder, x: Value, axis: int, places: Value, source: Value, reduction: str = "none") -> Value:
    """The value with the slices at `places` of one axis replaced by, or combined with, those of `source`."""
    column = unsqueeze(b, places, [axis_ for axis_ in range(x.rank) if axis_ != axis])
    spread = b.node("Expand", column, b.shape_of(source), shape=source.shape)
    return b.node("ScatterElements", x, spread, source, shape=x.shape, axis=axis, reduction=reduction)


def _bound(b: Builder, bound: Size, size: Size) -> Size:
    """A slice's bound within 0 and the size, counted from the front."""
    if isinstance(bound, int) and isinstance(size, int):
        return min(max(bound + size if bound < 0 else bound, 0), size)
    if isinstance(bound, int) and bound >= END:
        return size
    if bound == 0:
        return 0
    front = _from_front(b, b.number(bound, "int64"), size)
    return b.node("Min", b.node("Max", front, b.constant(0)), b.number(size, "int64"))


@lowers("aten.select_scatter.default")
def select_scatter(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    axis = a.axis("dim", x.rank)
    source = unsqueeze(b, b.cast(a.tensor("src"), x.dtype), [axis])
    size, index = b.size_of(x, axis), a.size("index")
    if isinstance(index, int) and isinstance(size, int):
        index %= size
        pieces = [slice_axis(b, x, axis, 0, index)] if index else []
        pieces.append(source)
        pieces += [slice_axis(b, x, axis, index + 1, END)] if index + 1 < size else []
        return concat(b, pieces, axis)
    # An index outside the axis must fail, as it does here and would not in a slice.
    return replace_rows(b, x, axis, b.vector([index]), source)


@lowers("aten.split.Tensor", "aten.split_with_sizes.default", "aten.split.sizes", "aten.chunk.default")
def split(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    axis = a.axis("dim", x.rank)
    lengths: list[Size] = [size for result in a.results if isinstance(size := result.shape[axis], int)]
    if len(lengths) != len(a.results):
        lengths = _lengths(b, a, b.size_of(x, axis))
    if len(lengths) == 1:
        return [x]
    types = [(result.dtype, result.shape) for result in a.results]
    return list(b.outputs("Split", [x, b.vector(lengths)], types, axis=axis))


def _lengths(b: Builder, a: Arguments, whole: Size) -> list[Size]:
    """How long the pieces are, where their types do not say it, from what the caller asked for."""
    count = len(a.results)
    if a.has("split_sizes"):
        return a.sizes("split_sizes")
    if a.has("chunks"):
        b.refuse("how long the pieces are is only known at run time")
    asked = a.sizes("split_size")
    if len(asked) == 1 and count > 1:
        return [*asked * (count - 1), b.size("Sub", whole, b.size("Mul", asked[0], count - 1))]
    return asked


@lowers("aten.unbind.int")
def unbind(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    axis = a.axis("dim", x.rank)
    count = len(a.results)
    if count == 0:
        return []
    if count == 1:
        return [squeeze(b, x, [axis])]
    piece = x.shape[:axis] + (1,) + x.shape[axis + 1 :]
    pieces = b.outputs("Split", [x, b.constant([1] * count)], [(x.dtype, piece)] * count, axis=axis)
    return [squeeze(b, item, [axis]) for item in pieces]


@lowers("aten.flip.default", "aten.fliplr.default", "aten.flipud.default")
def flip(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    named = {"aten.fliplr.default": [1], "aten.flipud.default": [0]}
    axes = named[a.target] if a.target in named else [axis % max(x.rank, 1) for axis in a.integers("dims")]
    if not axes or not x.rank:
        return x
    ends = b.constant([-END] * len(axes)), b.constant(axes), b.constant([-1] * len(axes))
    return b.node("Slice", x, b.constant([-1] * len(axes)), *ends, shape=x.shape)


@lowers("aten.roll.default")
def roll(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    shifts, axes = a.sizes("shifts"), a.integers("dims")
    if not x.rank:
        return x
    if not axes:
        return reshape_like(b, _rolled(b, flatten(b, x), 0, shifts[0]), x)
    result = x
    for shift, axis in zip(shifts, axes, strict=True):
        result = _rolled(b, result, axis % x.rank, shift)
    return result


def _rolled(b: Builder, x: Value, axis: int, shift: Size) -> Value:
    size = x.shape[axis]
    if isinstance(shift, int) and isinstance(size, int):
        if size == 0 or shift % size == 0:
            return x
        cut: Size = size - shift % size
    else:
        # An empty axis has no remainder; rolling it by anything is the same.
        whole = b.node("Max", b.number(b.size_of(x, axis), "int64"), b.constant(1))
        cut = b.node("Mod", b.node("Neg", b.number(shift, "int64")), whole)
    rolled = concat(b, [slice_axis(b, x, axis, cut, END), slice_axis(b, x, axis, 0, cut)], axis)
    return Value(rolled.name, x.dtype, x.shape)
