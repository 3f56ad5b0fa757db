"""Calls that get at what was there before: whether they may be made natively, interpreted, or not at all."""

import functools
import importlib
import io
import operator
import sys
import types
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves

from dycl.rewrite.knowledge import Interpret
from dycl.rewrite.normalise import spreading, syntax
from dycl.rewrite.normalise.source import has_source
from dycl.rewrite.own_code import is_library
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.run.callees import Arguments, resolve
from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.semantics.dynamic import is_dynamic
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.heap.caches import Remembered
from dycl.rewrite.state.heap.leading import leads_to, parts_of

# They ask for nothing but the object itself, or hand it on.
_NEUTRAL: tuple[Any, ...] = (
    *(getattr, hasattr, isinstance, id, type, callable, operator.is_, operator.is_not, spreading.starred),
)
_ASKING = (*weakref.ProxyTypes, weakref.finalize)
# What these do with their arguments is seen where they are entered.
_IN_PYTHON = (types.FunctionType, types.MethodType, torch.nn.Module)


def require_touchable(machine: Interprets, callee: Any, arguments: Arguments) -> None:
    """Refuse a call that may change what can be neither copied nor compared; interpret one that may lead to that."""
    args, kwargs = arguments
    if machine.heap.to_follow is None:
        return
    if not isinstance(callee, _IN_PYTHON) and not any(callee is neutral for neutral in _NEUTRAL):
        machine.heap.note_linked((attribute(callee, "__self__"), *args, *kwargs.values()))
    told = machine.heap.untouchable(used((callee, *args, *kwargs.values())))
    if told is None:
        return
    # A proxy asks what it stands for, whatever it is asked, and a finalizer whether that is alive.
    if any(callee is neutral for neutral in _NEUTRAL) and not any(isinstance(value, _ASKING) for value in args):
        return
    function = resolve(callee, args, kwargs)[0]
    if function is None or not has_source(function.__code__):
        raise untouchable(told)
    machine.knowledge.learn(Interpret(function.__code__))


def used(values: Iterable[Any]) -> Iterator[Any]:
    """Values, and what those of them are made of that are called."""
    for value in values:
        yield value
        if isinstance(value, _BOUND):
            yield value.__self__
        elif type(value) in (list, tuple, dict):
            yield from value.values() if isinstance(value, dict) else value
        elif isinstance(value, functools.partial):
            yield from used((value.func, *value.args, *value.keywords.values()))


_BOUND = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)


def require_not_ended(machine: Interprets, callee: Any) -> None:
    """Refuse to end something that was there before the call: nobody could begin it again."""
    owner = attribute(callee, "__self__")
    if isinstance(owner, _ENDED_FOR_GOOD) and callee.__name__ in _ENDINGS and machine.heap.is_watched(owner):
        raise Refused("DY007", f"the call ends a `{type(owner).__name__}` that outlives it")


_ENDED_FOR_GOOD = (io.IOBase, memoryview)
_ENDINGS = ("close", "detach", "release", "__exit__")


def watch_imported(machine: Interprets, callee: Any, args: tuple[Any, ...], imported: Any) -> None:
    """Take note of what a call imports: it outlives the call, as if it had been there before."""
    imports = any(callee is one for one in (syntax.import_module, syntax.import_from, importlib.import_module))
    if imports and args[0] not in machine.heap.modules_before and machine.heap.asks_for_module(args[0]):
        raise Refused("DY007", f"the call imports `{args[0]}`, and the program asks whether it was")
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
    owner = attribute(callee, "__self__")
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
    if id(wrapper) not in machine.cached:
        machine.cached[id(wrapper)] = Remembered(wrapper)
    remembered = machine.cached[id(wrapper)]

    def compute(function: Any) -> Any:
        unchanged, modes = machine.heap.nothing_changed(name, wrapper), _disable_current_modes()
        with unchanged, modes, torch.inference_mode(False):
            result = function(*own, *arguments[0], **arguments[1])
            remembered.note_own_calls()
        if any(isinstance(leaf, FakeTensor) for leaf in tree_leaves(result)):
            raise Refused("DY007", f"`{name}`, whose results are cached, gives a value that only the input determines")
        machine.heap.watch(result, name)
        return result

    result = remembered.result((*own, *arguments[0]), arguments[1], compute)
    if any(map(machine.heap.is_written, tree_leaves(result))):
        raise Refused("DY007", f"`{name}`, whose results are cached, gives a tensor that the call changes")
    return result
