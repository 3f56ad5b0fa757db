"""Lowerings that make tensors from numbers, and triangles of matrices."""

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import arange as ascending
from dycl.backends.onnx.pieces import expand_like, filled
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import UNKNOWN, Number, Size, Value, is_float
from dycl.hcfg.types import DType


def _fill(a: Arguments) -> Number:
    if "zeros" in a.target or "ones" in a.target:
        return int("ones" in a.target)
    return a.number("value" if a.has("value") else "fill_value")


@lowers(
    "aten.full.default",
    "aten.zeros.default",
    "aten.ones.default",
    "aten.new_full.default",
    "aten.new_zeros.default",
    "aten.new_ones.default",
)
def full(b: Builder, a: Arguments) -> Value:
    return filled(b, _fill(a), a.result.dtype, a.sizes("size"))


@lowers(
    "aten.full_like.default",
    "aten.zeros_like.default",
    "aten.ones_like.default",
    "aten.fill.Scalar",
    "aten.fill.Tensor",
)
def full_like(b: Builder, a: Arguments) -> Value:
    return expand_like(b, b.number(_fill(a), a.result.dtype), a.tensor("self"))


@lowers("aten.scalar_tensor.default")
def scalar_tensor(b: Builder, a: Arguments) -> Value:
    return b.number(a.number("s"), a.result.dtype)


@lowers("aten.arange.default", "aten.arange.start", "aten.arange.start_step")
def arange(b: Builder, a: Arguments) -> Value:
    start = a.number("start") if a.has("start") else 0
    end = a.number("end")
    step = a.number("step") if a.has("step") else 1
    dtype = a.result.dtype
    if not is_float(dtype) and all(_is_whole(number) for number in (start, end, step)):
        return b.cast(_whole_numbers(b, start, end, step), dtype)
    # As in PyTorch: the length and the elements are computed in double, each from its own number.
    first, last, stride = (b.number(number, "float64") for number in (start, end, step))
    length = b.node("Ceil", b.node("Div", b.node("Sub", last, first), stride))
    numbers = b.node("Range", *(b.number(number, "float64") for number in (0, length, 1)), shape=(UNKNOWN,))
    return b.cast(b.node("Add", first, b.node("Mul", numbers, stride)), dtype)


def _whole_numbers(b: Builder, start: Number, end: Number, step: Number) -> Value:
    """The whole numbers from `start` to before `end`."""
    first, last, stride = (b.number(number, "int64") for number in (start, end, step))
    if isinstance(step, Value) or not isinstance(step, int):
        return b.node("Range", first, last, stride, shape=(UNKNOWN,))
    if start == 0 and step == 1:
        return ascending(b, last)
    low, high = (first, last) if step > 0 else (last, first)
    gap = b.node("Max", b.node("Sub", high, low), b.constant(0))
    count = b.node("Div", b.node("Add", gap, b.constant(abs(step) - 1)), b.constant(abs(step)))
    return b.node("Add", first, b.node("Mul", ascending(b, count), stride))


def _is_whole(number: Number) -> bool:
    return not is_float(number.dtype) if isinstance(number, Value) else not isinstance(number, float)


@lowers("aten.linspace.default")
def linspace(b: Builder, a: Arguments) -> Value:
    steps = a.size("steps")
    dtype = a.result.dtype
    wide: DType = "float64" if dtype == "float64" else "float32"
    if not is_float(dtype):
        b.refuse("evenly spaced whole numbers")
    start, end = (b.number(a.number(name), wide) for name in ("start", "end"))
    count = b.number(steps, wide)
    one, zero = b.number(1, wide), b.number(0, wide)
    gaps = b.node("Max", b.node("Sub", count, one), one)
    step = b.node("Div", b.node("Sub", end, start), gaps)
    numbers = b.node("Range", zero, count, one, shape=(UNKNOWN,))
    # From the nearer end, so that the last element is exactly the end.
    up = b.node("Add", start, b.node("Mul", step, numbers))
    down = b.node("Sub", end, b.node("Mul", step, b.node("Sub", b.node("Sub", count, numbers), one)))
    middle = b.node("Floor", b.node("Div", count, b.number(2, wide)))
    # A single element is the start, though it is also the last.
    lower = b.node("Or", b.node("Less", numbers, middle), b.node("Equal", count, one))
    return b.cast(b.node("Where", lower, up, down), dtype)


@lowers("aten.eye.default", "aten.eye.m")
def eye(b: Builder, a: Arguments) -> Value:
    rows: Size = a.size("n")
    columns: Size = a.size("m") if a.has("m") else rows
    row, column = (
        b.node("Range", b.constant(0), b.number(size, "int64"), b.constant(1), shape=(UNKNOWN,))
        for size in (rows, columns)
    )
    column_axis = b.node("Unsqueeze", row, b.constant([1]), shape=(UNKNOWN, 1))
    return b.cast(b.node("Equal", column_axis, column), a.result.dtype)


@lowers("aten.tril.default", "aten.triu.default")
def triangle(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    offset = b.number(a.size("diagonal"), "int64")
    return b.node("Trilu", x, offset, shape=x.shape, upper=int("triu" in a.target))
