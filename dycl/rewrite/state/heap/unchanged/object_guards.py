"""Objects that a program can reach and must leave as they are, a guard for each kind."""

import abc
import collections
import functools
import io
import operator
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from dycl.rewrite.state.heap.contents import contents_of, fill, is_same
from dycl.rewrite.state.heap.unchanged.guards import Guard


def guards_of_parts(value: Any, name: str, names_one_of: Callable[[frozenset[str]], bool]) -> Iterator[Guard]:
    """What lets an object keep what it is made of, where its contents are followed or cannot be written."""
    match value:
        case BaseException():
            yield error_guard(value, names_one_of)
        case functools.partial():
            yield partial_guard(value, name)
        case np.ndarray():
            yield array_guard(value, name)


def contents_guard(container: Any, name: str) -> Guard:
    """A container that belongs to a library keeps what it holds."""
    before = contents_of(container)

    def changed() -> str | None:
        return None if is_same(container, before) else f"`{name}`"

    return Guard(changed, lambda: fill(container, before))


def array_guard(array: np.ndarray[Any, Any], name: str) -> Guard:
    """An array keeps its shape, its element type and whether it may be written."""

    def told() -> tuple[Any, ...]:
        return array.shape, array.dtype, array.flags.writeable

    before = told()

    def restore() -> None:
        if told() != before:
            array.flags.writeable = True
            changed: Any = array
            changed.dtype = before[1]
            array.resize(before[0], refcheck=False)
            array.flags.writeable = before[2]

    return Guard(lambda: None if told() == before else f"the shape, the type or the flags of `{name}`", restore)


def partial_guard(call: functools.partial[Any], name: str) -> Guard:
    """A partial call keeps what it calls, and with what."""
    before = (call.func, call.args, call.keywords)

    def changed() -> str | None:
        now = (call.func, call.args, call.keywords)
        return None if all(map(operator.is_, now, before)) else f"the partial call `{name}`"

    def restore() -> None:
        if changed() is not None:
            state: Any = call
            state.__setstate__((*before, vars(call)))

    return Guard(changed, restore)


def factory_guard(table: collections.defaultdict[Any, Any], name: str) -> Guard:
    """A dict keeps what makes its missing items."""
    before = table.default_factory

    def changed() -> str | None:
        return None if table.default_factory is before else f"`default_factory` of `{name}`"

    def restore() -> None:
        table.default_factory = before

    return Guard(changed, restore)


def abstract_guard(cls: abc.ABCMeta) -> Guard:
    """An abstract class keeps the classes that were registered with it."""
    before = _registered(cls)

    def restore() -> None:
        if _registered(cls) != before:
            _REGISTRIES._reset_registry(cls)
            _REGISTRIES._reset_caches(cls)
            for found in before:
                if (one := found()) is not None:
                    _REGISTRIES._abc_register(cls, one)

    told = f"the classes that are registered with `{cls.__name__}`"
    return Guard(lambda: None if _registered(cls) == before else told, restore)


_REGISTRIES: Any = abc


def error_guard(error: BaseException, names_one_of: Callable[[frozenset[str]], bool]) -> Guard:
    """An error keeps what it was made of, the notes that were added to it, and how it was raised if somebody asks."""
    args, notes = error.args, list(getattr(error, "__notes__", ()))
    raised = {name: getattr(error, name) for name in HOW_RAISED}

    def is_same_error() -> bool:
        if error.args is not args or list(getattr(error, "__notes__", ())) != notes:
            return False
        was_raised = any(getattr(error, name) is not value for name, value in raised.items())
        return not (was_raised and names_one_of(ASKS_HOW_RAISED))

    def restore() -> None:
        # Setting the cause sets the last of them, too.
        for name in [name for name, value in raised.items() if getattr(error, name) is not value]:
            setattr(error, name, raised[name])
        error.__suppress_context__ = raised["__suppress_context__"]
        if not is_same_error():
            error.args = args
            vars(error).pop("__notes__", None)
            for note in notes:
                error.add_note(note)

    return Guard(lambda: None if is_same_error() else f"a `{type(error).__name__}` that outlives the call", restore)


HOW_RAISED = ("__cause__", "__context__", "__traceback__", "__suppress_context__")
"""What `raise` writes to an error."""
ASKS_HOW_RAISED = frozenset((*HOW_RAISED, "traceback", "exc_info", "format_exc", "print_exc", "format_exception"))
"""By these names a program may ask for that."""


def _registered(cls: type) -> set[Any]:
    found: set[Any] = _REGISTRIES._get_dump(cls)[0]
    return found


FILES = (io.StringIO, io.BytesIO)


def file_guard(file: Any, name: str) -> Guard:
    """A file in memory keeps what was written to it, and the place in it."""
    text, position = file.getvalue(), file.tell()

    def changed() -> str | None:
        if file.closed:
            return f"whether `{name}` is closed"
        return None if (file.getvalue(), file.tell()) == (text, position) else f"what is written to `{name}`"

    def restore() -> None:
        if not file.closed and changed() is not None:
            file.seek(0)
            file.truncate()
            file.write(text)
            file.seek(position)

    return Guard(changed, restore)


RANDOM_SOURCES = (random.Random, np.random.RandomState, np.random.Generator, torch.Generator)
LOCKS: tuple[type, ...] = (type(threading.Lock()), type(threading.RLock()))
GUARDED = (*RANDOM_SOURCES, *FILES, *LOCKS)
"""What is neither copied nor filled again, but must be at the end of a block what it was at the beginning."""


def guarded(value: Any, name: str) -> Guard:
    """What lets one of these be what it was."""
    if isinstance(value, LOCKS):
        return _lock_guard(value, name)
    return (random_guard if isinstance(value, RANDOM_SOURCES) else file_guard)(value, name)


def _lock_guard(lock: Any, name: str) -> Guard:
    """A lock is held by nobody else than before."""

    def is_held() -> bool:
        return bool(lock.locked() if hasattr(lock, "locked") else lock._is_owned())

    before = is_held()

    def changed() -> str | None:
        return None if is_held() == before else f"whether the lock `{name}` is held"

    def restore() -> None:
        if is_held() != before:
            (lock.acquire if before else lock.release)()

    return Guard(changed, restore)


def random_guard(source: Any, name: str) -> Guard:
    """A source of random numbers gives none."""
    before = _state_of(source)

    def changed() -> str | None:
        return None if _told(_state_of(source)) == _told(before) else f"the random numbers that `{name}` gives"

    def restore() -> None:
        if changed() is not None:
            _set_state(source, before)

    return Guard(changed, restore)


def _state_of(source: Any) -> Any:
    match source:
        case random.Random():
            return source.getstate()
        case np.random.Generator():
            return source.bit_generator.state
        case torch.Generator():
            return {"seed": source.initial_seed(), "state": source.get_state().numpy()}
        case _:
            return source.get_state(legacy=False)


def _set_state(source: Any, state: Any) -> None:
    match source:
        case random.Random():
            source.setstate(state)
        case np.random.Generator():
            source.bit_generator.state = state
        case torch.Generator():
            source.manual_seed(state["seed"])
            source.set_state(torch.from_numpy(state["state"]))
        case _:
            source.set_state(state)


def _told(state: Any) -> Any:
    """A state of numbers, so that two can be compared."""
    if isinstance(state, dict):
        return [(name, _told(value)) for name, value in state.items()]
    return state.tobytes() if isinstance(state, np.ndarray) else state
