"""What a value leads to: the objects that a program can get at, and may change, once it has this one."""

import collections
import contextvars
import datetime
import decimal
import enum
import functools
import gc
import logging
import operator
import pathlib
import re
import threading
import types
import typing
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from dycl.rewrite.own_code import is_library, is_own_module
from dycl.rewrite.state.unchanging import ATOMS

HOLDERS = (
    *(operator.itemgetter, operator.attrgetter, operator.methodcaller),
    *(types.GenericAlias, types.UnionType, typing.TypeVar, super),
)
"""What is written in C, does not change, and holds other things."""
LEAVES = (
    *(kind for kind in ATOMS if kind not in (enum.Enum, *HOLDERS)),
    *(torch.Tensor, torch.Size, torch.dtype, torch.device, torch.layout, torch.memory_format),
    types.CodeType,
    *(types.MethodDescriptorType, types.WrapperDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType),
    *(types.ClassMethodDescriptorType, type(re.compile("")), re.Match, decimal.Decimal, logging.Logger),
    type(vars(collections.namedtuple("_", "field"))["field"]),
    *(datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, pathlib.PurePath),
    *(np.ufunc, type(np.mean)),
    *(torch._ops.OpOverload, torch._ops.OpOverloadPacket),
)
"""What leads nowhere and does not change, or not so that a program's results could tell."""


PLAINEST = frozenset((int, float, str, bool, bytes, types.NoneType))


NAMESPACES = frozenset(("__dict__", "vars", "setattr", "delattr", "__setattr__", "__delattr__"))
"""By these a program gets at the variables of a module without naming them."""


_SIZES = "sympy"
"""PyTorch's sizes are made of its expressions, which learn facts about themselves as they are asked."""


def leads_nowhere(kind: type) -> bool:
    """Whether values of this type do not change, nor lead to others, so that a program's results could tell."""
    if issubclass(kind, _PLAIN) and kind.__dictoffset__ and not is_library(kind.__module__):
        return False  # a number, a text or a date of the user's own class has attributes
    if kind is np.void:
        return False  # one of several fields, which can be written
    if is_own_module(kind.__module__):
        return True  # a value that only the input determines leads into the compiler
    return issubclass(kind, LEAVES) or any(base.__module__.partition(".")[0] == _SIZES for base in kind.__mro__)


_PLAIN = (
    *(int, float, complex, str, bytes, decimal.Decimal, datetime.date, datetime.time),
    *(datetime.timedelta, datetime.tzinfo, pathlib.PurePath),
)


def leads_on(factory: Any) -> bool:
    """Whether all that a call of this without arguments can change is found: not what an iterator keeps for itself."""
    if isinstance(factory, types.BuiltinFunctionType | types.MethodWrapperType):
        return isinstance(factory.__self__, types.ModuleType | type | list | dict | set | collections.deque)
    return factory is None or isinstance(factory, type | types.FunctionType | types.MethodType | functools.partial)


def is_writable(container: Any) -> bool:
    """Whether a container can be changed: some arrays cannot."""
    if isinstance(container, np.ndarray):
        return container.flags.writeable
    return not (isinstance(container, memoryview) and container.readonly)


def runs_python(function: np.ufunc) -> bool:
    """Whether a function for arrays calls one in Python: `np.frompyfunc` makes such."""
    return all(set(kinds) <= set("O->") for kinds in function.types)


def has_objects_in_fields(value: Any) -> bool:
    """Whether this is an array of records that hold objects."""
    return isinstance(value, np.ndarray) and value.dtype.hasobject and value.dtype.names is not None


def functions_of(value: Any) -> list[Any]:
    """The functions that something in a class stands for: a method, a property, a class method."""
    match value:
        case staticmethod() | classmethod():
            return functions_of(value.__func__) or [value.__func__]
        case property():
            return [function for function in (value.fget, value.fset, value.fdel) if function is not None]
        case functools.cached_property():
            return [value.func]
        case functools.partialmethod():
            return [value.func, *value.args, *value.keywords.values()]
        case types.FunctionType():
            return [value]
        case _:
            return []


def hung_on_descriptor(value: Any) -> list[Any]:
    """What somebody hung on a property, a class method or the like."""
    if not isinstance(value, property | classmethod | staticmethod | functools.cached_property):
        return []
    own = {name: held for name, held in getattr(value, "__dict__", {}).items() if name not in _USUAL}
    return list(own.values())


