"""Generators: sent to, thrown into, left, and ended."""

import inspect
import types
from typing import Any

from torch import Tensor


def _counting(x: Tensor, log: list) -> Any:
    try:
        for place in range(4):
            got = yield place if x.sum() > 0 else -place
            log.append(got)
    except ValueError as error:
        log.append(str(error))
        yield "caught"
    finally:
        log.append("closed")
    return "end"


def left_by_break(x: Tensor) -> Any:
    log = []
    for value in _counting(x, log):
        if x[0] > 2 or value:
            break
    return x, value, log


def left_by_return(x: Tensor) -> Any:
    log = []

    def first() -> Any:
        for value in _counting(x, log):
            if value:
                return value
        return None

    return x, first(), log


def held_while_left(x: Tensor) -> Any:
    log = []
    generator = _counting(x, log)
    for value in generator:
        if value:
            break
    log.append("between")
    rest = list(generator)
    return x, value, rest, log


def sent(x: Tensor) -> Any:
    log = []
    generator = _counting(x, log)
    found = [next(generator), generator.send("a"), generator.send("b")]
    return x, found, log[:]


def sent_too_early(x: Tensor) -> Any:
    generator = _counting(x, [])
    try:
        return x, generator.send(1)
    except TypeError as error:
        return x, str(error)


def thrown(x: Tensor) -> Any:
    log = []
    generator = _counting(x, log)
    next(generator)
    found = generator.throw(ValueError("thrown"))
    try:
        next(generator)
    except StopIteration as stop:
        found = found, stop.value
    return x, found, log


def closed(x: Tensor) -> Any:
    log = []
    generator = _counting(x, log)
    next(generator)
    generator.close()
    return x, log, next(generator, "nothing left")


def closed_before_it_began(x: Tensor) -> Any:
    log = []
    generator = _counting(x, log)
    generator.close()
    return x * 2 if x.sum() > 0 else x, log, list(generator)


def _stubborn(x: Tensor) -> Any:
    while x.sum() > 0:
        try:
            yield 1
        except GeneratorExit:
            x = x - 10
            yield 2


def ignores_being_closed(x: Tensor) -> Any:
    generator = _stubborn(x)
    next(generator, None)
    try:
        generator.close()
    except RuntimeError as error:
        return x, str(error)
    return x


def _ending(x: Tensor) -> Any:
    yield 1
    return 7 if x.sum() > 0 else None


def value_of_its_end(x: Tensor) -> Any:
    generator = _ending(x)
    next(generator)
    try:
        next(generator)
    except StopIteration as stop:
        return x, stop.value, stop.args
    return x


def _delegating(x: Tensor, log: list) -> Any:
    result = yield from _counting(x, log)
    log.append(result)
    yield from [10, 11] if x[0] > 0 else (12,)
    return "outer"


def delegated(x: Tensor) -> Any:
    log = []
    return x, list(_delegating(x, log)), log


def sent_through(x: Tensor) -> Any:
    log = []
    generator = _delegating(x, log)
    return x, next(generator), generator.send("a"), generator.send("b"), list(generator), log


def thrown_through(x: Tensor) -> Any:
    log = []
    generator = _delegating(x, log)
    return x, next(generator), generator.throw(ValueError("thrown")), list(generator), log


def sent_to_a_list(x: Tensor) -> Any:
    def items() -> Any:
        yield from [1, 2] if x.sum() > 0 else [3]

    generator = items()
    next(generator)
    try:
        return x, generator.send(1)
    except AttributeError:
        return x, "cannot be sent to"


def closed_through(x: Tensor) -> Any:
    log = []
    generator = _delegating(x, log)
    next(generator)
    generator.close()
    return x, log


def stop_iteration_inside(x: Tensor) -> Any:
    def items() -> Any:
        yield 1
        if x.sum() > 0:
            raise StopIteration("inside")

    try:
        return x, list(items())
    except RuntimeError as error:
        return x, str(error), str(error.__cause__)


def what_it_is(x: Tensor) -> Any:
    generator = (value for value in [1, 2] if x.sum() > 0)
    return x, isinstance(generator, types.GeneratorType), inspect.isgenerator(generator), list(generator)


def itself(x: Tensor) -> Any:
    generator = _ending(x)
    return x, iter(generator) is generator, list(generator)
