"""Calls that get at what was there before: whether they may be made natively, interpreted, or not at all."""

import dis
import functools
import importlib
import operator
import sys
import types
import weakref
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves

from dycl.rewrite import record
from dycl.rewrite.knowledge import Interpret
from dycl.rewrite.normalise import syntax
from dycl.rewrite.normalise.source import has_source
from dycl.rewrite.own_code import is_library, is_own_module
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.run.callees import Arguments, is_torch, resolve
from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.semantics.dynamic import is_dynamic
from dycl.rewrite.signals import Refused, Restart, Unfollowed
from dycl.rewrite.state.heap.leading import leads_to, parts_of
from dycl.rewrite.state.heap.reach import names_in

# They ask for nothing but the object itself, or hand it on.
_NEUTRAL: tuple[Any, ...] = (getattr, hasattr, isinstance, id, type, callable, operator.is_, operator.is_not)


def require_touchable(machine: Interprets, callee: Any, arguments: Arguments) -> None:
    """Refuse a call that may change what can be neither copied nor compared; interpret one that may lead to that."""
    args, kwargs = arguments
    told = machine.heap.untouchable(_used((callee, *args, *kwargs.values())))
    if told is None:
        return
    # A proxy asks what it stands for, whatever it is asked.
    if any(callee is neutral for neutral in _NEUTRAL) and not any(type(value) in weakref.ProxyTypes for value in args):
        return
    function = resolve(callee, args, kwargs)[0]
    if function is None or not has_source(function.__code__):
        raise untouchable(told)
    machine.knowledge.learn(Interpret(function.__code__))


def followed(machine: Interprets, callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a native call, which enters no function that the machine must follow."""
    to_follow, holders = machine.heap.to_follow, machine.heap.holders_of_caches
    if (to_follow is None and not holders) or _calls_nothing_back(callee, (*args, *kwargs.values())):
        return callee(*args, **kwargs)
    outer: Any = sys.getprofile()
    names, before = machine.heap.names_to_follow, machine.heap.caches_asked()
    askers: dict[types.CodeType, None] = {}

    def enter(frame: types.FrameType, event: str, argument: Any) -> None:
        if outer is not None:
            outer(frame, event, argument)
        if event != "call":
            return
        if to_follow is not None and _must_be_followed(frame, names, machine):
            raise Unfollowed(f"`{frame.f_code.co_qualname}` runs where it is not followed, and may use {to_follow}")
        if holders and not holders.isdisjoint(frame.f_code.co_names):
            askers[frame.f_code] = None

    sys.setprofile(enter)
    try:
        result = callee(*args, **kwargs)
    finally:
        sys.setprofile(outer)
    asked = machine.heap.asked_for_changeable(before)
    if asked is not None:
        _step_into(askers, asked, machine)
    return result


def _step_into(askers: Iterable[types.CodeType], asked: str, machine: Interprets) -> NoReturn:
    """Have the functions interpreted that may have changed what Python keeps of a function's results."""
    new = [code for code in askers if has_source(code) and code not in machine.knowledge.interpreted]
    if not new:
        raise untouchable(f"what Python keeps of `{asked}` where it is not followed")
    machine.knowledge.learn(*map(Interpret, new))
    raise Restart


def _calls_nothing_back(callee: Any, args: Iterable[Any]) -> bool:
    """Whether a call comes to no code but PyTorch's own: that of its functions and operators on tensors and numbers."""
    is_plain = is_torch(callee) or getattr(callee, "__module__", None) == operator.add.__module__
    if not is_plain or isinstance(callee, torch.nn.Module | type):
        return False
    return all(
        isinstance(value, _PLAIN) or (type(value) in (list, tuple) and all(isinstance(item, _PLAIN) for item in value))
        for value in args
    )


_PLAIN = (
    *(torch.Tensor, torch.Size, torch.dtype, torch.device, torch.memory_format, torch.layout),
    *(
        torch.SymInt,
        torch.SymFloat,
        torch.SymBool,
        HostValue,
        int,
        float,
        str,
        slice,
        types.NoneType,
        types.EllipsisType,
    ),
)


def _must_be_followed(frame: types.FrameType, names: frozenset[str], machine: Interprets) -> bool:
    """Whether a function may get at what must be followed: by a name, by an argument, or by what that holds."""
    module, code = _module_of(frame), frame.f_code
    if is_own_module(module) or module.startswith(_INSIDE):
        return False
    if not is_library(module) and code.co_filename != _MADE_BY_LIBRARY and not names.isdisjoint(_names_of(code)):
        return not _is_asked_for_by_others(frame)
    held = list(frame.f_locals.values())
    for _ in range(_STEPS):
        if machine.heap.untouchable(_used(held)) is not None:
            return True
        held = [value for one in held for value in _attributes_of(one, code)]
    return False


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


def _asks_by_text(code: types.CodeType) -> bool:
    """Whether each `getattr` of a function has the name that it asks for written out."""
    waiting = False
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL" and instruction.argval == "getattr":
            waiting = True
        elif waiting and instruction.opname == "LOAD_CONST" and isinstance(instruction.argval, str):
            waiting = False
        elif waiting and not (instruction.opname.startswith(_LOADS) and instruction.opname != "LOAD_FAST_LOAD_FAST"):
            return False
    inside = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return not waiting and all(map(_asks_by_text, inside))


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


def _used(values: Iterable[Any]) -> Iterator[Any]:
    """Values, and what those of them are made of that are called."""
    for value in values:
        yield value
        if isinstance(value, _BOUND):
            yield value.__self__
        elif type(value) in (list, tuple, dict):
            yield from value.values() if isinstance(value, dict) else value
        elif isinstance(value, functools.partial):
            yield from _used((value.func, *value.args, *value.keywords.values()))


_BOUND = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)
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
_INSIDE = ("torch._", "torch.utils._", "torch.fx.", "torch.overrides", "sympy.", "numpy.")


