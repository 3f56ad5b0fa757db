"""`getattr`, `setattr` and `delattr` where they would get at what a program cannot keep track of."""

import collections
import importlib
import inspect
import logging
import types
from typing import Any

import numpy as np
import torch
from torch import nn

from dycl.rewrite.own_code import is_library
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.semantics import kinds
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.heap.doors import Door

DOORS = frozenset(("__globals__", "f_globals", "f_locals", "gi_frame", "cr_frame", "import_module"))
"""By these a program gets at what it does not name."""


def set_attribute(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`setattr(owner, name, value)` and `delattr(owner, name)`."""
    owner, name = args[0], args[1]
    if isinstance(owner, torch.Tensor):
        if name == "data" and args[2:] and args[2] is owner:
            return None
        raise Refused("DY009", f"the attribute `{name}` of a tensor is set")
    if isinstance(owner, collections.defaultdict | BaseException) and owner in machine.pinned:
        raise Refused("DY007", f"the attribute `{name}` of a `{type(owner).__name__}` is set")
    if isinstance(owner, np.ndarray | type(np.empty(0).flags)):
        raise Refused("DY009", f"the attribute `{name}` of an array is set", "use a function that gives another array")
    if isinstance(owner, type) and machine.pinned.was_made(owner):
        if name == "__bases__":
            raise Refused("DY009", "the bases of a class are changed, whose subclasses are not kept track of")
        return NOT_HANDLED
    made = isinstance(owner, types.FunctionType) and (owner.__code__ in machine.nested or _is_nested(owner))
    if made and vars(owner) not in machine.pinned:
        return NOT_HANDLED
    if isinstance(owner, type) and machine.heap.sets_class_attribute(owner, name, *args[2:]):
        return NOT_HANDLED
    if isinstance(owner, types.FunctionType | types.ModuleType | type | logging.Logger):
        raise Refused("DY007", f"the attribute `{name}` is set on an object that outlives the call")
    return NOT_HANDLED


def set_derivative(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`tensor.requires_grad_(wanted)`."""
    tensor, wanted = args[0], kwargs.get("requires_grad", args[1] if len(args) > 1 else True)
    if not machine.recorder.is_dynamic(tensor) and tensor.requires_grad is not wanted:
        raise Refused("DY007", "whether a tensor requires a derivative is set")
    return NOT_HANDLED


def change_array(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`array.resize(...)` and `array.setflags(...)`."""
    raise Refused("DY009", "the shape or the flags of an array are set", "use a function that gives another array")


def _is_nested(function: types.FunctionType) -> bool:
    """Whether this is a function inside another: those that were there before the call have been found."""
    return "<locals>" in function.__qualname__ and not is_library(function.__module__)


def get_attribute(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`getattr(owner, name)`."""
    if isinstance(args[0], types.TracebackType):
        raise Refused("DY002", "the model looks into a traceback")
    if not isinstance(args[1], str) or machine.in_own_code():
        return NOT_HANDLED
    owner, name = args[0], args[1]
    if name in DOORS and owner is not importlib and not is_library(machine.module):
        raise Refused("DY002", f"`{name}` gets at what the model does not name", "name it")
    told = kinds.told_by_class(owner, name)
    if told is not NOT_HANDLED:
        return told
    is_there = kinds.has(owner, name)
    if is_there:
        kinds.require_own(owner, name)
    if type(owner) is HostArray and is_there:
        return getattr(owner, name)
    if is_there is not False:
        return NOT_HANDLED
    if len(args) > 2:
        return args[2]
    raise AttributeError(f"'{kinds.name_of(owner)}' object has no attribute '{name}'", name=name, obj=owner)


def has_attribute(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`hasattr(owner, name)`."""
    if not isinstance(args[1], str) or machine.in_own_code():
        return NOT_HANDLED
    is_there = kinds.has(args[0], args[1])
    return NOT_HANDLED if is_there is None else is_there


def all_attributes(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`vars(owner)` and `dir(owner)`."""
    if args and not machine.in_own_code() and kinds.has(args[0], "__dict__") is not None:
        raise Refused("DY002", "the model asks which attributes a value has that only the input determines")
    return NOT_HANDLED


def past_the_door(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], machine: Running) -> Any:
    """Refuse what goes to a module's tables or attributes behind the back of the classes that watch them."""
    if not args or not isinstance(callee, types.WrapperDescriptorType | types.MethodDescriptorType):
        return NOT_HANDLED
    owner, name = callee.__objclass__, callee.__name__
    if issubclass(owner, dict) and isinstance(args[0], Door):
        reason = f"`{owner.__name__}.{name}` is called of a module's table"
        raise Refused("DY007", reason, "call the table's own method")
    if owner is object and isinstance(args[0], nn.Module) and len(args) > 1:
        is_new = name == "__setattr__" and args[1] not in vars(args[0])
        if is_new or name == "__delattr__":
            reason = f"`object.{name}` changes which attributes a module has"
            raise Refused("DY007", reason, "set the attribute in `__init__`, or as usual")
        if name == "__setattr__" and len(args) == 3:
            return _set_plainly(*args)
    return NOT_HANDLED


def _set_plainly(module: nn.Module, name: str, value: Any) -> None:
    """`object.__setattr__(module, name, value)` of an attribute that is there, as the model's own way does it."""
    of_class = inspect.getattr_static(type(module), name, None)
    if hasattr(type(of_class), "__set__") or isinstance(value, nn.Module | nn.Parameter):
        raise Refused("DY007", f"`object.__setattr__` sets `{name}` of a module", "set the attribute as usual")
    nn.Module.__setattr__(module, name, value)


HANDLERS: dict[Any, Handler] = {
    getattr: get_attribute,
    hasattr: has_attribute,
    vars: all_attributes,
    dir: all_attributes,
    setattr: set_attribute,
    delattr: set_attribute,
}
