"""The process while it rewrites: settings of PyTorch, and functions that must not run as they are."""

import gc
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.own_code import is_own_module
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.semantics.random_numbers import visible_draws
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
def rewriting(recorder: Recorder) -> Iterator[None]:
    """Settings of the process while it rewrites.

    Attention takes its ordinary path, whose operations backends know. The garbage collector rests: with many blocks
    alive, each of its runs would look through all of them. PyTorch does not log the shape rules that fail: a problem
    says so in its own words. A fake tensor has no text: the program would take it for the real one's. Checks of sizes
    that only the input determines are part of the program. Derivatives, which do not exist here, are refused.
    """
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    fast_path, collecting = torch.backends.mha.get_fastpath_enabled(), gc.isenabled()
    torch.backends.mha.set_fastpath_enabled(False)
    gc.disable()
    FakeTensor.__repr__ = FakeTensor.__str__ = _no_text  # type: ignore[method-assign, assignment]
    size_text = torch.SymInt.__repr__
    torch.SymInt.__repr__ = _no_text  # type: ignore[method-assign]
    replaced = [(module, name, _no_derivative(name)) for module, names in _DERIVATIVES.items() for name in names]
    replaced += [(torch, name, _check(getattr(torch, name), error, recorder)) for name, error in _CHECKS.items()]
    before = [(module, name, getattr(module, name)) for module, name, _ in replaced]
    for module, name, function in replaced:
        setattr(module, name, function)
    try:
        with visible_draws():
            yield
    finally:
        for module, name, function in before:
            setattr(module, name, function)
        del FakeTensor.__repr__, FakeTensor.__str__
        torch.SymInt.__repr__ = size_text  # type: ignore[method-assign]
        logger.setLevel(level)
        torch.backends.mha.set_fastpath_enabled(fast_path)
        if collecting:
            gc.enable()


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
