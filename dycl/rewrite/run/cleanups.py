"""Handlers that an error only passes: they clean up, and it leaves the call as if they were not there."""

import contextlib
from typing import Any

from dycl.rewrite.normalise.contexts import swallows_nothing
from dycl.rewrite.normalise.instructions import Label, PushHandler
from dycl.rewrite.state.frames import Frame, Generator


def passes_errors_on(frame: Frame) -> bool:
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
        return type(generator) is Generator and passes_errors_on(generator.frame)
    return swallows_nothing(manager)
