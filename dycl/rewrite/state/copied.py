"""What must be written down of exceptions, arrays and sets so that a copy does what they do."""

import types
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from dycl.rewrite.signals import Refused

_LINKS = ("__cause__", "__context__", "__suppress_context__")


def error_fields(error: BaseException) -> list[tuple[str, Any]]:
    """What an exception has beside its arguments and its `__dict__`: links to others, and fields written in C."""
    # Setting the cause sets whether the context is shown, so that comes last.
    names = [
        name
        for cls in type(error).__mro__
        for name, found in vars(cls).items()
        if isinstance(found, types.MemberDescriptorType) and not name.startswith("__")
    ]
    return [(name, getattr(error, name)) for name in (*names, *_LINKS)]


def require_plain_array(array: np.ndarray[Any, Any], others: Iterable[Any]) -> None:
    """Refuse an array of which a copy of its elements would not do: one that shares its memory, or holds objects."""
    if type(array) is not np.ndarray or array.dtype.hasobject or array.dtype.names is not None:
        kind = type(array).__name__ if type(array) is not np.ndarray else f"ndarray of {array.dtype}"
        raise Refused("DY009", f"an object of type `{kind}` is alive across a decision and cannot be copied")
    sharing = any(other is not array and _shares(array, other) for other in others)
    if sharing:
        raise Refused("DY009", "two arrays that share their memory are alive across a decision", "copy one of them")


def _shares(array: np.ndarray[Any, Any], other: Any) -> bool:
    if isinstance(other, np.ndarray):
        return np.may_share_memory(array, other)
    if not isinstance(other, torch.Tensor) or other.is_meta or type(other) is not torch.Tensor:
        return False
    start, size = other.untyped_storage().data_ptr(), other.untyped_storage().nbytes()
    low, high = np.lib.array_utils.byte_bounds(array)
    return low < start + size and start < high


def in_order(items: set[Any] | frozenset[Any]) -> list[Any]:
    """The items of a set as Python goes through them; refused if a set that is made of them would be another."""
    ordered = list(items)
    if list(type(items)(ordered) if type(items) in (set, frozenset) else set(ordered)) != ordered:
        raise Refused("DY009", "a set is alive across a decision whose order a copy would not have", "sort its items")
    return ordered
