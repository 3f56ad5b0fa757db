"""Modified Bessel functions of the second kind, composed in double precision.

Near zero they are power series. Farther out they are sums of a bell curve times a root, as the trapezoidal rule makes
them of the integral of `exp(-x * cosh(t)) * cosh(order * t)`: its steps of 0.5 are good to the last digits.
"""

import math
from typing import NamedTuple

from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.double import f64, polynomial
from dycl.backends.onnx.values import Value

_EULER = 0.5772156649015329
_TERMS = 16
_STEP = 0.5
_STEPS = 18
_NEAR = 2.0


class _Series(NamedTuple):
    """Coefficients in powers of x * x / 4, highest first: with the logarithm, and beside it."""

    first: tuple[float, ...]
    beside: tuple[float, ...]


def _series(order: int) -> _Series:
    """The terms 1 / (k! * (k + order)!), and the same times the sum of digamma at both."""
    first, beside = [], []
    for k in reversed(range(_TERMS)):
        size = 1 / (math.factorial(k) * math.factorial(k + order))
        harmonic = sum(1 / number for number in range(1, k + 1))
        later = harmonic + (1 / (k + 1) if order else 0)
        first.append(size)
        beside.append(size * (harmonic + later - 2 * _EULER))
    return _Series(tuple(first), tuple(beside))


_ORDERS = (_series(0), _series(1))


def k(b: Builder, x: Value, order: int, scaled: bool) -> Value:
    """The modified Bessel function of the second kind, or that times `exp(x)`: NaN below zero."""
    near = b.node("Max", b.node("Min", x, f64(b, _NEAR)), f64(b, 0))
    square = b.node("Mul", f64(b, 0.25), b.node("Mul", near, near))
    series = _ORDERS[order]
    logarithm = b.node("Log", b.node("Mul", near, f64(b, 0.5)))
    close = b.node("Mul", logarithm, polynomial(b, square, series.first))
    close = b.node("Sub", b.node("Mul", f64(b, 0.5), polynomial(b, square, series.beside)), close)
    if order:
        close = b.node("Mul", close, b.node("Mul", near, f64(b, -0.5)))
        close = b.node("Add", close, b.node("Reciprocal", near))
    size = b.node("Max", x, f64(b, _NEAR))
    total = f64(b, 0.5)
    for number in range(1, _STEPS):
        place = number * _STEP
        part = b.node("Div", f64(b, place * place / 4), size)
        value = b.node("Div", f64(b, math.exp(-place * place / 2)), b.node("Sqrt", _plus_one(b, part)))
        value = b.node("Mul", value, _plus_one(b, b.node("Add", part, part))) if order else value
        total = b.node("Add", total, value)
    distant = b.node("Mul", total, b.node("Div", f64(b, _STEP), b.node("Sqrt", size)))
    growth = b.node("Exp", x if scaled else b.node("Neg", x))
    close, distant = (b.node("Mul", close, growth), distant) if scaled else (close, b.node("Mul", distant, growth))
    return _either(b, x, close, distant)


def _plus_one(b: Builder, x: Value) -> Value:
    return b.node("Add", x, f64(b, 1))


def _either(b: Builder, x: Value, close: Value, distant: Value) -> Value:
    result = b.node("Where", b.node("LessOrEqual", x, f64(b, _NEAR)), close, distant)
    result = b.node("Where", b.node("Less", x, f64(b, 0)), f64(b, math.nan), result)
    result = b.node("Where", b.node("Equal", x, f64(b, 0)), f64(b, math.inf), result)
    return b.node("Where", b.node("IsNaN", x), x, result)
