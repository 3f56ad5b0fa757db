"""Lowerings of reductions to sums, means, extremes, norms and variances."""

import math
from collections.abc import Sequence

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.lowerings.cumulative import filled_like_slice
from dycl.backends.onnx.nan import or_nan, unless_nan
from dycl.backends.onnx.pieces import may_be_empty, reduce, reshape, slice_axis, squeeze, sum_over, transpose, unsqueeze
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Number, Size, Value, is_float, is_integer, wider
from dycl.hcfg.types import DType


def _keepdim(a: Arguments) -> bool:
    return a.has("keepdim") and a.flag("keepdim")


@lowers("aten.sum.default", "aten.sum.dim_IntList")
def total(b: Builder, a: Arguments) -> Value:
    return _summed(b, a)


def _summed(b: Builder, a: Arguments) -> Value:
    source = a.tensor("self")
    x, axes = b.cast(source, a.result.dtype), a.axes("dim", source.rank)
    if source.dtype in _NARROW and a.result.dtype == "int64":
        return reduce(b, "ReduceSum", x, axes, _keepdim(a))  # no sum of these gets too large for a double
    if is_integer(x.dtype):
        return b.cast(sum_over(b, b.cast(x, "int64"), axes, _keepdim(a)), x.dtype)
    return reduce(b, "ReduceSum", x, axes, _keepdim(a))


_NARROW: tuple[DType, ...] = ("bool", "uint8", "int8", "int16")


@lowers("aten.prod.default", "aten.prod.dim_int")
def multiplied(b: Builder, a: Arguments) -> Value:
    x = b.cast(a.tensor("self"), a.result.dtype)
    axes, keepdim = a.axes("dim", x.rank), _keepdim(a)
    if is_float(x.dtype) or not x.rank:
        return reduce(b, "ReduceProd", x, axes, keepdim)
    wide = b.cast(x, "int64")
    product = reduce(b, "ReduceProd", wide, axes, keepdim)
    # ONNX Runtime multiplies in double precision, where PyTorch drops the higher bits.
    inside = b.node("Clip", product, b.constant(1 - 2**53), b.constant(2**53 - 1))
    exact = b.node("Equal", product, inside)
    exact = for_all(b, exact, range(exact.rank), keepdim=False)
    (result,) = b.choose(exact, lambda: [product], lambda: [_wrapping_product(b, wide, axes, keepdim)])
    return b.cast(result, x.dtype)


def _wrapping_product(b: Builder, x: Value, axes: Sequence[int], keepdim: bool) -> Value:
    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        return [b.node("Mul", states[0], slices[0])], []

    for axis in sorted(axes, reverse=True):
        x = b.scan([filled_like_slice(b, x, axis, 1)], [x], axis, step)[0]
    return unsqueeze(b, x, axes) if keepdim else x


@lowers("aten.mean.default", "aten.mean.dim")
def mean(b: Builder, a: Arguments) -> Value:
    x = b.cast(a.tensor("self"), a.result.dtype)
    return mean_over(b, x, a.axes("dim", x.rank), _keepdim(a))


def mean_over(b: Builder, x: Value, axes: Sequence[int], keepdim: bool) -> Value:
    """The mean; of nothing, NaN, where ONNX Runtime's own says 0."""
    if not may_be_empty(x, axes):
        return reduce(b, "ReduceMean", x, axes, keepdim)
    wide = b.cast(x, wider(x.dtype))
    total = reduce(b, "ReduceSum", wide, axes, keepdim)
    return b.cast(b.node("Div", total, b.number(b.count(x, axes), wide.dtype)), x.dtype)


@lowers("aten.nansum.default")
def nansum(b: Builder, a: Arguments) -> Value:
    x = b.cast(a.tensor("self"), a.result.dtype)
    if is_float(x.dtype):
        x = b.node("Where", b.node("IsNaN", x), b.number(0, x.dtype), x)
        return reduce(b, "ReduceSum", x, a.axes("dim", x.rank), _keepdim(a))
    return _summed(b, a)


