"""The gamma function's relatives, and inverses of the error function, composed in double precision."""

import math

from dycl.backends.onnx import double
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.double import f64, polynomial
from dycl.backends.onnx.values import Value

# log(gamma(2 + t)) / t for t between -0.5 and 0.5, highest power first: a Chebyshev fit good to 1e-18.
_LGAMMA = (
    1.4963573191192003e-08,
    -3.1314285360886705e-08,
    4.509983567521808e-08,
    -9.501416425423385e-08,
    2.129692727315228e-07,
    -4.511181191016309e-07,
    9.549510392959532e-07,
    -2.0388192484564222e-06,
    4.374892520636031e-06,
    -9.439541921024715e-06,
    2.05072105479096e-05,
    -4.492623209360517e-05,
    9.945751290176889e-05,
    -0.00022315475870367355,
    0.0005096695247392805,
    -0.0011927539116954181,
    0.0028905103307415836,
    -0.0073855510286741114,
    0.020580808427784546,
    -0.06735230105319809,
    0.3224670334241132,
    0.42278433509846713,
)
_STIRLING = (-3617 / 122400, 1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)


def lgamma(b: Builder, x: Value) -> Value:
    """The logarithm of the gamma function's absolute value."""
    zero, pi = f64(b, 0), f64(b, math.pi)
    left = b.node("Less", x, zero)
    size = b.node("Abs", x)
    result = _lgamma_of_positive(b, size)
    # By reflection: gamma(x) * gamma(-x) = -pi / (x * sin(pi * x)), whose sine is that of the part behind the comma.
    part = b.node("Sub", x, b.node("Round", x))
    sine = b.node("Abs", b.node("Mul", size, b.node("Sin", b.node("Mul", pi, part))))
    reflected = b.node("Sub", b.node("Log", b.node("Div", pi, sine)), result)
    result = b.node("Where", left, reflected, result)
    pole = b.node("And", b.node("LessOrEqual", x, zero), b.node("Equal", x, b.node("Floor", x)))
    return b.node("Where", b.node("Or", pole, b.node("IsInf", x)), f64(b, math.inf), result)


def _lgamma_of_positive(b: Builder, x: Value) -> Value:
    near = b.node("Min", x, f64(b, 8))
    # Down, or up, to between 1.5 and 2.5 by gamma(x + 1) = x * gamma(x).
    shift = b.node("Floor", b.node("Sub", near, f64(b, 1.5)))
    factor = f64(b, 1)
    for steps in range(1, 7):
        more = b.node("Mul", factor, b.node("Sub", near, f64(b, steps)))
        factor = b.node("Where", b.node("GreaterOrEqual", shift, f64(b, steps)), more, factor)
    up = b.node("Where", b.node("Less", shift, f64(b, -1)), b.node("Mul", near, b.node("Add", near, f64(b, 1))), near)
    factor = b.node("Where", b.node("Less", shift, f64(b, 0)), b.node("Reciprocal", up), factor)
    rest = b.node("Sub", b.node("Sub", near, shift), f64(b, 2))
    small = b.node("Add", b.node("Mul", rest, polynomial(b, rest, _LGAMMA)), b.node("Log", factor))
    large = b.node("Max", x, f64(b, 8))
    inverse = b.node("Reciprocal", large)
    series = b.node("Mul", inverse, polynomial(b, b.node("Mul", inverse, inverse), _STIRLING))
    main = b.node("Mul", b.node("Sub", large, f64(b, 0.5)), b.node("Sub", b.node("Log", large), f64(b, 1)))
    stirling = b.node("Add", main, b.node("Add", series, f64(b, 0.5 * math.log(2 * math.pi) - 0.5)))
    return b.node("Where", b.node("Less", x, f64(b, 8)), small, stirling)


_DIGAMMA = (1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)


