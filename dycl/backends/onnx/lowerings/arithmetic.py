"""Lowerings of arithmetic: sums, products, quotients, remainders, powers."""

import math

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.lowerings.integers import whole_quotient, whole_quotient_below, whole_remainder
from dycl.backends.onnx.table import in_single_precision, in_single_precision_of_rounded, lowers
from dycl.backends.onnx.values import Number, Value, is_float, is_integer, wider
from dycl.hcfg.types import DType


def _operands(b: Builder, a: Arguments, dtype: DType) -> tuple[Value, Value]:
    return b.number(a.number("self"), dtype), b.number(a.number("other"), dtype)


@lowers("aten.add.Tensor", "aten.add.Scalar", "aten.sub.Tensor", "aten.sub.Scalar")
@in_single_precision_of_rounded
def add(b: Builder, a: Arguments) -> Value:
    x, y = _operands(b, a, a.result.dtype)
    return scaled_sum(b, x, y, a.number("alpha"), "Add" if ".add." in a.target else "Sub")


@lowers("aten.rsub.Tensor", "aten.rsub.Scalar")
def reversed_sub(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    # A number that is the first operand becomes half precision before it counts.
    x, y = (b.cast(value, wider(dtype)) for value in _operands(b, a, dtype))
    return b.cast(b.node("Sub", y, scaled(b, x, a.number("alpha"))), dtype)


def scaled_sum(b: Builder, x: Value, y: Value, alpha: Number, operator: str = "Add") -> Value:
    """`x + alpha * y`, or the difference; of flags, as PyTorch has it, their disjunction."""
    y = scaled(b, y, alpha)
    if x.dtype == "bool":
        return b.node("Or" if operator == "Add" else "Xor", x, y)
    return b.node(operator, x, y)


def scaled(b: Builder, value: Value, factor: Number) -> Value:
    """`factor * value`, without a node where the factor is 1."""
    if not isinstance(factor, Value) and factor == 1:
        return value
    return multiply(b, value, b.number(factor, value.dtype))


def multiply(b: Builder, x: Value, y: Value) -> Value:
    """The product; of flags, their conjunction."""
    return b.node("And" if x.dtype == "bool" else "Mul", x, y)


@lowers("aten.mul.Tensor", "aten.mul.Scalar", "aten.multiply.Tensor")
@in_single_precision
def mul(b: Builder, a: Arguments) -> Value:
    return multiply(b, *_operands(b, a, a.result.dtype))


@lowers("aten.div.Tensor", "aten.div.Scalar", "aten.true_divide.Tensor", "aten.divide.Tensor")
@in_single_precision
def div(b: Builder, a: Arguments) -> Value:
    return b.node("Div", *_operands(b, a, a.result.dtype))


@lowers(
    "aten.div.Tensor_mode",
    "aten.div.Scalar_mode",
    "aten.divide.Tensor_mode",
    "aten.floor_divide.default",
    "aten.floor_divide.Scalar",
)
@in_single_precision
def div_rounded(b: Builder, a: Arguments) -> Value:
    x, y = _operands(b, a, a.result.dtype)
    mode = "floor" if ".floor_divide." in a.target else a.text("rounding_mode") if a.has("rounding_mode") else None
    if mode is None:
        return b.node("Div", x, y)
    if mode == "trunc":
        return truncate(b, b.node("Div", x, y)) if is_float(x.dtype) else whole_quotient(b, x, y)
    return floor_divide(b, x, y)


def floor_divide(b: Builder, x: Value, y: Value) -> Value:
    """The quotient rounded down, as exact as Python's own `//`."""
    if not is_float(x.dtype):
        return whole_quotient_below(b, x, y)
    if x.dtype in ("float16", "bfloat16"):
        return b.cast(floor_divide(b, b.cast(x, "float32"), b.cast(y, "float32")), x.dtype)
    zero, one, half = (b.number(number, x.dtype) for number in (0, 1, 0.5))
    rest = b.node("Mod", x, y, fmod=1)
    quotient = b.node("Div", b.node("Sub", x, rest), y)
    quotient = b.node("Where", _other_sign(b, rest, y), b.node("Sub", quotient, one), quotient)
    lower = b.node("Floor", quotient)
    too_low = b.node("Greater", b.node("Sub", quotient, lower), half)
    lower = b.node("Where", too_low, b.node("Add", lower, one), lower)
    return b.node("Where", b.node("Equal", y, zero), b.node("Div", x, y), lower)


def _other_sign(b: Builder, rest: Value, divisor: Value) -> Value:
    zero = b.number(0, rest.dtype)
    nonzero = b.node("Not", b.node("Equal", rest, zero))
    return b.node("And", nonzero, b.node("Xor", b.node("Less", rest, zero), b.node("Less", divisor, zero)))


@lowers("aten.remainder.Tensor", "aten.remainder.Scalar", "aten.remainder.Scalar_Tensor")
@in_single_precision_of_rounded
def remainder(b: Builder, a: Arguments) -> Value:
    x, y = _operands(b, a, a.result.dtype)
    if not is_float(x.dtype):
        return whole_remainder(b, x, y)
    return float_remainder(b, x, y)


def float_remainder(b: Builder, x: Value, y: Value) -> Value:
    """The exact remainder with the sign of the divisor."""
    rest = b.node("Mod", x, y, fmod=1)
    return b.node("Where", _other_sign(b, rest, y), b.node("Add", rest, y), rest)


@lowers("aten.fmod.Tensor", "aten.fmod.Scalar")
@in_single_precision_of_rounded
def fmod(b: Builder, a: Arguments) -> Value:
    x, y = _operands(b, a, a.result.dtype)
    if is_float(x.dtype):
        return b.node("Mod", x, y, fmod=1)
    # Of whole numbers ONNX Runtime computes this one in floating point, and the one with the divisor's sign exactly.
    rest = whole_remainder(b, x, y)
    return b.node("Where", _other_sign(b, rest, x), b.node("Sub", rest, y), rest)


def truncate(b: Builder, value: Value) -> Value:
    """The value rounded towards zero."""
    return b.node("Mul", b.node("Sign", value), b.node("Floor", b.node("Abs", value)))


@lowers("aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def power(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    exponent = a.number("exponent")
    base = b.number(a.number("self"), dtype)
    if is_float(dtype) and not isinstance(exponent, Value):
        return _known_power(b, base, float(exponent))
    if is_integer(dtype) and not isinstance(exponent, Value):
        return _known_integer_power(b, base, int(exponent))
    if is_float(dtype):
        result = b.node("Pow", base, b.number(exponent, dtype))
        is_number = a.target == "aten.pow.Tensor_Scalar" and dtype != "float16"
        return _without_root_of_infinity(b, base, b.number(exponent, dtype), result) if is_number else result
    if dtype == "bool":
        return b.node("Or", base, b.node("Not", b.number(exponent, "bool")))
    return _integer_power(b, base, b.number(exponent, dtype))


def _without_root_of_infinity(b: Builder, base: Value, exponent: Value, result: Value) -> Value:
    """A power by a number: PyTorch takes the root where that is a half, and there is none of minus infinity."""
    half, infinity, none = (b.number(number, base.dtype) for number in (0.5, -math.inf, math.nan))
    is_root = b.node("Equal", b.node("Abs", exponent), half)
    return b.node("Where", b.node("And", is_root, b.node("Equal", base, infinity)), none, result)


def _known_power(b: Builder, base: Value, exponent: float) -> Value:
    """A power with the shortcuts that PyTorch takes too."""
    # In half precision PyTorch takes the root of nothing but a power, which is infinite for minus infinity.
    if exponent == 0.5 and base.dtype != "float16":
        return b.node("Sqrt", base)
    if exponent == -0.5 and base.dtype != "float16":
        return b.node("Reciprocal", b.node("Sqrt", base))
    if exponent == 2:
        return b.node("Mul", base, base)
    if exponent == 3:
        return b.node("Mul", b.node("Mul", base, base), base)
    if exponent == -1:
        return b.node("Reciprocal", base)
    if exponent == -2:
        return b.node("Reciprocal", b.node("Mul", base, base))
    return b.node("Pow", base, b.number(exponent, base.dtype))


def _known_integer_power(b: Builder, base: Value, exponent: int) -> Value:
    """A power by repeated squaring: ONNX Runtime's own goes through floating point and loses digits."""
    if exponent < 0:
        b.refuse("an integer is raised to a negative power")
    result: Value | None = None
    while exponent:
        if exponent & 1:
            result = base if result is None else b.node("Mul", result, base)
        exponent >>= 1
        base = b.node("Mul", base, base) if exponent else base
    one = b.number(1, base.dtype)
    return b.node("Add", b.node("Sub", base, base), one) if result is None else result


def _integer_power(b: Builder, base: Value, exponent: Value) -> Value:
    """A power by repeated squaring, one step a bit of the exponent."""
    one, two, zero = (b.number(number, base.dtype) for number in (1, 2, 0))
    odd = b.node("Not", b.node("Equal", b.node("Mod", exponent, two), zero))
    minus_one = b.number(-1, base.dtype)
    sign = b.node("Where", odd, b.node("Where", b.node("Equal", base, minus_one), base, one), one)
    unit = b.node("Or", b.node("Equal", base, one), b.node("Equal", base, minus_one))
    inverse = b.node("Where", unit, b.node("Where", b.node("Equal", base, one), one, sign), zero)
    bits = {"int64": 63, "int32": 31, "int16": 15, "int8": 7, "uint8": 8}[base.dtype]

    def step(state: list[Value], _: list[Value]) -> tuple[list[Value], list[Value]]:
        result, square, rest = state
        low = b.node("Equal", b.node("Mod", rest, two), one)
        result = b.node("Where", low, b.node("Mul", result, square), result)
        return [result, b.node("Mul", square, square), b.node("Div", rest, two)], []

    # The states must keep one shape from step to step, so all start from the broadcast one.
    together = b.node("Add", b.node("Sub", base, base), b.node("Sub", exponent, exponent))
    states = [b.node("Add", together, value) for value in (one, base, exponent)]
    result = b.scan(states, [b.constant([0] * bits)], 0, step)[0]
    negative = b.node("Less", exponent, zero)
    return b.node("Where", negative, inverse, result)


@lowers("aten.addcmul.default", "aten.addcdiv.default")
@in_single_precision
def add_product(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    x, first, second = (b.cast(a.tensor(name), dtype) for name in ("self", "tensor1", "tensor2"))
    if a.target == "aten.addcdiv.default":
        return b.node("Add", x, b.node("Div", scaled(b, first, a.number("value")), second))
    return b.node("Add", x, b.node("Mul", scaled(b, first, a.number("value")), second))


@lowers("aten.lerp.Scalar", "aten.lerp.Tensor")
@in_single_precision
def lerp(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    start, end = b.cast(a.tensor("self"), dtype), b.cast(a.tensor("end"), dtype)
    weight = b.number(a.number("weight"), dtype)
    one, half = b.number(1, dtype), b.number(0.5, dtype)
    span = b.node("Sub", end, start)
    # From the nearer end, so that weight 1 gives exactly the end, as in PyTorch.
    near_start = b.node("Add", start, b.node("Mul", weight, span))
    near_end = b.node("Sub", end, b.node("Mul", span, b.node("Sub", one, weight)))
    return b.node("Where", b.node("Less", b.node("Abs", weight), half), near_start, near_end)


@lowers("aten.hypot.default")
def hypot(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    x, y = (b.node("Abs", b.cast(a.tensor(name), dtype)) for name in ("self", "other"))
    long, short = b.node("Max", x, y), b.node("Min", x, y)
    # By the longer side, or a square could overflow; nothing has no direction, and infinity no other.
    infinite = b.node("Or", b.node("IsInf", x), b.node("IsInf", y))
    plain = b.node("Or", b.node("Equal", long, b.number(0, dtype)), infinite)
    ratio = b.node("Div", short, b.node("Where", plain, b.number(1, dtype), long))
    root = b.node("Sqrt", b.node("Add", b.node("Mul", ratio, ratio), b.number(1, dtype)))
    result = b.node("Where", plain, long, b.node("Mul", long, root))
    return b.node("Where", infinite, b.number(math.inf, dtype), result)


@lowers("aten.copysign.Tensor", "aten.copysign.Scalar")
def copysign(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    size = b.node("Abs", b.cast(a.tensor("self"), dtype))
    return b.node("Where", sign_bit(b, b.number(a.number("other"), dtype)), b.node("Neg", size), size)


def sign_bit(b: Builder, x: Value) -> Value:
    """Whether the sign bit is set, which it is for minus zero too: its reciprocal tells."""
    zero = b.number(0, x.dtype)
    negative = b.node("Less", x, zero)
    if not is_float(x.dtype):
        return negative
    below = b.node("Less", b.node("Reciprocal", x), zero)
    return b.node("Or", negative, b.node("And", b.node("Equal", x, zero), below))
