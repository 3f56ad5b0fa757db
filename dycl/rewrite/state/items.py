"""What kind of thing the items of a list are, where all are of one kind: so a list can be a table of their values."""

import enum
from dataclasses import dataclass
from typing import Any

import torch

from dycl.hcfg.types import DType, HostKind
from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import DTYPES, HostValue, kind_of
from dycl.rewrite.tensor_types import dtype_name


@dataclass(frozen=True, slots=True)
class NumberItem:
    """An item, or a part of one, that is a number or flag; a column has its values."""

    kind: HostKind


@dataclass(frozen=True, slots=True)
class TensorItem:
    """An item, or a part of one, that is a tensor; a column has its values."""

    dtype: DType


@dataclass(frozen=True, slots=True)
class ArrayItem:
    """An item, or a part of one, that is an array or a scalar of NumPy; a column has its values."""

    dtype: DType
    scalar: bool


@dataclass(frozen=True, slots=True)
class KnownItem:
    """An item, or a part of one, that is the same in all items, such as a text; its class tells equal ones apart."""

    cls: type
    value: Any


@dataclass(frozen=True, slots=True)
class TupleItem:
    """An item, or a part of one, that is a tuple or named tuple."""

    cls: Any
    parts: "tuple[Template, ...]"


Template = NumberItem | TensorItem | ArrayItem | KnownItem | TupleItem
"""The kind of a list's items."""


_SYMBOLS: dict[type, HostKind] = {torch.SymInt: "int", torch.SymFloat: "float", torch.SymBool: "bool"}


def template_of(item: Any, recorder: Records) -> tuple[Template, list[torch.Tensor]] | None:
    """The kind of an item, and its values as tensors; None if the item could be changed or is of no such kind."""
    values: list[torch.Tensor] = []

    def visit(part: Any) -> Template | None:
        kind = kind_of(part)
        if kind is not None:
            values.append(part.tensor if isinstance(part, HostValue) else torch.tensor(part, dtype=DTYPES[kind]))
            return NumberItem(kind)
        if isinstance(part, torch.SymInt | torch.SymFloat | torch.SymBool):
            values.append(recorder.materialise(part))
            return NumberItem(_SYMBOLS[type(part)])
        if isinstance(part, torch.Tensor):
            values.append(part)
            return TensorItem(dtype_name(part.dtype))
        if type(part) is HostArray:
            values.append(part.tensor)
            return ArrayItem(dtype_name(part.tensor.dtype), part.scalar)
        if part is None or isinstance(part, str | enum.Enum):
            return KnownItem(type(part), part)
        if isinstance(part, tuple) and not getattr(part, "__dict__", None):
            parts = [visit(inner) for inner in part]
            known = tuple([inner for inner in parts if inner is not None])
            return TupleItem(type(part), known) if len(known) == len(parts) else None
        return None

    template = visit(item)
    if template is None:
        return None
    if not values:
        # A column without content, so that there is a length.
        values.append(torch.zeros(0, dtype=torch.bool))
    return template, values
