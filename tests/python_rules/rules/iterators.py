"""Iterators made of others: nothing is taken from a source before it is asked for."""

import collections
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor

from tests.python_rules.rule import refused


def slice_of_an_iterator_that_goes_on(x: Tensor) -> Any:
    items = iter([1, 2, 3, 4])
    head = itertools.islice(items, 2)
    first = next(items)
    if x.sum() > 0:
        x = x + first
    return next(items), list(head), x


def slice_takes_what_it_skips(x: Tensor) -> Any:
    items = iter(range(10))
    head = itertools.islice(items, 2, 1)
    gone = list(head)
    if x.sum() > 0:
        gone.append(next(items))
    return gone, list(itertools.islice(items, 0, 5, 2)), list(items), x


def chain_over_an_iterator_that_goes_on(x: Tensor) -> Any:
    items = iter([1, 2, 3])
    rest = itertools.chain([next(items)], items)
    if x.sum() > 0:
        x = x + next(items)
    return list(rest), x


def chain_over_a_dict_that_grows_before_it_comes_to_it(x: Tensor) -> Any:
    table = {"a": 1}
    rest = itertools.chain([0], table)
    table["b"] = 2
    if x.sum() > 0:
        table["c"] = 3
    return list(rest), x


def pairs_of_an_iterator_that_goes_on(x: Tensor) -> Any:
    items = iter([1, 2, 3, 4, 5])
    pairs = itertools.pairwise(items)
    found = [next(pairs)]
    if x.sum() > 0:
        found.append((next(items), 0))
    return found + list(pairs), x


def rows_to_the_longest_of_one_iterator(x: Tensor) -> Any:
    items = iter([0, 1, 2, 3, 4])
    rows = itertools.zip_longest(items, items, fillvalue="none")
    found = [next(rows)]
    if x.sum() > 0:
        found.append((next(items), ""))
    return found + list(rows), x


def map_over_a_list_that_grows(x: Tensor) -> Any:
    items = [1, 2]
    texts = map(str, items)
    items.append(3)
    if x.sum() > 0:
        items.append(4)
    return list(texts), x


def filter_over_a_list_that_changes(x: Tensor) -> Any:
    items = [0, 1, 2]
    true = filter(None, items)
    items[0] = 5
    if x.sum() > 0:
        items[2] = 0
    return list(true), x


def backwards_over_a_list_that_shrinks(x: Tensor) -> Any:
    items = [1, 2, 3]
    rest = reversed(items)
    found = [next(rest)]
    if x.sum() > 0:
        items.pop(0)
    items.append(7)
    return found, list(rest), x


def chain_of_lists_that_grow(x: Tensor) -> Any:
    rows = [[1], [2]]
    rest = itertools.chain.from_iterable(rows)
    rows[1].append(3)
    if x.sum() > 0:
        rows.append([4])
    return list(rest), x


def map_with_decisions_found_later(x: Tensor) -> Any:
    numbers: list[Any] = [1, 2]
    flags = map(bool, numbers)
    found = [next(flags)]
    if x.sum() > 0:
        numbers[1] = x[0].item()
    found.append(next(flags))
    return found, x


def enumerate_of_zip_of_map(x: Tensor) -> Any:
    found = []
    for place, (text, number) in enumerate(zip(map(str, [1, 2, 3]), reversed([4, 5, 6]))):
        if x.sum() > place:
            found.append((place, text, number))
    return found, x


def loop_leaves_a_count_where_it_came_to(x: Tensor) -> Any:
    count = itertools.count(1)
    for number in count:
        if number > 3 or x[number % 2] < 0:
            break
    return next(count), x


def loop_that_only_the_input_ends_moves_a_count(x: Tensor) -> Any:
    count = itertools.count(0, 2)
    for number in count:
        if x.sum() - number < 0:
            break
    return next(count), number


def iterators_over_one_count(x: Tensor) -> Any:
    count = itertools.count(1)
    found: list[Any] = list(zip(count, "ab"))
    for place, number in enumerate(count):
        found.append((place, number))
        if place > 1 or x[0] > number - 4:
            break
    found.extend(itertools.islice(count, 2))
    found.extend(itertools.takewhile(lambda number: number < 12, count))
    return found, next(map(str, count)), next(count)


def _all_of(numbers: Iterator[int]) -> Iterator[int]:
    yield from numbers


def generator_over_a_count(x: Tensor) -> Any:
    count = itertools.count(5)
    numbers = _all_of(count)
    found = [next(numbers), next(count)]
    if x.sum() > 0:
        found.append(next(numbers))
    return found, next(count), next(numbers)


def _until_negative(x: Tensor) -> Callable[[int], int]:
    def function(place: int) -> int:
        if x[place] < 0:
            raise StopIteration
        return place

    return function


def function_of_map_ends_it(x: Tensor) -> Any:
    function = _until_negative(x)
    return [place for place in map(function, range(2))], sum(map(function, range(2)))


def function_of_filter_ends_it(x: Tensor) -> Any:
    function = _until_negative(x)
    return list(filter(function, range(2))), next(map(function, [1, 0]), "none")


def function_of_takewhile_ends_it(x: Tensor) -> Any:
    function = _until_negative(x)
    return list(itertools.takewhile(lambda place: function(place) < 2, range(2)))


def function_of_starmap_and_accumulate_ends_them(x: Tensor) -> Any:
    function = _until_negative(x)
    totals = itertools.accumulate(range(2), lambda total, place: total + function(place))
    return list(itertools.starmap(function, [(1,), (0,)])), list(totals)


def function_of_map_ends_what_goes_over_it(x: Tensor) -> Any:
    return list(zip(map(_until_negative(x), range(2)), "ab"))


def function_that_is_called_until_it_ends(x: Tensor) -> Any:
    places = []

    def function() -> int:
        places.append(len(places))
        if len(places) > 2 or x[len(places) - 1] < 0:
            raise StopIteration
        return len(places)

    return list(iter(function, None)), places


def iterator_that_its_function_ends_is_delegated_to(x: Tensor) -> Any:
    def delegating() -> Iterator[Any]:
        yield (yield from map(_until_negative(x), range(2)))

    return list(delegating())


@refused("DY002")
def iterator_that_its_function_has_ended_goes_on(x: Tensor) -> Any:
    items = map(_until_negative(x), [0, 1, 0, 1])
    return list(items), list(items)


@refused("DY009")
def key_is_replaced_on_the_way(x: Tensor) -> Any:
    table, seen = {"a": 1, "b": 2, "c": 3}, []
    for key in table:
        seen.append(key)
        if x.sum() > 0 and key == "a":
            table["d"] = table.pop("a")
    return seen


def ordered_key_moves_on_the_way(x: Tensor) -> Any:
    table = collections.OrderedDict(a=x[0], b=x[1])
    try:
        for key, value in table.items():
            if value > 0 and key == "a":
                table.move_to_end(key)
    except RuntimeError as error:
        return str(error), list(table)
    return list(table)
