"""Calls that look at the code that makes them, or run other code: natively they would see DyCL's own."""

import inspect
import sys
import traceback
from typing import Any

from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler
from dycl.rewrite.signals import Refused


def _refused(name: str) -> Handler:
    def look(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name in ("vars", "dir") and args:
            return NOT_HANDLED
        raise Refused("DY002", f"`{name}` runs or looks at code in a way that cannot be followed")

    return look


_CALLEES: tuple[Any, ...] = (
    *(locals, vars, dir, globals, eval, exec, compile, breakpoint, input),
    *(sys._getframe, sys._current_frames, sys.settrace, sys.setprofile),
    *(inspect.currentframe, inspect.stack, inspect.trace, inspect.getouterframes),
    *(traceback.extract_stack, traceback.format_stack, traceback.print_stack, traceback.walk_stack),
)
HANDLERS: dict[Any, Handler] = {callee: _refused(callee.__name__) for callee in _CALLEES}
