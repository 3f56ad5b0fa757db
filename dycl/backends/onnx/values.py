"""What lowerings compute with: tensors of the ONNX graph, and numbers that may only be known at run time."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dycl.hcfg.types import Dimension, DType

UNKNOWN: Dimension = "?"


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor of the ONNX graph. Equal named dimensions are equal sizes, except that `?` says nothing."""

    name: str
    dtype: DType
    shape: tuple[Dimension, ...]

    @property
    def rank(self) -> int:
        """How many axes the tensor has."""
        return len(self.shape)


Size = int | Value
Number = int | float | bool | Value


def broadcast(shapes: Iterable[tuple[Dimension, ...]]) -> tuple[Dimension, ...]:
    """The shape that operands of these shapes have together."""
    result: tuple[Dimension, ...] = ()
    for shape in shapes:
        if shape == result:
            continue
        rank = max(len(result), len(shape))
        left: tuple[Dimension, ...] = (1,) * (rank - len(result)) + result
        right: tuple[Dimension, ...] = (1,) * (rank - len(shape)) + shape
        result = tuple(_broadcast_dimension(a, b) for a, b in zip(left, right, strict=True))
    return result


def _broadcast_dimension(a: Dimension, b: Dimension) -> Dimension:
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if isinstance(a, int):
        return a
    return b if isinstance(b, int) else UNKNOWN


def static_shape(shape: tuple[Dimension, ...]) -> tuple[int, ...] | None:
    """The shape as numbers, or None if the input decides any of them."""
    numbers = tuple(size for size in shape if isinstance(size, int))
    return numbers if len(numbers) == len(shape) else None


def is_float(dtype: DType) -> bool:
    """Whether the element type is a floating-point one."""
    return dtype in ("float16", "bfloat16", "float32", "float64")


def rounded_to(dtype: DType, number: float) -> float:
    """A number as half precision has it."""
    if dtype == "float16":
        with np.errstate(over="ignore"):
            return float(np.float16(number))
    bits = int(np.float32(number).view(np.uint32))
    if np.isnan(np.float32(number)):
        return float("nan")
    # The upper half of single precision, rounded to the nearest, of two such to the even one.
    upper = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return float(np.uint32(upper).view(np.float32))


def wider(dtype: DType) -> DType:
    """The element type in which PyTorch adds up numbers of this one: single precision for half."""
    return "float32" if dtype in ("float16", "bfloat16") else dtype


def is_integer(dtype: DType) -> bool:
    """Whether the element type is an integer one, flags not included."""
    return dtype in ("uint8", "int8", "int16", "int32", "int64")


_BITS: dict[DType, int] = {"uint8": 8, "int8": 7, "int16": 15, "int32": 31, "int64": 63}


def lowest(dtype: DType) -> float:
    """The number below all others of an element type."""
    if is_float(dtype):
        return -math.inf
    return 0 if dtype in ("uint8", "bool") else -(2 ** _BITS[dtype])


def highest(dtype: DType) -> float:
    """The number above all others of an element type."""
    if is_float(dtype):
        return math.inf
    return 1 if dtype == "bool" else 2 ** _BITS[dtype] - 1
