"""Small compositions of operators that many lowerings share: moving axes, slicing, joining, reducing."""

from collections.abc import Callable, Sequence

from dycl.backends.onnx.builder import Builder, dimension
from dycl.backends.onnx.values import UNKNOWN, Number, Size, Value, lowest, static_shape, wider
from dycl.hcfg.types import Dimension, DType

END = 2**63 - 1


def reshape(b: Builder, value: Value, sizes: Sequence[Size], shape: tuple[Dimension, ...] | None = None) -> Value:
    """The same elements in another shape; one size may be -1. `shape` says what is known about the result."""
    if shape is None:
        shape = tuple(UNKNOWN if size == -1 else dimension(size) for size in sizes)
    if shape == value.shape and UNKNOWN not in shape:
        return value
    if not shape and static_shape(value.shape) is None:
        return b.node("Squeeze", value, shape=())  # ONNX Runtime gives an open size that turns out 1 back as it is
    static = static_shape(shape)
    if static is not None:
        sizes = list(static)
    elif sum(isinstance(size, str) for size in shape) == 1 and 0 not in shape:
        sizes = [-1 if isinstance(size, str) else size for size in shape]
    # A 0 among the sizes means "as in the input" unless said otherwise; computed sizes may turn out 0.
    zero_is_zero = any(isinstance(size, Value) or size == 0 for size in sizes)
    return b.node("Reshape", value, b.vector(sizes), shape=shape, allowzero=int(zero_is_zero))


def reshape_like(b: Builder, value: Value, other: Value) -> Value:
    """The same elements in the shape of `other`."""
    static = static_shape(other.shape)
    if static is not None:
        return reshape(b, value, static)
    return b.node("Reshape", value, b.shape_of(other), shape=other.shape, allowzero=1)


def flatten(b: Builder, value: Value) -> Value:
    """All elements along one axis."""
    static = static_shape(value.shape)
    total: Dimension = UNKNOWN
    if static is not None:
        total = 1
        for size in static:
            total *= size
    return reshape(b, value, [-1], (total,))


def unsqueeze(b: Builder, value: Value, axes: Sequence[int]) -> Value:
    """The value with axes of size 1 inserted; the axes count in the result."""
    if not axes:
        return value
    rank = value.rank + len(axes)
    places = sorted(axis % rank for axis in axes)
    shape: list[Dimension] = list(value.shape)
    for place in places:
        shape.insert(place, 1)
    return b.node("Unsqueeze", value, b.constant(places), shape=tuple(shape))


def batched(b: Builder, value: Value, spatial: int) -> tuple[Value, bool]:
    """An image, of so many spatial axes, with a batch axis; and whether that was missing."""
    missing = value.rank == spatial + 1
    return (unsqueeze(b, value, [0]) if missing else value), missing


def squeeze(b: Builder, value: Value, axes: Sequence[int]) -> Value:
    """The value without these axes, which have size 1."""
    if not axes:
        return value
    places = sorted(axis % value.rank for axis in axes)
    shape = tuple(size for axis, size in enumerate(value.shape) if axis not in places)
    return b.node("Squeeze", value, b.constant(places), shape=shape)


def transpose(b: Builder, value: Value, order: Sequence[int]) -> Value:
    """The value with its axes in another order."""
    if list(order) == list(range(value.rank)):
        return value
    return b.node("Transpose", value, shape=tuple(value.shape[axis] for axis in order), perm=list(order))


def move_axis(b: Builder, value: Value, source: int, target: int) -> Value:
    """The value with one axis at another place."""
    order = [axis for axis in range(value.rank) if axis != source % value.rank]
    order.insert(target % value.rank, source % value.rank)
    return transpose(b, value, order)


def slice_axis(b: Builder, value: Value, axis: int, start: Size, end: Size, step: Size = 1) -> Value:
    """A stretch of one axis, bounds clipped and counted from the end as Python does."""
    size = value.shape[axis]
    length: Dimension = UNKNOWN
    if isinstance(size, int) and isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        length = len(range(size)[start:end:step])
    shape = value.shape[:axis] + (length,) + value.shape[axis + 1 :]
    bounds = [b.vector([start]), b.vector([end]), b.constant([axis])]
    return b.node("Slice", value, *bounds, *([] if step == 1 else [b.vector([step])]), shape=shape)


def gather(b: Builder, value: Value, index: Value, axis: int) -> Value:
    """Slices of one axis by number, negative ones counted from the end."""
    if index.dtype not in ("int32", "int64"):
        index = b.cast(index, "int64")
    shape = value.shape[:axis] + index.shape + value.shape[axis + 1 :]
    return b.node("Gather", value, index, shape=shape, axis=axis)


def concat(b: Builder, values: Sequence[Value], axis: int) -> Value:
    """The values joined along one axis."""
    if len(values) == 1:
        return values[0]
    total: Dimension = 0
    for value in values:
        size = value.shape[axis]
        total = total + size if isinstance(total, int) and isinstance(size, int) else UNKNOWN
    shape = values[0].shape[:axis] + (total,) + values[0].shape[axis + 1 :]
    return b.node("Concat", *values, shape=shape, axis=axis)


def expand(b: Builder, value: Value, sizes: Sequence[Size], shape: tuple[Dimension, ...] | None = None) -> Value:
    """The value repeated along axes of size 1 (and new ones in front) to these sizes."""
    if shape is None:
        shape = tuple(dimension(size) for size in sizes)
    if shape == value.shape and UNKNOWN not in shape:
        return value
    return b.node("Expand", value, b.vector(sizes), shape=shape)


