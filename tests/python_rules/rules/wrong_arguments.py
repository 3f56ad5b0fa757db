"""Builtins that get arguments which they do not take: Python says so, whatever the numbers are."""

import bisect
import collections
import functools
import heapq
import itertools
import math
import operator
from typing import Any

import torch
from torch import Tensor


def _errors(*calls: Any) -> list[str]:
    found = []
    for call in calls:
        try:
            call()
            found.append("nothing")
        except TypeError:
            found.append("TypeError")
    return found


def methods_of_lists(x: Tensor) -> Any:
    number = int(x[0])
    items: Any = [number, int(x[1]), 3]
    return _errors(
        lambda: items.sort(2),
        lambda: items.sort(None),
        lambda: items.sort(key=None, other=1),
        lambda: items.index(number, 0, 1, 2),
        lambda: items.count(number, 1),
        lambda: items.append(number, number),
        lambda: items.extend(),
        lambda: items.insert(0),
        lambda: items.pop(0, 1),
    )


def functions_of_items(x: Tensor) -> Any:
    items: Any = [int(x[0]), int(x[1]), 3]
    if x.sum() > 0:
        items.append(int(x[0]) + 1)
    call: Any = lambda function, *args, **kwargs: lambda: function(*args, **kwargs)  # noqa: E731
    return _errors(
        call(sorted, items, None),
        call(sum, items, 0, 0),
        call(any, items, items),
        call(min, items, other=1),
        call(len, items, items),
        call(enumerate, items, 0, 0),
        call(filter, None),
        call(next, iter(items), 1, 2),
        call(list, items, items),
        call(set, items, items),
        call(collections.deque, items, 1, 1),
        call(functools.reduce, operator.add),
        call(itertools.islice, items),
        call(itertools.product, items, other=1),
        call(heapq.heappush, items),
        call(bisect.bisect_left, items),
        call(type),
    )


def functions_of_numbers(x: Tensor) -> Any:
    number, call = int(x[0]), lambda function, *args, **kwargs: lambda: function(*args, **kwargs)
    return _errors(
        call(abs, number, number),
        call(round, number, 1, 2),
        call(divmod, number),
        call(int, number, 10),
        call(float, number, 1),
        call(math.sqrt, number, number),
        call(math.log, number, 2, 3),
        call(operator.add, number),
        call(isinstance, number),
        call(getattr, number, "real", 1, 2),
        call((2).__add__, number, number),
    )


def methods_of_tensors(x: Tensor) -> Any:
    call: Any = lambda function, *args, **kwargs: lambda: function(*args, **kwargs)  # noqa: E731
    return _errors(
        call(x.sum().item, 0),
        call(x.tolist, 1),
        call(x.numpy, 1),
        call(torch.tensor, int(x[0]), 1),
        call(torch.as_tensor, int(x[0]), other=1),
    )


def _error(x: Tensor, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls in a function that decides are made one by one."""
    if x.sum() > 0:
        x = x + 1
    try:
        function(*args, **kwargs)
    except TypeError as error:
        return str(error), x
    return "nothing", x


def classes_of_iterators(x: Tensor) -> Any:
    calls = [
        (enumerate,),
        (enumerate, 1),
        (enumerate, "a", "b"),
        (enumerate, "a", 1, 2),
        (reversed,),
        (reversed, "a", 1),
    ]
    return [_error(x, *call) for call in calls], _error(x, enumerate, iterable="a", other=1)


def classes_of_containers(x: Tensor) -> Any:
    calls: list[Any] = [(list, "a", "b"), (tuple, "a", "b"), (frozenset, "a", "b"), (list, 1), (slice,)]
    return (
        [_error(x, *call) for call in calls],
        _error(x, itertools.accumulate),
        _error(x, itertools.groupby, "a", 1, 2),
    )
