"""The kinds of value that cross between blocks: tensors and host values."""

from dataclasses import dataclass
from typing import Literal, get_args

DType = Literal[
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
]
Dimension = int | str
HostKind = Literal["bool", "int", "float"]

DTYPES: tuple[DType, ...] = get_args(DType)
MAX_DIMENSION = 2**63 - 1
HOST_KINDS: tuple[HostKind, ...] = get_args(HostKind)


@dataclass(frozen=True, slots=True)
class TensorType:
    """A tensor of known element type; a dimension is a number or, where the input decides it, a name."""

    dtype: DType
    shape: tuple[Dimension, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class HostType:
    """A Python number or flag whose value the input decides; it travels as a 0-d array."""

    kind: HostKind

    def __str__(self) -> str:
        return self.kind

    @property
    def tensor(self) -> TensorType:
        """The array type that carries this host value, in Python's own precision."""
        dtypes: dict[HostKind, DType] = {"bool": "bool", "int": "int64", "float": "float64"}
        return TensorType(dtypes[self.kind], ())


ValueType = TensorType | HostType


def carrier(value_type: ValueType) -> TensorType:
    """The array type that a value of `value_type` travels as."""
    return value_type.tensor if isinstance(value_type, HostType) else value_type


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the user's source; lines and columns count from 1, `end_column` is one past the last."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"
