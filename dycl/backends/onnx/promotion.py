"""The element type in which PyTorch computes an operation on operands of different types."""

from collections.abc import Iterable

from dycl.backends.onnx.values import Number, Value, is_float
from dycl.hcfg.types import DType

_INTEGERS: tuple[DType, ...] = ("int8", "int16", "int32", "int64")


def promote(operands: Iterable[Number], numbers: Iterable[Number] = ()) -> DType:
    """The common type: 0-d tensors, and then plain numbers, only count where they are of a higher category.

    `numbers` may be tensors too: those that hold a number which only the input determines.
    """
    tensors: DType | None = None
    scalars: DType | None = None
    plain: DType | None = None
    for operand in operands:
        if not isinstance(operand, Value):
            plain = _join(plain, _number_type(operand))
        elif operand.rank:
            tensors = _join(tensors, operand.dtype)
        else:
            scalars = _join(scalars, operand.dtype)
    for number in numbers:
        kind = _number_type(number) if not isinstance(number, Value) else _wrapped(number.dtype)
        plain = _join(plain, kind)
    result = tensors
    for lower in (scalars, plain):
        if lower is None:
            continue
        if result is None or _category(lower) > _category(result):
            result = lower
    assert result is not None
    return result


def _number_type(number: bool | float) -> DType:
    return "bool" if isinstance(number, bool) else "int64" if isinstance(number, int) else "float32"


def _wrapped(dtype: DType) -> DType:
    return "float32" if is_float(dtype) else dtype


def _category(dtype: DType) -> int:
    return 0 if dtype == "bool" else 2 if is_float(dtype) else 1


def _join(a: DType | None, b: DType) -> DType:
    if a is None or a == b:
        return b
    if _category(a) != _category(b):
        return a if _category(a) > _category(b) else b
    if is_float(a):
        if {a, b} == {"float16", "bfloat16"}:
            return "float32"
        order: tuple[DType, ...] = ("float16", "bfloat16", "float32", "float64")
        return max(a, b, key=order.index)
    if "uint8" in (a, b):
        other = b if a == "uint8" else a
        return "int16" if other == "int8" else other
    return max(a, b, key=_INTEGERS.index)
