"""What kind of thing the items of a list are, where all are of one kind: so a list can be a table of their values."""

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np
import torch

from dycl.hcfg.types import DType, HostKind
from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import DTYPES, HostValue, import_symbol, kind_of, lift
from dycl.rewrite.signals import DecisionMet, Refused
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


def equal_to(template: Template, columns: Iterator[torch.Tensor], value: Any, recorder: Records) -> torch.Tensor | bool:
    """For each item whether it is equal to `value`; a flag if that is the same for all."""
    match template:
        case NumberItem(kind):
            return _same_number(HostValue(kind, next(columns), recorder), value, recorder)
        case TensorItem() | ArrayItem():
            raise Refused("DY011", "a list of unknown length that holds tensors or arrays is searched")
        case KnownItem(value=known):
            return known is value or bool(known == value) if _has_plain_equality(value) else _refuse(value)
        case TupleItem(parts=parts):
            if not isinstance(value, tuple) or len(value) != len(parts):
                return False if _has_plain_equality(value) else _refuse(value)
            found: torch.Tensor | bool = True
            for part, wanted in zip(parts, value, strict=True):
                same = equal_to(part, columns, wanted, recorder)
                both = isinstance(found, torch.Tensor) and isinstance(same, torch.Tensor)
                found = torch.logical_and(found, same) if both else same if found is True else found  # type: ignore[arg-type]
                found = False if same is False else found
            return found
        case _:
            assert_never(template)


def _same_number(numbers: HostValue, value: Any, recorder: Records) -> torch.Tensor | bool:
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        value = import_symbol(value, recorder)
    if type(value) is HostArray and value.scalar and not value.tensor.is_floating_point():
        value = HostValue("int", value.tensor.to(torch.int64), recorder)
    if isinstance(value, np.integer | np.bool_):
        value = value.item()
    kind = kind_of(value)
    if kind is not None:
        same: torch.Tensor = (numbers == lift(value, kind, recorder)).tensor
        return same
    if type(value) is HostArray or isinstance(value, torch.Tensor):
        raise DecisionMet("whether a tensor or an array is in a list of unknown length")
    return False if _has_plain_equality(value) else _refuse(value)


def _has_plain_equality(value: Any) -> bool:
    """Whether this value is equal to no number, text or tuple but by being one."""
    plain = (str, bytes, bool, int, float, tuple, list, dict, HostValue)
    cls: Any = type(value)
    return value is None or cls in plain or cls.__eq__ is object.__eq__


def _refuse(value: Any) -> bool:
    raise Refused("DY011", f"an object of type `{type(value).__name__}` is looked for in a list of unknown length")
