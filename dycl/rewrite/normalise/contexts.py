"""What a `with` statement does, as callables."""

import contextlib
import threading
import types
import warnings
from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

from dycl.rewrite.signals import Refused

# Context managers that change nothing a compiled program could notice.
_INERT: tuple[type, ...] = (
    torch.no_grad,
    torch.enable_grad,
    torch.inference_mode,
    torch.set_grad_enabled,
    torch.autograd.profiler.record_function,
    torch.autograd.profiler.profile,
    warnings.catch_warnings,
    contextlib.nullcontext,
    contextlib.suppress,
    *map(type, (threading.Lock(), threading.RLock())),  # a compiled program has one thread
)


# Written in Python, but what they change belongs to the process.
_CHANGING_THE_PROCESS: tuple[type, ...] = (contextlib.redirect_stdout, contextlib.redirect_stderr, contextlib.chdir)


# What a class made from these does is Python code; one made from the others may do anything with the process.
_IN_PYTHON = (contextlib.nullcontext, contextlib.suppress)
_MODES = (torch.no_grad, torch.enable_grad, torch.inference_mode, torch.set_grad_enabled)
_LOCKS = tuple(map(type, (threading.Lock(), threading.RLock())))


class Derivatives:
    """Whether the program asks if derivatives are computed, and whether it switches that on: it cannot do both.

    A program computes none. Where a `with` block switches them on, that is left out, so nobody may look.
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """A program begins that has done neither."""
        self._asked = self._switched_on = False

    def ask(self) -> None:
        """Somebody asks."""
        self._asked = True
        self._require_not_both()

    def switch_on(self) -> None:
        """A `with` block switches them on."""
        self._switched_on = True
        self._require_not_both()

    def _require_not_both(self) -> None:
        if self._asked and self._switched_on:
            raise Refused("DY002", "the model asks whether derivatives are computed, and switches them on")


DERIVATIVES = Derivatives()


def _is_inert(manager: Any) -> bool:
    off = type(manager) is torch.autocast and not manager._enabled
    return off or any(type(manager) is kind for kind in _INERT)


def is_made_in_python(manager: Any) -> bool:
    """Whether a context manager's methods are Python code that changes nothing but the program's own objects."""
    ways = [getattr(type(manager), name, None) for name in ("__enter__", "__exit__")]
    made = all(isinstance(way, types.FunctionType) for way in ways)
    made = made and not isinstance(manager, _CHANGING_THE_PROCESS)
    own = type(manager).__module__.partition(".")[0] != "torch" or type(manager) is RemovableHandle
    free = isinstance(manager, _IN_PYTHON) or not isinstance(manager, (*_INERT, torch.autocast))
    return made and own and free and not _is_inert(manager)


def enter_context(manager: Any) -> Any:
    """Enter a `with` block; managers that a compiled program cannot notice are left alone."""
    missing = [name for name in ("__enter__", "__exit__") if not hasattr(type(manager), name)]
    if missing:
        more = " (missed __exit__ method)" if missing == ["__exit__"] else ""
        raise TypeError(f"'{type(manager).__name__}' object does not support the context manager protocol{more}")
    if _is_inert(manager):
        if isinstance(manager, torch.set_grad_enabled):
            torch._C._set_grad_enabled(False)  # it has switched them on when it was made
        if isinstance(manager, torch.enable_grad) or getattr(manager, "mode", False) is True:
            DERIVATIVES.switch_on()
        return _entered(manager)
    if not is_made_in_python(manager):
        raise Refused("DY002", f"the context manager `{type(manager).__name__}` changes something outside the program")
    return type(manager).__enter__(manager)


def _entered(manager: Any) -> Any:
    """What `with` gives for a manager that is left alone."""
    if isinstance(manager, warnings.catch_warnings) and manager._record:  # type: ignore[attr-defined]
        raise Refused("DY002", "warnings are recorded, which a compiled program drops")
    if isinstance(manager, contextlib.nullcontext):
        return manager.enter_result
    if isinstance(manager, (contextlib.suppress, warnings.catch_warnings, *_MODES)):
        return None
    return True if isinstance(manager, _LOCKS) else manager


def swallows_nothing(manager: Any) -> bool:
    """Whether a context manager is known to do nothing, also if there is an error."""
    return _is_inert(manager) and type(manager) is not contextlib.suppress


def exit_context(manager: Any, exception: BaseException | None) -> bool:
    """Leave a `with` block; true if the manager swallows the exception."""
    if type(manager) is contextlib.suppress:
        kinds: tuple[type[BaseException], ...] = getattr(manager, "_exceptions")  # noqa: B009
        return exception is not None and isinstance(exception, kinds)
    if _is_inert(manager):
        return False
    told = (None, None, None) if exception is None else (type(exception), exception, exception.__traceback__)
    return bool(type(manager).__exit__(manager, *told))
