"""The regularised incomplete gamma functions in double precision: a series, a continued fraction, and for large shapes
the first terms of Temme's uniform expansion.
"""

import math

from dycl.backends.onnx import double
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.double import f64, polynomial
from dycl.backends.onnx.pieces import arange, concat, flatten, reduce
from dycl.backends.onnx.special_functions.gamma import lgamma
from dycl.backends.onnx.values import Value

_LARGE = 1e6
_STIRLING = (1 / 1260, -1 / 360, 1 / 12)
_TINY = 1e-300


def incomplete_gamma(b: Builder, a: Value, x: Value, upper: bool) -> Value:
    """The integral of `t ** (a - 1) * exp(-t)` below `x`, or above it, divided by `gamma(a)`."""
    always = b.constant(True, "bool")
    a, x = b.node("Where", always, a, x), b.node("Where", always, x, a)
    zero, one, nan, inf = (f64(b, number) for number in (0, 1, math.nan, math.inf))
    plain = b.node("And", b.node("Less", zero, a), b.node("Less", a, inf))
    plain = b.node("And", plain, b.node("And", b.node("Less", zero, x), b.node("Less", x, inf)))
    shape, place = (b.node("Where", plain, value, one) for value in (a, x))
    left = b.node("Less", place, b.node("Add", shape, one))
    weight = _weight(b, shape, place)
    low = b.node("Mul", weight, _series(b, shape, b.node("Where", left, place, one)))
    beyond = b.node("Where", left, b.node("Add", shape, f64(b, 2)), place)
    high = b.node("Mul", b.node("Mul", weight, shape), _fraction(b, shape, beyond))
    lower = b.node("Where", left, low, b.node("Sub", one, high))
    higher = b.node("Where", left, b.node("Sub", one, low), high)
    result = higher if upper else lower
    result = b.node("Where", b.node("Greater", shape, f64(b, _LARGE)), _uniform(b, shape, place, upper), result)
    return _at_the_edges(b, a, x, b.node("Where", plain, result, nan), upper)


def _at_the_edges(b: Builder, a: Value, x: Value, result: Value, upper: bool) -> Value:
    """PyTorch's values for what is zero, infinite or negative."""
    zero, nan = f64(b, 0), f64(b, math.nan)
    nothing, everything = (f64(b, float(upper)), f64(b, float(not upper)))
    no_shape, no_place = b.node("Equal", a, zero), b.node("Equal", x, zero)
    endless, beyond = b.node("Equal", a, f64(b, math.inf)), b.node("Equal", x, f64(b, math.inf))
    result = b.node(
        "Where", beyond, b.node("Where", endless, nan, everything), b.node("Where", endless, nothing, result)
    )
    result = b.node("Where", no_place, nothing, result)
    result = b.node("Where", no_shape, b.node("Where", b.node("Less", zero, x), everything, nan), result)
    outside = b.node("Or", b.node("Less", a, zero), b.node("Less", x, zero))
    return b.node("Where", outside, nan, result)


def _weight(b: Builder, a: Value, x: Value) -> Value:
    """`x ** a * exp(-x) / gamma(a + 1)`."""
    ratio = b.node("Div", b.node("Sub", x, a), a)
    near = b.node("Mul", a, b.node("Sub", ratio, double.log1p(b, ratio)))
    inverse = b.node("Reciprocal", a)
    rest = b.node("Mul", inverse, polynomial(b, b.node("Mul", inverse, inverse), _STIRLING))
    root = b.node("Mul", f64(b, 0.5), b.node("Log", b.node("Mul", f64(b, 2 * math.pi), a)))
    large = b.node("Neg", b.node("Add", near, b.node("Add", rest, root)))
    gamma = lgamma(b, b.node("Add", a, f64(b, 1)))
    small = b.node("Sub", b.node("Sub", b.node("Mul", a, b.node("Log", x)), x), gamma)
    return b.node("Exp", b.node("Where", b.node("Greater", a, f64(b, 30)), large, small))


