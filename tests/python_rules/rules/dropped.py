"""What is dropped while it waits to clean up; what holds itself; numbers that are none."""

import collections
import math
from collections.abc import Iterator
from typing import Any

from torch import Tensor

from tests.python_rules.rule import refused


def _cleans_up(log: list[str]) -> Iterator[int]:
    try:
        yield 1
        yield 2
    finally:
        log.append("cleaned up")


@refused("DY002")
def generator_that_is_given_up(x: Tensor) -> Any:
    log: list[str] = []
    items: Any = _cleans_up(log)
    next(items)
    if x.sum() > 0:
        items = None
    log.append("after")
    return log, x


@refused("DY002")
def generator_of_a_function_that_returns(x: Tensor) -> Any:
    log: list[str] = []

    def first() -> int:
        items = _cleans_up(log)
        return next(items) if x.sum() > 0 else 0

    number = first()
    log.append("after")
    return log, number, x + 1 if x.sum() > 0 else x


@refused("DY002")
def generator_that_the_model_leaves_waiting(x: Tensor) -> Any:
    log: list[str] = []
    items = _cleans_up(log)
    next(items)
    return log, x + 1 if x.sum() > 0 else x


def generator_that_is_closed(x: Tensor) -> Any:
    log: list[str] = []
    items = _cleans_up(log)
    next(items)
    if x.sum() > 0:
        log.append("positive")
    items.close()
    log.append("after")
    return log, x


def loop_that_returns_out_of_a_generator(x: Tensor) -> Any:
    log: list[str] = []

    def first() -> Any:
        for number in _cleans_up(log):
            if x.sum() > 0:
                return number
        return None

    number = first()
    log.append("after")
    return log, number, x


@refused("DY002")
def object_that_runs_code_when_it_is_dropped(x: Tensor) -> Any:
    log = []

    class Tells:
        def __del__(self) -> None:
            log.append("dropped")

    held: Any = Tells()
    if x.sum() > 0:
        held = None
    log.append("after")
    return log, held is None, x


class _Tagged(tuple[Any, ...]):
    tag: Any = None


class _Named(collections.namedtuple("_Named", ("left", "right"))):
    note: Any = None


def tuples_with_attributes(x: Tensor) -> Any:
    tagged, named = _Tagged((1, x)), _Named(2, x)
    tagged.tag, named.note = "old", []
    also = named
    if x.sum() > 0:
        tagged.tag = "new"
    also.note.append(3)
    also.more = 4  # type: ignore[attr-defined]
    return tagged.tag, named.note, named.more, also is named, len(tagged), x  # type: ignore[attr-defined]


def list_that_holds_itself(x: Tensor) -> Any:
    items: list[Any] = [1]
    items.append(items)
    table: dict[str, Any] = {"items": items}
    table["table"] = table
    text = f"{items} {table}"
    if x.sum() > 0:
        items[0] = 2
    return items[1] is items, table["table"]["items"] is items, repr(items), str(table), text, len(items), x


def error_that_tells_of_a_list_that_holds_itself(x: Tensor) -> Any:
    items: list[Any] = [1]
    items.append(items)
    if x.sum() > 0:
        raise ValueError(f"bad {items}")
    return x


@refused("DY013")
def list_that_holds_itself_is_returned(x: Tensor) -> Any:
    items: list[Any] = [x]
    if x.sum() > 0:
        items.append(items)
    return items


def whole_numbers_of_what_is_none(x: Tensor) -> Any:
    found = []
    for convert in (int, round, math.floor, math.ceil, math.trunc):
        try:
            found.append(convert((x[0] / 0.0).item()))
        except OverflowError:
            found.append(-1)
    return found, x


def whole_number_of_no_number(x: Tensor) -> Any:
    return int((x[0] - x[0]) / 0.0), x


def whole_number_of_a_tensor_without_end(x: Tensor) -> Any:
    try:
        return int(x[0] / 0.0), x
    except OverflowError:
        return "overflow", x
