"""Functions of one number, in single precision from additions and multiplications: of whole vectors at a time."""

import math
from collections.abc import Callable

from tvm import tirx

from dycl.runtime.tvm.kernels.loops import Expr, number, spread, vector_type

# exp(r) for |r| <= log(2)/2, as a Taylor series, which is as good as float32 there.
_EXP = tuple(1 / math.factorial(power) for power in range(8))
# log(2) in two parts: the first has few digits, so that a product with a small whole number is exact.
_LOG_2_HIGH, _LOG_2_LOW = 0.693359375, math.log(2) - 0.693359375
_LARGEST, _SMALLEST = 88.7228, -104.5
# tanh(x) = x*p(x*x) for |x| < 0.35, as a Taylor series.
_TANH = (1.0, -1 / 3, 2 / 15, -17 / 315, 62 / 2835, -1382 / 155925)
# erf(x) = 1 - t*p(t)*exp(-x*x) with t = 1/(1 + 0.3275911 x), for 0 <= x: Abramowitz and Stegun, 7.1.26.
_ERF = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)


def _polynomial(x: Expr, coefficients: tuple[float, ...], lanes: int) -> Expr:
    total = spread(number(coefficients[-1], "float32"), lanes)
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + spread(number(coefficient, "float32"), lanes)
    return total


def _let(value: Expr, lanes: int, body: Callable[[Expr], Expr], dtype: str = "float32") -> Expr:
    """What `body` gives for a value that is computed once."""
    variable = tirx.Var("u", vector_type(dtype, lanes))
    return tirx.Let(variable, value, body(variable))


def _power_of_two(exponent: Expr, lanes: int) -> Expr:
    bits = (exponent + spread(tirx.const(127, "int32"), lanes)) * spread(tirx.const(2**23, "int32"), lanes)
    return tirx.reinterpret(vector_type("float32", lanes), bits)


def exp(x: Expr, dtype: str, lanes: int) -> Expr:
    """The exponential, as a power of two times that of a small number."""
    if dtype != "float32":
        return tirx.exp(x)

    def constant(value: float) -> Expr:
        return spread(number(value, "float32"), lanes)

    def from_parts(limited: Expr, n: Expr) -> Expr:
        rest = limited - n * constant(_LOG_2_HIGH) - n * constant(_LOG_2_LOW)
        exponent = n.astype(vector_type("int32", lanes))
        half = tirx.shift_right(exponent, spread(tirx.const(1, "int32"), lanes))
        small = _let(rest, lanes, lambda r: _polynomial(r, _EXP, lanes))
        # Twice, since 2**n alone may be too large or too small.
        return small * _power_of_two(half, lanes) * _power_of_two(exponent - half, lanes)

    def of_number(x: Expr) -> Expr:
        limited = tirx.Select(x < constant(_SMALLEST), constant(_SMALLEST), x)
        limited = tirx.Select(limited > constant(_LARGEST), constant(_LARGEST), limited)
        found = _let(
            limited,
            lanes,
            lambda y: _let(
                tirx.floor(y * constant(math.log2(math.e)) + constant(0.5)), lanes, lambda n: from_parts(y, n)
            ),
        )
        found = tirx.Select(x > constant(_LARGEST), constant(math.inf), found)
        return tirx.Select(tirx.isnan(x), x, found)

    return _let(x, lanes, of_number)


def _sigmoid(x: Expr, dtype: str, lanes: int) -> Expr:
    one = spread(number(1, dtype), lanes)
    return one / (one + exp(-x, dtype, lanes))


def _tanh(x: Expr, dtype: str, lanes: int) -> Expr:
    if dtype != "float32":
        return tirx.tanh(x)

    def of_number(x: Expr) -> Expr:
        one, two = (spread(number(value, dtype), lanes) for value in (1, 2))
        near = x * _let(x * x, lanes, lambda y: _polynomial(y, _TANH, lanes))
        far = one - two / (exp(two * tirx.abs(x), dtype, lanes) + one)
        zero = spread(number(0, dtype), lanes)
        signed = _let(far, lanes, lambda found: tirx.Select(x < zero, -found, found))
        return tirx.Select(tirx.abs(x) < spread(number(0.35, dtype), lanes), near, signed)

    return _let(x, lanes, of_number)


def _erf(x: Expr, dtype: str, lanes: int) -> Expr:
    if dtype != "float32":
        return tirx.erf(x)

    def of_number(x: Expr) -> Expr:
        one = spread(number(1, dtype), lanes)
        slope = spread(number(0.3275911, dtype), lanes)
        falling = exp(-x * x, dtype, lanes)
        far = _let(one / (one + slope * tirx.abs(x)), lanes, lambda t: one - t * _polynomial(t, _ERF, lanes) * falling)
        return _let(far, lanes, lambda found: tirx.Select(x < spread(number(0, dtype), lanes), -found, found))

    return _let(x, lanes, of_number)


def _gelu(x: Expr, dtype: str, lanes: int) -> Expr:
    half, one, root = (spread(number(value, dtype), lanes) for value in (0.5, 1, math.sqrt(0.5)))
    return half * x * (one + _erf(x * root, dtype, lanes))


def _gelu_by_tanh(x: Expr, dtype: str, lanes: int) -> Expr:
    half, one, root, cubic = (
        spread(number(value, dtype), lanes) for value in (0.5, 1, math.sqrt(2 / math.pi), 0.044715)
    )
    return half * x * (one + _tanh(root * (x + cubic * x * x * x), dtype, lanes))


def _hard_sigmoid(x: Expr, dtype: str, lanes: int) -> Expr:
    zero, three, six = (spread(number(value, dtype), lanes) for value in (0, 3, 6))

    def limited(y: Expr) -> Expr:
        return tirx.Select(y < zero, zero, tirx.Select(y > six, six, y)) / six

    return _let(x + three, lanes, limited, dtype)


def _reciprocal(x: Expr, dtype: str, lanes: int) -> Expr:
    return spread(number(1, dtype), lanes) / x


FUNCTIONS: dict[str, Callable[[Expr, str, int], Expr]] = {
    "exp": exp,
    "sigmoid": _sigmoid,
    "tanh": _tanh,
    "gelu": _gelu,
    "gelu_tanh": _gelu_by_tanh,
    "silu": lambda x, dtype, lanes: x * _sigmoid(x, dtype, lanes),
    "hardswish": lambda x, dtype, lanes: x * _hard_sigmoid(x, dtype, lanes),
    "hardsigmoid": _hard_sigmoid,
    "log": lambda x, dtype, lanes: tirx.log(x),
    "sqrt": lambda x, dtype, lanes: tirx.sqrt(x),
    "rsqrt": lambda x, dtype, lanes: _reciprocal(tirx.sqrt(x), dtype, lanes),
    "reciprocal": _reciprocal,
}
