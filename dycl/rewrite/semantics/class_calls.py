"""What is asked of classes that would tell a class which the program makes from its copies."""

import types
from typing import Any

from dycl.rewrite.normalise import class_making
from dycl.rewrite.own_code import is_library
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler
from dycl.rewrite.signals import Refused


def subclasses(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`cls.__subclasses__()`: a class that the program makes has a copy in every state."""
    if any(machine.pinned.was_made(cls) for cls in type.__subclasses__(args[0])):
        raise Refused("DY009", "which classes were made from a class is not kept track of")
    return NOT_HANDLED


def noted(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Take note of a class that the program has made."""
    if isinstance(args[0], type):
        machine.pinned.note_copy(args[0])
    return args[0]


def registered(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`cls.register(other)` of an abstract class."""
    if machine.pinned.was_made(args[0]):
        return NOT_HANDLED
    raise Refused("DY007", f"a class is registered with `{args[0].__name__}`, which outlives the call")


HANDLERS: dict[Any, Handler] = {class_making.noted: noted}


def tells_instances_itself(kinds: Any) -> bool:
    """Whether one of these classes has a way of its own, in Python, to tell what is an instance."""
    classes = kinds if isinstance(kinds, tuple) else (kinds,)
    found = [getattr(type(cls), "__instancecheck__", None) for cls in classes]
    return any(isinstance(one, types.FunctionType) and not is_library(one.__module__) for one in found)
