"""Numbers as keys, in containers and in comparisons: what equals, and what is the same."""

import heapq
import math
from typing import Any

import numpy as np
from torch import Tensor

from tests.python_rules.rule import refused


def whole_number_finds_a_float_key(x: Tensor) -> Any:
    table = {1.0: "a", 2.5: "b", -1: "c"}
    number = int(x[0])
    found = table[number] if number in table else "none"
    return found, table.get(number, "none"), table.get(bool(x[1] > 0), "none")


def float_finds_float_keys(x: Tensor) -> Any:
    table = {1.5: "a", 0.5: "b", 3: "c", float("inf"): "d", 2**53 + 1: "e"}
    half = x[0].item() / 2
    return table.get(half, "none"), table.get(half * 2), half in table, (half * 2.0) not in table


def whole_number_finds_the_key_of_another_kind(x: Tensor) -> Any:
    table: dict[Any, str] = {np.int64(3): "a", True: "b", complex(-1, 0): "c", "3": "d", None: "e"}
    return table.get(int(x[0]), "none"), table.get(int(x[1]))


def key_stays_what_it_is_where_the_dict_has_another_kind(x: Tensor) -> Any:
    table = {1.0: 5, 3.0: 6, -1.0: 7}
    number = int(x[0])
    table[number] += 1
    return number, list(table.values())


@refused("DY008")
def float_must_find_a_key(x: Tensor) -> Any:
    return {1.0: "a", 3.0: "b"}[x[0].item()]


def _root(number: Tensor) -> float:
    """Not a number, for some inputs."""
    return (number - 2).sqrt().item()


def number_that_is_none_is_in_what_holds_it(x: Tensor) -> Any:
    value, other = _root(x[0]), _root(x[0])
    found = (value in [value], value in (0.0, value), value in [other], value not in {"a": value}.values())
    return found, (value,) == (value,), (value,) == (other,), [value] == [value], {"a": value} == {"a": value}


def number_that_is_none_is_found_again(x: Tensor) -> Any:
    items = [_root(x[1]), _root(x[0]), 4.0]
    return items.index(items[1]), items[-1] == items[-1]


def number_that_is_none_is_removed(x: Tensor) -> Any:
    items = [_root(x[1]), _root(x[0]), 4.0]
    items.remove(items[1])
    return len(items), items[-1], [item == item for item in items]


def tuples_that_share_a_number_that_is_none(x: Tensor) -> Any:
    value = _root(x[0])
    return (value, 1) < (value, 2), (value, 1) >= (value, 2), [value, x[0].item()] != [value, x[0].item()]


def best_among_numbers_that_are_none(x: Tensor) -> Any:
    rows = [(x[0].item(), 0), (_root(x[0]), 1), (x[1].item(), 2), (0.5, 3)]
    return [[row[1] for row in best] for best in (heapq.nsmallest(1, rows), heapq.nlargest(2, rows))]


def best_of_an_iterator_by_a_key(x: Tensor) -> Any:
    rows = [("a", x[0].item()), ("b", _root(x[0])), ("c", x[1].item())]
    best = heapq.nsmallest(2, iter(rows), key=lambda row: row[1]) + heapq.nsmallest(5, rows, key=lambda row: row[0])
    return [row[0] for row in best]


def list_is_empty_while_it_is_sorted(x: Tensor) -> Any:
    items, seen = [2, 1], []

    def key(value: int) -> int:
        seen.append(len(items))
        return value if x[0] > 0 else -value

    items.sort(key=key)
    return items, seen


def list_that_changes_while_it_is_sorted(x: Tensor) -> Any:
    items = [2, 3, 1]

    def key(value: int) -> int:
        if x[0] > 0:
            items.append(value)
        return value

    try:
        items.sort(key=key)
    except ValueError as error:
        return str(error), items
    return items


def list_whose_sorting_fails_is_as_far_as_it_was_sorted(x: Tensor) -> Any:
    items = [2, 3, 1]

    def key(value: int) -> int:
        if value == 1 and x[0] > 0:
            raise KeyError(value)
        return value

    try:
        items.sort(key=key)
    except KeyError:
        return "failed", items
    return items


def whole_number_and_float_are_compared_exactly(x: Tensor) -> Any:
    large = int(x[0]) + 2**53
    limit = 9007199254740992.0
    return (
        large > limit,
        large == limit,
        limit >= large,
        large != limit + x[0].item(),
        2**63 - 1 < x[0].item() * 2.0**63,
    )


def sum_of_both_infinities(x: Tensor) -> Any:
    return math.fsum([math.inf, x[0].item(), x[1].item() * math.inf]) > 0


def length_with_an_infinite_side(x: Tensor) -> Any:
    return math.hypot(_root(x[0]), math.inf * x[1].item()) > 0, math.hypot(x[0].item() * 3e200, 4e200) / 1e200


def numbers_of_numpy_keep_their_type(x: Tensor) -> Any:
    product, total = np.float32(0.1) * x[0].item(), int(x[0]) + np.int8(5)
    return product.dtype.name, total.dtype.name, float(product), int(total), type(product) is np.float32


def _of(kind: str, x: Tensor) -> Any:
    values = [x[0].item() / 2, x[1].item()]
    return max(values) if kind == "largest" else values[0]


def numbers_are_found_again_behind_a_decision(x: Tensor) -> Any:
    best, items = _of("largest", x), [x[0].item() / 2, x[1].item()]
    first = _of("first", x)
    places = [first, 1.0]
    if x[1] > 0:
        places.append(2.0)
    return best in items, places.index(first), first in places, places.count(first)
