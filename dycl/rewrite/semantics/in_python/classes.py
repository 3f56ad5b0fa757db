"""Classes and their objects as plain Python makes them, for when a decision hides in what runs on the way."""

import builtins
from typing import Any

from dycl.rewrite.normalise import class_making, data_model, syntax


def class_made(body: Any, name: str, *bases: Any, **options: Any) -> Any:
    """`class name(*bases, **options)`."""
    kind, names, options, resolved = class_making.prepared(name, bases, options)
    names = class_making.body_run(body, name, names, bases, resolved)
    cell = class_making.cell_in(names)
    made = kind(name, resolved, names, **options)
    class_making.require_filled(cell, name, made)
    return made


def class_called(kind: Any, name: str, bases: Any, names: Any, **options: Any) -> Any:
    """`kind(name, bases, names)`, where `kind` makes classes."""
    if data_model.is_written_in_python(kind, "__new__"):
        made = class_making.noted(kind.__new__(kind, name, bases, names, **options))
    else:
        made = made_by_type(kind, name, bases, names, **options)
    if isinstance(made, kind) and data_model.is_written_in_python(kind, "__init__"):
        kind.__init__(made, name, bases, names, **options)
    return made


def made_by_type(kind: Any, name: str, bases: Any, names: Any, **options: Any) -> Any:
    """`type.__new__(kind, name, bases, names)`."""
    made = class_making.noted(class_making.bare_class(kind, name, bases, names))
    for key, value in class_making.names_to_tell(names):
        try:
            data_model.special(value, "__set_name__")(value, made, key)
        except Exception as error:
            message = f"Error calling __set_name__ on '{type(value).__name__}' instance {key!r} in '{name}'"
            if class_making.ADDS_NOTES:
                error.add_note(message)
                raise
            raise RuntimeError(message) from error
    super(made, made).__init_subclass__(**options)
    return made


def constructed(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """`cls(...)`."""
    if data_model.is_written_in_python(type(cls), "__call__"):
        return data_model.special(cls, "__call__")(cls, *args, **kwargs)
    return constructed_usually(cls, *args, **kwargs)


def constructed_usually(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """`type.__call__(cls, ...)`."""
    made = cls.__new__(cls, *args, **kwargs)
    if data_model.is_object_of(made, cls):
        result = data_model.special(made, "__init__")(made, *args, **kwargs)
        if result is not None:
            raise TypeError(f"__init__() should return None, not '{type(result).__name__}'")
    return made


def instance_of(value: Any, kinds: Any) -> bool:
    """`isinstance(value, kinds)`."""
    if type(value) is kinds:
        return True  # nobody is asked
    if type(kinds) is tuple:
        for kind in kinds:
            if isinstance(value, kind):
                return True
        return False
    return bool(data_model.special(kinds, "__instancecheck__")(kinds, value))


def subclass_of(cls: Any, kinds: Any) -> bool:
    """`issubclass(cls, kinds)`."""
    if type(kinds) is tuple:
        for kind in kinds:
            if issubclass(cls, kind):
                return True
        return False
    return bool(data_model.special(kinds, "__subclasscheck__")(kinds, cls))


SUBSTITUTES: dict[Any, Any] = {syntax.make_class: class_made, type.__new__: made_by_type}
CHECKS: dict[Any, Any] = {builtins.isinstance: instance_of, builtins.issubclass: subclass_of}
