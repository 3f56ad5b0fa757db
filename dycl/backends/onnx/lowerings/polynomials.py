"""Lowerings of orthogonal polynomials, whose degrees may be tensors: one recurrence from degree to degree."""

import math
from collections.abc import Callable
from typing import NamedTuple

from dycl.backends.onnx import double
from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.double import f64
from dycl.backends.onnx.pieces import arange, concat, flatten, reduce
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Number, Value

Next = Callable[["_Numbers", Value, Value, Value, Value], Value]


class _Numbers(NamedTuple):
    """Arithmetic in the polynomial's own precision."""

    b: Builder
    x: Value

    def of(self, operator: str, left: Value, right: Number) -> Value:
        return self.b.node(operator, left, self.b.number(right, self.x.dtype))


def _chebyshev(n: _Numbers, x: Value, now: Value, before: Value, degree: Value) -> Value:
    return n.of("Sub", n.of("Mul", n.of("Add", x, x), now), before)


def _hermite_h(n: _Numbers, x: Value, now: Value, before: Value, degree: Value) -> Value:
    return n.of("Sub", n.of("Mul", n.of("Add", x, x), now), n.of("Mul", before, n.of("Mul", degree, 2)))


def _hermite_he(n: _Numbers, x: Value, now: Value, before: Value, degree: Value) -> Value:
    return n.of("Sub", n.of("Mul", x, now), n.of("Mul", before, degree))


def _laguerre(n: _Numbers, x: Value, now: Value, before: Value, degree: Value) -> Value:
    factor = n.of("Sub", n.of("Add", n.of("Add", degree, degree), 1), x)
    top = n.of("Sub", n.of("Mul", factor, now), n.of("Mul", before, degree))
    return n.of("Div", top, n.of("Add", degree, 1))


def _legendre(n: _Numbers, x: Value, now: Value, before: Value, degree: Value) -> Value:
    factor = n.of("Mul", n.of("Add", n.of("Add", degree, degree), 1), x)
    top = n.of("Sub", n.of("Mul", factor, now), n.of("Mul", before, degree))
    return n.of("Div", top, n.of("Add", degree, 1))


class _Family(NamedTuple):
    """The polynomial of degree 1 as `slope * x + offset`, and the one after it and its predecessor."""

    slope: float
    offset: float
    following: Next


_FAMILIES = {
    "chebyshev_polynomial_t": _Family(1, 0, _chebyshev),
    "chebyshev_polynomial_u": _Family(2, 0, _chebyshev),
    "chebyshev_polynomial_v": _Family(2, -1, _chebyshev),
    "chebyshev_polynomial_w": _Family(2, 1, _chebyshev),
    "hermite_polynomial_h": _Family(2, 0, _hermite_h),
    "hermite_polynomial_he": _Family(1, 0, _hermite_he),
    "laguerre_polynomial_l": _Family(-1, 1, _laguerre),
    "legendre_polynomial_p": _Family(1, 0, _legendre),
}
_SHIFTED = tuple(f"shifted_chebyshev_polynomial_{kind}" for kind in "tuvw")
# From a higher degree on PyTorch knows a Chebyshev polynomial of a cosine by its angle.
_BY_ANGLE = {"t": 6, "u": 8, "v": 8, "w": 8}
_FORMS = ("default", "n_scalar", "x_scalar")
_HIGHEST_HERMITE = {"float32": 128, "float64": 512}


