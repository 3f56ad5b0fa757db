"""What a program does outside of its own memory: files that it writes, processes that it starts, connections.

Python tells of it by audit events, whichever library does it and however it is called. Events that only look at
something are known; every other one ends the program's way with a refusal.
"""

import builtins
import functools
import os
import sys
from collections.abc import Collection, Container, Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

from dycl.rewrite.own_code import is_library, is_own_module
from dycl.rewrite.own_thread import Replacement, is_compiling
from dycl.rewrite.run import following
from dycl.rewrite.semantics.class_calls import hashed_by_place
from dycl.rewrite.semantics.outside.beyond_the_program import ACTIONS, refused
from dycl.rewrite.signals import DecisionMet

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_LOOKS = frozenset(
    (
        *("array.__new__", "code.__new__", "function.__new__", "compile", "exec", "import"),
        *("object.__getattr__", "object.__setattr__", "object.__delattr__", "pickle.find_class"),
        *("os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.getxattr", "os.listxattr"),
        *("glob.glob", "glob.glob/2", "pathlib.Path.glob", "pathlib.Path.rglob", "time.sleep"),
        *("gc.get_objects", "gc.get_referents", "gc.get_referrers", "sys.setprofile", "sys.settrace"),
        *("marshal.loads", "marshal.load", "marshal.dumps", "marshal.dump", "sys.unraisablehook"),
    )
)
_LOOK_AT_CODE = ("sys._", "cpython.")
# An import may write what it compiled; a loop of events, which is refused for its `async` functions, has sockets.
_OF_PYTHON = ("importlib._bootstrap", "asyncio.")
_MAKES_CALLS = "dycl.rewrite.run."
_MAKES_ITEMS = "dycl.rewrite.state.lazy_iterators"
_ASKS_FOR_PLACE = "builtins.id"

_rewriting: list[Collection[str]] = []


@contextmanager
def nothing_outside(names: Collection[str]) -> Iterator[None]:
    """Refuse what the program does outside while it is rewritten, in the thread that does.

    If `id` is among the `names` that its functions use, have those stepped into that call it.
    """
    _listen()
    _rewriting.append(names)
    try:
        yield
    finally:
        _rewriting.pop()


@functools.cache
def _listen() -> None:
    """Hear of every event from now on: Python has no way to stop that."""
    sys.addaudithook(_heard)


def _heard(event: str, args: tuple[Any, ...]) -> None:
    if not _rewriting:
        return
    if event == _ASKS_FOR_PLACE:
        # The program's own code is stepped into where it asks for the address of an object.
        if "id" in _rewriting[-1] and _is_asked_by_program(sys._getframe(1)) and is_compiling():
            raise DecisionMet("the address of an object")
        return
    if event in _LOOKS or not is_compiling():
        return
    if event.startswith(_LOOK_AT_CODE) or (event == "open" and not _is_write(*args)):
        return
    if _is_the_programs(sys._getframe(1)):
        raise refused(f"it writes the file `{args[0]}`" if event == "open" else f"`{event}`")


def _is_asked_by_program(frame: FrameType) -> bool:
    """Whether it is the program that calls this function of Python's: by itself, or by another one of Python's."""
    module = frame.f_globals.get("__name__", "")
    if module == following.__name__:
        return frame.f_back is not None and frame.f_back.f_code.co_name == "_natively"
    if module == _MAKES_ITEMS:
        return True
    return not (is_own_module(module) or is_library(module) or frame.f_code.co_filename == "<string>")


def replacements(names: Collection[str], pinned: Container[Any]) -> list[Replacement]:
    """Functions that do nothing for the program, and their work for others."""
    found: list[Replacement] = [(*home, _for_others(*home, function)) for home, function in ACTIONS.items()]
    usual = hash

    def hash_of(value: Any) -> int:
        # PyTorch asks for very many hashes; who asks is told more quickly than of what.
        if _is_asked_by_program(sys._getframe(2)) and hashed_by_place(value, pinned) is not None:
            raise DecisionMet("the address of an object")
        return usual(value)

    return [*found, (builtins, "hash", hash_of)] if "hash" in names else found


def _for_others(module: ModuleType, name: str, function: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        if _is_the_programs(sys._getframe(2)):
            raise refused(f"`{module.__name__}.{name}`")
        return function(*args, **kwargs)

    return call


def _is_write(path: Any, mode: Any, flags: Any) -> bool:
    if isinstance(mode, str):
        return not set(mode).isdisjoint("wax+")
    return not isinstance(flags, int) or bool(flags & _WRITES)


def _is_the_programs(frame: FrameType | None) -> bool:
    """Whether the program does it, by itself or through a library: not an import, nor DyCL's own work."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(_OF_PYTHON):
            return False
        if is_own_module(module):
            return bool(module.startswith(_MAKES_CALLS))
        if not is_library(module):
            return True
        frame = frame.f_back
    return False