def expand_like(b: Builder, value: Value, other: Value) -> Value:
    """The value repeated to the shape of `other`."""
    if value.shape == other.shape and UNKNOWN not in value.shape:
        return value
    return b.node("Expand", value, b.shape_of(other), shape=other.shape)


def filled(b: Builder, number: Number, dtype: DType, sizes: Sequence[Size]) -> Value:
    """A tensor of these sizes with one value everywhere."""
    value = b.number(number, dtype)
    return value if not sizes else expand(b, value, sizes)


def reduce(b: Builder, operator: str, value: Value, axes: Sequence[int], keepdim: bool) -> Value:
    """The value reduced over these axes by an operator such as `ReduceSum`."""
    if not value.rank or not axes:
        return value
    if operator in ("ReduceMax", "ReduceMin") and value.dtype == "int64":
        return _extreme_number(b, operator == "ReduceMax", value, axes, keepdim)
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(value.shape) if keepdim or axis not in axes)
    return b.node(operator, value, b.constant(sorted(axes)), shape=shape, keepdims=int(keepdim))


def _extreme_number(b: Builder, is_greatest: bool, value: Value, axes: Sequence[int], keepdim: bool) -> Value:
    """The greatest or least of whole numbers, by the kernel of ONNX Runtime that compares them right; of none, any."""
    for axis in sorted(axes):
        if may_be_empty(value, [axis]):
            sizes = [1 if place == axis else b.size_of(value, place) for place in range(value.rank)]
            least = lowest("int64")
            value = concat(b, [value, expand(b, b.number(least if is_greatest else -least - 1, "int64"), sizes)], axis)
        shape = value.shape[:axis] + (1,) + value.shape[axis + 1 :]
        types: list[tuple[DType, tuple[Dimension, ...]] | None] = [("int64", shape), ("int64", shape)]
        options = {"axis": axis, "largest": int(is_greatest), "sorted": 0}
        value = b.outputs("TopK", [value, b.constant([1])], types, **options)[0]
    return value if keepdim else squeeze(b, value, sorted(axes))


def sum_over(b: Builder, value: Value, axes: Sequence[int], keepdim: bool) -> Value:
    """The sum over these axes; of whole numbers it drops the higher bits, as PyTorch does.

    ONNX Runtime's own sums whole numbers in double precision, and stops at the last number that the type holds. Its
    matrix product is exact.
    """
    if value.dtype not in ("int32", "int64") or not value.rank or not axes:
        return reduce(b, "ReduceSum", value, axes, keepdim)
    total = value
    for axis in sorted(axes, reverse=True):
        ones = expand(b, b.number(1, value.dtype), [b.size_of(value, axis)], (value.shape[axis],))
        total = _row_sums(b, move_axis(b, total, axis, -1), ones)
    return unsqueeze(b, total, axes) if keepdim else total


def _row_sums(b: Builder, rows: Value, ones: Value) -> Value:
    """The product of a matrix and ones, also where there is no row, or nothing in one: the kernel stumbles then."""

    def product() -> list[Value]:
        return [b.node("MatMul", rows, ones, shape=rows.shape[:-1])]

    def nothing() -> list[Value]:
        return [filled(b, 0, rows.dtype, b.sizes_of(rows)[:-1])]

    return unless_empty(b, [rows], product, nothing)[0]


def may_be_empty(value: Value, axes: Sequence[int]) -> bool:
    """Whether a reduction over these axes may have nothing to reduce."""
    return any(isinstance(value.shape[axis], str) or value.shape[axis] == 0 for axis in axes if value.rank)


def unless_empty(
    b: Builder, values: Sequence[Value], usual: Callable[[], Sequence[Value]], empty: Callable[[], Sequence[Value]]
) -> list[Value]:
    """The results of `usual`, or of `empty` if any of the values has no elements: some kernels crash on such."""
    if any(0 in value.shape for value in values):
        return list(empty())
    open_ended = [value for value in values if static_shape(value.shape) is None]
    if not open_ended:
        return list(usual())
    # Not from `Shape`: where ONNX Runtime knows that after all, it takes the choice out, and breaks the graph.
    counts = [b.node("Size", b.cast(value, wider(value.dtype)), dtype="int64", shape=()) for value in open_ended]
    least = counts[0] if len(counts) == 1 else b.node("Min", *counts)
    return b.choose(b.node("Equal", least, b.constant(0)), empty, usual)


def arange(b: Builder, length: Size) -> Value:
    """The numbers 0, 1, ..., length - 1 as int64."""
    if isinstance(length, int):
        return b.constant(range(length))
    # ONNX Runtime makes a slice of a gather by a range, which clips where the gather would fail: the cast prevents it.
    bounds = b.constant(0, "int32"), b.cast(length, "int32"), b.constant(1, "int32")
    return b.cast(b.node("Range", *bounds, shape=(UNKNOWN,)), "int64")


def guarded(b: Builder, value: Value, holds: Value) -> Value:
    """The value, so long as a single flag is set; where PyTorch raises an error, ONNX Runtime then does too."""
    # There is no slice 1 of an axis of size 1.
    slices, place = unsqueeze(b, value, [0]), b.cast(b.node("Not", holds), "int64")
    return gather(b, slices, place, 0)
