"""How generators go on: by the next item, a value sent, an error thrown in; and how they end."""

import collections
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

from dycl.rewrite.normalise.instructions import Call, NextItem, Yield
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.run.errors import handled_in, set_context
from dycl.rewrite.semantics.in_python.builtin_functions import stands_in
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.copied import items_held
from dycl.rewrite.state.frames import Frame, Generator, ItemIterator, ParallelIterator
from dycl.rewrite.state.lazy_iterators import LazyIterator
from dycl.rewrite.state.stops import Stop
from dycl.rewrite.state.tables import GrownList


def resume(machine: Interprets, generator: Generator, sent: Any = None) -> Stop | None:
    """Let a generator go on from where it waits, which gets `sent`."""
    if generator.frame in machine.frames:
        if stands_in(generator.gi_code):
            raise Refused("DY002", "an iterator is asked for its next item by what it asks itself")
        raise ValueError("generator already executing")
    if not generator.started and sent is not None:
        raise TypeError("can't send non-None value to a just-started generator")
    if generator.finished:
        require_over(generator)
        return machine.raise_error(StopIteration())
    if generator.started:
        waiting = generator.frame.instruction
        assert isinstance(waiting, Yield)
        generator.frame.registers[waiting.dest] = sent
        generator.frame.position += 1
    _enter(machine, generator)
    return None


def throw(machine: Interprets, generator: Generator, error: BaseException) -> Stop | None:
    """Go on with a generator by raising an error where it waits."""
    if generator.frame in machine.frames:
        raise ValueError("generator already executing")
    if generator.finished:
        return machine.raise_error(error)
    _enter(machine, generator)
    set_context(error, handled_in(generator.frame))
    return machine.raise_error(error)


def _enter(machine: Interprets, generator: Generator) -> None:
    generator.started = generator.gi_running = True
    generator.frame.constructed = generator
    machine.frames.append(generator.frame)


def hand_out(machine: Interprets, value: Any) -> None:
    """`yield value`: whoever asked for it goes on."""
    generator = machine.frames.pop().constructed
    generator.gi_running = False
    if generator.waits_to_clean_up and generator not in machine.waiting:
        machine.waiting.append(generator)
    caller = machine.frames[-1]
    waiting = caller.instruction
    assert isinstance(waiting, NextItem | Call)
    caller.registers[waiting.dest] = value
    caller.position += 1


def end(machine: Interprets, frame: Frame, value: Any) -> Stop | None:
    """A generator's body has come to its end with this value, and is no longer among the frames."""
    frame.constructed.finished, frame.constructed.gi_running = True, False
    frame.constructed.value = value
    caller = machine.frames[-1]
    waiting = caller.instruction
    if isinstance(waiting, NextItem):
        caller.position = waiting.exhausted
        return None
    return machine.raise_error(StopIteration() if value is None else StopIteration(value))


def require_none_given_up(machine: Interprets, is_seen: Callable[[Any], bool]) -> None:
    """Refuse if a generator is given up while it waits to clean up, and may do so to what the program sees later."""

    def matters(part: Any) -> bool:
        return is_seen(part) or machine.heap.is_watched(part)

    for generator in machine.waiting:
        if generator.waits_to_clean_up and not is_seen(generator) and any(map(matters, _changeable(generator))):
            reason = "a generator that waits inside `try` or `with` is given up before its end, and cleans up then"
            raise Refused("DY002", reason, "close it, `generator.close()`, or go through all of its items")


def reach_of(value: Any) -> Callable[[Any], bool]:
    """Tells whether a value is among what another leads to."""
    reached = {id(part): part for part in _reached([value])}
    return lambda part: id(part) in reached


def is_held(machine: Interprets, generator: Generator) -> bool:
    """Whether the program can still reach a generator that a loop has left."""
    live = [
        value
        for frame in machine.frames
        for name, value in frame.registers.items()
        if name in frame.live(frame is machine.frames[-1])
    ]
    return any(value is generator for value in _reached(live))


def _reached(values: list[Any]) -> Iterator[Any]:
    """All that values lead to, and they themselves."""
    seen: set[int] = set()
    while values:
        value = values.pop()
        if id(value) not in seen:
            seen.add(id(value))
            yield value
            values.extend(_parts(value))


def _changeable(generator: Generator) -> Iterator[Any]:
    """What a generator that cleans up may change."""
    for value in _reached([generator]):
        if isinstance(value, torch.Tensor | types.FunctionType | type | types.ModuleType):
            continue
        if (
            isinstance(value, list | dict | set | collections.deque | types.CellType)
            or attribute(value, "__dict__") is not None
        ):
            yield value


def _parts(value: Any) -> list[Any]:
    """What a value of the program holds."""
    match value:
        case GrownList():
            return []
        case list() | tuple() | set() | frozenset() | collections.deque():
            return items_held(value)
        case dict():
            return [*dict.keys(value), *items_held(value)]
        case types.CellType():
            return [value.cell_contents] if value != types.CellType() else []
        case types.FunctionType():
            return [*(value.__closure__ or ()), *(value.__defaults__ or ())]
        case types.MethodType():
            return [value.__self__, value.__func__]
        case types.ModuleType() | type() | torch.Tensor() | HostValue() | HostArray():
            return []
        case _ if type(value) is Generator:
            return [*value.frame.registers.values(), value.value]
        case ItemIterator():
            return [value.items]
        case ParallelIterator() | LazyIterator():
            return list(value.parts)
        case _:
            return [*attribute(value, "__dict__", {}).values()]


def fail(frame: Frame, error: BaseException) -> BaseException:
    """What an error that leaves a generator's body becomes outside of it."""
    frame.constructed.finished, frame.constructed.gi_running = True, False
    if not isinstance(error, StopIteration):
        return error
    if stands_in(frame.function.code):
        frame.constructed.value = _STOPPED_BY_FUNCTION
        return error
    outside = RuntimeError("generator raised StopIteration")
    outside.__cause__ = outside.__context__ = error
    return outside


# What stands in for `map` and its like gives no value at its end.
_STOPPED_BY_FUNCTION = StopIteration


def require_over(generator: Generator) -> None:
    """Refuse to ask an iterator again that has ended because a function of its raised `StopIteration`: it may go on."""
    if generator.value is _STOPPED_BY_FUNCTION and stands_in(generator.gi_code):
        raise Refused("DY002", "an iterator is asked again after a function that it calls raised `StopIteration`")
