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


def _is_inert(manager: Any) -> bool:
    off = isinstance(manager, torch.autocast) and not manager._enabled
    return off or isinstance(manager, _INERT)


def is_made_in_python(manager: Any) -> bool:
    """Whether a context manager's methods are Python code that changes nothing but the program's own objects."""
    ways = [getattr(type(manager), name, None) for name in ("__enter__", "__exit__")]
    made = all(isinstance(way, types.FunctionType) for way in ways)
    made = made and not isinstance(manager, _CHANGING_THE_PROCESS)
    own = type(manager).__module__.partition(".")[0] != "torch" or type(manager) is RemovableHandle
    return made and own and not _is_inert(manager)


def enter_context(manager: Any) -> Any:
    """Enter a `with` block; managers that a compiled program cannot notice are left alone."""
    missing = [name for name in ("__enter__", "__exit__") if not hasattr(type(manager), name)]
    if missing:
        more = " (missed __exit__ method)" if missing == ["__exit__"] else ""
        raise TypeError(f"'{type(manager).__name__}' object does not support the context manager protocol{more}")
    if isinstance(manager, contextlib.nullcontext):
        return manager.enter_result
    if isinstance(manager, contextlib.suppress):
        return None
    if _is_inert(manager):
        return manager
    if not is_made_in_python(manager):
        raise Refused("DY002", f"the context manager `{type(manager).__name__}` changes something outside the program")
    return type(manager).__enter__(manager)


def exit_context(manager: Any, exception: BaseException | None) -> bool:
    """Leave a `with` block; true if the manager swallows the exception."""
    if isinstance(manager, contextlib.suppress):
        kinds: tuple[type[BaseException], ...] = getattr(manager, "_exceptions")  # noqa: B009
        return exception is not None and isinstance(exception, kinds)
    if _is_inert(manager):
        return False
    told = (None, None, None) if exception is None else (type(exception), exception, exception.__traceback__)
    return bool(type(manager).__exit__(manager, *told))
