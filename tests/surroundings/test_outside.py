"""What a call changes in the process or outside of it is refused where it happens, and does not stay."""

import abc
import atexit
import calendar
import collections.abc
import ctypes
import decimal
import functools
import gc
import locale
import logging
import os
import pathlib
import random
import reprlib
import signal
import subprocess
import sys
import threading
import tracemalloc
import types
from collections.abc import Callable
from os import nice as be_nicer
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import dycl

_ONES = torch.ones(2)


class _Abstract(abc.ABC):
    @abc.abstractmethod
    def give(self) -> int: ...


class _Registered:
    pass


_TENSOR, _LINEAR = torch.zeros(2), nn.Linear(2, 2)
_ERROR = ValueError(1)


def _hang(owner: Any) -> None:
    owner.hung_by_a_test = 1


def _open() -> None:
    os.close(os.open(_FILE, os.O_CREAT | os.O_WRONLY))


def _trap() -> None:
    decimal.getcontext().traps[decimal.Inexact] = True


def _switch_off() -> None:
    torch.backends.cudnn.enabled = not torch.backends.cudnn.enabled


def _set_module() -> None:
    sys.modules["set_by_a_test"] = threading


def _set_in_namespace() -> None:
    torch.nn.functional.__dict__["set_by_a_test"] = 1


def _set_new_module() -> None:
    sys.modules["set_by_a_test"] = types.ModuleType("set_by_a_test")


def _set_in_environment() -> None:
    os.environ.__dict__["set_by_a_test"] = 1


def _set_in_function() -> None:
    np.linalg.norm.__dict__["set_by_a_test"] = 1


def _set_on_operation() -> None:
    _hang(torch.ops.aten.relu)


def _add_note() -> None:
    _ERROR.add_note("more")


def _raise_more() -> None:
    _ERROR.args = (2,)


def _set_derivative() -> None:
    _LINEAR.weight.grad = torch.ones(2, 2)


def _replace_data() -> None:
    _TENSOR.data = _TENSOR.data + 1


def _rename() -> None:
    _hang.__name__ += "a"


def _document() -> None:
    _hang.__doc__ = "more"


def _rename_class() -> None:
    _Registered.__name__ += "a"


class _Other:
    pass


class _Derived(_Registered):
    pass


def _rebase() -> None:
    _Derived.__bases__ = (_Other,)


def _reshape() -> None:
    _ARRAY.shape = (3, 2)


def _set_on_thread() -> None:
    threading.current_thread().__dict__["hung_by_a_test"] = 1


def _set_past_python() -> None:
    object.__setattr__(reprlib.aRepr, "maxlist", 7)


def _count_up() -> None:
    reprlib.aRepr.maxlist += 1


def _replace_call() -> None:
    _CALL.__setstate__((print, (2,), {}, {}))


_ARRAY = np.zeros((2, 3))
_CALL: Any = functools.partial(print, 1)
_FILE = "written-by-a-test"


def _deterministic() -> bool:
    return torch.are_deterministic_algorithms_enabled()


def _small_numbers() -> bool:
    return bool(np.float32(1e-40) * np.float32(1) > 0)


