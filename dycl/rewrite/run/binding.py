"""Bind the arguments of a call to a function's parameters, as Python does when it calls it."""

import inspect
import types
from typing import Any


def bound(function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The value of each parameter; the TypeError that Python raises if the arguments do not fit."""
    result = _bound(function, args, kwargs)
    if result is None:
        # Python compares arguments and parameters before it runs anything of the function.
        function(*args, **kwargs)
        raise AssertionError(f"the arguments do fit {function.__qualname__}")
    return result


def _bound(function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    by_name_alone = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    collectors = list(code.co_varnames[code.co_argcount + code.co_kwonlyargcount :])
    result: dict[str, Any] = dict(zip(names, args, strict=False))
    if code.co_flags & inspect.CO_VARARGS:
        result[collectors.pop(0)] = args[len(names) :]
    elif len(args) > len(names):
        return None
    rest: dict[str, Any] = {}
    for name, value in kwargs.items():
        if name not in names[code.co_posonlyargcount :] and name not in by_name_alone:
            rest[name] = value
        elif name in result:
            return None
        else:
            result[name] = value
    if code.co_flags & inspect.CO_VARKEYWORDS:
        result[collectors.pop(0)] = rest
    elif rest:
        return None
    return _with_defaults(function, names, by_name_alone, result)


def _with_defaults(
    function: types.FunctionType, names: tuple[str, ...], by_name_alone: tuple[str, ...], result: dict[str, Any]
) -> dict[str, Any] | None:
    defaults = function.__defaults__ or ()
    last = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    for name, value in (last | (function.__kwdefaults__ or {})).items():
        result.setdefault(name, value)
    return result if all(name in result for name in (*names, *by_name_alone)) else None
