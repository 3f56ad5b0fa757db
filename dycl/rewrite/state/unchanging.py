"""Which values never change: a state has them as they are, or refers to them."""

import contextvars
import datetime
import decimal
import enum
import functools
import itertools
import operator
import re
import sys
import types
from typing import Any

import numpy as np
import torch

from dycl.hcfg.types import Span
from dycl.rewrite.own_code import is_library
from dycl.rewrite.signals import Refused

ATOMS = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    types.NoneType,
    types.EllipsisType,
    types.NotImplementedType,
    range,
    enum.Enum,
    np.generic,
    torch.finfo,
    torch.iinfo,
    operator.itemgetter,
    operator.attrgetter,
    operator.methodcaller,
    Span,
    re.Pattern,
)
"""What a state has as it is."""
_ATOMS_OF_LIBRARIES = frozenset(
    (
        *(decimal.Decimal, datetime.date, datetime.time, datetime.datetime),
        *(datetime.timedelta, datetime.timezone),
    )
)


def is_atom(value: Any) -> bool:
    """Whether a state has this value as it is."""
    if isinstance(value, enum.Enum) and not hasattr(value, "_name_"):
        raise Refused("DY009", "a decision is made while a member of an enumeration is, out of a number of the input")
    if isinstance(value, ATOMS):
        # The fields of the first can be written, and the others have no hash.
        return not isinstance(value, (np.void, torch.finfo, torch.iinfo))
    # What is made from one of these may have attributes, and a decimal that is no number equals nothing.
    return type(value) in _ATOMS_OF_LIBRARIES and not (type(value) is decimal.Decimal and value.is_nan())


TOLD_BY_TEXT = (
    float,
    complex,
    range,
    np.generic,
    operator.itemgetter,
    operator.attrgetter,
    operator.methodcaller,
    *_ATOMS_OF_LIBRARIES,
)
"""Those of them that only their text tells apart exactly."""
_SHARED = (
    type,
    types.ModuleType,
    contextvars.ContextVar,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.GetSetDescriptorType,
    types.ClassMethodDescriptorType,
    types.CodeType,
    types.GenericAlias,
    torch.dtype,
    torch.device,
    torch.layout,
    torch.memory_format,
    torch.finfo,
    torch.iinfo,
    torch._ops.OpOverload,
    torch._ops.OpOverloadPacket,
    np.dtype,
    np.ufunc,
    type(np.mean),
    types.UnionType,
    types.TracebackType,
)


def is_shared(value: Any) -> bool:
    """Whether this is a class, a function of a module or the like: all states refer to the same one."""
    if isinstance(value, (*_SHARED, enum.Enum)):
        return True
    return _is_plain_builtin(value) or _is_importable(value) or _is_constant_of_library(value)


def _is_constant_of_library(value: Any) -> bool:
    """Whether this stands in a library's module, or in a class there: programs compare such objects by identity."""
    home = None if type(value) is object else type(value).__module__
    return (home is None or is_library(home)) and _constants(home, len(sys.modules)).get(id(value)) is value


@functools.lru_cache(maxsize=256)
def _constants(home: str | None, _: int) -> dict[int, Any]:
    """The objects of its own classes that a library's module has; without a name, the bare objects of all libraries."""
    if home is None:
        spaces = [vars(found) for name, found in list(sys.modules.items()) if found is not None and is_library(name)]
        return {id(one): one for space in spaces for one in list(space.values()) if type(one) is object}
    space = vars(sys.modules[home]) if home in sys.modules else {}
    classes = [found for found in space.values() if isinstance(found, type)]
    held = itertools.chain(space.values(), *(vars(cls).values() for cls in classes))
    return {id(one): one for one in held if type(one).__module__ == home}


def _is_importable(value: Any) -> bool:
    """Whether this is the function that stands in its module under its name: it was there before the call."""
    if not isinstance(value, types.FunctionType):
        return False
    if value.__globals__.get(value.__name__) is value:
        return True  # also in a module that is not among the imported ones
    found: Any = sys.modules.get(value.__module__)
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is value


def _is_plain_builtin(value: Any) -> bool:
    """Whether this is a builtin function or class method; a method of a list or tensor belongs to that object."""
    return isinstance(value, types.BuiltinFunctionType) and isinstance(
        value.__self__, types.ModuleType | type | types.NoneType
    )
