"""`itertools`, `map` and the like as plain Python, for when a decision hides in what they go over or call."""

import itertools
import operator
import types
from typing import Any

from dycl.rewrite.normalise import data_model, syntax
from dycl.rewrite.semantics.in_python.grouping import END, grouped


def own_iterator(source: Any, *last: Any) -> Any:
    """`iter(source)` where the class of `source` has its own way, and `iter(function, last)`."""
    if last:
        if not callable(source):
            raise TypeError("iter(v, w): v must be callable")
        return _until(source, *last)
    own = data_model.special(source, "__iter__")
    return _by_index(source) if own is None else syntax.require_iterator(own(source))


def _by_index(items: Any) -> Any:
    place = 0
    while True:
        try:
            item = items[place]
        except (IndexError, StopIteration):
            return
        yield item
        place = place + 1


def _until(function: Any, last: Any) -> Any:
    while True:
        value = function()
        if value == last:
            return
        yield value


def following(iterator: Any, *default: Any) -> Any:
    """`next(iterator, default)` where the class of `iterator` has its own way."""
    own = data_model.special(iterator, "__next__")
    if not default:
        return own(iterator)
    try:
        return own(iterator)
    except StopIteration:
        return default[0]


def enumerated(iterable: Any, start: int = 0) -> Any:
    """`enumerate(iterable)`."""
    return _enumerated(iter(iterable), operator.index(start))


def _enumerated(items: Any, number: Any) -> Any:
    for item in items:
        yield number, item
        number = number + 1


def mapped(function: Any, *iterables: Any) -> Any:
    """`map(function, ...)`."""
    if not iterables:
        raise TypeError("map() must have at least two arguments.")
    return _mapped(function, iter(iterables[0]) if len(iterables) == 1 else zip(*iterables, strict=False), iterables)


def _mapped(function: Any, items: Any, iterables: tuple[Any, ...]) -> Any:
    if len(iterables) == 1:
        for item in items:
            yield function(item)
    else:
        for row in items:
            yield function(*row)


def filtered(function: Any, items: Any) -> Any:
    """`filter(function, items)`."""
    return _filtered(function, iter(items))


def _filtered(function: Any, items: Any) -> Any:
    for item in items:
        if item if function is None else function(item):
            yield item


def zipped(*iterables: Any, strict: bool = False) -> Any:
    """`zip(...)` of things of which at least one is made step by step."""
    return _zipped([iter(items) for items in iterables], strict)


def _zipped(iterators: list[Any], strict: bool) -> Any:
    while iterators:
        row: list[Any] = []
        for iterator in iterators:
            item = next(iterator, END)
            if item is END:
                if strict:
                    _require_same_end(iterators, len(row))
                return
            row.append(item)
        yield tuple(row)


def _require_same_end(iterators: list[Any], place: int) -> None:
    """Raise what `zip(strict=True)` raises when the argument at `place` was the first to end."""
    if place:
        raise ValueError(f"zip() argument {place + 1} is shorter than argument{'s 1-' if place > 1 else ' '}{place}")
    for number, iterator in enumerate(iterators[1:]):
        if next(iterator, END) is not END:
            longer = f"s 1-{number + 1}" if number else " 1"
            raise ValueError(f"zip() argument {number + 2} is longer than argument{longer}")


def chained(*iterables: Any) -> Any:
    """`itertools.chain(...)`."""
    for items in iterables:
        yield from items


def chained_from(iterables: Any) -> Any:
    """`itertools.chain.from_iterable(...)`."""
    return _all_of_each(iter(iterables))


def _all_of_each(iterables: Any) -> Any:
    for items in iterables:
        yield from items


def sliced(items: Any, *bounds: Any) -> Any:
    """`itertools.islice(items, ...)`."""
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    syntax.require_slice(*bounds)
    return _sliced(iter(items), 0 if start is None else start, stop, 1 if step is None else step)


def _sliced(items: Any, following: Any, stop: Any, step: Any) -> Any:
    position = 0
    while True:
        while position < following:
            if next(items, END) is END:
                return
            position = position + 1
        if stop is not None and position >= stop:
            return
        item = next(items, END)
        if item is END:
            return
        yield item
        position = position + 1
        following = following + step
        if stop is not None and following > stop:
            following = stop


def taken_while(function: Any, items: Any) -> Any:
    """`itertools.takewhile(function, items)`."""
    return _taken_while(function, iter(items))


def _taken_while(function: Any, items: Any) -> Any:
    for item in items:
        if not function(item):
            return
        yield item


