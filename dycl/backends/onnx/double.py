"""Functions that ONNX Runtime only has in single precision, composed in double precision.

Each takes and gives float64 tensors and is accurate to a few units in the last place.
"""

import math
from collections.abc import Sequence

from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.values import Value


def f64(b: Builder, number: float) -> Value:
    """A number in double precision."""
    return b.number(number, "float64")


def polynomial(b: Builder, x: Value, coefficients: Sequence[float]) -> Value:
    """The polynomial with these coefficients, highest power first."""
    result = f64(b, coefficients[0])
    for coefficient in coefficients[1:]:
        result = b.node("Add", b.node("Mul", result, x), f64(b, coefficient))
    return result


def tan(b: Builder, x: Value) -> Value:
    """The tangent."""
    return b.node("Div", b.node("Sin", x), b.node("Cos", x))


def expm1(b: Builder, x: Value) -> Value:
    """`exp(x) - 1` without cancellation: (u - 1) * x / log(u) cancels its own rounding error, u = exp(x)."""
    one = f64(b, 1)
    u = b.node("Exp", x)
    less_one = b.node("Sub", u, one)
    corrected = b.node("Div", b.node("Mul", less_one, x), b.node("Log", u))
    result = b.node("Where", b.node("Less", b.node("Abs", x), f64(b, 1)), corrected, less_one)
    return b.node("Where", b.node("Equal", u, one), x, result)


def log1p(b: Builder, x: Value) -> Value:
    """`log(1 + x)` without cancellation, by the same trick as `expm1`."""
    one = f64(b, 1)
    u = b.node("Add", x, one)
    rest = b.node("Sub", u, one)
    corrected = b.node("Div", b.node("Mul", b.node("Log", u), x), rest)
    result = b.node("Where", b.node("Less", b.node("Abs", x), one), corrected, b.node("Log", u))
    return b.node("Where", b.node("Equal", u, one), x, result)


def sinh(b: Builder, x: Value) -> Value:
    """The hyperbolic sine, from `expm1` of half the argument near zero and of `exp` far out."""
    half = f64(b, 0.5)
    e = expm1(b, b.node("Abs", x))
    near = b.node("Mul", half, b.node("Add", e, b.node("Div", e, b.node("Add", e, f64(b, 1)))))
    far_root = b.node("Exp", b.node("Mul", half, b.node("Abs", x)))
    far = b.node("Mul", b.node("Mul", half, far_root), far_root)
    size = b.node("Where", b.node("Greater", b.node("Abs", x), f64(b, 30)), far, near)
    return b.node("Mul", b.node("Sign", x), size)


def cosh(b: Builder, x: Value) -> Value:
    """The hyperbolic cosine, written so that it overflows no earlier than its value."""
    half = f64(b, 0.5)
    root = b.node("Exp", b.node("Mul", half, b.node("Abs", x)))
    grow = b.node("Mul", b.node("Mul", half, root), root)
    return b.node("Add", grow, b.node("Mul", half, b.node("Exp", b.node("Neg", b.node("Abs", x)))))


def asinh(b: Builder, x: Value) -> Value:
    """The inverse hyperbolic sine."""
    one = f64(b, 1)
    size = b.node("Abs", x)
    large = b.node("Greater", size, f64(b, 1e8))
    safe = b.node("Where", large, one, size)
    square = b.node("Mul", safe, safe)
    root = b.node("Sqrt", b.node("Add", square, one))
    near = log1p(b, b.node("Add", safe, b.node("Div", square, b.node("Add", one, root))))
    far = b.node("Add", b.node("Log", size), f64(b, math.log(2)))
    return b.node("Mul", b.node("Sign", x), b.node("Where", large, far, near))


def acosh(b: Builder, x: Value) -> Value:
    """The inverse hyperbolic cosine."""
    one = f64(b, 1)
    large = b.node("Greater", x, f64(b, 1e8))
    above = b.node("Sub", b.node("Where", large, one, x), one)
    root = b.node("Sqrt", b.node("Mul", above, b.node("Add", above, f64(b, 2))))
    near = log1p(b, b.node("Add", above, root))
    return b.node("Where", large, b.node("Add", b.node("Log", x), f64(b, math.log(2))), near)


def atanh(b: Builder, x: Value) -> Value:
    """The inverse hyperbolic tangent."""
    size = b.node("Abs", x)
    quotient = b.node("Div", b.node("Mul", f64(b, 2), size), b.node("Sub", f64(b, 1), size))
    return b.node("Mul", b.node("Sign", x), b.node("Mul", f64(b, 0.5), log1p(b, quotient)))


