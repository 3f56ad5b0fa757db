"""Raising, catching and cleaning up."""

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from torch import Tensor


def _raises(x: Tensor) -> Tensor:
    if x.sum() > 0:
        raise ValueError("positive")
    return x


def name_is_unbound_after_except(x: Tensor) -> Any:
    error = None
    try:
        _raises(x)
    except ValueError as error:
        x = x + len(str(error))
    try:
        return x, str(error)
    except UnboundLocalError:
        return x, "unbound"


def name_is_unbound_where_the_clause_is_left(x: Tensor) -> Any:
    for _ in range(2):
        try:
            _raises(x)
        except ValueError as error:
            if x[0] > 2:
                break
            x = -x * len(str(error))
    try:
        return x, str(error)
    except UnboundLocalError:
        return x, "unbound"


def cause_and_context(x: Tensor) -> Any:
    try:
        try:
            _raises(x)
        except ValueError as first:
            raise KeyError("second") from first
    except KeyError as error:
        cause, context = error.__cause__, error.__context__
        return x, str(cause), cause is context, error.__suppress_context__
    return x


def context_of_an_error_in_a_handler(x: Tensor) -> Any:
    try:
        try:
            _raises(x)
        except ValueError:
            {}["missing"]
    except KeyError as error:
        return x, str(error.__context__)
    return x


def no_cause(x: Tensor) -> Any:
    try:
        try:
            _raises(x)
        except ValueError:
            raise KeyError("second") from None
    except KeyError as error:
        return x, error.__cause__ is None, error.__suppress_context__
    return x


def what_is_handled(x: Tensor) -> Any:
    def handled() -> Any:
        return str(sys.exc_info()[1]), str(sys.exception())

    before = handled()
    try:
        _raises(x)
    except ValueError:
        inside = handled()
        x = x * 2 if x[0] > 2 else x
        return x, before, inside, handled()
    return x, before, handled()


def raised_again_by_a_function(x: Tensor) -> Any:
    def again() -> None:
        raise

    try:
        try:
            _raises(x)
        except ValueError:
            again()
    except ValueError as error:
        return x, str(error)
    return x


def nothing_to_raise_again(x: Tensor) -> Any:
    if x.sum() > 0:
        raise
    return x


def what_is_no_error(x: Tensor) -> Any:
    if x.sum() > 0:
        raise "text"
    return x


def what_is_no_class(x: Tensor) -> Any:
    try:
        _raises(x)
    except "text":
        return x + 1
    return x


def finally_on_every_way(x: Tensor) -> Any:
    log = []
    for place in range(3):
        try:
            if x[0] > place:
                continue
            if x[1] > 0:
                break
            log.append(place)
        finally:
            log.append(10 + place)
    return x, log


@contextlib.contextmanager
def _swallowing(log: list[str]) -> Iterator[str]:
    try:
        yield "inside"
    except ValueError:
        log.append("swallowed")
    finally:
        log.append("left")


def context_manager_of_a_generator(x: Tensor) -> Any:
    log: list[str] = []
    with _swallowing(log) as text:
        _raises(x)
        log.append(text)
    return x, log


def context_manager_as_decorator(x: Tensor) -> Any:
    log: list[str] = []

    @_swallowing(log)
    def inside() -> Tensor:
        return _raises(x) * 2

    return inside(), log


def stop_iteration_through_a_context_manager(x: Tensor) -> Any:
    @contextlib.contextmanager
    def scope() -> Iterator[None]:
        yield

    try:
        with scope():
            if x.sum() > 0:
                raise StopIteration("from inside")
    except StopIteration as stop:
        return x, str(stop)
    return x


def what_suppress_gives(x: Tensor) -> Any:
    with contextlib.suppress(ValueError) as given:
        _raises(x)
    return x, given is None


class _Told(Exception):
    told: list[int] = []

    def __init__(self) -> None:
        super().__init__("told")
        self.told.append(1)


class _Chooses(Exception):
    x: Any = None

    def __init__(self) -> None:
        super().__init__("up" if self.x.sum() > 0 else "down")


class _GivesANumber(Exception):
    def __new__(cls) -> Any:
        return 3


def a_class_that_is_raised(x: Tensor) -> Any:
    _Told.told.clear()
    try:
        if x.sum() > 0:
            raise _Told
    except _Told as error:
        return x, str(error), len(_Told.told)
    return x, len(_Told.told)


def a_class_that_decides_what_it_says(x: Tensor) -> Any:
    _Chooses.x = x
    try:
        raise ValueError from _Chooses
    except ValueError as error:
        return x, str(error.__cause__), error.__suppress_context__


def a_class_whose_objects_are_no_errors(x: Tensor) -> Any:
    try:
        if x.sum() > 0:
            raise _GivesANumber
    except TypeError as error:
        return x, "should have returned an instance of BaseException" in str(error)
    return x


def attribute_that_is_missing(x: Tensor) -> Any:
    value: Any = x
    try:
        value.nope
    except AttributeError as error:
        found = (error.name, error.obj is x)
    number = value.sum().item()
    try:
        return number.nope if x.sum() > 0 else x
    except AttributeError as error:
        return x, found, error.name, error.obj == number
