"""What `a, b = source` and `*value` do with what they spread, and what Python says of what it cannot spread."""

import itertools
import types
from collections.abc import Iterator
from typing import Any

from dycl.rewrite.normalise.data_model import type_name
from dycl.rewrite.plain_lookup import attribute


def spread(source: Any, most: int | None) -> Any:
    """What is spread over several variables in `a, b = source`, which looks at so many items at most."""
    if not _may_be_iterated(source):
        raise TypeError(f"cannot unpack non-iterable {type_name(type(source))} object")
    in_python = isinstance(getattr(type(source), "__iter__", None), types.FunctionType)
    stepped = isinstance(source, Iterator) or (in_python and not type(source).__module__.startswith("dycl."))
    return list(itertools.islice(source, most)) if stepped and most is not None else source


def starred(value: Any, *callee: Any) -> Any:
    """The value of `*value` in a list, a tuple or a call, of `callee` if that has no other argument by place."""
    if not _may_be_iterated(value):
        told = f"{described(callee[0])} argument" if callee else "Value"
        raise TypeError(f"{told} after * must be an iterable, not {type_name(type(value))}")
    return value


def _may_be_iterated(value: Any) -> bool:
    cls = type(value)
    return hasattr(cls, "__iter__") or hasattr(cls, "__getitem__") or cls.__module__.startswith("dycl.")


def described(callee: Any) -> str:
    """A function as Python names it in messages about its arguments."""
    name, module = attribute(callee, "__qualname__"), attribute(callee, "__module__")
    if not isinstance(name, str):
        return str(callee)
    return f"{name}()" if module in (None, "builtins") else f"{module}.{name}()"
