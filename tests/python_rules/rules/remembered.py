"""Functions that remember their results, made while the model runs."""

import functools
import weakref
from typing import Any

from torch import Tensor

from tests.python_rules.rule import refused


class _Counts:
    def __init__(self) -> None:
        self.calls = 0


def the_least_used_is_forgotten(x: Tensor) -> Any:
    asked: list[Any] = []

    @functools.lru_cache(maxsize=2)
    def double(number: Any) -> Any:
        asked.append(number)
        return number * 2

    total = double(1) + double(2)
    if x.sum() > 0:
        total += double(1)
    total += double(3) + double(1) + double(2)
    return total, asked, tuple(double.cache_info()), double.cache_parameters()


def all_are_kept(x: Tensor) -> Any:
    def fibonacci(number: int) -> int:
        return number if number < 2 else known(number - 1) + known(number - 2)

    known = functools.cache(fibonacci)
    first = known(10 if x[0] > 0 else 7)
    info = tuple(known.cache_info())
    known.cache_clear()
    return first, info, tuple(known.cache_info()), known.__wrapped__ is fibonacci, known.__name__


def kinds_of_calls(x: Tensor) -> Any:
    @functools.lru_cache
    def shown(*args: Any, **kwargs: Any) -> Any:
        return (args, tuple(kwargs.items()), len(args))

    @functools.lru_cache(None, typed=True)
    def typed(value: Any) -> Any:
        return type(value).__name__

    if x[0] > 0:
        shown(1)
    calls = [shown(1), shown(1.0), shown(True), shown("1"), shown(1, a=2), shown(1, a=2), shown(a=1, b=2)]
    calls.append(shown(b=2, a=1))
    return calls, tuple(shown.cache_info()), [typed(1), typed(1.0), typed(1)], tuple(typed.cache_info())


def not_kept_at_all(x: Tensor) -> Any:
    times = []

    @functools.lru_cache(maxsize=0)
    def call(number: int) -> int:
        times.append(number)
        if number > 1 and x[0] > 0:
            raise ValueError(number)
        return number

    try:
        return call(1) + call(1) + call(2), times, tuple(call.cache_info())
    except ValueError as error:
        return error.args, times, tuple(call.cache_info())


def what_fails_is_not_kept(x: Tensor) -> Any:
    @functools.lru_cache(maxsize=3)
    def inverse(number: int) -> float:
        return 1 / number

    found: list[Any] = []
    for number in (1, 0, 1, 0):
        try:
            found.append(inverse(number if x[0] > 0 else 1))
        except ZeroDivisionError as error:
            found.append(str(error))
    try:
        inverse([])  # type: ignore[arg-type]
    except TypeError as error:
        found.append(str(error))
    return found, tuple(inverse.cache_info())


def messages_of_cut_texts(x: Tensor) -> Any:
    count = int(x.sum())
    if count > 1000:
        raise ValueError(f"{count} is too much"[:10] + repr(count)[:3])
    return count


@refused("DY009")
def proxies_across_a_decision(x: Tensor) -> Any:
    held = _Counts()
    proxy = weakref.proxy(held)
    if x.sum() > 0:
        held.calls += 1
    return proxy.calls


def keywords_that_are_no_names(x: Tensor) -> Any:
    def call(**kwargs: Any) -> Any:
        return x + 1 if x[0] > 0 else len(kwargs)

    given = functools.partial(call, a=1)
    before = given()
    given.keywords[3] = 4  # type: ignore[index]
    try:
        return before, given()
    except TypeError as error:
        return before, str(error)
