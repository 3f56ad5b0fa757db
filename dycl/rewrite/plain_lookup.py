"""Attributes of objects, without asking methods that their classes have for that: the model's own take note of it."""

import types
from typing import Any

MISSING = object()

_PLAIN = frozenset(
    (
        *(types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType, types.GenericAlias),
        *(types.MethodDescriptorType, types.WrapperDescriptorType, type, list, dict, tuple),
    )
)


def attribute(value: Any, name: str, default: Any = None) -> Any:
    """An attribute of an object, or `default` where only a method of its class might know better."""
    cls = type(value)
    if cls in _PLAIN:
        return getattr(value, name, default)
    for base in cls.__mro__:
        own = base.__dict__
        if "__getattr__" in own or type(own.get("__getattribute__")) is types.FunctionType or base is types.ModuleType:
            break  # a module's own function `__getattr__` is asked by Python itself
    else:
        return getattr(value, name, default)
    try:
        return type.__getattribute__(value, name) if issubclass(cls, type) else object.__getattribute__(value, name)
    except AttributeError:
        return default
