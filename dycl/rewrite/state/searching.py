"""Which items of a list of unknown length are equal to a value, by comparing the columns of its table."""

from collections.abc import Iterator
from typing import Any, assert_never

import numpy as np
import torch

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue, import_symbol, kind_of, lift
from dycl.rewrite.signals import DecisionMet, Refused
from dycl.rewrite.state.items import ArrayItem, KnownItem, NumberItem, Template, TensorItem, TupleItem


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
