"""Iterators made of others, as Python's own are: nothing is taken from a source before it is asked for.

Somebody else may hold what they go through, take items from it or change it meanwhile; and they can be copied.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from dycl.rewrite.knowledge import StepThrough
from dycl.rewrite.signals import DecisionMet, Refused
from dycl.rewrite.state.frames import ItemIterator, ParallelIterator, no_text, over_container

Kind = Literal["map", "filter", "chain", "chain of each", "slice", "longest", "pairs", "reversed", "nothing"]


@dataclass(slots=True, eq=False, repr=False)
class LazyIterator:
    """An iterator of this kind over `parts`, which are iterators, or for a chain what it will come to."""

    kind: Kind
    made_at: StepThrough
    """The call that made it: it is stepped into if a decision hides in what the iterator does."""
    parts: list[Any]
    value: Any = None
    """The function that is called, the value that fills up, or the last item of a pair."""
    numbers: tuple[Any, ...] = ()
    """Where it stands, where a slice ends, and how far it goes in a step."""
    position: int = 0
    """How many items it has given."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class that natively run code finds this to be an instance of."""
        return _CLASSES.get(self.kind, LazyIterator)

    def __iter__(self) -> "LazyIterator":
        return self

    def __next__(self) -> Any:
        try:
            item = _NEXT[self.kind](self)
        except DecisionMet as met:
            met.made_at = met.made_at or self.made_at
            raise
        self.position += 1
        return item

    def __length_hint__(self) -> Any:
        if self.kind != "reversed":
            return NotImplemented
        (place,), (items,) = self.numbers, self.parts
        return place + 1 if place < list.__len__(items) else 0

    def __repr__(self) -> str:
        raise no_text()

    def end(self) -> StopIteration:
        """Give nothing any more."""
        self.kind, self.parts, self.value = "nothing", [], None
        return StopIteration()


LIST_ITERATOR: type = type(iter([]))
_CLASSES: dict[Kind, type] = {
    "map": map,
    "filter": filter,
    "chain": itertools.chain,
    "chain of each": itertools.chain,
    "slice": itertools.islice,
    "longest": itertools.zip_longest,
    "pairs": itertools.pairwise,
    "reversed": type(reversed([])),
}


def class_stood_for(iterator: Any) -> type | None:
    """The class of Python's own iterator that this one stands for; None if nobody knows any more."""
    match iterator:
        case ItemIterator() | ParallelIterator():
            return iterator.kind
        case LazyIterator():
            return _CLASSES.get(iterator.kind)
    return None


KNOWN_ITERATORS = (ItemIterator, ParallelIterator, LazyIterator)
"""Iterators over known items that Python can ask for the next one."""


def iterator_over(source: Any) -> Any:
    """An iterator over a container or iterator that can be copied; None if the machine must see to it."""
    if isinstance(source, KNOWN_ITERATORS):
        return source
    if isinstance(source, list) and type(source).__iter__ is list.__iter__:
        return ItemIterator(source, known=len(source), kind=LIST_ITERATOR)
    if type(source) in (tuple, range):
        return ItemIterator(source, kind=type(iter(source)))
    if type(source) is str:
        return ItemIterator(tuple(source), kind=type(iter(source)))
    return over_container(source)


def _mapped(lazy: LazyIterator) -> Any:
    arguments = [next(part) for part in lazy.parts]
    return lazy.value(*arguments)


def _filtered(lazy: LazyIterator) -> Any:
    for item in lazy.parts[0]:
        if item if lazy.value in (None, bool) else lazy.value(item):
            return item
    raise StopIteration


def _chained(lazy: LazyIterator) -> Any:
    while lazy.parts:
        lazy.parts[0] = _begun(lazy.parts[0])
        try:
            return next(lazy.parts[0])
        except StopIteration:
            lazy.parts.pop(0)
    raise lazy.end()


def _chained_of_each(lazy: LazyIterator) -> Any:
    while True:
        if len(lazy.parts) == 1:
            lazy.parts.append(_begun(next(lazy.parts[0])))
        try:
            return next(lazy.parts[1])
        except StopIteration:
            lazy.parts.pop()


def _begun(source: Any) -> Any:
    iterator = iterator_over(source)
    if iterator is None:
        reason = f"a chain of iterators comes to an object of type `{type(source).__name__}`"
        raise Refused("DY002", reason, "use a list of its items")
    return iterator


def _sliced(lazy: LazyIterator) -> Any:
    taken, following, stop, step = lazy.numbers
    (items,) = lazy.parts
    while taken < following:
        try:
            next(items)
        except StopIteration:
            raise lazy.end() from None
        taken += 1
    if stop is not None and taken >= stop:
        raise lazy.end()
    try:
        item = next(items)
    except StopIteration:
        raise lazy.end() from None
    following += step
    lazy.numbers = (taken + 1, following if stop is None else min(following, stop), stop, step)
    return item


def _filled_up(lazy: LazyIterator) -> Any:
    row = []
    for place, part in enumerate(lazy.parts):
        try:
            row.append(lazy.value if part is None else next(part))
        except StopIteration:
            lazy.parts[place] = None
            if all(other is None for other in lazy.parts):
                raise lazy.end() from None
            row.append(lazy.value)
    if not row:
        raise StopIteration
    return tuple(row)


def _paired(lazy: LazyIterator) -> Any:
    (items,) = lazy.parts
    try:
        last = lazy.value if lazy.numbers else next(items)
        lazy.value, lazy.numbers = last, (1,)
        lazy.value = next(items)
    except StopIteration:
        raise lazy.end() from None
    return last, lazy.value


def _reversed(lazy: LazyIterator) -> Any:
    (place,), (items,) = lazy.numbers, lazy.parts
    if not 0 <= place < list.__len__(items):
        raise lazy.end()
    lazy.numbers = (place - 1,)
    return list.__getitem__(items, place)


def _nothing(lazy: LazyIterator) -> Any:
    raise StopIteration


_NEXT: dict[Kind, Callable[[LazyIterator], Any]] = {
    "map": _mapped,
    "filter": _filtered,
    "chain": _chained,
    "chain of each": _chained_of_each,
    "slice": _sliced,
    "longest": _filled_up,
    "pairs": _paired,
    "reversed": _reversed,
    "nothing": _nothing,
}
