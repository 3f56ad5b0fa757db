"""Whether code that runs natively would handle an error: then it matters where the error is raised."""

import dis
import sys
from types import CodeType, FrameType

from dycl.rewrite.own_code import is_own_module

_HERE = __name__.rpartition(".")[0]


def would_be_caught() -> bool:
    """Whether a `try` of the user's program stands between here and the machine's own call of it."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith(f"{_HERE}."):
            return False
        if not is_own_module(name) and not name.startswith("torch.") and _is_tried(frame.f_code, frame.f_lasti):
            return True
        frame = frame.f_back
    return False


def _is_tried(code: CodeType, place: int) -> bool:
    if not code.co_exceptiontable:
        return False
    return any(entry.start <= place < entry.end for entry in dis._parse_exception_table(code))  # type: ignore[attr-defined]
