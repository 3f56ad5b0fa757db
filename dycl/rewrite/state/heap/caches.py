"""Functions whose results Python keeps, by `functools.cache` and `lru_cache`: it keeps no more than before.

The machine asks such a function itself, and remembers what it gave. Code that runs natively may ask, too, as long as
the function sees nothing that the program changes: whether a call is the first one makes no difference then.
"""

import functools
import gc
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from dycl.rewrite.own_code import is_library
from dycl.rewrite.state.heap.leading import leads_to

Cached: TypeAlias = "functools._lru_cache_wrapper[Any]"


class Caches:
    """The functions of this kind that a program can reach."""

    def __init__(self) -> None:
        self._found: list[_Kept] = []

    def add(self, function: Cached) -> None:
        """Take note of one; those of libraries are their own business."""
        if not is_library(function.__module__):
            self._found.append(_Kept(function))

    @property
    def name(self) -> str | None:
        """One of them, in words, if there is any."""
        return f"`{self._found[0].name}`, whose results are cached" if self._found else None

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
        self._asked = self._count()

    def _count(self) -> tuple[int, int]:
        info = self._function.cache_info()
        return info.hits, info.misses

    @property
    def was_asked(self) -> bool:
        """Whether the function was called since."""
        return self._count() != self._asked

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
        self._asked = self._count()


def _results_of(function: Cached) -> dict[Any, Any]:
    """The dict in which Python keeps the results of a function: what the function refers to before its own code."""
    parts = gc.get_referents(function)
    place = next((place for place, part in enumerate(parts) if part is function.__wrapped__), 0)
    found = parts[place - 1] if place else None
    return found if type(found) is dict and len(found) == function.cache_info().currsize else {}