_USUAL = frozenset((*functools.WRAPPER_ASSIGNMENTS, "__wrapped__", "__isabstractmethod__", "func", "attrname", "lock"))


def held_by(value: Any) -> list[Any] | None:
    """What a function, a method, a partial call and the like lead to; None if it is nothing of the kind.

    What a function is closed over goes by the names of these variables: it is found elsewhere.
    """
    match value:
        case types.FunctionType():
            named = (value.__kwdefaults__ or {}).values()
            own = [] if is_library(value.__module__) else [vars(value)]
            return [*(value.__defaults__ or ()), *named, *own]
        case types.MethodType():
            return [value.__self__, value.__func__]
        case types.BuiltinFunctionType() | types.MethodWrapperType():
            owner = value.__self__
            return [] if isinstance(owner, types.ModuleType | type) else [owner]
        case functools.partial():
            return [value.func, *value.args, value.keywords, vars(value)]
        case functools._lru_cache_wrapper():
            return [value.__wrapped__]
        case weakref.ref():
            return []  # what it refers to is found elsewhere
        case types.MappingProxyType():
            # A class has its attributes in a dict that nobody else can get at.
            return list(value.values()) if "__module__" in value else gc.get_referents(value)
        case tuple():
            return list(tuple.__iter__(value))
        case frozenset():
            return list(frozenset.__iter__(value))
        case _ if isinstance(value, HOLDERS):
            return gc.get_referents(value)
        case np.dtype():
            return [value.metadata]
        case slice():
            return [value.start, value.stop, value.step]
        case contextvars.ContextVar():
            return [*_held_in(contextvars.copy_context(), value), *_held_in(contextvars.Context(), value)]
        case BaseException():
            return [part for part in gc.get_referents(value) if not isinstance(part, types.TracebackType)]
        case _:
            return functions_of(value) or None


def _held_in(context: contextvars.Context, variable: contextvars.ContextVar[Any]) -> list[Any]:
    """What a variable holds in a context, or else by default."""
    try:
        return [context.run(variable.get)]
    except LookupError:
        return []


def data_of(module: types.ModuleType) -> list[tuple[Any, str]]:
    """The global variables of a module that are no functions, classes or modules, with their names."""
    defined = (types.FunctionType, types.BuiltinFunctionType, type, types.ModuleType)
    found = [(value, name) for name, value in vars(module).items() if not name.startswith("__")]
    return [(value, f"{module.__name__}.{name}") for value, name in found if not isinstance(value, defined)]


def parts_in_c(value: Any) -> list[Any]:
    """What an object written in C holds; the code that it belongs to is found elsewhere."""
    return [part for part in gc.get_referents(value) if not isinstance(part, types.ModuleType | types.FrameType | type)]


_KNOWN_BASES = frozenset(
    (
        *(object, list, dict, set, tuple, frozenset, str, int, float, bytes, bytearray, collections.deque),
        *(collections.OrderedDict, collections.defaultdict, np.ndarray, types.SimpleNamespace, threading.local),
        *(functools.partial, weakref.ref, typing.Generic),
    )
)


def is_plain_object(value: Any) -> bool:
    """Whether an object holds nothing but its attributes, and what a builtin type that it is made from has."""
    if isinstance(value, weakref.finalize):
        return False  # it holds what it is called with elsewhere
    return all(
        cls in _KNOWN_BASES or issubclass(cls, BaseException) or _is_made_in_python(cls) for cls in type(value).__mro__
    )


def _is_made_in_python(cls: type) -> bool:
    """Whether a class is made by Python code: one that is written in C has methods of its own that are."""
    return not any(
        isinstance(found, _WRITTEN_IN_C) and found.__objclass__ is cls and name not in ("__dict__", "__weakref__")
        for name, found in vars(cls).items()
    )


_WRITTEN_IN_C = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.GetSetDescriptorType,
    types.ClassMethodDescriptorType,
)


_BY_TEXT = NAMESPACES | {"getattr", "attrgetter", "import_module"}


def names_in(code: types.CodeType) -> Iterator[str]:
    """The names in a function; where it asks for attributes by name, its texts too."""
    yield from code.co_names
    by_text = not _BY_TEXT.isdisjoint(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant)
        elif by_text and isinstance(constant, str) and constant.isidentifier():
            yield constant
