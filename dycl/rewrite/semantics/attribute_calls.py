"""`getattr`, `setattr` and `delattr` where they would get at what a program cannot keep track of."""

import types
from typing import Any

import torch

from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.heap.reach import is_library


def set_attribute(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`setattr(owner, name, value)` and `delattr(owner, name)`."""
    owner, name = args[0], args[1]
    if isinstance(owner, torch.Tensor):
        raise Refused("DY009", f"the attribute `{name}` of a tensor is set")
    if isinstance(owner, type) and machine.pinned.was_made(owner):
        if name == "__bases__":
            raise Refused("DY009", "the bases of a class are changed, whose subclasses are not kept track of")
        return NOT_HANDLED
    made = isinstance(owner, types.FunctionType) and (owner.__code__ in machine.nested or _is_nested(owner))
    if made and vars(owner) not in machine.pinned:
        return NOT_HANDLED
    if isinstance(owner, type) and machine.heap.sets_class_attribute(owner, name, *args[2:]):
        return NOT_HANDLED
    if isinstance(owner, types.FunctionType | types.ModuleType | type):
        raise Refused("DY007", f"the attribute `{name}` is set on an object that outlives the call")
    return NOT_HANDLED


def _is_nested(function: types.FunctionType) -> bool:
    """Whether this is a function inside another: those that were there before the call have been found."""
    return "<locals>" in function.__qualname__ and not is_library(function.__module__)


def get_attribute(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`getattr(owner, name)`."""
    if isinstance(args[0], types.TracebackType):
        raise Refused("DY002", "the model looks into a traceback")
    return NOT_HANDLED


HANDLERS: dict[Any, Handler] = {
    getattr: get_attribute,
    setattr: set_attribute,
    delattr: set_attribute,
}
