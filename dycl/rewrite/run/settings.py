"""The process while it rewrites: settings of PyTorch, and functions that must not run as they are."""

import builtins
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.own_code import is_own_module
from dycl.rewrite.own_thread import Replacement, is_compiling, replaced
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.semantics.random_numbers import STAND_INS
from dycl.rewrite.signals import DecisionMet, Refused

_DERIVATIVES = {
    torch.autograd: ("grad", "backward"),
    torch.autograd.functional: ("jacobian", "hessian", "vjp", "jvp", "hvp", "vhp"),
    torch.func: ("grad", "grad_and_value", "jacrev", "jacfwd", "hessian", "vjp", "jvp"),
    torch.Tensor: ("backward",),
}
_CHECKS = {
    "_check": RuntimeError,
    "_check_index": IndexError,
    "_check_value": ValueError,
    "_check_type": TypeError,
    "_check_not_implemented": NotImplementedError,
}


@contextmanager
def rewriting(recorder: Recorder, class_made: Callable[[type], None]) -> Iterator[None]:
    """Settings of the process while it rewrites, for the thread that does.

    Attention takes its ordinary path, whose operations backends know. PyTorch does not log the shape rules that fail: a
    problem says so in its own words. A fake tensor has no text: the program would take it for the real one's. Checks of
    sizes that only the input determines are part of the program. Derivatives, which do not exist here, are refused.
    Random functions are seen by the machine. `class_made` is told of the classes that the program makes.
    """
    build_class = builtins.__build_class__

    def told(*args: Any, **kwargs: Any) -> Any:
        cls = build_class(*args, **kwargs)
        class_made(cls)
        return cls

    replacements: list[Replacement] = [
        (builtins, "__build_class__", told),
        (torch.backends.mha, "get_fastpath_enabled", lambda: False),
        (FakeTensor, "__repr__", _no_text),
        (FakeTensor, "__str__", _no_text),
        (torch.SymInt, "__repr__", _no_text),
        *((module, name, _no_derivative(name)) for module, names in _DERIVATIVES.items() for name in names),
        *((torch, name, _check(getattr(torch, name), error, recorder)) for name, error in _CHECKS.items()),
        *((module, name, stand_in) for (module, name), stand_in in STAND_INS.items()),
    ]
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    logger.addFilter(_not_from_here)
    try:
        with replaced(replacements):
            yield
    finally:
        logger.removeFilter(_not_from_here)


def _not_from_here(record: logging.LogRecord) -> bool:
    return not is_compiling()


def _no_text(value: torch.Tensor | torch.SymInt) -> str:
    raise DecisionMet("the text of a value that only the input determines")


def _no_derivative(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise Refused("DY002", f"`{name}` takes a derivative while the model runs", "write the derivative out by hand")

    return refuse


def _check(plain: Callable[..., Any], error: type[Exception], recorder: Recorder) -> Callable[..., Any]:
    """PyTorch's `torch._check...`, as a check of the program where the user's own code calls it."""

    def check(condition: Any, message: Any = None) -> None:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        dynamic = isinstance(condition, torch.SymBool) or type(condition) is HostValue
        if not dynamic or caller.partition(".")[0] == "torch" or is_own_module(caller):
            plain(condition, message)
            return
        tensor = condition.tensor if type(condition) is HostValue else recorder.materialise(condition)
        recorder.check(tensor, error.__name__, message() if callable(message) else str(message or "check failed"))

    return check
