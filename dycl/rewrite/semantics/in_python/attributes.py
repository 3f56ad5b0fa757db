"""How Python reads, sets and deletes an attribute, for when a decision hides in a class's own way of doing so."""

import types
from collections.abc import Container
from typing import Any

from dycl.rewrite.normalise import data_model
from dycl.rewrite.semantics.in_python import classes


def attribute(owner: Any, name: str, *default: Any) -> Any:
    """`getattr(owner, name, default)`."""
    if not default:
        return _read(owner, name)
    try:
        return _read(owner, name)
    except AttributeError:
        return default[0]


def has_attribute(owner: Any, name: str) -> bool:
    """`hasattr(owner, name)`."""
    try:
        _read(owner, name)
    except AttributeError:
        return False
    return True


def _read(owner: Any, name: str) -> Any:
    other = data_model.special(owner, "__getattr__")
    if other is None:
        return _found(owner, name)
    try:
        return _found(owner, name)
    except AttributeError:
        pass  # as if it had never been: what comes next has no context
    try:
        return other(owner, name)
    except AttributeError as error:
        data_model.tell_attribute(error, owner, name)
        raise


def _found(owner: Any, name: str) -> Any:
    if data_model.is_written_in_python(type(owner), "__getattribute__"):
        return data_model.special(owner, "__getattribute__")(owner, name)
    return found_usually(owner, name)


def found_usually(owner: Any, name: str) -> Any:
    """`object.__getattribute__(owner, name)`."""
    descriptor = data_model.descriptor_of(getattr, owner, name)
    if isinstance(descriptor, property) and data_model.receiver(owner, descriptor) is not None:
        if type(descriptor) is property and descriptor.fget is not None:
            return descriptor.fget(owner)
    elif descriptor is not None and data_model.is_written_in_python(type(descriptor), "__get__"):
        kind = owner if data_model.receiver(owner, descriptor) is None else type(owner)
        get = data_model.special(descriptor, "__get__")
        return get(descriptor, data_model.receiver(owner, descriptor), kind)
    return data_model.read_plainly(owner, name)


def set_attribute(owner: Any, name: str, value: Any) -> None:
    """`setattr(owner, name, value)`."""
    if data_model.is_written_in_python(type(owner), "__setattr__"):
        data_model.special(owner, "__setattr__")(owner, name, value)
        return
    descriptor = data_model.descriptor_of(setattr, owner, name)
    if type(descriptor) is property and descriptor.fset is not None:
        descriptor.fset(owner, value)
    else:
        data_model.special(descriptor, "__set__")(descriptor, owner, value)


def delete_attribute(owner: Any, name: str) -> None:
    """`delattr(owner, name)`."""
    if data_model.is_written_in_python(type(owner), "__delattr__"):
        data_model.special(owner, "__delattr__")(owner, name)
        return
    descriptor = data_model.descriptor_of(delattr, owner, name)
    if type(descriptor) is property and descriptor.fdel is not None:
        descriptor.fdel(owner)
    else:
        data_model.special(descriptor, "__delete__")(descriptor, owner)


_ACCESS: dict[Any, Any] = {
    getattr: attribute,
    hasattr: has_attribute,
    setattr: set_attribute,
    delattr: delete_attribute,
}


def for_access(callee: Any, args: tuple[Any, ...], interpreted: Container[types.CodeType]) -> Any:
    """What stands in for reading an attribute or asking a class where a function is interpreted that it runs."""
    if len(args) < 2:
        return None
    for known, substitute in _ACCESS.items():
        if callee is known:
            functions = data_model.functions_of_access(callee, args)
            return substitute if any(function.__code__ in interpreted for function in functions) else None
    for known, substitute in classes.CHECKS.items():
        if callee is known:
            kinds = args[1] if type(args[1]) is tuple else (args[1],)
            name = "__instancecheck__" if known is isinstance else "__subclasscheck__"
            found = [getattr(type(kind), name, None) for kind in kinds]
            has_any = any(isinstance(one, types.FunctionType) and one.__code__ in interpreted for one in found)
            return substitute if has_any else None
    return None
