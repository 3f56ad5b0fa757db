"""Functions whose results Python keeps, by `functools.cache` and `lru_cache`: it keeps no more than before.

The machine asks such a function itself, and remembers what it gave. Code that runs natively may ask, too, as long as
the function sees nothing that the program changes: whether a call is the first one makes no difference then.
"""

import functools
import gc
import types
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import torch

from dycl.rewrite.own_code import is_library
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

    def asked_for_changeable(self, before: list[tuple[int, int]]) -> str | None:
        """One of them that was asked since then, and gives what can be changed."""
        asked = (one for one, told in zip(self._found, before, strict=False) if one.count() != told)
        return next((one.name for one in asked if one.gives_changeable), None)

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
    def gives_changeable(self) -> bool:
        """Whether one of its results can be changed."""
        return any(map(_may_change, self._results.values())) or not self._results

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


def _may_change(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_may_change, value))
    if type(value).__name__ == "_lru_list_elem":
        # Where only the last results are kept, each stands in a list.
        return any(map(_may_change, gc.get_referents(value)))
    unchanging = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)
    return not isinstance(value, unchanging) and (isinstance(value, torch.Tensor) or not leads_nowhere(type(value)))


def _results_of(function: Cached) -> dict[Any, Any]:
    """The dict in which Python keeps the results of a function: what the function refers to before its own code."""
    parts = gc.get_referents(function)
    place = next((place for place, part in enumerate(parts) if part is function.__wrapped__), 0)
    found = parts[place - 1] if place else None
    return found if type(found) is dict and len(found) == function.cache_info().currsize else {}
