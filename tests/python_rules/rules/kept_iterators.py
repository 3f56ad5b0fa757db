"""Iterators that a container holds stay iterators; containers are copied whatever they hold."""

import collections
import copy
import itertools
from typing import Any

from torch import Tensor


def _grown(x: Tensor) -> list[int]:
    items: list[int] = []
    while len(items) < int(x.abs().sum()) % 5:
        items.append(len(items) + 1)
    return items


def gone_through_once(x: Tensor) -> Any:
    held: dict[str, Any] = {"some": (number for number in range(3)), "all": map(lambda item: item + 1, x)}
    items: list[Any] = [None, None]
    items[0] = (item * 2 for item in x if item > 0)
    queue = collections.deque([None])
    queue[0] = filter(lambda number: number > 1, (1, 2, 3))
    return (
        *(list(held["some"]), list(held["some"]), next(held["all"]), list(held["all"])),
        *(next(items[0], None), list(items[0]), next(queue[0]), list(queue[0])),
    )


def asked_from_time_to_time(x: Tensor) -> Any:
    parts = {"low": (item for item in x[:1]), "high": (item for item in x)}
    found = []
    for name in ("low", "high", "high", "low"):
        for item in parts[name]:
            if item > 0:
                found.append(item)
                break
    return found


def computed_when_asked(x: Tensor) -> Any:
    factor = 1
    held = {"scaled": (item * factor for item in x)}
    factor = 5
    endless: list[Any] = [0]
    endless[0] = (number * factor for number in itertools.count())
    return list(held["scaled"]), next(endless[0]) if x[0] > 0 else 1, next(endless[0])


def given_by_name(x: Tensor) -> Any:
    def taken(**options: Any) -> Any:
        return list(options["items"]), list(options["items"])

    held: dict[str, Any] = {}
    held.update(items=(item for item in x))
    return taken(**{"items": (item + 1 for item in x)}), taken(**held)


def dict_of_a_dict(x: Tensor) -> Any:
    found = {"id": x[x > 0].tolist(), "no": _grown(x)}
    ordered = collections.OrderedDict(found)
    return dict(found), dict(found, k=2), dict(ordered), type(found)(found), dict({(0, 1): _grown(x)})[0, 1]


def copies_around_a_list(x: Tensor) -> Any:
    items = _grown(x)
    return (
        *(tuple([items, 3]), list(zip(["a"], [items], strict=True)), dict(zip(["a"], [items], strict=True))),
        *(list(zip(*[(items, 1)], strict=True)), copy.deepcopy(items), copy.deepcopy({"a": [items]})),
    )


def key_that_is_missing(x: Tensor) -> Any:
    try:
        return {0: "a", -1: "b"}[int(x[0])]
    except KeyError as error:
        return error.args[0] + 1
