"""Lowerings of comparisons, logic, bits, choices and bounds."""

import math

import numpy as np

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import flatten, gather, reduce, unsqueeze
from dycl.backends.onnx.promotion import promote
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Number, Value, is_float
from dycl.hcfg.types import DType

_COMPARISONS = {
    "eq": "Equal",
    "ne": "Equal",
    "lt": "Less",
    "le": "LessOrEqual",
    "gt": "Greater",
    "ge": "GreaterOrEqual",
}


@lowers(*(f"aten.{name}.{kind}" for name in _COMPARISONS for kind in ("Tensor", "Scalar")))
def compare(b: Builder, a: Arguments) -> Value:
    name, kind = a.target.split(".")[1:]
    x, y = a.number("self"), a.number("other")
    dtype = promote([x], [y]) if kind == "Scalar" else promote([x, y])
    result = b.node(_COMPARISONS[name], b.number(x, dtype), b.number(y, dtype))
    return b.node("Not", result) if name == "ne" else result


@lowers("aten.logical_and.default", "aten.logical_or.default", "aten.logical_xor.default")
def logical(b: Builder, a: Arguments) -> Value:
    operator = {"and": "And", "or": "Or", "xor": "Xor"}[a.target.split(".")[1].removeprefix("logical_")]
    return b.node(operator, b.number(a.number("self"), "bool"), b.number(a.number("other"), "bool"))


@lowers("aten.logical_not.default")
def logical_not(b: Builder, a: Arguments) -> Value:
    return b.node("Not", b.cast(a.tensor("self"), "bool"))


_BITWISE = {"bitwise_and": "And", "bitwise_or": "Or", "bitwise_xor": "Xor", "__and__": "And", "__or__": "Or"}
_BITWISE |= {"__xor__": "Xor"}


@lowers(
    *(f"aten.bitwise_{name}.{kind}" for name in ("and", "or", "xor") for kind in ("Tensor", "Scalar", "Scalar_Tensor")),
    *(f"aten.__{name}__.{kind}" for name in ("and", "or", "xor") for kind in ("Tensor", "Scalar")),
)
def bitwise(b: Builder, a: Arguments) -> Value:
    operator = _BITWISE[a.target.split(".")[1]]
    dtype = a.result.dtype
    operator = operator if dtype == "bool" else f"Bitwise{operator}"
    return b.node(operator, b.number(a.number("self"), dtype), b.number(a.number("other"), dtype))


