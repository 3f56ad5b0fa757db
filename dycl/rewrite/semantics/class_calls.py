"""What is asked of classes and objects that would tell those which the program makes from their copies."""

import copy
import types
from collections.abc import Callable, Container, Iterable
from typing import Any

import torch

from dycl.rewrite.normalise import class_making
from dycl.rewrite.own_code import is_library
from dycl.rewrite.own_thread import usual
from dycl.rewrite.plain_lookup import MISSING, attribute
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.addresses import Address
from dycl.rewrite.state.unchanging import ATOMS, is_shared


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


_HASH = hash  # which has a stand-in while a program is rewritten


def _number_of_object(told_by: Callable[[Any], int]) -> Handler:
    def address(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(args) != 1:
            return NOT_HANDLED
        if _stays(machine, args[0]):
            return told_by(args[0])
        if told_by is _HASH and not _hashed_by_place(args[0]):
            _require_no_address(machine, args[0])
            return NOT_HANDLED
        if isinstance(args[0], tuple | types.MethodType):
            raise Refused("DY009", "the address of a tuple or method is not kept track of")
        return Address(told_by, args[0])

    return address


def _stays(machine: Running, value: Any) -> bool:
    """Whether a value is the same one behind a decision."""
    return isinstance(value, ATOMS) or is_shared(value) or value in machine.pinned


def _hashed_by_place(value: Any) -> bool:
    cls: Any = type(value)
    return cls.__hash__ is object.__hash__ or issubclass(cls, torch.Tensor)


def _hashes_on_its_own(cls: Any) -> bool:
    """Whether a class computes hashes in Python without asking for others."""
    code = getattr(cls.__hash__, "__code__", None)
    return code is not None and not {"hash", "id", "__hash__"} & set(code.co_names)


def hashed_by_place(value: Any, pinned: Container[Any]) -> Any:
    """The object on whose address a hash hangs, and which is another one behind a decision; None if there is none."""
    left, seen = [value], set[int]()
    while left:
        item = left.pop()
        if id(item) in seen or isinstance(item, ATOMS) or is_shared(item) or item in pinned:
            continue
        seen.add(id(item))
        if _hashed_by_place(item):
            return item
        left.extend([] if _hashes_on_its_own(type(item)) else _parts(item))
    return None


def _require_no_address(machine: Running, value: Any) -> None:
    """Refuse the hash of something that may hang on where an object lies which is another one behind a decision."""
    found = hashed_by_place(value, machine.pinned)
    if found is not None:
        kind = torch.Tensor if isinstance(found, torch.Tensor) else type(found)
        reason = f"a hash is taken that hangs on the address of a `{kind.__name__}`"
        raise Refused("DY009", reason, "take the hash of what does not change, or keep the object itself")


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, tuple | frozenset):
        return [*value, *attribute(value, "__dict__", {}).values()]
    if isinstance(value, types.MethodType):
        return [value.__self__]
    slots = [name for cls in type(value).__mro__ for name in vars(cls) if _is_slot(vars(cls)[name])]
    held = [found for name in slots if (found := attribute(value, name, MISSING)) is not MISSING]
    return [*held, *attribute(value, "__dict__", {}).values()]


def _is_slot(found: Any) -> bool:
    return isinstance(found, types.MemberDescriptorType)


def _deep_copy(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`copy.deepcopy(value, memo)`: but for a copy that is under way, notes may be older than a decision."""
    within = machine.span.function.endswith("__deepcopy__") or machine.module == "copy"
    if not within and kwargs.get("memo", args[1] if len(args) > 1 else None) is not None:
        reason = "`deepcopy` gets the notes of an earlier one, which go by the addresses of objects"
        raise Refused("DY009", reason, "copy all that belongs together by one `deepcopy`")
    return NOT_HANDLED


def _mapped(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`map(id, items)`."""
    if args and any(usual(args[0]) is told_by for told_by in (id, _HASH)):
        reason = f"`map` calls `{usual(args[0]).__name__}`, and addresses are not kept track of there"
        raise Refused("DY009", reason, f"use a comprehension: `[{usual(args[0]).__name__}(item) for item in items]`")
    return NOT_HANDLED


hash_of_object = _number_of_object(hash)
HANDLERS: dict[Any, Handler] = {
    class_making.noted: noted,
    id: _number_of_object(id),
    hash: hash_of_object,
    object.__hash__: _number_of_object(object.__hash__),
    copy.deepcopy: _deep_copy,
    map: _mapped,
}


def tells_instances_itself(kinds: Any) -> bool:
    """Whether one of these classes has a way of its own, in Python, to tell what is an instance."""
    classes = kinds if isinstance(kinds, tuple) else (kinds,)
    found = [getattr(type(cls), "__instancecheck__", None) for cls in classes]
    return any(isinstance(one, types.FunctionType) and not is_library(one.__module__) for one in found)
