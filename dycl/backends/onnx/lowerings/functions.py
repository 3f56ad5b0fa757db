"""Lowerings of functions of one number: roots, exponentials, logarithms, trigonometry, rounding."""

import math

from dycl.backends.onnx import double
from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.lowerings.arithmetic import sign_bit, truncate
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Value, is_float, wider

_DIRECT = {
    "sqrt": "Sqrt",
    "exp": "Exp",
    "log": "Log",
    "sin": "Sin",
    "cos": "Cos",
    "tanh": "Tanh",
    "reciprocal": "Reciprocal",
}
_SINGLE_ONLY = {
    "tan": double.tan,
    "sinh": double.sinh,
    "cosh": double.cosh,
    "asin": double.asin,
    "acos": double.acos,
    "atan": double.atan,
    "asinh": double.asinh,
    "acosh": double.acosh,
    "atanh": double.atanh,
    "erf": double.erf,
}


@lowers(*(f"aten.{name}.default" for name in _DIRECT))
def direct(b: Builder, a: Arguments) -> Value:
    return b.node(_DIRECT[a.target.split(".")[1]], b.cast(a.tensor("self"), a.result.dtype))


@lowers("aten.sigmoid.default")
def sigmoid(b: Builder, a: Arguments) -> Value:
    return logistic(b, b.cast(a.tensor("self"), a.result.dtype))


def logistic(b: Builder, x: Value) -> Value:
    """`1 / (1 + exp(-x))`: ONNX Runtime's own ends at -18, though its logarithm goes on."""
    wide = b.cast(x, wider(x.dtype))
    whole = b.node("Add", b.node("Exp", b.node("Neg", wide)), b.number(1, wide.dtype))
    return b.cast(b.node("Reciprocal", whole), x.dtype)


@lowers(*(f"aten.{name}.default" for name in _SINGLE_ONLY))
def single_only(b: Builder, a: Arguments) -> Value:
    name = a.target.split(".")[1]
    x = b.cast(a.tensor("self"), a.result.dtype)
    return _SINGLE_ONLY[name](b, x) if x.dtype == "float64" else b.node(name.capitalize(), x)


@lowers("aten.erfc.default")
def erfc(b: Builder, a: Arguments) -> Value:
    x = b.cast(a.tensor("self"), a.result.dtype)
    # 1 - erf(x) has no digits left for large x, so single precision is computed in double too.
    return b.cast(double.erfc(b, b.cast(x, "float64")), x.dtype)


@lowers("aten.rsqrt.default")
def rsqrt(b: Builder, a: Arguments) -> Value:
    return b.node("Reciprocal", b.node("Sqrt", b.cast(a.tensor("self"), a.result.dtype)))


@lowers("aten.square.default")
def square(b: Builder, a: Arguments) -> Value:
    x = b.cast(a.tensor("self"), a.result.dtype)
    return b.node("Mul", x, x)


@lowers("aten.exp2.default")
def exp2(b: Builder, a: Arguments) -> Value:
    x = b.cast(a.tensor("self"), a.result.dtype)
    return b.node("Pow", b.number(2.0, x.dtype), x)


@lowers("aten.log2.default", "aten.log10.default")
def logarithm(b: Builder, a: Arguments) -> Value:
    x = b.cast(a.tensor("self"), a.result.dtype)
    base = 2.0 if "log2" in a.target else 10.0
    # Division in double gives whole numbers for powers of the base, as PyTorch does.
    quotient = b.node("Div", b.node("Log", b.cast(x, "float64")), b.number(math.log(base), "float64"))
    return b.cast(quotient, x.dtype)


@lowers("aten.log1p.default", "aten.expm1.default")
def near_zero(b: Builder, a: Arguments) -> Value:
    x = b.cast(a.tensor("self"), a.result.dtype)
    function = double.log1p if "log1p" in a.target else double.expm1
    return b.cast(function(b, b.cast(x, "float64")), x.dtype)


