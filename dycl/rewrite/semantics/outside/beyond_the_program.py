"""Calls that reach beyond the program: they look at the code that makes them, at modes, run other code, or act outside.

Natively, the first would see DyCL's own code, and the last would act while compiling.
"""

import atexit
import codecs
import csv
import gc
import inspect
import os
import sys
import threading
import traceback
from collections.abc import Collection
from types import BuiltinFunctionType, ModuleType
from typing import Any

import torch

from dycl.rewrite.normalise.contexts import DERIVATIVES
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler
from dycl.rewrite.signals import Refused


def _no_look(name: str) -> Handler:
    def look(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name in ("vars", "dir") and args:
            return NOT_HANDLED
        raise Refused("DY002", f"`{name}` runs or looks at code in a way that cannot be followed")

    return look


_CALLEES: tuple[Any, ...] = (
    *(locals, vars, dir, globals, eval, exec, compile, breakpoint, input),
    *(sys._getframe, sys._current_frames, sys.settrace, sys.setprofile),
    *(inspect.currentframe, inspect.stack, inspect.trace, inspect.getouterframes),
    *(traceback.extract_stack, traceback.format_stack, traceback.print_stack, traceback.walk_stack),
    *(gc.get_objects, gc.get_referrers, gc.get_referents, sys.getrefcount, sys.getsizeof),
    *(threading.settrace, threading.setprofile),
)
_SEEN_THROUGH = {
    module: frozenset(callee.__name__ for callee in _CALLEES if callee.__module__ == module.__name__)
    for module in (sys, inspect, traceback, gc, threading)
}
"""Modules, and by which of their names a program looks at more than it is given."""


def looks_around(module: Any, names: Collection[str]) -> bool:
    """Whether a function that has this module, and uses these names, may look at what runs, or at all objects."""
    return isinstance(module, ModuleType) and not _SEEN_THROUGH.get(module, frozenset()).isdisjoint(names)


_QUESTIONS = frozenset(
    (
        *("access", "confstr", "cpu_count", "ctermid", "device_encoding", "fpathconf", "fspath", "fstat", "fstatvfs"),
        *("get_blocking", "get_inheritable", "get_terminal_size", "getcwd", "getcwdb", "getegid", "geteuid", "getgid"),
        *("getgrouplist", "getgroups", "getloadavg", "getlogin", "getpgid", "getpgrp", "getpid", "getppid"),
        *("getpriority", "getresgid", "getresuid", "getsid", "getuid", "getxattr", "isatty", "listdir", "listxattr"),
        *("lstat", "major", "makedev", "minor", "open", "pathconf", "process_cpu_count", "readlink", "scandir"),
        *("sched_get_priority_max", "sched_get_priority_min", "sched_getaffinity", "sched_getparam"),
        *("sched_getscheduler", "sched_rr_get_interval", "stat", "statvfs", "strerror", "sysconf", "times", "ttyname"),
        *("uname", "waitstatus_to_exitcode", "WCOREDUMP", "WEXITSTATUS", "WIFCONTINUED", "WIFEXITED", "WIFSIGNALED"),
        *("WIFSTOPPED", "WSTOPSIG", "WTERMSIG", "_path_normpath"),
    )
)
ACTIONS: dict[tuple[ModuleType, str], Any] = {
    **{(atexit, name): getattr(atexit, name) for name in ("register", "unregister")},
    **{(codecs, name): getattr(codecs, name) for name in ("register", "register_error", "unregister")},
    **{(csv, name): getattr(csv, name) for name in ("register_dialect", "unregister_dialect")},
    **{
        (os, name): function
        for name, function in vars(os).items()
        if isinstance(function, BuiltinFunctionType) and function.__module__ == os.name and name not in _QUESTIONS
    },
}
"""Functions of the operating system that do something, of which most tell nobody."""


_FUNCTIONS = frozenset(ACTIONS.values())


def acts_outside(function: Any) -> bool:
    """Whether a call of a function does something outside of the program."""
    return isinstance(function, BuiltinFunctionType) and function in _FUNCTIONS


def refused(told: str) -> Refused:
    """The refusal of something that a program does outside."""
    reason = f"the call does something outside of the program: {told}"
    return Refused("DY007", reason, "do it before or after the model is called")


def _no_action(module: ModuleType, name: str) -> Handler:
    def act(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise refused(f"`{module.__name__}.{name}`")

    return act


def _derivatives(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    DERIVATIVES.ask()
    return False


HANDLERS: dict[Any, Handler] = {
    torch.is_grad_enabled: _derivatives,
    **{callee: _no_look(callee.__name__) for callee in _CALLEES},
    **{function: _no_action(*name) for name, function in ACTIONS.items()},
}