_EFFECTS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "precision": (lambda: torch.set_float32_matmul_precision("medium"), torch.get_float32_matmul_precision),
    "cudnn": (_switch_off, lambda: torch.backends.cudnn.enabled),
    "deterministic": (lambda: torch.use_deterministic_algorithms(True), _deterministic),
    "debug mode": (lambda: torch.set_deterministic_debug_mode("warn"), torch.get_deterministic_debug_mode),
    "oneDNN": (lambda: torch._C._set_mkldnn_enabled(False), lambda: torch._C._get_mkldnn_enabled()),
    "attention": (lambda: torch.backends.cuda.enable_math_sdp(False), torch.backends.cuda.math_sdp_enabled),
    "derivatives": (lambda: torch.set_grad_enabled(True), torch.is_grad_enabled),
    "traced memory": (tracemalloc.start, tracemalloc.is_tracing),
    "environment's attributes": (_set_in_environment, lambda: "set_by_a_test" in vars(os.environ)),
    "denormal": (lambda: torch.set_flush_denormal(True), _small_numbers),
    "NumPy": (lambda: np.seterr(over="raise"), lambda: np.geterr()["over"]),
    "decimal": (_trap, lambda: decimal.getcontext().traps[decimal.Inexact]),
    "garbage": (lambda: gc.set_threshold(123), gc.get_threshold),
    "digits": (lambda: sys.set_int_max_str_digits(5000), sys.get_int_max_str_digits),
    "locale": (lambda: locale.setlocale(locale.LC_ALL, "C.UTF-8"), lambda: locale.setlocale(locale.LC_ALL)),
    "signal": (lambda: signal.signal(signal.SIGUSR1, signal.SIG_IGN), lambda: signal.getsignal(signal.SIGUSR1)),
    "umask": (lambda: os.umask(0o007), lambda: os.umask(0o022)),
    "exit": (lambda: atexit.register(print), lambda: None),
    "nice": (lambda: os.nice(1), lambda: os.nice(0)),
    "nice, by another name": (lambda: be_nicer(1), lambda: os.nice(0)),
    "variables": (lambda: os.putenv("SET_BY_A_TEST", "1"), lambda: None),
    "file": (_open, lambda: os.path.exists(_FILE)),
    "file of a library": (lambda: np.save(f"{_FILE}.npy", np.zeros(2)), lambda: os.path.exists(f"{_FILE}.npy")),
    "file by its path": (lambda: pathlib.Path(_FILE).write_text("x"), lambda: os.path.exists(_FILE)),
    "folder": (lambda: os.makedirs(_FILE), lambda: os.path.exists(_FILE)),
    "process": (lambda: subprocess.run(["touch", _FILE], check=True), lambda: os.path.exists(_FILE)),
    "C": (lambda: ctypes.CDLL(None).umask(0o007), lambda: os.umask(0o022)),
    "thread": (lambda: _hang(threading.current_thread()), lambda: hasattr(threading.main_thread(), "hung_by_a_test")),
    "logger": (lambda: _hang(logging.getLogger("a.b")), lambda: hasattr(logging.getLogger("a.b"), "hung_by_a_test")),
    "logger above": (lambda: _hang(logging.getLogger("a.b").parent), lambda: hasattr(logging.root, "hung_by_a_test")),
    "level": (lambda: logging.getLogger("a.c").setLevel(10), lambda: logging.getLogger("a.c").level),
    "modules": (_set_module, lambda: "set_by_a_test" in sys.modules),
    "new module": (_set_new_module, lambda: "set_by_a_test" in sys.modules),
    "function of NumPy": (_set_in_function, lambda: hasattr(np.linalg.norm, "set_by_a_test")),
    "operation": (_set_on_operation, lambda: "hung_by_a_test" in vars(torch.ops.aten.relu)),
    "namespace": (_set_in_namespace, lambda: hasattr(torch.nn.functional, "set_by_a_test")),
    "abstract class": (lambda: _Abstract.register(_Registered), lambda: issubclass(_Registered, _Abstract)),
    "abstract class of Python's": (
        lambda: collections.abc.Sized.register(_Registered),
        lambda: issubclass(_Registered, collections.abc.Sized),
    ),
    "tensor": (lambda: _hang(_TENSOR), lambda: hasattr(_TENSOR, "hung_by_a_test")),
    "parameter": (lambda: _hang(_LINEAR.weight), lambda: hasattr(_LINEAR.weight, "hung_by_a_test")),
    "derivative": (_set_derivative, lambda: _LINEAR.weight.grad),
    "memory": (_replace_data, lambda: _TENSOR.data_ptr()),
    "required derivative": (lambda: _TENSOR.requires_grad_(), lambda: _TENSOR.requires_grad),
    "name of a function": (_rename, lambda: _hang.__name__),
    "text of a function": (_document, lambda: _hang.__doc__),
    "name of a class": (_rename_class, lambda: _Registered.__name__),
    "bases of a class": (_rebase, lambda: _Derived.__bases__),
    "shape of an array": (_reshape, lambda: _ARRAY.shape),
    "size of an array": (lambda: _ARRAY.resize((3, 3), refcheck=False), lambda: _ARRAY.shape),
    "flags of an array": (lambda: _ARRAY.setflags(write=False), lambda: _ARRAY.flags.writeable),
    "handler": (lambda: logging.root.addHandler(logging.NullHandler()), lambda: len(logging.root.handlers)),
    "handlers": (lambda: logging.root.handlers.append(logging.NullHandler()), lambda: len(logging.root.handlers)),
    "names of levels": (lambda: logging.addLevelName(77, "much"), lambda: logging.getLevelName(77)),
    "thread's dict": (_set_on_thread, lambda: hasattr(threading.main_thread(), "hung_by_a_test")),
    "object of a library": (_count_up, lambda: reprlib.aRepr.maxlist),
    "object of a library, past Python": (_set_past_python, lambda: reprlib.aRepr.maxlist),
    "first day": (lambda: calendar.setfirstweekday(3), calendar.firstweekday),
    "partial call": (_replace_call, lambda: _CALL.args),
    "default device": (lambda: torch.set_default_device("meta"), torch.get_default_device),
    "error": (_raise_more, lambda: _ERROR.args),
    "note": (_add_note, lambda: getattr(_ERROR, "__notes__", [])),
}


class _Helped(nn.Module):
    """Decides, and calls a helper that no decision is in."""

    def __init__(self, helper: Callable[[], Any]) -> None:
        super().__init__()
        self.helper = helper

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            self.helper()
        return x * 2


class _HelpedInTry(_Helped):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            self.helper()
        except Exception:
            return x
        return x * 2 if x.sum() > 0 else x


@pytest.mark.parametrize("cls", [_Helped, _HelpedInTry])
@pytest.mark.parametrize("name", _EFFECTS)
def test_what_a_call_does_outside_is_refused(
    name: str, cls: type[_Helped], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    effect, told = _EFFECTS[name]
    os.umask(0o022)
    before = told()
    with pytest.raises(dycl.CompileError, match=r"DY00[279]"):
        dycl.compile(cls(effect).eval(), _ONES)
    assert told() == before


def _seeded() -> None:
    random.seed(3)
    np.random.seed(3)
    torch.manual_seed(3)


class _DrawsAfterSeeding(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        if x.sum() > 0:
            _seeded()
        return x + random.random()


def test_a_refused_model_has_drawn_nothing() -> None:
    before = _states()
    with pytest.raises(dycl.CompileError, match="DY005"):
        dycl.compile(_DrawsAfterSeeding().eval(), _ONES)
    assert _states() == before


def test_a_refused_model_has_drawn_nothing_while_another_thread_waits() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        test_a_refused_model_has_drawn_nothing()
    finally:
        done.set()
        thread.join()


def _states() -> Any:
    return random.getstate(), str(np.random.get_state(legacy=False)), torch.get_rng_state().tolist()