@lowers(*(f"aten.special_{name}.{form}" for name in (*_FAMILIES, *_SHIFTED) for form in _FORMS))
def polynomial(b: Builder, a: Arguments) -> Value:
    name = a.target.split(".")[1].removeprefix("special_")
    dtype = a.result.dtype
    x, degree = b.number(a.number("x"), dtype), b.number(a.number("n"), dtype)
    family = _FAMILIES[name.removeprefix("shifted_")]
    always = b.constant(True, "bool")
    x, degree = b.node("Where", always, x, degree), b.node("Where", always, degree, x)
    degree = _whole(b, degree)
    kind = name[-1] if "chebyshev" in name else ""
    if "shifted" in name:
        x = b.node("Sub", b.node("Add", x, x), b.number(1, dtype))
    highest = _HIGHEST_HERMITE[dtype] if "hermite" in name else None
    by_angle = None
    if kind:
        inside = b.node("LessOrEqual", b.node("Abs", x), b.number(1, dtype))
        by_angle = b.node(
            "And", inside, b.node("Greater", degree, b.constant(6 if "shifted" in name else _BY_ANGLE[kind]))
        )
    counted = degree if by_angle is None else b.node("Where", by_angle, b.constant(0), degree)
    if highest is not None:
        counted = b.node("Min", counted, b.constant(highest))
    result = _by_recurrence(b, x, counted, family)
    if by_angle is not None:
        angular = _by_angle(b, kind, b.cast(x, "float64"), b.cast(degree, "float64"))
        result = b.node("Where", by_angle, b.cast(angular, dtype), result)
    if highest is not None:
        result = b.node("Where", b.node("Greater", degree, b.constant(highest)), b.number(math.nan, dtype), result)
    return result


def _whole(b: Builder, degree: Value) -> Value:
    """The degree without what is behind its comma; NaN and what is beyond 64 bits is negative."""
    held = b.node("Less", b.node("Abs", degree), b.number(2.0**62, degree.dtype))
    return b.cast(b.node("Where", held, degree, b.number(-1, degree.dtype)), "int64")


def _by_recurrence(b: Builder, x: Value, degree: Value, family: _Family) -> Value:
    numbers = _Numbers(b, x)
    zero, one = b.number(0, x.dtype), b.number(1, x.dtype)
    # Not `0 * x`, which infinity makes NaN.
    before = b.node("Where", b.node("IsNaN", x), one, one)
    now = numbers.of("Mul", x, family.slope) if family.slope != 1 else x
    now = numbers.of("Add", now, family.offset) if family.offset else now
    result = b.node(
        "Where",
        b.node("Equal", degree, b.constant(1)),
        now,
        b.node("Where", b.node("Equal", degree, b.constant(0)), before, zero),
    )
    last = reduce(b, "ReduceMax", concat(b, [flatten(b, degree), b.constant([2])], 0), [0], keepdim=False)
    steps = b.node("Add", arange(b, b.node("Sub", last, b.constant(1))), b.constant(1))

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        (result, now, before), (number,) = states, slices
        following = family.following(numbers, x, now, before, b.cast(number, x.dtype))
        here = b.node("Equal", degree, b.node("Add", number, b.constant(1)))
        return [b.node("Where", here, following, result), following, now], []

    return b.scan([result, now, before], [steps], 0, step)[0]


def _by_angle(b: Builder, kind: str, x: Value, degree: Value) -> Value:
    """A Chebyshev polynomial of `x` between -1 and 1, in double precision."""
    angle = double.acos(b, x)
    if kind == "t":
        return b.node("Cos", b.node("Mul", degree, angle))
    half = b.node("Mul", angle, f64(b, 0.5))
    more, middle = b.node("Add", degree, f64(b, 1)), b.node("Add", degree, f64(b, 0.5))
    twice = b.node("Add", b.node("Add", degree, degree), f64(b, 1))
    odd = b.node("Sub", degree, b.node("Mul", f64(b, 2), b.node("Floor", b.node("Mul", degree, f64(b, 0.5)))))
    sign = b.node("Sub", f64(b, 1), b.node("Mul", f64(b, 2), odd))
    top, bottom, at_one, at_minus_one = {
        "u": (b.node("Sin", b.node("Mul", more, angle)), b.node("Sin", angle), more, b.node("Mul", sign, more)),
        "v": (b.node("Cos", b.node("Mul", middle, angle)), b.node("Cos", half), f64(b, 1), b.node("Mul", sign, twice)),
        "w": (b.node("Sin", b.node("Mul", middle, angle)), b.node("Sin", half), twice, sign),
    }[kind]
    inside = b.node("Div", top, bottom)
    inside = b.node("Where", b.node("Equal", x, f64(b, 1)), at_one, inside)
    return b.node("Where", b.node("Equal", x, f64(b, -1)), at_minus_one, inside)
