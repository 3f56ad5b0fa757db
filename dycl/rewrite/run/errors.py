"""What Python does with an error when it is raised: what may be raised, its cause, and what was being handled."""

import builtins
import contextlib
import types
from typing import Any

import torch

from dycl.hcfg.types import Span
from dycl.rewrite.normalise.contexts import swallows_nothing
from dycl.rewrite.normalise.instructions import Label, PushHandler
from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.signals import SIGNALS, Refused
from dycl.rewrite.state.frames import Frame, Generator


def _any_traceback() -> types.TracebackType:
    try:
        raise RuntimeError
    except RuntimeError as error:
        assert error.__traceback__ is not None
        return error.__traceback__


_TRACEBACK = _any_traceback()


class Tracebacks:
    """What every raised error has: there to be passed on, not to be looked into. It tells where the error was raised.

    An error that no handler takes is raised again by the `try` statement itself, maybe blocks later.
    """

    def __init__(self) -> None:
        self._of: dict[tuple[Span, ...], types.TracebackType] = {}
        self._places: dict[int, tuple[Span, ...]] = {}

    def places(self, error: BaseException) -> tuple[Span, ...] | None:
        """Where an error was raised first."""
        trace = error.__traceback__
        while trace is not None and id(trace) not in self._places:
            trace = trace.tb_next
        return None if trace is None else self._places[id(trace)]

    def mark(self, error: BaseException, places: tuple[Span, ...]) -> None:
        """Take note of where an error is raised."""
        if places not in self._of:
            like = _TRACEBACK
            self._of[places] = types.TracebackType(None, like.tb_frame, like.tb_lasti, like.tb_lineno)
            self._places[id(self._of[places])] = places
        error.__traceback__ = self._of[places]


def is_mark(trace: types.TracebackType) -> bool:
    """Whether a traceback stands for those of the program."""
    return trace.tb_frame is _TRACEBACK.tb_frame


def class_named(name: str) -> type[BaseException]:
    """The class of an error that a check finds."""
    found: type[BaseException] = getattr(builtins, name, None) or getattr(torch.linalg, name)
    return found


def to_raise(value: Any) -> BaseException:
    """The error that `raise value` raises."""
    if isinstance(value, SIGNALS) and not isinstance(value, KeyboardInterrupt):
        raise value  # what stands in for a function says so, and no handler of the program's hears of it
    made = _made(value)
    return made if made is not None else TypeError("exceptions must derive from BaseException")


def _made(value: Any) -> BaseException | None:
    if not isinstance(value, type):
        return value if isinstance(value, BaseException) else None
    if not issubclass(value, BaseException):
        return None
    error = value()
    if isinstance(error, BaseException):
        return error
    kind = type(error).__name__
    return TypeError(f"calling {value!r} should have returned an instance of BaseException, not <class '{kind}'>")


def with_cause(error: BaseException, cause: Any) -> BaseException:
    """The error of `raise error from cause`."""
    reason = None if cause is None else _made(cause)
    if cause is not None and reason is None:
        return TypeError("exception causes must derive from BaseException")
    error.__cause__ = reason
    return error


def handled(machine: Interprets) -> BaseException | None:
    """The error that is being handled now: what `sys.exception()` gives."""
    for frame in reversed(machine.frames):
        error = handled_in(frame)
        if error is not None:
            return error
    return None


def handled_in(frame: Frame) -> BaseException | None:
    """The error that a function is handling itself."""
    register = frame.function.handled[frame.position]
    if register is None:
        return None
    error = frame.registers[register]
    assert isinstance(error, BaseException)
    return error


def set_context(error: BaseException, around: BaseException | None) -> None:
    """Note what was being handled when the program raised this error."""
    if around is None or around is error:
        return
    link = around
    seen = {id(link)}
    while link.__context__ is not None and id(link.__context__) not in seen:
        if link.__context__ is error:
            link.__context__ = None
            break
        link = link.__context__
        seen.add(id(link))
    error.__context__ = around


def add_context(error: BaseException, machine: Interprets) -> None:
    """Note what was being handled when native code raised this error: behind what the native code was handling."""
    around = handled(machine)
    if around is None:
        return
    link = error
    seen = {id(error)}
    while link.__context__ is not None and id(link.__context__) not in seen:
        link = link.__context__
        seen.add(id(link))
    if id(around) not in seen:
        link.__context__ = around


def require_known_kind(error: BaseException) -> None:
    """Refuse an error that is no error of the program."""
    if isinstance(error, SystemExit):
        raise Refused("DY002", "the model leaves the process") from None


def may_be_caught(machine: Interprets) -> bool:
    """Whether a `try` around the current instruction may do something about an error that the program can tell.

    What only cleans up leaves nothing to tell, unless the program keeps something from call to call.
    """
    around = [frame for frame in machine.frames if frame.handlers]
    return bool(around) and (machine.heap.keeps_state or not all(map(_passes_errors_on, around)))


def _passes_errors_on(frame: Frame) -> bool:
    """Whether all handlers of a frame clean up and do no more."""
    return all(_only_cleans_up(frame, label) for label, _ in frame.handlers)


def _only_cleans_up(frame: Frame, label: Label) -> bool:
    instructions = frame.function.instructions
    pushed = next(item for item in instructions if isinstance(item, PushHandler) and item.label == label)
    if pushed.manager is None:
        return pushed.cleans_up
    return _lets_errors_pass(frame.registers.get(pushed.manager))


def _lets_errors_pass(manager: Any) -> bool:
    """Whether a context manager does nothing about an error: none that is made of a generator that does."""
    if type(manager) is contextlib._GeneratorContextManager:
        generator: Any = manager.gen
        return type(generator) is Generator and _passes_errors_on(generator.frame)
    return swallows_nothing(manager)
