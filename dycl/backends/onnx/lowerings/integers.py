"""Lowerings of the arithmetic of whole numbers."""

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Value
from dycl.hcfg.types import DType

_STEPS = {"uint8": 13, "int8": 12, "int16": 23, "int32": 47, "int64": 93}
"""The most steps that Euclid's algorithm takes: those of neighbouring Fibonacci numbers."""


def whole_quotient(b: Builder, x: Value, y: Value) -> Value:
    """The quotient of whole numbers without its fraction; the least number divided by -1 is itself, as in PyTorch."""
    if not _may_overflow(b, y):
        return b.node("Div", x, y)
    opposite, divisor = _without_minus_one(b, y)
    return b.node("Where", opposite, b.node("Neg", x), b.node("Div", x, divisor))


def whole_quotient_below(b: Builder, x: Value, y: Value) -> Value:
    """The quotient of whole numbers rounded down; no step of it leaves the range of the type."""
    quotient = whole_quotient(b, x, y)
    if x.dtype == "uint8":
        return quotient
    known, zero = b.known(y), b.number(0, x.dtype)
    multiple = b.node("Mul", quotient, y)
    if known is not None and bool((known > 0).all()):
        return b.node("Sub", quotient, b.cast(b.node("Greater", multiple, x), x.dtype))
    sign = b.node("Mul", b.node("Sign", b.node("Sub", x, multiple)), b.node("Sign", y))
    return b.node("Add", quotient, b.node("Min", sign, zero))


def whole_remainder(b: Builder, x: Value, y: Value) -> Value:
    """The remainder of whole numbers with the sign of the divisor."""
    # Nothing is left over by -1, nor by 1.
    return b.node("Mod", x, _without_minus_one(b, y)[1] if _may_overflow(b, y) else y)


def _may_overflow(b: Builder, divisor: Value) -> bool:
    """Whether the processor may stop the process: it does for the least number divided by -1."""
    known = b.known(divisor)
    return divisor.dtype in ("int32", "int64") and (known is None or bool((known == -1).any()))


def _without_minus_one(b: Builder, divisor: Value) -> tuple[Value, Value]:
    """Where the divisor is -1, and the divisor with 1 in those places."""
    opposite = b.node("Equal", divisor, b.number(-1, divisor.dtype))
    return opposite, b.node("Where", opposite, b.number(1, divisor.dtype), divisor)


@lowers("aten.gcd.default", "aten.lcm.default")
def gcd(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    x, y = (b.cast(a.tensor(name), dtype) for name in ("self", "other"))
    divisor = _gcd(b, x, y)
    if "gcd" in a.target:
        return divisor
    none = b.node("Equal", divisor, b.number(0, dtype))
    share = b.node("Div", x, b.node("Where", none, b.number(1, dtype), divisor))
    # Of narrow numbers C++ multiplies, and drops the sign, before it drops the higher bits.
    wide: DType = "int64" if dtype == "int64" else "int32"
    multiple = b.cast(b.node("Abs", b.node("Mul", b.cast(share, wide), b.cast(y, wide))), dtype)
    return b.node("Where", none, b.number(0, dtype), multiple)


def _gcd(b: Builder, x: Value, y: Value) -> Value:
    zero = b.number(0, x.dtype)

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        small, large = states
        done = b.node("Equal", small, zero)
        # The least number has no positive one: it stays negative, what is left of it divided by -1 traps, and has its
        # sign, not that of the divisor.
        unsigned = x.dtype == "uint8"
        divides_all = done if unsigned else b.node("Or", done, b.node("Equal", small, b.number(-1, x.dtype)))
        divisor = b.node("Where", divides_all, b.number(1, x.dtype), small)
        rest = b.node("Mod", large, divisor)
        other_sign = b.node("Xor", b.node("Less", rest, zero), b.node("Less", large, zero))
        wrong = b.node("And", b.node("Not", b.node("Equal", rest, zero)), other_sign)
        rest = b.node("Where", wrong, b.node("Sub", rest, divisor), rest)
        return [b.node("Where", done, small, rest), b.node("Where", done, large, small)], []

    # The states must keep one shape from step to step, so both start from the broadcast one.
    together = b.node("Add", b.node("Sub", x, x), b.node("Sub", y, y))
    states = [b.node("Add", together, b.node("Abs", value)) for value in (x, y)]
    return b.scan(states, [b.constant([0] * _STEPS[x.dtype])], 0, step)[1]
