"""Native calls of a program that leads to what can be neither copied nor compared: they enter nothing that may use it.

Such a thing is an iterator, a queue, a weak reference. What the machine interprets it looks at call by call; what runs
natively must not get there, neither by a name nor by what it is called with.
"""

import dis
import functools
import itertools
import operator
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

import torch

from dycl.rewrite import record
from dycl.rewrite.knowledge import Interpret
from dycl.rewrite.own_code import is_library, is_own_module
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.run.callees import is_torch
from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.run.native_code import running_until
from dycl.rewrite.run.touching import untouchable, used
from dycl.rewrite.signals import Restart, Unfollowed
from dycl.rewrite.state.heap.reach import names_in


def followed(machine: Interprets, callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a native call, which enters no function that the machine must follow."""
    to_follow, holders = machine.heap.to_follow, machine.heap.holders_of_caches
    if (to_follow is None and not holders) or _calls_nothing_back(callee, (*args, *kwargs.values())):
        return callee(*args, **kwargs)
    before, outer = machine.heap.caches_asked(), sys.gettrace()
    askers: dict[types.CodeType, None] = {}
    # Only what is called in Python is heard of: a trace function that gives none for the lines is told of nothing else.
    sys.settrace(_watching(machine, to_follow, holders, askers, outer))
    try:
        result = callee(*args, **kwargs)
    except Exception:
        _require_unasked(machine, before, askers)
        raise
    finally:
        sys.settrace(outer)
    _require_unasked(machine, before, askers)
    return result


def _watching(
    machine: Interprets, to_follow: str | None, holders: set[str], askers: dict[types.CodeType, None], outer: Any
) -> Callable[[types.FrameType, str, Any], Any]:
    """A trace function that stops a native call where it enters what must be followed, and tells who may ask caches."""
    names = machine.heap.names_to_follow

    def enter(frame: types.FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in _FILES_INSIDE:
            if to_follow is not None and _must_be_followed(frame, names, machine):
                raise Unfollowed(f"`{code.co_qualname}` runs where it is not followed, and may use {to_follow}")
            if holders and not holders.isdisjoint(code.co_names):
                askers.update(dict.fromkeys(running_until(frame)))
        return None if outer is None else outer(frame, event, argument)

    return enter


def _require_unasked(machine: Interprets, before: list[tuple[int, int]], askers: Iterable[types.CodeType]) -> None:
    """Have the functions interpreted that asked for what Python keeps of a function's results, and their callers."""
    asked = machine.heap.cache_asked_since(before)
    if asked is None:
        return
    new = [code for code in askers if code not in machine.knowledge.interpreted]
    if not new:
        raise untouchable(f"what Python keeps of `{asked}` where it is not followed")
    machine.knowledge.learn(*map(Interpret, new))
    raise Restart


def _calls_nothing_back(callee: Any, args: Iterable[Any]) -> bool:
    """Whether a call comes to no code but PyTorch's own: that of its functions and operators on tensors and numbers."""
    is_plain = is_torch(callee) or attribute(callee, "__module__") == operator.add.__module__
    if not is_plain or isinstance(callee, torch.nn.Module | type):
        return False
    return all(
        _is_plain(value) or (type(value) in (list, tuple) and all(_is_plain(item) for item in value)) for value in args
    )


def _is_plain(value: Any) -> bool:
    """Whether a value has no code of the user's own: a class made from one of these may have some."""
    kind = type(value)
    return kind in _PLAIN or (isinstance(value, torch.Tensor) and is_library(kind.__module__))


_PLAIN = frozenset(
    (
        *(torch.Size, torch.dtype, torch.device, torch.memory_format, torch.layout),
        *(torch.SymInt, torch.SymFloat, torch.SymBool, HostValue),
        *(bool, int, float, complex, str, slice, types.NoneType, types.EllipsisType),
    )
)


def _must_be_followed(frame: types.FrameType, names: frozenset[str], machine: Interprets) -> bool:
    """Whether a function may get at what must be followed: by a name, by an argument, or by what that leads to."""
    module, code = _module_of(frame), frame.f_code
    if is_own_module(module) or module.startswith(_INSIDE):
        if not code.co_filename.startswith("<"):
            _FILES_INSIDE.add(code.co_filename)
        return False
    own = not is_library(module) and code.co_filename != _MADE_BY_LIBRARY
    if own and not names.isdisjoint(_names_of(code)):
        return not _is_asked_for_by_others(frame)
    held = list(frame.f_locals.values())
    if not own:
        return _uses_untouchable(held, code, machine)
    if _asks_by_any_name(code):
        named = [frame.f_globals[name] for name in code.co_names if name in frame.f_globals]
        held += [part for one in named for part in (vars(one).values() if _is_users_module(one) else [one])]
    return machine.heap.lead_to_untouchable(held)


def _is_users_module(value: Any) -> bool:
    return isinstance(value, types.ModuleType) and not is_library(value.__name__)


def _uses_untouchable(held: list[Any], code: types.CodeType, machine: Interprets) -> bool:
    """Whether a library's function may use what must be followed itself; where it calls the user's, these tell."""
    for _ in range(_STEPS):
        if machine.heap.untouchable(used(held)) is not None:
            return True
        held = [value for one in held for value in _attributes_of(one, code)]
    return False


# `self.sampler.items` is two away from `self`.
_STEPS = 3


def _attributes_of(value: Any, code: types.CodeType) -> list[Any]:
    """What a function may ask a value for, found without running any code."""
    if isinstance(value, type | types.ModuleType):
        return []
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return []
    if type(found) is not dict:
        return []
    return [found[name] for name in (found if _asks_by_any_name(code) else code.co_names) if name in found]


_FILES_INSIDE: set[str] = set()


@functools.cache
def _names_of(code: types.CodeType) -> frozenset[str]:
    """All names by which a function gets at something."""
    return frozenset(names_in(code)) | set(code.co_freevars)


@functools.cache
def _asks_by_any_name(code: types.CodeType) -> bool:
    """Whether a function may ask an object for any attribute; who asks `__getattr__` for one has named it."""
    doors = _names_of(code) & _BY_ANY_NAME
    asks_for_others = code.co_name in ("__getattr__", "__getattribute__")
    return bool(doors) and not asks_for_others and (doors != {"getattr"} or not _asks_by_text(code))


_BY_ANY_NAME = frozenset(("getattr", "attrgetter", "methodcaller", "__dict__", "vars"))
_LOADS = ("LOAD_FAST", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_ATTR", "LOAD_CLOSURE", "PUSH_NULL")
_CALLS = ("PRECALL", "CALL")


def _asks_by_text(code: types.CodeType) -> bool:
    """Whether each `getattr` of a function has the name that it asks for written out, and nothing is made of it."""
    instructions = list(dis.get_instructions(code))
    for place, instruction in enumerate(instructions):
        if instruction.opname == "LOAD_GLOBAL" and instruction.argval == "getattr":
            after = itertools.dropwhile(lambda item: item.opname in _LOADS, instructions[place + 1 :])
            name, *following = itertools.islice(after, 3)
            if name.opname != "LOAD_CONST" or not isinstance(name.argval, str):
                return False
            # The name is the last argument, or a plain value stands behind it.
            last = following[1] if following[0].opname in ("LOAD_CONST", *_LOADS) else following[0]
            if last.opname not in _CALLS:
                return False
    inside = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return all(map(_asks_by_text, inside))


# A class made by `dataclass` or `namedtuple` has functions whose source nobody wrote.
_MADE_BY_LIBRARY = "<string>"


def _is_asked_for_by_others(frame: types.FrameType) -> bool:
    """Whether this runs because a module is imported, or because the recorder asks a backend."""
    link = frame.f_back
    while link is not None and not is_own_module(_module_of(link)):
        if _module_of(link).startswith("importlib."):
            return True
        link = link.f_back
    return _module_of(link).startswith(record.__name__)


def _module_of(frame: types.FrameType | None) -> str:
    return "" if frame is None else str(frame.f_globals.get("__name__", ""))


# What PyTorch runs to find shapes: no object of the model gets there.
_INSIDE = ("torch._", "torch.utils._", "torch.fx.", "torch.overrides", "sympy.", "mpmath.", "numpy.")
