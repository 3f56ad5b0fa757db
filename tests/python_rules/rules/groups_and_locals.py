"""Groups of errors, and the variables of a function by their names."""

import sys
from typing import Any

from torch import Tensor


def _group(x: Tensor) -> None:
    errors: list[Exception] = [ValueError(1), ExceptionGroup("inner", [TypeError(2), ValueError(3)])]
    if x.sum() > 0:
        errors.append(OSError(4))
    raise ExceptionGroup("outer", errors)


def clauses_take_their_parts(x: Tensor) -> Any:
    log = []
    try:
        _group(x)
    except* ValueError as error:
        log.append(repr(error))
        log.append(str(sys.exception() is error))
        if x[0] > 1:
            log.append("large")
    except* (TypeError, OSError) as error:
        log.append(repr(error.exceptions))
    return log, sys.exception() is None, x


def what_is_left_is_raised(x: Tensor) -> Any:
    log = []
    try:
        try:
            _group(x)
        except* TypeError:
            if x.sum() > 0:
                raise KeyError("new") from None
        finally:
            log.append("finally")
    except ExceptionGroup as error:
        log.append(repr(error))
    return log, x


def nothing_is_raised(x: Tensor) -> Any:
    log = []
    try:
        log.append("body")
        if x.sum() > 0:
            raise ValueError("alone")
    except* ValueError as error:
        log.append(repr(error))
    except* Exception:
        log.append("never")
    else:
        log.append("else")
    return log, x


def an_error_alone_that_nobody_takes(x: Tensor) -> Any:
    try:
        if x.sum() > 0:
            raise ValueError("alone")
    except* TypeError:
        x = x + 1
    return x


def variables_by_their_names(x: Tensor) -> Any:
    one = 1
    first = locals()
    if x.sum() > 0:
        two = 2
    names = sorted(locals())
    three = len(names)
    del one
    second = vars()
    return names, three, sorted(second), first is second, "two" in first and two, x


def variables_that_functions_share(x: Tensor) -> Any:
    count = 1

    def more() -> Any:
        nonlocal count
        count = count + 1
        return {name: value for name, value in locals().items() if name == "count"}

    if x.sum() > 0:
        more()
    return more(), locals()["count"], x
