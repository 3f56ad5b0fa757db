"""Lowerings of running totals, products and extremes along one axis."""

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import unless_empty
from dycl.backends.onnx.table import in_single_precision, lowers
from dycl.backends.onnx.values import Value, highest, is_float, lowest


@lowers("aten.cumsum.default")
def cumsum(b: Builder, a: Arguments) -> Value:
    x = b.cast(a.tensor("self"), a.result.dtype)
    if not x.rank:
        return x
    axis = b.constant(a.axis("dim", x.rank))
    return unless_empty(b, [x], lambda: [b.node("CumSum", x, axis, shape=x.shape)], lambda: [x])[0]


@lowers("aten.cumprod.default")
def cumprod(b: Builder, a: Arguments) -> Value:
    x = b.cast(a.tensor("self"), a.result.dtype)
    if not x.rank:
        return x
    axis = a.axis("dim", x.rank)

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        product = b.node("Mul", states[0], slices[0])
        return [product], [product]

    one = filled_like_slice(b, x, axis, 1)
    return unless_empty(b, [x], lambda: b.scan([one], [x], axis, step)[1:], lambda: [x])[0]


def filled_like_slice(b: Builder, x: Value, axis: int, number: float) -> Value:
    """One number in the shape of a slice of `x` across one axis."""
    shape = [b.size_of(x, place) for place in range(x.rank) if place != axis]
    known = tuple(size for place, size in enumerate(x.shape) if place != axis)
    return b.node("Expand", b.number(number, x.dtype), b.vector(shape), shape=known)


@lowers("aten.cummax.default", "aten.cummin.default")
def cummax(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    if not x.rank:
        return [x, b.constant(0)]
    axis = a.axis("dim", x.rank)
    upwards = "cummax" in a.target
    operator = "GreaterOrEqual" if upwards else "LessOrEqual"
    first = filled_like_slice(b, x, axis, lowest(x.dtype) if upwards else highest(x.dtype))

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        best, place, now = states
        better = b.node(operator, slices[0], best)
        if is_float(x.dtype):
            # Once NaN, always NaN, at the place of the latest one.
            better = b.node("Or", better, b.node("IsNaN", slices[0]))
        best, place = b.node("Where", better, slices[0], best), b.node("Where", better, now, place)
        return [best, place, b.node("Add", now, b.constant(1))], [best, place]

    start = filled_like_slice(b, Value(x.name, "int64", x.shape), axis, 0)
    states = [first, start, b.constant(0)]
    return unless_empty(b, [x], lambda: b.scan(states, [x], axis, step)[3:], lambda: [x, b.cast(x, "int64")])


@lowers("aten.logcumsumexp.default")
@in_single_precision
def logcumsumexp(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    if not x.rank:
        return x
    axis = a.axis("dim", x.rank)

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        high = b.node("Max", states[0], slices[0])
        # Nothing yet has the logarithm minus infinity, which must not be subtracted from itself.
        shift = b.node("Where", b.node("IsInf", high), b.number(0, x.dtype), high)
        total = b.node("Add", *(b.node("Exp", b.node("Sub", part, shift)) for part in (states[0], slices[0])))
        result = b.node("Add", b.node("Log", total), shift)
        return [result], [result]

    nothing_yet = filled_like_slice(b, x, axis, float("-inf"))
    return unless_empty(b, [x], lambda: b.scan([nothing_yet], [x], axis, step)[1:], lambda: [x])[0]
