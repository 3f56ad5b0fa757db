"""`itertools` as plain Python, for when a decision hides in what is iterated over or in a function called on it."""

import itertools
import operator
import types
from typing import Any


def chained(*iterables: Any) -> Any:
    """`itertools.chain(...)`."""
    for items in iterables:
        yield from items


def chained_from(iterables: Any) -> Any:
    """`itertools.chain.from_iterable(...)`."""
    for items in iterables:
        yield from items


def sliced(items: Any, *bounds: Any) -> Any:
    """`itertools.islice(items, ...)`."""
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    following = 0 if start is None else start
    step = 1 if step is None else step
    if stop is not None and stop <= 0:
        return
    position = 0
    for item in items:
        if position == following:
            yield item
            following = following + step
        position = position + 1
        if stop is not None and position >= stop:
            return


def taken_while(function: Any, items: Any) -> Any:
    """`itertools.takewhile(function, items)`."""
    for item in items:
        if not function(item):
            return
        yield item


def dropped_while(function: Any, items: Any) -> Any:
    """`itertools.dropwhile(function, items)`."""
    dropping = True
    for item in items:
        if dropping:
            if function(item):
                continue
            dropping = False
        yield item


def filtered_out(function: Any, items: Any) -> Any:
    """`itertools.filterfalse(function, items)`."""
    for item in items:
        if not (item if function is None else function(item)):
            yield item


def compressed(items: Any, selectors: Any) -> Any:
    """`itertools.compress(items, selectors)`."""
    for item, selected in zip(items, selectors, strict=False):
        if selected:
            yield item


def accumulated(items: Any, function: Any = None, *, initial: Any = None) -> Any:
    """`itertools.accumulate(items, function)`."""
    combine = operator.add if function is None else function
    started = initial is not None
    total = initial
    if started:
        yield total
    for item in items:
        if started:
            total = combine(total, item)
        else:
            total, started = item, True
        yield total


def star_mapped(function: Any, items: Any) -> Any:
    """`itertools.starmap(function, items)`."""
    for item in items:
        yield function(*item)


def zipped_to_longest(*iterables: Any, fillvalue: Any = None) -> Any:
    """`itertools.zip_longest(...)`."""
    iterators = [iter(items) for items in iterables]
    ended = [False for _ in iterators]
    while True:
        row = []
        for place, iterator in enumerate(iterators):
            found = False
            if not ended[place]:
                for item in iterator:
                    row.append(item)
                    found = True
                    break
            if not found:
                ended[place] = True
                row.append(fillvalue)
        if all(ended):
            return
        yield tuple(row)


def in_pairs(items: Any) -> Any:
    """`itertools.pairwise(items)`."""
    started = False
    last = None
    for item in items:
        if started:
            yield last, item
        last, started = item, True


def cycled(items: Any) -> Any:
    """`itertools.cycle(items)`."""
    saved = []
    for item in items:
        saved.append(item)
        yield item
    while saved:
        for item in saved:
            yield item


def repeated(item: Any, times: Any = None) -> Any:
    """`itertools.repeat(item, times)`."""
    if times is None:
        while True:
            yield item
    for _ in range(times):
        yield item


def grouped(items: Any, key: Any = None) -> Any:
    """`itertools.groupby(items, key)`."""
    group: list[Any] = []
    group_key = None
    for item in items:
        item_key = item if key is None else key(item)
        if group and item_key != group_key:
            yield group_key, iter(group)
            group = []
        group_key = item_key
        group.append(item)
    if group:
        yield group_key, iter(group)


def products(*iterables: Any, repeat: int = 1) -> Any:
    """`itertools.product(...)`."""
    return itertools.product(*[list(items) for items in iterables], repeat=repeat)


def combined(items: Any, size: int) -> Any:
    """`itertools.combinations(items, size)`."""
    return itertools.combinations(list(items), size)


def permuted(items: Any, size: int | None = None) -> Any:
    """`itertools.permutations(items, size)`."""
    return itertools.permutations(list(items), size)


SUBSTITUTES: dict[Any, Any] = {
    itertools.chain: chained,
    itertools.chain.from_iterable: chained_from,
    itertools.islice: sliced,
    itertools.takewhile: taken_while,
    itertools.dropwhile: dropped_while,
    itertools.filterfalse: filtered_out,
    itertools.compress: compressed,
    itertools.accumulate: accumulated,
    itertools.starmap: star_mapped,
    itertools.zip_longest: zipped_to_longest,
    itertools.pairwise: in_pairs,
    itertools.cycle: cycled,
    itertools.repeat: repeated,
    itertools.groupby: grouped,
    itertools.product: products,
    itertools.combinations: combined,
    itertools.permutations: permuted,
}
# These decide, or call a function that may, while they are iterated over, which is too late to step into them.
_ALWAYS = frozenset(
    {
        itertools.takewhile,
        itertools.dropwhile,
        itertools.filterfalse,
        itertools.compress,
        itertools.accumulate,
        itertools.starmap,
        itertools.cycle,
        itertools.groupby,
    }
)


def is_lazy(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call makes an iterator that must be interpreted from its beginning."""
    if callee in (map, filter):
        return isinstance(args[0], types.FunctionType | types.MethodType)
    if callee is itertools.repeat:
        return len(args) + len(kwargs) == 1
    return callee in _ALWAYS