@lowers("aten.atan2.default")
def atan2(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    y, x = b.number(a.number("self"), dtype), b.number(a.number("other"), dtype)
    return b.cast(double.atan2(b, b.cast(y, "float64"), b.cast(x, "float64")), dtype)


@lowers("aten.abs.default", "aten.neg.default", "aten.sign.default", "aten.sgn.default")
def sign(b: Builder, a: Arguments) -> Value:
    operator = {"abs": "Abs", "neg": "Neg", "sign": "Sign", "sgn": "Sign"}[a.target.split(".")[1]]
    x = a.tensor("self")
    if x.dtype == "bool":
        return x
    result = b.node(operator, x)
    if operator == "Sign" and is_float(x.dtype):
        # PyTorch gives NaN the sign 0.
        return b.node("Where", b.node("IsNaN", x), b.number(0, x.dtype), result)
    return result


@lowers("aten.angle.default")
def angle(b: Builder, a: Arguments) -> Value:
    x = b.cast(a.tensor("self"), a.result.dtype)
    left = b.node("Less", x, b.number(0, x.dtype))
    side = b.node("Where", left, b.number(math.pi, x.dtype), b.number(0, x.dtype))
    return b.node("Where", b.node("IsNaN", x), x, side)


@lowers("aten.nextafter.default")
def nextafter(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    if dtype not in ("float32", "float64"):
        b.refuse(f"the neighbour of a {dtype}")
    x, goal = b.cast(a.tensor("self"), dtype), b.cast(a.tensor("other"), dtype)
    result = double.neighbour(b, x, b.node("Greater", goal, x))
    limit = b.number(1.7976931348623157e308 if dtype == "float64" else 3.4028234663852886e38, dtype)
    # From infinity the way back begins at the greatest number.
    result = b.node("Where", b.node("IsInf", x), b.node("Mul", b.node("Sign", x), limit), result)
    result = b.node("Where", b.node("Equal", x, goal), goal, result)
    odd = b.node("Or", b.node("IsNaN", x), b.node("IsNaN", goal))
    return b.node("Where", odd, b.number(math.nan, dtype), result)


@lowers("aten.signbit.default")
def signbit(b: Builder, a: Arguments) -> Value:
    return sign_bit(b, a.tensor("self"))


@lowers("aten.floor.default", "aten.ceil.default", "aten.round.default", "aten.trunc.default", "aten.fix.default")
def rounded(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    if not is_float(x.dtype):
        return x
    name = a.target.split(".")[1]
    return truncate(b, x) if name in ("trunc", "fix") else b.node(name.capitalize(), x)


@lowers("aten.round.decimals")
def round_decimals(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    decimals = a.integer("decimals")
    if not is_float(x.dtype):
        return x
    # Half precision is too narrow for what stands between.
    wide = b.cast(x, "float32") if x.dtype == "float16" else x
    ten = b.number(10.0 ** abs(decimals), wide.dtype)
    there, back = ("Mul", "Div") if decimals >= 0 else ("Div", "Mul")
    return b.cast(b.node(back, b.node("Round", b.node(there, wide, ten)), ten), x.dtype)


@lowers("aten.frac.default")
def frac(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    return b.node("Sub", x, truncate(b, x))


@lowers("aten.frexp.Tensor")
def frexp(b: Builder, a: Arguments) -> list[Value]:
    """The number as a fraction from 0.5 to 1, and the power of two that it is to be multiplied by."""
    x = a.tensor("self")
    wide = b.cast(x, "float64")
    zero, one, half = (b.number(number, "float64") for number in (0, 1, 0.5))
    # What is too small to have all its digits is made larger first.
    tiny = b.node("Less", b.node("Abs", wide), b.number(2.0**-1000, "float64"))
    size = b.node("Where", tiny, b.node("Mul", wide, b.number(2.0**60, "float64")), wide)
    plain = b.node("Or", b.node("Or", b.node("IsNaN", wide), b.node("IsInf", wide)), b.node("Equal", wide, zero))
    size = b.node("Where", plain, half, size)
    power = b.node("Floor", b.node("Div", b.node("Log", b.node("Abs", size)), b.number(math.log(2), "float64")))
    power = b.node("Min", power, b.number(1023, "float64"))
    fraction = b.node("Mul", b.node("Div", size, b.node("Pow", b.number(2, "float64"), power)), half)
    power = b.node("Add", power, one)
    # The logarithm may be off by one at a power of two.
    large = b.node("GreaterOrEqual", b.node("Abs", fraction), one)
    small = b.node("Less", b.node("Abs", fraction), half)
    scale = b.node("Where", large, half, b.node("Where", small, b.number(2, "float64"), one))
    power = b.node("Add", power, b.node("Where", large, one, b.node("Where", small, b.number(-1, "float64"), zero)))
    power = b.node("Sub", power, b.node("Where", tiny, b.number(60, "float64"), zero))
    fraction = b.node("Where", plain, wide, b.node("Mul", fraction, scale))
    return [b.cast(fraction, x.dtype), b.cast(b.node("Where", plain, zero, power), "int32")]