def dropped_while(function: Any, items: Any) -> Any:
    """`itertools.dropwhile(function, items)`."""
    return _dropped_while(function, iter(items))


def _dropped_while(function: Any, items: Any) -> Any:
    dropping = True
    for item in items:
        if dropping:
            if function(item):
                continue
            dropping = False
        yield item


def filtered_out(function: Any, items: Any) -> Any:
    """`itertools.filterfalse(function, items)`."""
    return _filtered_out(function, iter(items))


def _filtered_out(function: Any, items: Any) -> Any:
    for item in items:
        if not (item if function is None else function(item)):
            yield item


def compressed(data: Any, selectors: Any) -> Any:
    """`itertools.compress(data, selectors)`."""
    return _compressed(zip(data, selectors, strict=False))


def _compressed(pairs: Any) -> Any:
    for item, selected in pairs:
        if selected:
            yield item


def accumulated(iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
    """`itertools.accumulate(iterable, func)`."""
    return _accumulated(iter(iterable), operator.add if func is None else func, initial)


def _accumulated(items: Any, combine: Any, total: Any) -> Any:
    started = total is not None
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
    return _star_mapped(function, iter(items))


def _star_mapped(function: Any, items: Any) -> Any:
    for item in items:
        yield function(*item)


def zipped_to_longest(*iterables: Any, fillvalue: Any = None) -> Any:
    """`itertools.zip_longest(...)`."""
    return _zipped_to_longest([iter(items) for items in iterables], fillvalue)


def _zipped_to_longest(iterators: list[Any], fillvalue: Any) -> Any:
    ended = [False for _ in iterators]
    while True:
        row = []
        for place, iterator in enumerate(iterators):
            item = END if ended[place] else next(iterator, END)
            if item is END:
                ended[place] = True
                row.append(fillvalue)
            else:
                row.append(item)
        if all(ended):
            return
        yield tuple(row)


def in_pairs(items: Any) -> Any:
    """`itertools.pairwise(items)`."""
    return _in_pairs(iter(items))


def _in_pairs(items: Any) -> Any:
    started = False
    last = None
    for item in items:
        if started:
            yield last, item
        last, started = item, True


def cycled(items: Any) -> Any:
    """`itertools.cycle(items)`."""
    return _cycled(iter(items))


def _cycled(items: Any) -> Any:
    saved = []
    for item in items:
        saved.append(item)
        yield item
    while saved:
        for item in saved:
            yield item


def repeated(object: Any, times: Any = None) -> Any:
    """`itertools.repeat(object, times)`."""
    return _repeated(object, None if times is None else operator.index(times))


def _repeated(item: Any, times: Any) -> Any:
    if times is None:
        while True:
            yield item
    for _ in range(times):
        yield item


def products(*iterables: Any, repeat: int = 1) -> Any:
    """`itertools.product(...)`."""
    return itertools.product(*[list(items) for items in iterables], repeat=repeat)


def combined(iterable: Any, r: int) -> Any:
    """`itertools.combinations(iterable, r)`."""
    return itertools.combinations(list(iterable), r)


def permuted(iterable: Any, r: int | None = None) -> Any:
    """`itertools.permutations(iterable, r)`."""
    return itertools.permutations(list(iterable), r)


SUBSTITUTES: dict[Any, Any] = {
    iter: own_iterator,
    syntax.iterated: own_iterator,
    enumerate: enumerated,
    map: mapped,
    filter: filtered,
    zip: zipped,
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


_LAZY = frozenset(
    (
        *(zip, enumerate, map, filter, itertools.chain, itertools.chain.from_iterable),
        *(itertools.islice, itertools.zip_longest, itertools.pairwise),
    )
)


_METHODS = (types.MethodWrapperType, types.WrapperDescriptorType)


def is_lazy(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call makes an iterator that must be interpreted from its beginning."""
    if not args:
        return callee in _ALWAYS
    if any(isinstance(value, _METHODS) for value in (*args, *kwargs.values())):
        return True
    if callee in (iter, syntax.iterated):
        return len(args) == 2 or syntax.iterates_itself(args[0])
    if callee is zip and kwargs.get("strict"):
        return True
    if callee is next:
        return syntax.gives_items_itself(args[0])
    if callee in _LAZY and any(syntax.iterates_itself(value) or syntax.is_iterator(value) for value in args):
        return True
    if callee in (map, filter):
        return isinstance(args[0], types.FunctionType | types.MethodType)
    if callee is itertools.repeat:
        return len(args) + len(kwargs) == 1
    return callee in _ALWAYS
