"""Settings of the process that Python code can ask for, and that a call must leave as they are."""

import csv
import decimal
import faulthandler
import functools
import gc
import itertools
import locale
import logging
import operator
import os
import signal
import socket
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from dycl.rewrite.state.heap.unchanged.guards import Guard


def setting_guards() -> list[Guard]:
    """Guards for all settings that a program can change past all objects."""
    settings = (*_SETTINGS, *_of_python(), *_of_pytorch())
    return [_environment_guard(), _derivatives_guard(), _device_guard(), _guard(settings)]


_Setting = tuple[str, Callable[[], Any], Callable[[Any], Any]]


def _guard(settings: Iterable[_Setting]) -> Guard:
    """Settings keep their values, which are asked for and compared all at once: there are many."""
    names, reads, writes = zip(*settings, strict=True)
    before = list(map(operator.call, reads))

    def changed() -> str | None:
        now = list(map(operator.call, reads))
        return None if now == before else next(itertools.compress(names, map(operator.ne, now, before)), None)

    def restore() -> None:
        for value, read, write in zip(before, reads, writes, strict=True):
            if value is not _UNTOLD and read() != value:
                write(value)

    return Guard(changed, restore)


def _precision() -> tuple[Any, ...]:
    context = decimal.getcontext()
    traps = tuple(kind for kind, is_set in context.traps.items() if is_set)
    return context.prec, context.rounding, context.Emin, context.Emax, context.capitals, context.clamp, traps


def _set_precision(told: tuple[Any, ...]) -> None:
    flags = dict(decimal.getcontext().flags)
    prec, rounding, smallest, largest, capitals, clamp, traps = told
    made = decimal.Context(prec, rounding, smallest, largest, capitals, clamp, [], list(traps))
    made.flags.update(flags)
    decimal.setcontext(made)


def _derivatives_guard() -> Guard:
    """While a program is rewritten, in inference mode, no derivatives are computed; nobody may switch them on."""

    def changed() -> str | None:
        is_on = torch.is_inference_mode_enabled() and torch.is_grad_enabled()
        return "whether derivatives are computed" if is_on else None

    def restore() -> None:
        if changed() is not None:
            torch._C._set_grad_enabled(False)

    return Guard(changed, restore)


def _device_guard() -> Guard:
    """Tensors are made where they were made before."""
    home = torch._GLOBAL_DEVICE_CONTEXT

    def mode() -> Any:
        return getattr(home, "device_context", None)

    before = mode()

    def restore() -> None:
        if mode() is not before:
            torch.set_default_device(None if before is None else before.device)

    return Guard(lambda: None if mode() is before else "PyTorch's default device", restore)


def _environment_guard() -> Guard:
    """Python keeps the variables in a dict of its own, which is quicker to compare than all their texts."""
    kept: dict[Any, Any] = vars(os.environ)["_data"]
    before, told = dict(kept), dict(os.environ)

    def restore() -> None:
        if kept != before:
            os.environ.clear()
            os.environ.update(told)

    return Guard(lambda: None if kept == before else "the variables of the environment", restore)


def _print_options() -> dict[str, Any]:
    return dict(vars(torch._tensor_str.PRINT_OPTS))


def _set_print_options(told: dict[str, Any]) -> None:
    vars(torch._tensor_str.PRINT_OPTS).update(told)


def _collect_garbage(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()


def _trace_memory(traced: bool) -> None:
    (tracemalloc.start if traced else tracemalloc.stop)()


def _tell_crashes(told: bool) -> None:
    (faulthandler.enable if told else faulthandler.disable)()


def _keeps_small_numbers() -> bool:
    """Whether numbers too small for all their digits are computed with, or taken for zero."""
    return sys.float_info.min / _TWO > 0


_TWO = 2.0


def _set_small_numbers(kept: bool) -> None:
    torch.set_flush_denormal(not kept)


def _rights() -> int:
    now = os.umask(0o077)
    os.umask(now)
    return now


def _handlers() -> list[Any]:
    return list(map(_HANDLER_OF, _SIGNALS))


# Without the names of signals, which take most of the time.
_HANDLER_OF: Callable[[int], Any] = vars(signal)["_signal"].getsignal


def _set_handlers(told: list[Any]) -> None:
    for number, handler in zip(_SIGNALS, told, strict=True):
        if _HANDLER_OF(number) is not handler:
            signal.signal(number, handler)


_SIGNALS = sorted(map(int, signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}))


def _set_thread_name(name: str) -> None:
    threading.current_thread().name = name


def _numpy_options() -> tuple[Any, ...]:
    return np.geterr(), np.geterrcall(), np.getbufsize(), np.get_printoptions()


def _set_numpy_options(told: tuple[Any, ...]) -> None:
    errors, function, size, printing = told
    np.seterr(**errors)
    np.seterrcall(function)
    np.setbufsize(size)
    np.set_printoptions(**printing)


