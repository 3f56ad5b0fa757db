"""What a compilation changes in the process is seen by its own thread alone.

Some functions of PyTorch, Python and NumPy must not do their usual work while a model is rewritten: a random number has
no place in a program, a text of a fake tensor would be taken for the real one's. They are replaced for that time by
functions that ask which thread calls them, and do as ever in all others. One compilation runs at a time.
"""

import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

_turn = threading.RLock()
_compiling: list[int] = []

Replacement = tuple[Any, str, Callable[..., Any] | property]
"""An owner, the name of one of its functions or properties, and what takes its place."""


@contextmanager
def compiling() -> Iterator[None]:
    """Let this thread be the one that compiles, when the others are done."""
    with _turn:
        _compiling.append(threading.get_ident())
        try:
            yield
        finally:
            _compiling.pop()


def is_compiling() -> bool:
    """Whether the thread that asks is the one that compiles."""
    return threading.get_ident() in _compiling


_replaced: set[tuple[int, str]] = set()


def is_replaced(owner: object, name: str) -> bool:
    """Whether an attribute of an object is replaced while somebody compiles."""
    return (id(owner), name) in _replaced


@contextmanager
def replaced(replacements: Iterable[Replacement]) -> Iterator[None]:
    """Let functions be replaced in the thread that compiles, and be what they were in all others."""
    before = []
    try:
        for owner, name, replacement in replacements:
            own = vars(owner).get(name, _INHERITED)
            before.append((owner, name, own))
            _replaced.add((id(owner), name))
            setattr(owner, name, _by_thread(getattr(owner, name, _absent), replacement))
        yield
    finally:
        for owner, name, own in reversed(before):
            _replaced.discard((id(owner), name))
            if own is _INHERITED:
                delattr(owner, name)
            else:
                setattr(owner, name, own)


_INHERITED = object()


def _absent(*args: Any, **kwargs: Any) -> Any:
    """What other threads find where there is nothing but while somebody compiles."""
    raise AttributeError


def _by_thread(usual: Any, replacement: Any) -> Any:
    if isinstance(replacement, property):
        setter = None if replacement.fset is None else _by_thread(usual.__set__, replacement.fset)
        return property(_by_thread(usual.__get__, replacement.fget), setter)

    @functools.wraps(usual, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        return (replacement if is_compiling() else usual)(*args, **kwargs)

    _usual[call] = usual
    return call


_usual: WeakKeyDictionary[Callable[..., Any], Callable[..., Any]] = WeakKeyDictionary()


def usual(function: Any) -> Any:
    """What a function is when nobody compiles."""
    return _usual.get(function, function) if isinstance(function, FunctionType) else function