@lowers("aten.amax.default", "aten.amin.default", "aten.max.default", "aten.min.default")
def extreme(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    operator = "ReduceMax" if "max" in a.target else "ReduceMin"
    return extreme_over(b, operator, x, a.axes("dim", x.rank), _keepdim(a))


@lowers("aten.aminmax.default")
def both_extremes(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    axes = a.axes("dim", x.rank)
    return [
        extreme_over(b, operator, x, axes, a.flag("keepdim")) if a.used[position] else a.unread(position)
        for position, operator in enumerate(("ReduceMin", "ReduceMax"))
    ]


def extreme_over(b: Builder, operator: str, x: Value, axes: Sequence[int], keepdim: bool) -> Value:
    """The greatest or least value by `ReduceMax` or `ReduceMin`; NaN if any is."""
    if not is_float(x.dtype) or not x.rank:
        return reduce(b, operator, x, axes, keepdim)
    wide = b.cast(x, wider(x.dtype))
    if all(axis in axes or size == 1 for axis, size in enumerate(x.shape)):
        return b.cast(or_nan(b, reduce(b, operator, wide, axes, keepdim), wide), x.dtype)

    def careful() -> list[Value]:
        found = reduce(b, "ReduceMax", b.node("IsNaN", wide), axes, keepdim)
        return [b.node("Where", found, b.number(math.nan, wide.dtype), reduce(b, operator, wide, axes, keepdim))]

    (result,) = unless_nan(b, [wide], lambda: [reduce(b, operator, wide, axes, keepdim)], careful)
    return b.cast(result, x.dtype)


@lowers(
    "aten.any.default",
    "aten.any.dim",
    "aten.any.dims",
    "aten._is_any_true.default",
    "aten.all.default",
    "aten.all.dim",
    "aten.all.dims",
    "aten._is_all_true.default",
)
def quantifier(b: Builder, a: Arguments) -> Value:
    x = b.cast(a.tensor("self"), "bool")
    result = (
        for_any(b, x, a.axes("dim", x.rank), _keepdim(a))
        if ".any." in a.target or "_any_" in a.target
        else for_all(b, x, a.axes("dim", x.rank), _keepdim(a))
    )
    return b.cast(result, a.result.dtype)


def for_any(b: Builder, x: Value, axes: Sequence[int], keepdim: bool) -> Value:
    """Whether any flag is set; of none, False, where ONNX Runtime's maximum fails."""
    if not may_be_empty(x, axes):
        return reduce(b, "ReduceMax", x, axes, keepdim)
    return b.cast(reduce(b, "ReduceSum", b.cast(x, "int64"), axes, keepdim), "bool")


def for_all(b: Builder, x: Value, axes: Sequence[int], keepdim: bool) -> Value:
    """Whether all flags are set; of none, True."""
    if not may_be_empty(x, axes):
        return reduce(b, "ReduceMin", x, axes, keepdim)
    return b.node("Not", for_any(b, b.node("Not", x), axes, keepdim))


@lowers("aten.count_nonzero.default", "aten.count_nonzero.dim_IntList")
def count_nonzero(b: Builder, a: Arguments) -> Value:
    x = b.cast(b.cast(a.tensor("self"), "bool"), "int64")
    return reduce(b, "ReduceSum", x, a.axes("dim", x.rank), keepdim=False)


@lowers("aten.logsumexp.default")
def logsumexp(b: Builder, a: Arguments) -> Value:
    x = b.cast(a.tensor("self"), a.result.dtype)
    axes, keepdim = a.axes("dim", x.rank), _keepdim(a)

    def usual() -> list[Value]:
        return [reduce(b, "ReduceLogSumExp", x, axes, keepdim)]

    def careful() -> list[Value]:
        # ONNX Runtime takes infinity for the result where NaN stands beside it.
        found = reduce(b, "ReduceMax", b.node("IsNaN", x), axes, keepdim)
        return [b.node("Where", found, b.number(math.nan, x.dtype), *usual())]

    return unless_nan(b, [x], usual, careful)[0] if x.rank else usual()[0]


@lowers(
    "aten.var.default",
    "aten.var.dim",
    "aten.var.correction",
    "aten.std.default",
    "aten.std.dim",
    "aten.std.correction",
)
def spread(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    if ".var." in a.target:
        return _mean_and_variance(b, a, x, a.axes("dim", x.rank), _keepdim(a))[1]
    return _root_of_variance(b, a, x)


@lowers(
    "aten.var_mean.default",
    "aten.var_mean.dim",
    "aten.var_mean.correction",
    "aten.std_mean.default",
    "aten.std_mean.dim",
    "aten.std_mean.correction",
)
def spread_and_mean(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    axes = a.axes("dim", x.rank)
    mean, variance = _mean_and_variance(b, a, x, axes, _keepdim(a))
    mean = b.node("Add", mean, _infinite_before_last(b, x, axes, _keepdim(a))) if a.used[1] and x.rank else mean
    return [_root_of_variance(b, a, x) if ".std_mean." in a.target else variance, mean]


def _root_of_variance(b: Builder, a: Arguments, x: Value) -> Value:
    """In double precision, where the squares of large numbers fit, whose root fits again."""
    _, variance = _mean_and_variance(b, a, b.cast(x, "float64"), a.axes("dim", x.rank), _keepdim(a))
    return b.cast(b.node("Sqrt", variance), x.dtype)


def _infinite_before_last(b: Builder, x: Value, axes: Sequence[int], keepdim: bool) -> Value:
    """NaN where an element before the last is infinite, else 0: PyTorch's running mean gets there by a difference."""
    order = [axis for axis in range(x.rank) if axis not in axes]
    row = transpose(b, x, [*order, *axes])
    row = reshape(b, row, [*(b.size_of(x, axis) for axis in order), b.count(x, axes)])
    before = slice_axis(b, row, row.rank - 1, 0, -1)
    found = reduce(b, "ReduceSum", b.node("Sub", before, before), [row.rank - 1], keepdim=False)
    return unsqueeze(b, found, axes) if keepdim else found


def _mean_and_variance(b: Builder, a: Arguments, x: Value, axes: Sequence[int], keepdim: bool) -> tuple[Value, Value]:
    correction: Number = 1
    if a.has("correction"):
        correction = a.number("correction")
    elif a.has("unbiased"):
        correction = int(a.flag("unbiased"))
    wide = b.cast(x, wider(x.dtype))
    mean = mean_over(b, wide, axes, keepdim=True)
    centred = b.node("Sub", wide, mean)
    squares = reduce(b, "ReduceSum", b.node("Mul", centred, centred), axes, keepdim)
    variance = b.node("Div", squares, _degrees(b, b.count(x, axes), correction, wide))
    mean = mean if keepdim or not x.rank else squeeze(b, mean, axes)
    return b.cast(mean, x.dtype), b.cast(variance, x.dtype)


def _degrees(b: Builder, count: Size, correction: Number, like: Value) -> Value:
    """How many degrees of freedom are left, at least 0."""
    if isinstance(count, int) and not isinstance(correction, Value):
        return b.number(max(float(count - correction), 0.0), like.dtype)
    rest = b.node("Sub", b.number(count, "float64"), b.number(correction, "float64"))
    return b.cast(b.node("Max", rest, b.number(0, "float64")), like.dtype)


@lowers(
    "aten.linalg_vector_norm.default",
    "aten.norm.Scalar",
    "aten.norm.ScalarOpt_dim",
    "aten.norm.ScalarOpt_dtype",
    "aten.norm.ScalarOpt_dim_dtype",
)
def norm(b: Builder, a: Arguments) -> Value:
    x = b.cast(a.tensor("self"), wider(a.result.dtype))
    name = "ord" if "linalg" in a.target else "p"
    order = a.real(name) if a.has(name) else 2.0
    return b.cast(vector_norm(b, x, order, a.axes("dim", x.rank), _keepdim(a)), a.result.dtype)


def vector_norm(b: Builder, x: Value, order: float, axes: Sequence[int], keepdim: bool) -> Value:
    """The norm of this order over these axes."""
    size = b.node("Abs", x)
    if not x.rank:
        return b.cast(b.cast(x, "bool"), x.dtype) if order == 0 else size
    if math.isinf(order):
        return extreme_over(b, "ReduceMax" if order > 0 else "ReduceMin", size, axes, keepdim)
    if order == 0:
        return reduce(b, "ReduceSum", b.cast(b.cast(x, "bool"), x.dtype), axes, keepdim)
    if order == 1:
        return reduce(b, "ReduceL1", x, axes, keepdim)
    if order == 2:
        return reduce(b, "ReduceL2", x, axes, keepdim)
    powers = reduce(b, "ReduceSum", b.node("Pow", size, b.number(order, x.dtype)), axes, keepdim)
    return b.node("Pow", powers, b.number(1 / order, x.dtype))