def _set_safe_globals(told: list[Any]) -> None:
    torch.serialization.clear_safe_globals()
    torch.serialization.add_safe_globals(told)


_SETTINGS: tuple[_Setting, ...] = (
    ("PyTorch's default element type", torch.get_default_dtype, torch.set_default_dtype),
    ("the precision of decimal numbers", _precision, _set_precision),
    ("the folder that the process is in", os.getcwd, os.chdir),
    ("which rights new files have", _rights, os.umask),
    ("how signals are handled", _handlers, _set_handlers),
    ("the locale", lambda: locale.setlocale(locale.LC_ALL), lambda told: locale.setlocale(locale.LC_ALL, told)),
    ("which messages are logged", lambda: logging.root.manager.disable, logging.disable),
    ("NumPy's settings", _numpy_options, _set_numpy_options),
    ("how PyTorch writes tensors out", _print_options, _set_print_options),
    ("how many threads PyTorch uses", torch.get_num_threads, torch.set_num_threads),
    ("how PyTorch rounds numbers close to zero", _keeps_small_numbers, _set_small_numbers),
    ("whether derivatives are watched", torch.is_anomaly_enabled, torch.set_anomaly_enabled),
    ("whether Python collects garbage", gc.isenabled, _collect_garbage),
    ("whether memory is traced", tracemalloc.is_tracing, _trace_memory),
    ("whether crashes are told", faulthandler.is_enabled, _tell_crashes),
    ("how much stack a thread has", threading.stack_size, threading.stack_size),
    ("how long sockets wait", socket.getdefaulttimeout, socket.setdefaulttimeout),
    ("how long fields of tables may be", csv.field_size_limit, csv.field_size_limit),
    ("which classes PyTorch loads from files", torch.serialization.get_safe_globals, _set_safe_globals),
    ("the name of the thread", lambda: threading.current_thread().name, _set_thread_name),
)


@functools.cache
def _of_python() -> tuple[_Setting, ...]:
    """Switches of Python's own: what modules have both a getter without arguments and a setter for."""
    found: list[_Setting] = []
    for module in (sys, gc):
        for setter in (name for name in dir(module) if name.startswith("set") and name not in _HOOKS):
            getter = f"get{setter.removeprefix('set')}"
            if not hasattr(module, getter):
                continue
            read, write = getattr(module, getter), getattr(module, setter)
            if isinstance(read(), tuple):
                write = functools.partial(_write_all, write)
            found.append((f"`{module.__name__}.{getter}()`", read, write))
    return tuple(found)


# They look at code while it runs, and so does DyCL.
_HOOKS = frozenset(("settrace", "setprofile"))


@functools.cache
def _of_pytorch() -> tuple[_Setting, ...]:
    """PyTorch's own switches: whatever it has both a getter without arguments and a setter for.

    How exactly it multiplies is kept by backend and operation, and some of the other switches change that too: it comes
    last, so that it is put back last.
    """
    found: list[_Setting] = []
    for setter, getter in _pairs(dir(torch._C)):
        read, write = getattr(torch._C, getter), getattr(torch._C, setter)
        try:
            told = read()
        except TypeError:
            continue  # it asks something of its arguments
        except RuntimeError:
            told = None  # switches that contradict each other
        if isinstance(told, tuple):
            write = functools.partial(_write_all, write)
        found.append((f"PyTorch's setting `{getter.strip('_')}`", functools.partial(_read, read), write))
    for place in _PRECISIONS:
        read = functools.partial(torch._C._get_fp32_precision_getter, *place)
        write = functools.partial(torch._C._set_fp32_precision_setter, *place)
        found.append((f"PyTorch's precision of {' '.join(place)}", functools.partial(_read, read), write))
    return tuple(found)


_PRECISIONS = (
    ("generic", "all"),
    *((backend, kind) for backend in ("cuda", "mkldnn") for kind in ("all", "matmul", "conv", "rnn")),
)


def _read(read: Callable[[], Any]) -> Any:
    """A setting; where others contradict it, PyTorch does not tell, and that is how it must stay."""
    try:
        return read()
    except RuntimeError:
        return _UNTOLD


_UNTOLD = object()


def _write_all(write: Callable[..., Any], told: tuple[Any, ...]) -> None:
    write(*told)


def _pairs(names: Iterable[str]) -> Iterable[tuple[str, str]]:
    known = set(names)
    for setter in sorted(known):
        if not setter.startswith("_set_") or setter in _CHANGED_BY_DYCL:
            continue
        name = setter.removeprefix("_set_")
        attention = name.removeprefix("sdp_use_")
        getters = (f"_get_{name}", f"_is_{name}", f"_{name}", f"_get_{attention}_sdp_enabled")
        if (getter := next((getter for getter in getters if getter in known), None)) is not None:
            yield setter, getter


_CHANGED_BY_DYCL = frozenset(
    (
        *("_set_torch_function_state", "_set_tracing_state"),
        *("_set_meta_in_tls_dispatch_include", "_set_only_lift_cpu_tensors"),
    )
)