def atan(b: Builder, x: Value) -> Value:
    """The arc tangent: the single-precision one, plus the angle that is missing."""
    x = b.node("Clip", x, f64(b, -1e300), f64(b, 1e300), shape=x.shape)
    guess = b.cast(b.node("Atan", b.cast(x, "float32")), "float64")
    sine, cosine = b.node("Sin", guess), b.node("Cos", guess)
    across = b.node("Sub", b.node("Mul", x, cosine), sine)
    along = b.node("Add", cosine, b.node("Mul", x, sine))
    # The missing angle is about 1e-7: its tangent and a third-order term are exact in double.
    rest = b.node("Div", across, along)
    cube = b.node("Mul", b.node("Mul", rest, rest), rest)
    correction = b.node("Sub", rest, b.node("Div", cube, f64(b, 3)))
    return b.node("Add", guess, correction)


def atan2(b: Builder, y: Value, x: Value) -> Value:
    """The angle of the point (x, y), with PyTorch's signs of zero and infinities."""
    zero, one, pi = f64(b, 0), f64(b, 1), f64(b, math.pi)
    both = b.node("And", b.node("IsInf", x), b.node("IsInf", y))
    y_unit = b.node("Where", both, b.node("Sign", y), y)
    x_unit = b.node("Where", both, b.node("Sign", x), x)
    origin = b.node("And", b.node("Equal", x_unit, zero), b.node("Equal", y_unit, zero))
    ratio = b.node("Div", b.node("Abs", y_unit), b.node("Abs", b.node("Where", origin, one, x_unit)))
    angle = atan(b, ratio)
    left = _negative(b, x_unit)
    angle = b.node("Where", left, b.node("Sub", pi, angle), angle)
    return b.node("Where", _negative(b, y_unit), b.node("Neg", angle), angle)


def _negative(b: Builder, x: Value) -> Value:
    """Whether the sign bit is set."""
    zero = f64(b, 0)
    minus_zero = b.node("And", b.node("Equal", x, zero), b.node("Less", b.node("Reciprocal", x), zero))
    return b.node("Or", b.node("Less", x, zero), minus_zero)


def asin(b: Builder, x: Value) -> Value:
    """The arc sine."""
    one = f64(b, 1)
    cosine = b.node("Sqrt", b.node("Mul", b.node("Sub", one, x), b.node("Add", one, x)))
    return atan(b, b.node("Div", x, cosine))


def acos(b: Builder, x: Value) -> Value:
    """The arc cosine, by the half-angle formula."""
    one = f64(b, 1)
    tangent = b.node("Sqrt", b.node("Div", b.node("Sub", one, x), b.node("Add", one, x)))
    return b.node("Mul", f64(b, 2), atan(b, tangent))


def neighbour(b: Builder, x: Value, upwards: Value) -> Value:
    """The next number above, or below; of single precision too."""

    def away(value: Value, step: Value) -> Value:
        return b.node("Add", value, b.node("Where", upwards, step, b.node("Neg", step)))

    # Slightly more than half the distance to the neighbour, so that rounding finds it.
    if x.dtype == "float32":
        wide = b.cast(x, "float64")
        step = b.node("Mul", b.node("Abs", wide), f64(b, 2.0**-24 * (1 + 2.0**-20)))
        return b.cast(away(wide, b.node("Max", step, f64(b, 2.0**-150 * (1 + 2.0**-20)))), "float32")
    # Tiny numbers are scaled up, or the step itself would be rounded; the tiniest are all as far apart.
    tiny = b.node("Less", b.node("Abs", x), f64(b, 2.0**-960))
    scaled = b.node("Where", tiny, b.node("Mul", x, f64(b, 2.0**1000)), x)
    size = b.node("Abs", scaled)
    step = b.node("Mul", size, f64(b, 2.0**-53 * (1 + 2.0**-52)))
    flat = b.node("And", tiny, b.node("LessOrEqual", size, f64(b, 2.0**-22)))
    result = away(scaled, b.node("Where", flat, f64(b, 2.0**-74), step))
    return b.node("Where", tiny, b.node("Mul", result, f64(b, 2.0**-1000)), result)


