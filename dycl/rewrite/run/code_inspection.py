"""What a function can see and change, told from its code before it runs natively."""

import builtins
import dis
import functools
import inspect
import sys
import time
import types
from collections.abc import Iterator
from typing import Any

from torch import nn
from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.knowledge import Encloses, Interpret
from dycl.rewrite.normalise.source import has_source
from dycl.rewrite.own_code import is_library
from dycl.rewrite.run.callees import is_torch
from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.semantics.attribute_calls import DOORS
from dycl.rewrite.semantics.outside.beyond_the_program import acts_outside, looks_around
from dycl.rewrite.signals import Again, Refused

# What native code would see of the compilation: types of fake tensors, clocks, local variables.
_TELLTALE = (
    type,
    locals,
    FakeTensor,
    time.time,
    time.time_ns,
    time.perf_counter,
    time.monotonic,
    time.process_time,
)
_TELLTALE_ATTRIBUTES = frozenset(
    (
        "is_fake",
        "exc_info",
        "__context__",
        "__cause__",
        "cache_clear",
        "cache_info",
        "cache_parameters",
        *DOORS,
    )
)


def note_what_it_sees(function: types.FunctionType, owner: Any, machine: Interprets, seen: set[Any]) -> bool:
    """Whether a function, or one that it names, sees what differs while compiling: it is interpreted then."""
    code = function.__code__
    if code in machine.knowledge.interpreted:
        return True
    if code in seen or is_torch(function):
        return False
    seen.add(code)
    own_names = {*code.co_names, *code.co_freevars}
    sees = _sees(function) or not machine.heap.names_to_follow.isdisjoint(own_names)
    for name in code.co_names:
        named = function.__globals__.get(name)
        method = inspect.getattr_static(type(owner), name, None) if owner is not None else None
        held = vars(owner).get(name) if isinstance(owner, nn.Module) else None
        for found in (named, method, held):
            if isinstance(found, types.FunctionType) and note_what_it_sees(found, owner, machine, seen):
                sees = True
            if isinstance(found, functools._lru_cache_wrapper) and not is_library(found.__module__):
                sees = True
    if sees and has_source(code):
        machine.knowledge.learn(Interpret(code))
    return sees


def _sees(function: types.FunctionType) -> bool:
    if is_library(function.__module__):
        return _looks(function.__code__, function.__globals__)
    return any(_asks(code) or _looks(code, function.__globals__) for code in with_inner(function.__code__))


def _asks(code: types.CodeType) -> bool:
    """Whether the user's code asks what a value is or has: only the machine knows what stands in for what."""
    return not _QUESTIONS.isdisjoint(code.co_names)


_QUESTIONS = frozenset(("__class__", "__dict__", "hasattr", "vars", "dir"))


def with_inner(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of a function, and of those inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from with_inner(constant)


def _looks(code: types.CodeType, space: dict[str, Any]) -> bool:
    if not _TELLTALE_ATTRIBUTES.isdisjoint(code.co_names):
        return True
    before = ""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IS_OP" and before != "LOAD_CONST":
            # Which tensors are one and the same may have been forgotten at a decision, as only the machine knows.
            return True
        if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            # Refused at the line that does it, if it is reached.
            return True
        if instruction.opname == "IMPORT_NAME" and instruction.argval not in sys.modules:
            # What it holds cannot be known before it is imported.
            return True
        before = instruction.opname
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            name = instruction.argval
            value = space.get(name, vars(builtins).get(name))
            if any(value is telltale for telltale in _TELLTALE):
                return True
            if _leads_to_cache(value, code.co_names) or acts_outside(value) or looks_around(value, code.co_names):
                return True
            if _is_dropped_by_code(value):
                return True
            if value is time and not _CLOCKS.isdisjoint(code.co_names):
                return True
    return False


def _is_dropped_by_code(value: Any) -> bool:
    """Whether this is a class of the user's own whose objects run code when nobody holds them any more."""
    return (
        isinstance(value, type)
        and isinstance(finaliser := getattr(value, "__del__", None), types.FunctionType)
        and (not is_library(finaliser.__module__))
    )


def _leads_to_cache(value: Any, names: tuple[str, ...]) -> bool:
    """Whether this is a function whose results Python keeps, or a module of the user's own that has one of these."""
    if isinstance(value, types.ModuleType) and not is_library(value.__name__):
        return any(isinstance(vars(value).get(name), functools._lru_cache_wrapper) for name in names)
    return isinstance(value, functools._lru_cache_wrapper) and not is_library(value.__module__)


_CLOCKS = frozenset(clock.__name__ for clock in _TELLTALE if isinstance(clock, types.BuiltinFunctionType))


def _maker(function: types.FunctionType) -> types.CodeType | None:
    """The code of the function of a module in which a function was made."""
    first, *rest = function.__qualname__.partition(".<locals>")[0].split(".")
    found: Any = function.__globals__.get(first)
    for name in rest:
        found = inspect.getattr_static(found, name, None)
    code = getattr(found, "__code__", None)
    return code if isinstance(code, types.CodeType) and has_source(code) and found is not function else None


def watch_state_of(function: types.FunctionType, machine: Interprets) -> None:
    """Take note of what a function can change that outlives the call: its defaults, and globals it names."""
    code = function.__code__
    if code in machine.watched or is_torch(function):
        return
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    if code not in machine.nested and any(
        item.opname == "STORE_DEREF" and item.argval in cells and not machine.heap.is_watched(cells[item.argval])
        for item in dis.get_instructions(code)
    ):
        maker = _maker(function)
        of_library = is_library(function.__module__) and not machine.heap.is_watched(function)
        if maker is not None and not of_library and Encloses(maker) not in machine.knowledge:
            # It may have run natively during the call; then the machine makes the variable itself.
            machine.knowledge.learn(Encloses(maker))
            raise Again
        if not of_library:  # What a library keeps for itself, such as a cache, is nobody's state.
            reason = f"`{code.co_qualname}` changes a variable of a function around it, which outlives the call"
            raise Refused("DY007", reason)
    machine.watched.add(code)
    if "<locals>" in code.co_qualname:
        # What it is closed over may have been made during the call; what was there before has been found already.
        machine.heap.watch_names(function)
    else:
        machine.heap.watch(function, code.co_qualname)
