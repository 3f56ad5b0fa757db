"""Generators: sent to, thrown into, left, and ended."""

import inspect
import types
from typing import Any

from torch import Tensor

from tests.python_rules.rule import refused


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


class _Countdown:
    def __init__(self, start: int, log: list) -> None:
        self.left, self.log = start, log

    def __iter__(self) -> Any:
        self.log.append("begun")
        return self

    def __next__(self) -> int:
        if self.left == 0:
            raise StopIteration("done")
        self.left -= 1
        self.log.append(self.left)
        return self.left


def iterator_of_its_own(x: Tensor) -> Any:
    log = []
    for value in _Countdown(3, log):
        log.append("loop" if x.sum() > 0 else "other")
        x = x + value
    return x, log


def iterators_side_by_side(x: Tensor) -> Any:
    log = []
    for one, other in zip(_Countdown(3, log), [10, 20]):
        log.append((one, other))
        if x.sum() > 100:
            break
    ends = [next(_Countdown(1, log)), next(_Countdown(0, log), "none"), list(_Countdown(2, log))]
    return x, log, ends


class _Squares:
    def __getitem__(self, place: int) -> int:
        if place > 3:
            raise IndexError
        return place * place


def gone_through_by_index(x: Tensor) -> Any:
    found = []
    for value in _Squares():
        found.append(value if x.sum() > 0 else -value)
    return x, found, list(_Squares()), 4 in _Squares()


def handed_on(x: Tensor) -> Any:
    def outer() -> Any:
        result = yield from _Countdown(2, [])
        yield result

    found = []
    for value in outer():
        found.append(value)
        if x.sum() > 0:
            found.append("up")
    return x, found


def until_a_value(x: Tensor) -> Any:
    left = [3, 2, 1]
    found = []
    for value in iter(left.pop, 3):
        found.append(value if x.sum() > 0 else -value)
    return x, found


def no_iterator(x: Tensor) -> Any:
    class Broken:
        def __iter__(self) -> Any:
            return [1]

    if x.sum() > 0:
        try:
            for _ in Broken():
                pass
        except TypeError as error:
            return x, str(error)
    return x, ""


def names_of_a_generator(x: Tensor) -> Any:
    def make() -> Any:
        yield x

    generator = make()
    before = generator.gi_running, generator.__name__, generator.__qualname__
    if x.sum() > 0:
        next(generator)
    generator.__name__ = "other"
    return x, before, generator.__name__, generator.gi_suspended


def error_thrown_in_while_another_is_handled(x: Tensor) -> Any:
    def make() -> Any:
        try:
            raise KeyError("a")
        except KeyError:
            yield x.sum() > 0

    generator = make()
    next(generator)
    if x[0] > 0:
        x = x + 1
    try:
        generator.throw(ValueError("b"))
    except ValueError as error:
        return x, repr(error.__context__)
    return x, None
