"""Where natively run code stands: the lines of the functions that the machine called and did not interpret."""

import sys
import types

from dycl.hcfg.types import Span
from dycl.rewrite.normalise.source import short_path
from dycl.rewrite.own_code import is_own_module


def native_places() -> tuple[Span, ...]:
    """The places of the user's own functions that run natively now, the innermost last."""
    found: list[Span] = []
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(_MACHINE):
            break
        if not is_own_module(module) and module.partition(".")[0] != "torch":
            found.append(_place(frame))
        frame = frame.f_back
    return tuple(reversed(found))


_MACHINE = "dycl.rewrite.run."


def _place(frame: types.FrameType) -> Span:
    code = frame.f_code
    places = list(code.co_positions())[frame.f_lasti // 2]
    line, end_line, column, end_column = (number or 0 for number in places)
    line = line or frame.f_lineno
    return Span(short_path(code.co_filename), line, column + 1, end_line or line, end_column + 1, code.co_qualname)
