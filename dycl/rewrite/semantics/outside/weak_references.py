"""Weak references that interpreted code makes: when an object dies is not kept track of, the machine keeps it alive."""

import collections
import types
import weakref
from typing import Any

import torch.utils.weak
from torch import nn

from dycl.rewrite.own_thread import usual
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED
from dycl.rewrite.signals import Refused

_COLLECTIONS: tuple[type, ...] = (
    *(weakref.WeakSet, weakref.WeakKeyDictionary, weakref.WeakValueDictionary),
    *(torch.utils.weak.WeakIdKeyDictionary, torch.utils.weak.WeakTensorKeyDictionary),
)
_REFERENCES: tuple[type, ...] = (weakref.ref, *weakref.ProxyTypes, torch.utils.weak.TensorWeakRef)
_STAYING = (nn.Module, type, types.ModuleType)
_HELP = "keep the object itself, or delete it where it is no longer needed"


def apply(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], machine: Running) -> Any:
    """Refuse to make a weak reference, unless it is one to a module, a class or a table of hooks, which stay."""
    kind = usual(callee)
    if kind is weakref.proxy:
        kind = weakref.ProxyType
    if not isinstance(kind, type) or not issubclass(kind, (weakref.finalize, *_COLLECTIONS, *_REFERENCES)):
        return NOT_HANDLED
    if issubclass(kind, weakref.finalize):
        raise Refused("DY009", "`weakref.finalize` runs code when an object dies, which is not kept track of", _HELP)
    if issubclass(kind, _COLLECTIONS):
        reason = f"a `{kind.__name__}` forgets what dies, and when that is, is not kept track of"
        raise Refused("DY009", reason, "use a plain container")
    if any(value is not None for value in (*args[1:], *kwargs.values())):
        raise Refused("DY009", "a weak reference calls something when its object dies: that is not followed", _HELP)
    if args and not isinstance(args[0], _STAYING) and not _is_table_of_hooks(args[0], machine):
        reason = f"a weak reference to a `{type(args[0]).__name__}`: when it dies is not kept track of"
        raise Refused("DY009", reason, _HELP)
    return NOT_HANDLED


def _is_table_of_hooks(value: Any, machine: Running) -> bool:
    """Whether this is a table that a module keeps, in which PyTorch's handles of hooks find their hook."""
    return type(value) is collections.OrderedDict and machine.heap.is_watched(value)