@lowers("aten.bitwise_not.default")
def bitwise_not(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    return b.node("Not" if x.dtype == "bool" else "BitwiseNot", x)


@lowers(
    "aten.__lshift__.Scalar",
    "aten.__rshift__.Scalar",
    "aten.bitwise_left_shift.Tensor_Scalar",
    "aten.bitwise_right_shift.Tensor_Scalar",
)
def shift(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    x, places = b.number(a.number("self"), dtype), a.integer("other")
    bits = {"uint8": 8, "int8": 7, "int16": 15, "int32": 31, "int64": 63}.get(dtype, 0)
    if not 0 <= places < bits:
        b.refuse(f"{dtype} is shifted by {places} places")
    factor = b.number(2**places, dtype)
    if "left" in a.target or "__l" in a.target:
        return b.node("Mul", x, factor)
    return b.node("Div", b.node("Sub", x, b.node("Mod", x, factor)), factor)


@lowers(
    "aten.__lshift__.Tensor",
    "aten.__rshift__.Tensor",
    "aten.bitwise_left_shift.Tensor",
    "aten.bitwise_right_shift.Tensor",
)
def shift_each(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    x, places = b.number(a.number("self"), dtype), b.cast(b.number(a.number("other"), dtype), "int64")
    bits = {"uint8": 8, "int8": 8, "int16": 16, "int32": 32, "int64": 64}.get(dtype)
    if bits is None:
        b.refuse(f"{dtype} is shifted")
    # Too many places, or fewer than none, leave nothing but the sign.
    many = b.node("Or", b.node("Less", places, b.constant(0)), b.node("GreaterOrEqual", places, b.constant(bits)))
    places = b.node("Where", many, b.constant(0), places)
    if "left" in a.target or "__l" in a.target:
        factors = np.left_shift(np.int64(1), np.arange(bits))
        result = b.node("Mul", x, gather(b, b.constant(factors, dtype), places, 0))
        return b.node("Where", many, b.number(0, dtype), result)
    last = b.node("GreaterOrEqual", places, b.constant(bits - 1)) if dtype != "uint8" else many
    many = b.node("Or", many, last)
    factor = gather(b, b.constant([2**place for place in range(bits - (dtype != "uint8"))] + [1], dtype), places, 0)
    quotient = b.node("Div", b.node("Sub", x, b.node("Mod", x, factor)), factor)
    sign = b.node("Where", b.node("Less", x, b.number(0, dtype)), b.number(-1, dtype), b.number(0, dtype))
    return b.node("Where", many, b.number(0, dtype) if dtype == "uint8" else sign, quotient)


@lowers("aten.where.self", "aten.where.ScalarSelf", "aten.where.ScalarOther", "aten.where.Scalar")
def where(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    condition = b.cast(a.tensor("condition"), "bool")
    return b.node("Where", condition, b.number(a.number("self"), dtype), b.number(a.number("other"), dtype))


@lowers("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def masked_fill(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    mask = b.cast(a.tensor("mask"), "bool")
    return b.node("Where", mask, b.number(a.number("value"), dtype), b.cast(a.tensor("self"), dtype))


def _extreme(b: Builder, operator: str, x: Value, y: Value) -> Value:
    if x.dtype == "bool":
        return b.node("Or" if operator == "Max" else "And", x, y)
    return b.node(operator, x, y)


@lowers("aten.maximum.default", "aten.minimum.default", "aten.max.other", "aten.min.other")
def maximum(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    operator = "Max" if ".max" in a.target else "Min"
    return _extreme(b, operator, b.number(a.number("self"), dtype), b.number(a.number("other"), dtype))


@lowers("aten.fmax.default", "aten.fmin.default")
def number_over_nan(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    x, y = b.number(a.number("self"), dtype), b.number(a.number("other"), dtype)
    result = _extreme(b, "Max" if "fmax" in a.target else "Min", x, y)
    if not is_float(dtype):
        return result
    return b.node("Where", b.node("IsNaN", x), y, b.node("Where", b.node("IsNaN", y), x, result))


@lowers(
    "aten.clamp.default",
    "aten.clamp.Tensor",
    "aten.clip.default",
    "aten.clip.Tensor",
    "aten.clamp_min.default",
    "aten.clamp_min.Tensor",
    "aten.clamp_max.default",
    "aten.clamp_max.Tensor",
    "aten.hardtanh.default",
)
def clamp(b: Builder, a: Arguments) -> Value:
    low, high = ("min_val", "max_val") if "hardtanh" in a.target else ("min", "max")
    x = b.cast(a.tensor("self"), a.result.dtype)
    return bounded(b, x, a.optional_number(low), a.optional_number(high))


@lowers("aten.relu6.default")
def relu6(b: Builder, a: Arguments) -> Value:
    return bounded(b, a.tensor("self"), 0, 6)


def bounded(b: Builder, x: Value, low: Number | None, high: Number | None) -> Value:
    """The value within bounds; where they contradict each other, the upper one."""
    scalar = all(bound is None or not isinstance(bound, Value) or not bound.rank for bound in (low, high))
    lower, upper = (None if bound is None else b.number(bound, x.dtype) for bound in (low, high))
    if scalar and _ordered(b, lower, upper):
        return b.node("Clip", x, lower, upper, shape=x.shape)
    if lower is not None:
        x = _extreme(b, "Max", x, lower)
    return x if upper is None else _extreme(b, "Min", x, upper)


def _ordered(b: Builder, lower: Value | None, upper: Value | None) -> bool:
    """Whether `Clip` means the same: it leaves open what contradicting bounds give, and cuts off infinities."""
    if lower is None or upper is None:
        return False
    numbers = [float(value) for bound in (lower, upper) if (value := b.known(bound)) is not None]
    return len(numbers) == 2 and not any(math.isnan(number) for number in numbers) and numbers == sorted(numbers)


@lowers("aten.isnan.default", "aten.isinf.default", "aten.isfinite.default")
def classify(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    name = a.target.split(".")[1]
    if not is_float(x.dtype):
        same = b.node("Equal", x, x)
        return same if name == "isfinite" else b.node("Not", same)
    if name == "isnan":
        return b.node("IsNaN", x)
    if name == "isinf":
        return b.node("IsInf", x)
    return b.node("Not", b.node("Or", b.node("IsNaN", x), b.node("IsInf", x)))


@lowers("aten.isin.Tensor_Tensor", "aten.isin.Tensor_Scalar", "aten.isin.Scalar_Tensor")
def isin(b: Builder, a: Arguments) -> Value:
    x, those = (a.number(first if a.has(first) else first.rstrip("s")) for first in ("elements", "test_elements"))
    dtype = promote([x, those])
    x, those = (b.number(value, dtype) for value in (x, those))
    same = b.node("Equal", unsqueeze(b, x, [x.rank]), flatten(b, those))
    found = b.cast(reduce(b, "ReduceMax", b.cast(same, "uint8"), [x.rank], keepdim=False), "bool")
    return b.node("Not", found) if a.flag("invert") else found


@lowers("aten.isposinf.default", "aten.isneginf.default")
def signed_infinity(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    if not is_float(x.dtype):
        return b.node("Not", b.node("Equal", x, x))
    positive = "isposinf" in a.target
    return b.node("IsInf", x, detect_positive=int(positive), detect_negative=int(not positive))


@lowers("aten.nan_to_num.default")
def nan_to_num(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    if not is_float(x.dtype):
        return x
    limits: dict[DType, float] = {
        "float16": 65504.0,
        "bfloat16": 3.3895313892515355e38,
        "float32": 3.4028234663852886e38,
        "float64": 1.7976931348623157e308,
    }
    limit = limits[x.dtype]
    nan, above, below = (
        b.number(default if (given := a.optional_number(name)) is None else given, x.dtype)
        for name, default in (("nan", 0.0), ("posinf", limit), ("neginf", -limit))
    )
    x = b.node("Where", b.node("IsNaN", x), nan, x)
    x = b.node("Where", b.node("IsInf", x, detect_negative=0), above, x)
    return b.node("Where", b.node("IsInf", x, detect_positive=0), below, x)