def _steps(b: Builder, a: Value) -> Value:
    """As many numbers as terms are needed: they fall like a bell curve as wide as the root of the shape."""
    size = b.node("Where", b.node("Greater", a, f64(b, _LARGE)), f64(b, 1), a)
    widest = reduce(b, "ReduceMax", concat(b, [flatten(b, size), b.constant([1.0], "float64")], 0), [0], keepdim=False)
    count = b.node("Add", b.node("Mul", f64(b, 10), b.node("Sqrt", widest)), f64(b, 60))
    return b.node("Add", arange(b, b.cast(count, "int64")), b.constant(1))


def _series(b: Builder, a: Value, x: Value) -> Value:
    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        (total, part), (number,) = states, slices
        part = b.node("Mul", part, b.node("Div", x, b.node("Add", a, b.cast(number, "float64"))))
        return [b.node("Add", total, part), part], []

    one = b.node("Where", b.node("IsNaN", a), f64(b, 1), f64(b, 1))
    return b.scan([one, b.node("Identity", one)], [_steps(b, a)], 0, step)[0]


def _fraction(b: Builder, a: Value, x: Value) -> Value:
    """A continued fraction from its front, by Lentz's method."""
    first = b.node("Sub", b.node("Add", x, f64(b, 1)), a)

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        (total, above, below, bottom), (number,) = states, slices
        place = b.cast(number, "float64")
        top = b.node("Mul", place, b.node("Sub", a, place))
        bottom = b.node("Add", bottom, f64(b, 2))
        below = _away_from_zero(b, b.node("Add", b.node("Mul", top, below), bottom))
        above = _away_from_zero(b, b.node("Add", bottom, b.node("Div", top, above)))
        below = b.node("Reciprocal", below)
        return [b.node("Mul", total, b.node("Mul", below, above)), above, below, bottom], []

    start = b.node("Reciprocal", _away_from_zero(b, first))
    huge = b.node("Where", b.node("IsNaN", a), f64(b, 1 / _TINY), f64(b, 1 / _TINY))
    return b.scan([start, huge, b.node("Identity", start), first], [_steps(b, a)], 0, step)[0]


def _away_from_zero(b: Builder, x: Value) -> Value:
    return b.node("Where", b.node("Less", b.node("Abs", x), f64(b, _TINY)), f64(b, _TINY), x)


def _uniform(b: Builder, a: Value, x: Value, upper: bool) -> Value:
    ratio = b.node("Div", b.node("Sub", x, a), a)
    distance = b.node("Max", b.node("Mul", f64(b, 2), b.node("Sub", ratio, double.log1p(b, ratio))), f64(b, 0))
    eta = b.node("Mul", b.node("Sign", ratio), b.node("Sqrt", distance))
    sign = f64(b, 1 if upper else -1)
    tail = double.erfc(b, b.node("Mul", sign, b.node("Mul", eta, b.node("Sqrt", b.node("Mul", f64(b, 0.5), a)))))
    near = b.node("Less", b.node("Abs", eta), f64(b, 1e-3))
    guarded, guarded_eta = (b.node("Where", near, f64(b, 1), value) for value in (ratio, eta))
    wide = b.node("Sub", b.node("Reciprocal", guarded), b.node("Reciprocal", guarded_eta))
    first = b.node("Where", near, polynomial(b, eta, (1 / 864, -2 / 135, 1 / 12, -1 / 3)), wide)
    bell = b.node("Exp", b.node("Mul", f64(b, -0.5), b.node("Mul", a, distance)))
    rest = b.node("Div", b.node("Mul", bell, first), b.node("Sqrt", b.node("Mul", f64(b, 2 * math.pi), a)))
    return b.node("Add", b.node("Mul", f64(b, 0.5), tail), b.node("Mul", sign, rest))