def digamma(b: Builder, x: Value) -> Value:
    """The derivative of `lgamma`; infinite at 0, NaN at the other poles, as in PyTorch."""
    zero, one = f64(b, 0), f64(b, 1)
    left = b.node("Less", x, zero)
    up = b.node("Where", left, b.node("Sub", one, x), x)
    result = zero
    for _ in range(10):
        small = b.node("Less", up, f64(b, 10))
        result = b.node("Sub", result, b.node("Where", small, b.node("Reciprocal", up), zero))
        up = b.node("Add", up, b.node("Where", small, one, zero))
    inverse = b.node("Reciprocal", up)
    square = b.node("Mul", inverse, inverse)
    series = b.node("Mul", square, polynomial(b, square, _DIGAMMA))
    smooth = b.node("Sub", b.node("Sub", b.node("Log", up), b.node("Mul", f64(b, 0.5), inverse)), series)
    result = b.node("Add", result, smooth)
    part = b.node("Mul", f64(b, math.pi), b.node("Sub", x, b.node("Round", x)))
    reflected = b.node("Sub", result, b.node("Div", f64(b, math.pi), double.tan(b, part)))
    pole = b.node("Or", b.node("Equal", x, b.node("Floor", x)), b.node("IsInf", x))
    reflected = b.node("Where", pole, f64(b, math.nan), reflected)
    result = b.node("Where", left, reflected, result)
    return b.node("Where", b.node("Equal", x, zero), b.node("Neg", b.node("Reciprocal", x)), result)


def trigamma(b: Builder, number: Value) -> Value:
    """The derivative of `digamma`, by PyTorch's own few terms, which are good to 1e-9.

    Near its poles it hangs on the rounding of the sine's argument, so that is computed in the number's own precision.
    """
    one, zero = f64(b, 1), f64(b, 0)
    sine = b.cast(b.node("Sin", b.node("Mul", b.number(math.pi, number.dtype), number)), "float64")
    x = b.cast(number, "float64")
    left = b.node("Less", x, f64(b, 0.5))
    reflection = b.node("Div", f64(b, math.pi * math.pi), b.node("Mul", sine, sine))
    result = b.node("Where", left, b.node("Neg", reflection), zero)
    up = b.node("Where", left, b.node("Sub", one, x), x)
    for _ in range(6):
        result = b.node("Add", result, b.node("Reciprocal", b.node("Mul", up, up)))
        up = b.node("Add", up, one)
    square = b.node("Reciprocal", b.node("Mul", up, up))
    series = b.node("Mul", square, polynomial(b, square, (1 / 42, -1 / 30, 1 / 6)))
    half = b.node("Reciprocal", b.node("Mul", f64(b, 2), up))
    result = b.node("Add", result, b.node("Div", b.node("Add", b.node("Add", one, half), series), up))
    return b.node("Where", left, b.node("Neg", result), result)


def sinc(b: Builder, x: Value) -> Value:
    """The sine divided by its argument: 1 at zero, and 0 at infinity."""
    zero = f64(b, 0)
    near = b.node("Equal", x, zero)
    result = b.node("Div", b.node("Sin", x), b.node("Where", near, f64(b, 1), x))
    result = b.node("Where", near, f64(b, 1), result)
    return b.node("Where", b.node("IsInf", x), zero, result)


def erfinv(b: Builder, y: Value) -> Value:
    """The inverse of the error function: a rational guess and two steps of Newton's method, as in PyTorch."""
    one = f64(b, 1)
    size = b.node("Abs", y)
    square = b.node("Mul", y, y)
    top = polynomial(b, square, (-0.140543331, 0.914624893, -1.645349621, 0.886226899))
    bottom = polynomial(b, square, (0.012229801, -0.329097515, 1.442710462, -2.118377725, 1.0))
    centre = b.node("Div", b.node("Mul", y, top), bottom)
    z = b.node("Sqrt", b.node("Neg", b.node("Log", b.node("Div", b.node("Sub", one, size), f64(b, 2)))))
    top = polynomial(b, z, (1.641345311, 3.429567803, -1.624906493, -1.970840454))
    side = b.node("Div", b.node("Mul", b.node("Sign", y), top), polynomial(b, z, (1.637067800, 3.543889200, 1.0)))
    x = b.node("Where", b.node("LessOrEqual", size, f64(b, 0.7)), centre, side)
    for _ in range(2):
        slope = b.node("Mul", f64(b, 2 / math.sqrt(math.pi)), b.node("Exp", b.node("Neg", b.node("Mul", x, x))))
        x = b.node("Sub", x, b.node("Div", _erf_error(b, x, y), slope))
    x = b.node("Where", b.node("Equal", size, one), b.node("Mul", y, f64(b, math.inf)), x)
    return b.node("Where", b.node("Greater", size, one), f64(b, math.nan), x)


