"""Iterators made of others: nothing is taken from a source before it is asked for."""

import itertools
from typing import Any

from torch import Tensor


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
