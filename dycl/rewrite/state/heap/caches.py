"""Functions whose results Python keeps, by `functools.cache` and `lru_cache`: it keeps no more than before.

The machine calls what is behind such a function itself, and remembers what it gave (`Remembered`), as if Python had
kept it from the beginning. That is what the model sees as long as it makes no difference which call comes first: equal
arguments are alike, and Python forgets nothing that can be told from what the function gives when it is called again.
"""

import functools
import gc
import types
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from dycl.rewrite.own_code import is_library
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.heap.leading import leads_to
from dycl.rewrite.state.heap.reach import leads_nowhere

Cached: TypeAlias = "functools._lru_cache_wrapper[Any]"


class Caches:
    """The functions of this kind that a program can reach."""

    def __init__(self) -> None:
        self._found: list[_Kept] = []
        self.holders: set[str] = set()
        """The names under which they were found."""

    def add(self, function: Cached, name: str) -> None:
        """Take note of one; those of libraries are their own business."""
        if not is_library(function.__module__):
            self._found.append(_Kept(function))
            self.holders.add(name.rpartition(".")[2])

    def asked(self) -> list[tuple[int, int]]:
        """How often each of them was asked."""
        return [one.count() for one in self._found]

    def asked_since(self, before: list[tuple[int, int]]) -> str | None:
        """One of them that was asked since then."""
        asked = (one for one, told in zip(self._found, before, strict=False) if one.count() != told)
        return next((one.name for one in asked), None)

    @property
    def were_asked(self) -> bool:
        """Whether one of them was called past the machine."""
        return any(one.was_asked for one in self._found)

    def told(self, changed: Collection[int]) -> str | None:
        """One of them that was called past the machine, and leads to something that has changed, in words."""
        asked = (one for one in self._found if one.was_asked and leads_to(one.seen, changed))
        return next((f"what Python keeps of `{one.name}`" for one in asked), None)

    def restore(self) -> None:
        """Let Python keep what it kept before, and nobody have asked."""
        for one in self._found:
            one.restore()

    @contextmanager
    def kept(self, *others: Cached) -> Iterator[None]:
        """Let Python keep no more results of theirs, and of others, than before, and forget that they were asked."""
        asked = list(map(_Kept, others))
        try:
            yield
        finally:
            for one in (*self._found, *asked):
                one.restore()


class _Kept:
    """What Python keeps of a function's results when it is found, and how often it was asked for them."""

    def __init__(self, function: Cached) -> None:
        self.name = getattr(function, "__name__", "a function")
        self._function = function
        self._results = _results_of(function)
        self._known = set(map(id, self._results))
        self._asked = self.count()

    def count(self) -> tuple[int, int]:
        """How often the function was asked for what it had given, and for more."""
        info = self._function.cache_info()
        return info.hits, info.misses

    @property
    def was_asked(self) -> bool:
        """Whether the function was called since."""
        return self.count() != self._asked

    @property
    def seen(self) -> list[Any]:
        """What the function sees: what it names, and what it was called with."""
        return [self._function.__wrapped__, *(key for key in self._results if id(key) not in self._known)]

    def restore(self) -> None:
        """Drop the results of calls since; how often it was called cannot be undone where results are kept."""
        if not self.was_asked:
            return
        if not self._known:
            self._function.cache_clear()
        for key in [key for key in self._results if id(key) not in self._known]:
            del self._results[key]
        self._asked = self.count()


class Remembered:
    """The results of one such function: those that Python had before, and those that a program asks for."""

    def __init__(self, function: Cached) -> None:
        self._function = function
        self._name = getattr(function, "__name__", "a function")
        self._before = set(_results_of(function))
        self._calls: dict[Any, tuple[Any, Any]] = {}
        self._asked_itself: set[Any] = set()
        self._new = 0
        parameters = function.cache_parameters()
        self._most, self._typed = parameters["maxsize"], parameters["typed"]

    def result(self, args: tuple[Any, ...], kwargs: dict[str, Any], compute: Callable[[Any], Any]) -> Any:
        """What the function gives for these arguments, found or computed by a call of what is given to `compute`."""
        key = functools._make_key(args, kwargs, self._typed)
        given = (args, tuple(kwargs.items()))
        if key in self._calls:
            earlier, result = self._calls[key]
            if not _are_alike(earlier, given):
                raise Refused("DY007", f"`{self._name}`, whose results are cached, gets equal arguments that differ")
            return result
        # Python keeps several arguments as a tuple; with names among them its keys cannot be made.
        known = (tuple(key) if isinstance(key, list) else key) in self._before
        may_be_known = known or (bool(kwargs) and bool(self._before))
        if not known:
            self._new += 1
        if may_be_known and not known and self._forgets:
            raise self._refusal()
        result = compute(self._function if may_be_known else self._function.__wrapped__)
        self._calls[key] = given, result
        if self._forgets and (self._before or not all(isinstance(one, _ALL_ALIKE) for _, one in self._calls.values())):
            raise self._refusal()
        return result

    @property
    def _forgets(self) -> bool:
        """Whether Python does not keep all that the program asks for."""
        return self._most is not None and len(self._before) + len(self._asked_itself) + self._new > self._most

    def _refusal(self) -> Refused:
        """Python would call the function again, and that could be told."""
        return Refused("DY007", f"`{self._name}`, whose results are cached, may forget some of its results")

    def note_own_calls(self) -> None:
        """Take note of what the function has asked itself while it was computed."""
        self._asked_itself |= _results_of(self._function).keys() - self._before


_ALL_ALIKE = (bool, int, float, complex, str, bytes, types.NoneType)


def _are_alike(one: Any, other: Any) -> bool:
    """Whether nothing tells two equal values apart but which of them they are."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_are_alike, one, other))
    if leads_nowhere(type(one)):
        return repr(one) == repr(other)  # which tells 0.0 from -0.0
    if type(one).__dictoffset__ and not hasattr(type(one), "__slots__"):
        return list(vars(one)) == list(vars(other)) and all(map(_are_alike, vars(one).values(), vars(other).values()))
    return False


def _results_of(function: Cached) -> dict[Any, Any]:
    """The dict in which Python keeps the results of a function: what the function refers to before its own code."""
    parts = gc.get_referents(function)
    place = next((place for place, part in enumerate(parts) if part is function.__wrapped__), 0)
    found = parts[place - 1] if place else None
    return found if type(found) is dict and len(found) == function.cache_info().currsize else {}
