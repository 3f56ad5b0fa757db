"""Calls that get at what was there before: whether they may be made natively, interpreted, or not at all."""

import functools
import operator
import types
import weakref
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves

from dycl.rewrite.knowledge import Interpret
from dycl.rewrite.normalise.source import has_source
from dycl.rewrite.run.callees import Arguments, resolve
from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.semantics.dynamic import is_dynamic
from dycl.rewrite.signals import Refused

# They ask for nothing but the object itself, or hand it on.
_NEUTRAL: tuple[Any, ...] = (getattr, hasattr, isinstance, id, type, callable, operator.is_, operator.is_not)


def require_touchable(machine: Interprets, callee: Any, arguments: Arguments) -> None:
    """Refuse a call that may change what can be neither copied nor compared; interpret one that may lead to that."""
    args, kwargs = arguments
    told = machine.heap.untouchable((callee, getattr(callee, "__self__", None), *args, *kwargs.values()))
    if told is None:
        return
    # A proxy asks what it stands for, whatever it is asked.
    if any(callee is neutral for neutral in _NEUTRAL) and not any(type(value) in weakref.ProxyTypes for value in args):
        return
    function = resolve(callee, args, kwargs)[0]
    if function is None or not has_source(function.__code__):
        raise untouchable(told)
    machine.knowledge.learn(Interpret(function.__code__))


def untouchable(told: str) -> Refused:
    """The refusal of a call that uses what can be neither copied nor compared."""
    return Refused("DY007", f"the call uses {told}")


def is_cached(callee: Any) -> bool:
    """Whether Python keeps the results of a function: `functools.cache` and `lru_cache`."""
    found = callee.__func__ if isinstance(callee, types.MethodType) else callee
    return isinstance(found, functools._lru_cache_wrapper)


def cached(machine: Interprets, callee: Any, arguments: Arguments) -> Any:
    """What a function whose results are cached gives: computed before the program runs, so it was always there."""
    name = str(getattr(callee, "__name__", callee))
    if any(is_dynamic(leaf, machine) or isinstance(leaf, torch.Tensor) for leaf in tree_leaves(arguments)):
        raise Refused("DY007", f"`{name}`, whose results are cached, gets a value that only the input determines")
    wrapper: Any = callee.__func__ if isinstance(callee, types.MethodType) else callee
    own = (callee.__self__,) if isinstance(callee, types.MethodType) else ()
    key = (wrapper, functools._make_key((*own, *arguments[0]), arguments[1], typed=True))
    if key not in machine.cached:
        # Python's cache stays empty if it was: what it had would be the user's.
        function = wrapper if wrapper.cache_info().currsize else wrapper.__wrapped__
        with machine.heap.nothing_changed(name), _disable_current_modes(), torch.inference_mode(False):
            result = function(*own, *arguments[0], **arguments[1])
        if any(isinstance(leaf, FakeTensor) for leaf in tree_leaves(result)):
            raise Refused("DY007", f"`{name}`, whose results are cached, gives a value that only the input determines")
        machine.heap.watch(result, name)
        machine.cached[key] = result
    return machine.cached[key]
