"""Lowerings of the arithmetic of whole numbers."""

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Value
from dycl.hcfg.types import DType

_STEPS = {"uint8": 13, "int8": 12, "int16": 23, "int32": 47, "int64": 93}
"""The most steps that Euclid's algorithm takes: those of neighbouring Fibonacci numbers."""


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
        rest = b.node("Mod", large, b.node("Where", done, b.number(1, x.dtype), small))
        return [b.node("Where", done, small, rest), b.node("Where", done, large, small)], []

    # The states must keep one shape from step to step, so both start from the broadcast one.
    together = b.node("Add", b.node("Sub", x, x), b.node("Sub", y, y))
    states = [b.node("Add", together, b.node("Abs", value)) for value in (x, y)]
    return b.scan(states, [b.constant([0] * _STEPS[x.dtype])], 0, step)[1]
