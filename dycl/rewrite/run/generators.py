"""How generators go on: by the next item, a value sent, an error thrown in; and how they end."""

import collections
import types
from typing import Any

from dycl.rewrite.normalise.instructions import Call, NextItem, Yield
from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.state.frames import Frame, Generator, ItemIterator
from dycl.rewrite.state.stops import Stop


def resume(machine: Interprets, generator: Generator, sent: Any = None) -> Stop | None:
    """Let a generator go on from where it waits, which gets `sent`."""
    if generator.frame in machine.frames:
        raise ValueError("generator already executing")
    if not generator.started and sent is not None:
        raise TypeError("can't send non-None value to a just-started generator")
    if generator.finished:
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
    return machine.raise_error(error)


def _enter(machine: Interprets, generator: Generator) -> None:
    generator.started = True
    generator.frame.constructed = generator
    machine.frames.append(generator.frame)


def hand_out(machine: Interprets, value: Any) -> None:
    """`yield value`: whoever asked for it goes on."""
    machine.frames.pop()
    caller = machine.frames[-1]
    waiting = caller.instruction
    assert isinstance(waiting, NextItem | Call)
    caller.registers[waiting.dest] = value
    caller.position += 1


def end(machine: Interprets, frame: Frame, value: Any) -> Stop | None:
    """A generator's body has come to its end with this value, and is no longer among the frames."""
    frame.constructed.finished = True
    frame.constructed.value = value
    caller = machine.frames[-1]
    waiting = caller.instruction
    if isinstance(waiting, NextItem):
        caller.position = waiting.exhausted
        return None
    return machine.raise_error(StopIteration() if value is None else StopIteration(value))


def is_held(machine: Interprets, generator: Generator) -> bool:
    """Whether the program can still reach a generator that a loop has left."""
    live = [
        value
        for frame in machine.frames
        for name, value in frame.registers.items()
        if name in frame.live(frame is machine.frames[-1])
    ]
    seen: set[int] = set()
    while live:
        value = live.pop()
        if value is generator:
            return True
        if id(value) not in seen:
            seen.add(id(value))
            live.extend(_parts(value))
    return False


def _parts(value: Any) -> list[Any]:
    """What a value of the program holds."""
    match value:
        case list() | tuple() | set() | frozenset() | collections.deque():
            return list(value)
        case dict():
            return [*value.keys(), *value.values()]
        case types.CellType():
            return [value.cell_contents] if value != types.CellType() else []
        case types.FunctionType():
            return [*(value.__closure__ or ()), *(value.__defaults__ or ())]
        case types.MethodType():
            return [value.__self__, value.__func__]
        case types.ModuleType() | type():
            return []
        case _ if type(value) is Generator:
            return [*value.frame.registers.values(), value.value]
        case ItemIterator():
            return [value.items]
        case _:
            return [*getattr(value, "__dict__", {}).values()]


def fail(frame: Frame, error: BaseException) -> BaseException:
    """What an error that leaves a generator's body becomes outside of it."""
    frame.constructed.finished = True
    if not isinstance(error, StopIteration):
        return error
    outside = RuntimeError("generator raised StopIteration")
    outside.__cause__ = outside.__context__ = error
    return outside
