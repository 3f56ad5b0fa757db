"""Code that runs natively: whether it would handle an error, and what of it ran when a signal stopped it."""

import dis
import sys
from collections.abc import Iterator
from types import CodeType, FrameType

from dycl.rewrite.knowledge import Interpret
from dycl.rewrite.normalise.source import has_source
from dycl.rewrite.own_code import is_own_module
from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.semantics.in_python import builtin_functions as substitutes
from dycl.rewrite.signals import SIGNALS

_HERE = __name__.rpartition(".")[0]


def would_be_caught() -> bool:
    """Whether a `try` of the user's program stands between here and the machine's own call of it."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if _is_of_machine(frame):
            return False
        if not is_own_module(name) and not name.startswith("torch.") and _is_tried(frame.f_code, frame.f_lasti):
            return True
        frame = frame.f_back
    return False


def _is_tried(code: CodeType, place: int) -> bool:
    if not code.co_exceptiontable:
        return False
    return any(entry.start <= place < entry.end for entry in dis._parse_exception_table(code))  # type: ignore[attr-defined]


def behind(error: BaseException) -> BaseException:
    """The signal that code written in C has made an error of its own from: a class does when it is made."""
    link: BaseException | None = error
    while link is not None and not isinstance(link, SIGNALS):
        link = link.__cause__
    return error if link is None else link


def mark(machine: Interprets, stopped: BaseException) -> bool:
    """Mark the functions that were running natively; false if that tells nothing new."""
    codes = set()
    trace = stopped.__traceback__
    trace = trace.tb_next if trace is not None else None
    while trace is not None:
        if _may_be_interpreted(trace.tb_frame):
            codes.add(trace.tb_frame.f_code)
        trace = trace.tb_next
    new = codes - machine.knowledge.interpreted
    machine.knowledge.learn(*map(Interpret, new))
    return bool(new)


def running_until(frame: FrameType | None) -> Iterator[CodeType]:
    """What a frame runs, and what has called it since the machine called something natively."""
    while frame is not None and not _is_of_machine(frame):
        if _may_be_interpreted(frame):
            yield frame.f_code
        frame = frame.f_back


def _is_of_machine(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith(f"{_HERE}.")


def _may_be_interpreted(frame: FrameType) -> bool:
    """Whether the machine could run this itself."""
    namespace = frame.f_globals.get("__name__", "")
    internal = is_own_module(namespace) or namespace.startswith(("torch._", "torch.utils._"))
    stepped_into = substitutes.stands_in(frame.f_code) or namespace == "torch.utils._contextlib"
    return (not internal or stepped_into) and has_source(frame.f_code)