def watch_imported(machine: Interprets, callee: Any, args: tuple[Any, ...], imported: Any) -> None:
    """Take note of what a call imports: it outlives the call, as if it had been there before."""
    imports = any(callee is one for one in (syntax.import_module, syntax.import_from, importlib.import_module))
    if imports and not is_library(args[0]):
        machine.heap.watch(imported, args[0])
        machine.heap.watch(sys.modules.get(args[0]), args[0])


def untouchable(told: str) -> Refused:
    """The refusal of a call that uses what can be neither copied nor compared."""
    return Refused("DY007", f"the call uses {told}")


def is_cached(callee: Any) -> bool:
    """Whether Python keeps the results of a function: `functools.cache` and `lru_cache`."""
    found = callee.__func__ if isinstance(callee, types.MethodType) else callee
    return isinstance(found, functools._lru_cache_wrapper)


def require_no_look_at_cache(callee: Any) -> None:
    """Refuse to tell or change what Python keeps of a function's results: a program calls no such function."""
    owner = getattr(callee, "__self__", None)
    if isinstance(owner, functools._lru_cache_wrapper) and isinstance(callee, types.BuiltinMethodType):
        reason = f"`{callee.__name__}` is called of `{getattr(owner, '__name__', '?')}`, whose results are cached"
        raise Refused("DY007", reason)


def cached(machine: Interprets, callee: Any, arguments: Arguments) -> Any:
    """What a function whose results are cached gives: computed before the program runs, so it was always there."""
    name = str(getattr(callee, "__name__", callee))
    if any(is_dynamic(leaf, machine) or isinstance(leaf, torch.Tensor) for leaf in tree_leaves(arguments)):
        raise Refused("DY007", f"`{name}`, whose results are cached, gets a value that only the input determines")
    wrapper: Any = callee.__func__ if isinstance(callee, types.MethodType) else callee
    own = (callee.__self__,) if isinstance(callee, types.MethodType) else ()
    if leads_to([*own, *arguments[0], *arguments[1].values(), wrapper.__wrapped__], machine.heap.changed):
        raise Refused("DY007", f"`{name}`, whose results are cached, sees what a call changes")
    if machine.heap.untouchable(parts_of(wrapper.__wrapped__)) is not None:
        raise Refused("DY007", f"`{name}`, whose results are cached, uses what can be neither copied nor compared")
    key = (wrapper, functools._make_key((*own, *arguments[0]), arguments[1], typed=True))
    if key not in machine.cached:
        unchanged, modes = machine.heap.nothing_changed(name, wrapper), _disable_current_modes()
        with unchanged, modes, torch.inference_mode(False):
            result = wrapper(*own, *arguments[0], **arguments[1])
        if any(isinstance(leaf, FakeTensor) for leaf in tree_leaves(result)):
            raise Refused("DY007", f"`{name}`, whose results are cached, gives a value that only the input determines")
        machine.heap.watch(result, name)
        machine.cached[key] = result
    if any(map(machine.heap.is_written, tree_leaves(machine.cached[key]))):
        raise Refused("DY007", f"`{name}`, whose results are cached, gives a tensor that the call changes")
    return machine.cached[key]