def _erf_error(b: Builder, x: Value, y: Value) -> Value:
    """`erf(x) - y`, from the complements where both are close to 1 or -1."""
    far = b.node("Sub", b.node("Sub", f64(b, 1), b.node("Abs", y)), double.erfc(b, b.node("Abs", x)))
    far = b.node("Mul", b.node("Sign", y), far)
    near = b.node("Sub", double.erf(b, x), y)
    return b.node("Where", b.node("Greater", b.node("Abs", y), f64(b, 0.7)), far, near)


# The rational approximations of Cephes' `ndtri`.
_NDTRI_P0 = (
    -59.96335010141079,
    98.00107541859997,
    -56.67628574690703,
    13.931260938727968,
    -1.2391658386738125,
)
_NDTRI_Q0 = (
    1.0,
    1.9544885833814176,
    4.676279128988815,
    86.36024213908905,
    -225.46268785411937,
    200.26021238006066,
    -82.03722561683334,
    15.90562251262117,
    -1.1833162112133,
)
_NDTRI_P1 = (
    4.0554489230596245,
    31.525109459989388,
    57.16281922464213,
    44.08050738932008,
    14.684956192885803,
    2.1866330685079025,
    -0.1402560791713545,
    -0.03504246268278482,
    -0.0008574567851546854,
)
_NDTRI_Q1 = (
    1.0,
    15.779988325646675,
    45.39076351288792,
    41.3172038254672,
    15.04253856929075,
    2.504649462083094,
    -0.14218292285478779,
    -0.03808064076915783,
    -0.0009332594808954574,
)
_NDTRI_P2 = (
    3.2377489177694603,
    6.915228890689842,
    3.9388102529247444,
    1.3330346081580755,
    0.20148538954917908,
    0.012371663481782003,
    0.00030158155350823543,
    2.6580697468673755e-06,
    6.239745391849833e-09,
)
_NDTRI_Q2 = (
    1.0,
    6.02427039364742,
    3.6798356385616087,
    1.3770209948908132,
    0.21623699359449663,
    0.013420400608854318,
    0.00032801446468212774,
    2.8924786474538068e-06,
    6.790194080099813e-09,
)


def ndtri(b: Builder, y: Value) -> Value:
    """The inverse of the normal distribution function."""
    one, edge = f64(b, 1), f64(b, math.exp(-2))
    right = b.node("Greater", y, b.node("Sub", one, edge))
    tail = b.node("Where", right, b.node("Sub", one, y), y)
    centred = b.node("Sub", tail, f64(b, 0.5))
    square = b.node("Mul", centred, centred)
    ratio = b.node("Div", polynomial(b, square, _NDTRI_P0), polynomial(b, square, _NDTRI_Q0))
    central = b.node("Add", centred, b.node("Mul", centred, b.node("Mul", square, ratio)))
    central = b.node("Mul", central, f64(b, math.sqrt(2 * math.pi)))
    x = b.node("Sqrt", b.node("Mul", f64(b, -2), b.node("Log", tail)))
    z = b.node("Reciprocal", x)
    near, far = (
        b.node("Div", polynomial(b, z, top), polynomial(b, z, bottom))
        for top, bottom in ((_NDTRI_P1, _NDTRI_Q1), (_NDTRI_P2, _NDTRI_Q2))
    )
    correction = b.node("Mul", z, b.node("Where", b.node("Less", x, f64(b, 8)), near, far))
    outer = b.node("Sub", b.node("Sub", x, b.node("Div", b.node("Log", x), x)), correction)
    outer = b.node("Where", right, outer, b.node("Neg", outer))
    result = b.node("Where", b.node("Greater", tail, edge), central, outer)
    result = b.node("Where", b.node("Equal", y, f64(b, 0)), f64(b, -math.inf), result)
    result = b.node("Where", b.node("Equal", y, one), f64(b, math.inf), result)
    outside = b.node("Or", b.node("Less", y, f64(b, 0)), b.node("Greater", y, one))
    return b.node("Where", outside, f64(b, math.nan), result)