# W. J. Cody's rational approximations (Math. Comp. 23, 1969), as in SPECFUN's `erf` and `erfc`.
_NEAR_P = (
    1.85777706184603153e-1,
    3.16112374387056560e0,
    1.13864154151050156e2,
    3.77485237685302021e2,
    3.20937758913846947e3,
)
_NEAR_Q = (
    1.0,
    2.36012909523441209e1,
    2.44024637934444173e2,
    1.28261652607737228e3,
    2.84423683343917062e3,
)
_MIDDLE_P = (
    2.15311535474403846e-8,
    5.64188496988670089e-1,
    8.88314979438837594e0,
    6.61191906371416295e1,
    2.98635138197400131e2,
    8.81952221241769090e2,
    1.71204761263407058e3,
    2.05107837782607147e3,
    1.23033935479799725e3,
)
_MIDDLE_Q = (
    1.0,
    1.57449261107098347e1,
    1.17693950891312499e2,
    5.37181101862009858e2,
    1.62138957456669019e3,
    3.29079923573345963e3,
    4.36261909014324716e3,
    3.43936767414372164e3,
    1.23033935480374942e3,
)
_FAR_P = (
    1.63153871373020978e-2,
    3.05326634961232344e-1,
    3.60344899949804439e-1,
    1.25781726111229246e-1,
    1.60837851487422766e-2,
    6.58749161529837803e-4,
)
_FAR_Q = (
    1.0,
    2.56852019228982242e0,
    1.87295284992346725e0,
    5.27905102951428412e-1,
    6.05183413124413191e-2,
    2.33520497626869185e-3,
)


def erf(b: Builder, x: Value) -> Value:
    """The error function."""
    size = b.node("Abs", x)
    outside = b.node("Mul", b.node("Sign", x), b.node("Sub", f64(b, 1), _erfc_of_positive(b, size)))
    return b.node("Where", b.node("LessOrEqual", size, f64(b, 0.46875)), _erf_near_zero(b, x), outside)


def erfc(b: Builder, x: Value) -> Value:
    """One minus the error function, without cancellation."""
    size = b.node("Abs", x)
    positive = _erfc_of_positive(b, size)
    outside = b.node("Where", b.node("Less", x, f64(b, 0)), b.node("Sub", f64(b, 2), positive), positive)
    near = b.node("Sub", f64(b, 1), _erf_near_zero(b, x))
    return b.node("Where", b.node("LessOrEqual", size, f64(b, 0.46875)), near, outside)


def _erf_near_zero(b: Builder, x: Value) -> Value:
    inside = b.node("Clip", x, f64(b, -0.5), f64(b, 0.5), shape=x.shape)
    square = b.node("Mul", inside, inside)
    return b.node("Mul", x, b.node("Div", polynomial(b, square, _NEAR_P), polynomial(b, square, _NEAR_Q)))


def erfcx(b: Builder, x: Value) -> Value:
    """`exp(x * x) * erfc(x)`."""
    size, square = b.node("Abs", x), b.node("Mul", x, x)
    positive = _scaled_erfc(b, b.node("Max", size, f64(b, 0.46875)))
    twice = b.node("Mul", f64(b, 2), b.node("Exp", square))
    outside = b.node("Where", b.node("Less", x, f64(b, 0)), b.node("Sub", twice, positive), positive)
    near = b.node("Mul", b.node("Exp", square), b.node("Sub", f64(b, 1), _erf_near_zero(b, x)))
    return b.node("Where", b.node("LessOrEqual", size, f64(b, 0.46875)), near, outside)


def _erfc_of_positive(b: Builder, size: Value) -> Value:
    """`erfc` for arguments above 0.46875; beyond 30 it is below the smallest double."""
    size = b.node("Clip", size, f64(b, 0.46875), f64(b, 30.0), shape=size.shape)
    # exp(-x * x) with x split in two, or the square's rounding error would be blown up.
    sixteen = f64(b, 16)
    coarse = b.node("Div", b.node("Floor", b.node("Mul", size, sixteen)), sixteen)
    rest = b.node("Mul", b.node("Sub", size, coarse), b.node("Add", size, coarse))
    gauss = b.node(
        "Mul", b.node("Exp", b.node("Neg", b.node("Mul", coarse, coarse))), b.node("Exp", b.node("Neg", rest))
    )
    return b.node("Mul", gauss, _scaled_erfc(b, size))


def _scaled_erfc(b: Builder, size: Value) -> Value:
    """`exp(x * x) * erfc(x)` for arguments from 0.46875 on."""
    near = b.node("Min", size, f64(b, 4))
    middle = b.node("Div", polynomial(b, near, _MIDDLE_P), polynomial(b, near, _MIDDLE_Q))
    inverse = b.node("Reciprocal", b.node("Mul", size, size))
    tail = b.node("Div", polynomial(b, inverse, _FAR_P), polynomial(b, inverse, _FAR_Q))
    far = b.node("Sub", f64(b, 1 / math.sqrt(math.pi)), b.node("Mul", inverse, tail))
    far = b.node("Div", far, size)
    return b.node("Where", b.node("LessOrEqual", size, f64(b, 4)), middle, far)
