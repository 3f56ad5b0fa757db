"""Hurwitz's zeta function in double precision: the first terms, and Euler's and Maclaurin's sum of the rest."""

import math

from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.double import f64
from dycl.backends.onnx.pieces import arange, concat, flatten, reduce
from dycl.backends.onnx.values import Value

_EPSILON = 2.0**-53
_FIRST = 9
# Factorials of even numbers, divided by Bernoulli's.
_BERNOULLI = (
    *(12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1307674368000.0 / 691, 74724249600.0),
    *(-10670622842880000.0 / 3617, 5109094217170944000.0 / 43867, -802857662698291200000.0 / 174611),
    *(155112100433309859840000.0 / 854513, -1693824136731743669452800000.0 / 236364091),
)


def zeta(b: Builder, x: Value, q: Value) -> Value:
    """The sum of `(q + n) ** -x` over all n from 0, with PyTorch's values where it has none."""
    always = b.constant(True, "bool")
    x, q = b.node("Where", always, x, q), b.node("Where", always, q, x)
    zero, one, nan, inf = (f64(b, number) for number in (0, 1, math.nan, math.inf))
    left = b.node("LessOrEqual", q, zero)
    pole = b.node("And", left, b.node("Equal", q, b.node("Floor", q)))
    broken = b.node("And", left, b.node("Not", b.node("Equal", x, b.node("Floor", x))))
    defined = b.node("Not", b.node("Or", b.node("Or", pole, broken), b.node("LessOrEqual", x, one)))
    result = _sum(b, x, b.node("Where", defined, q, one))
    result = b.node("Where", broken, nan, result)
    result = b.node("Where", pole, inf, result)
    result = b.node("Where", b.node("Less", x, one), nan, result)
    return b.node("Where", b.node("Equal", x, one), inf, result)


def _sum(b: Builder, x: Value, q: Value) -> Value:
    minus = b.node("Neg", x)
    total = b.node("Pow", q, minus)
    least = reduce(
        b, "ReduceMin", concat(b, [flatten(b, _finite(b, q)), b.constant([0.0], "float64")], 0), [0], keepdim=False
    )
    count = b.cast(b.node("Sub", f64(b, _FIRST + 1), b.node("Floor", least)), "int64")

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        (total, place, last, done), (number,) = states, slices
        early = b.node("Less", number, b.constant(_FIRST))
        more = b.node("And", b.node("Not", done), b.node("Or", early, b.node("LessOrEqual", place, f64(b, _FIRST))))
        place = b.node("Where", more, b.node("Add", place, f64(b, 1)), place)
        last = b.node("Where", more, b.node("Pow", place, minus), last)
        total = b.node("Where", more, b.node("Add", total, last), total)
        return [total, place, last, b.node("Or", done, b.node("And", more, _is_small(b, last, total)))], []

    never = b.node("And", b.node("IsNaN", x), b.node("Not", b.node("IsNaN", x)))
    total, place, last, done = b.scan([total, q, b.node("Identity", q), never], [arange(b, count)], 0, step)
    return _with_rest(b, x, total, place, last, done)


def _finite(b: Builder, q: Value) -> Value:
    odd = b.node("Or", b.node("IsNaN", q), b.node("IsInf", q))
    return b.node("Where", odd, f64(b, 0), q)


def _is_small(b: Builder, part: Value, total: Value) -> Value:
    limit = b.node("Mul", total, f64(b, _EPSILON))
    return b.node("And", b.node("Less", b.node("Neg", limit), part), b.node("Less", part, limit))


def _with_rest(b: Builder, x: Value, total: Value, place: Value, last: Value, done: Value) -> Value:
    """The sum with what follows the last term, unless that no longer counts."""
    rest = b.node("Div", b.node("Mul", last, place), b.node("Sub", x, f64(b, 1)))
    rest = b.node("Sub", b.node("Add", total, rest), b.node("Mul", f64(b, 0.5), last))
    total = b.node("Where", done, total, rest)
    factor = f64(b, 1)
    for number, divisor in enumerate(_BERNOULLI):
        factor = b.node("Mul", factor, b.node("Add", x, f64(b, 2 * number)))
        last = b.node("Div", last, place)
        part = b.node("Div", b.node("Mul", factor, last), f64(b, divisor))
        total = b.node("Where", done, total, b.node("Add", total, part))
        small = b.node("Less", b.node("Abs", b.node("Div", part, total)), f64(b, _EPSILON))
        done = b.node("Or", done, small)
        factor = b.node("Mul", factor, b.node("Add", x, f64(b, 2 * number + 1)))
        last = b.node("Div", last, place)
    return total
