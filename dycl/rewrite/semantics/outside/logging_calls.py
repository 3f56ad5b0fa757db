"""Calls of a logger: messages are dropped with a note, unless the program could see what becomes of them."""

import inspect
import logging
import types
from collections.abc import Iterable, Iterator
from typing import Any

from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.copied import may_write

_MESSAGES = frozenset(
    ("debug", "info", "warning", "warn", "error", "critical", "fatal", "exception", "log", "handle", "callHandlers")
)
_QUESTIONS = frozenset(("isEnabledFor", "getEffectiveLevel", "hasHandlers", "getChild", "getChildren"))


def called(machine: Running, logger: logging.Logger, method: Any, told: Iterable[Any]) -> Any:
    """What a logger's method gives; `NOT_HANDLED` if it is to be called as it is."""
    name = getattr(method, "__name__", "")
    function = inspect.unwrap(getattr(method, "__func__", method))  # one whose results are cached is its owner's, too
    if name in _QUESTIONS or (isinstance(function, types.FunctionType) and function.__module__ != logging.__name__):
        return NOT_HANDLED
    if name in ("setLevel", "disable"):
        raise Refused("DY007", "the level of a logger is set, which outlives the call", "set it outside of the model")
    if name not in _MESSAGES:
        raise Refused("DY007", f"`{name}` changes a logger, which outlives the call", "call it outside of the model")
    _require_out_of_sight(machine, logger)
    require_quiet_texts(told)
    machine.note("logging is dropped", machine.span)
    return None


def require_quiet_texts(told: Iterable[Any]) -> None:
    """Refuse a message about something whose text changes something when it is made, since messages are dropped."""
    for kind in {type(value): None for value in told}:
        for name in ("__str__", "__repr__", "__format__"):
            method = getattr(kind, name)
            if isinstance(method, types.FunctionType) and may_write(method.__code__):
                reason = f"`{kind.__name__}.{name}` may change something, and what is printed or logged is dropped"
                raise Refused("DY007", reason, f"let `{name}` only read")


def _require_out_of_sight(machine: Running, logger: logging.Logger) -> None:
    """Refuse a message that goes to the user's own code, where that can change what the program reads."""
    for receiver in _receivers(logger):
        function = receiver if isinstance(receiver, types.FunctionType) else None
        for method in ("emit", "filter", "handle", "format"):
            found = getattr(type(receiver), method, None)
            if isinstance(found, types.FunctionType) and found.__module__.partition(".")[0] != logging.__name__:
                function = found
        if function is None:
            continue
        made_here = "<locals>" in function.__qualname__
        if made_here or receiver in machine.pinned or function.__globals__ in machine.pinned:
            kind = function.__qualname__
            reason = f"a message is logged, and `{kind}`, which gets it, can change what the program reads"
            raise Refused("DY007", reason, "remove the handler or filter while compiling, or call its code directly")


def _receivers(logger: logging.Logger) -> Iterator[Any]:
    """Who gets a logger's messages, or has a say in them."""
    yield from logger.filters
    above: logging.Logger | None = logger
    while above is not None:
        for handler in above.handlers:
            yield handler
            yield from handler.filters
            if handler.formatter is not None:
                yield handler.formatter
        above = above.parent if above.propagate else None


def warnings_filtered(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`warnings.simplefilter` and its like: warnings are dropped, which would be seen if they were errors."""
    if "error" in (*args[:1], kwargs.get("action")):
        raise Refused("DY002", "warnings are made errors, and a compiled program drops them")
    return NOT_HANDLED
