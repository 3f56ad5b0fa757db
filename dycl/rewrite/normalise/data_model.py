"""The data model: which special method an operator or a builtin finds."""

import collections
import functools
import inspect
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

_MISSING = object()


def special(value: Any, name: str) -> Any:
    """The special method of this name that the type of `value` has, to be called with `value` first."""
    # Not that of the class of its class.
    has_any = any(name in vars(cls) for cls in type(value).__mro__)
    found = getattr(type(value), name, _MISSING) if has_any else _MISSING
    if found is None and name != "__hash__":
        return functools.partial(_forbidden, name)
    return None if found is _MISSING else found


def _forbidden(name: str, value: Any, *args: Any) -> Any:
    """A special method that a class sets to None: it will not have it, though others would."""
    kinds = {"__contains__": "a container", "__reversed__": "reversible", "__iter__": "iterable"}
    if name in kinds:
        raise TypeError(f"'{type(value).__name__}' object is not {kinds[name]}")
    raise TypeError("'NoneType' object is not callable")


def type_name(cls: type) -> str:
    """The name of a type in Python's own messages: those of types written in C have the module in it."""
    is_made = bool(cls.__flags__ & _HEAP_TYPE) or cls.__module__ == "builtins"
    return cls.__name__ if is_made else f"{cls.__module__}.{cls.__name__}"


_HEAP_TYPE = 1 << 9


def wrong_format(cls: type, given: type) -> str:
    """What this Python says where `__format__` gives something that is no text."""
    return _WRONG_FORMAT.replace("_Unformatted", type_name(cls)).replace("int", type_name(given))


class _Unformatted:
    def __format__(self, style: str) -> Any:
        return 0


def _message(call: Callable[[], object]) -> str:
    try:
        call()
    except TypeError as error:
        return str(error)
    raise AssertionError("a wrong result is taken")


_WRONG_FORMAT = _message(lambda: format(_Unformatted()))


def number_method(value: Any, name: str) -> Any:
    """The special method of a number's kind: sequences join and repeat themselves after numbers have been asked."""
    return None if is_sequence_operation(value, name) else special(value, name)


def is_sequence_operation(value: Any, name: str) -> bool:
    """Whether this is how a sequence joins or repeats itself, written in C."""
    joins = name in ("__add__", "__mul__", "__rmul__", "__iadd__", "__imul__")
    found = getattr(type(value), name, None)
    return joins and any(found is getattr(kind, name, None) for kind in _SEQUENCES if found is not None)


_SEQUENCES = (list, tuple, str, bytes, bytearray, collections.deque)


def is_looked_through(container: Any) -> bool:
    """Whether a sequence of Python's own compares one item after the other to tell whether it has one."""
    own = getattr(type(container), "__contains__", None)
    return own in (list.__contains__, tuple.__contains__, collections.deque.__contains__)


def sequence_operation(name: str, left: Any, right: Any) -> Any:
    """A sequence joined with another, or repeated."""
    return getattr(operator, name)(left, right)


def same_type(left: Any, right: Any) -> bool:
    """Whether two operands are of one type: then the second is not asked."""
    return type(left) is type(right)


def is_subclass_of(right: Any, left: Any) -> bool:
    """Whether the second operand's type is made from the first's: then it is asked first."""
    return type(left) in type(right).__mro__


def is_overridden(left: Any, right: Any, reflected: str) -> bool:
    """Whether the second operand is asked first: its type is made from the first's and has its own way."""
    own: Any = getattr(type(left), reflected, None)
    return is_subclass_of(right, left) and getattr(type(right), reflected, None) is not own


def comparison(value: Any, name: str) -> Any:
    """How a value compares itself, if it has a way of its own."""
    found = special(value, name)
    return None if found is getattr(object, name) else found


def says_only_what_it_equals(value: Any) -> bool:
    """Whether a class has `__eq__` but no `__ne__`."""
    cls: Any = type(value)
    return bool(cls.__ne__ is object.__ne__ and cls.__eq__ is not object.__eq__)


def tells_its_length(value: Any) -> bool:
    """Whether a class says in Python how many items there will be."""
    ways = [getattr(type(value), name, None) for name in ("__len__", "__length_hint__")]
    own = [way for way in ways if isinstance(way, types.FunctionType)]
    return any(way.__module__.partition(".")[0] not in ("torch", "dycl") for way in own)


def is_object_of(value: Any, cls: type) -> bool:
    """Whether a value is of this class itself, whatever it says of its class."""
    return cls in type(value).__mro__


def is_written_in_python(cls: Any, name: str) -> bool:
    """Whether a class has a special method in Python."""
    return isinstance(getattr(cls, name, None), types.FunctionType)


_OWN_WAYS = {
    getattr: ("__getattribute__", "__getattr__", "__get__", "fget"),
    hasattr: ("__getattribute__", "__getattr__", "__get__", "fget"),
    setattr: ("__setattr__", "", "__set__", "fset"),
    delattr: ("__delattr__", "", "__delete__", "fdel"),
}


def functions_of_access(callee: Any, args: tuple[Any, ...]) -> Iterator[types.FunctionType]:
    """The functions in Python that may run when an attribute is read, set or deleted."""
    owner, name = args[0], args[1]
    whole, missing, by_descriptor, by_property = _OWN_WAYS[callee]
    found = [getattr(type(owner), way, None) for way in (whole, missing) if way]
    descriptor = descriptor_of(callee, owner, name)
    if isinstance(descriptor, property):
        found.append(getattr(descriptor, by_property))
    elif descriptor is not None:
        found.append(getattr(type(descriptor), by_descriptor, None))
    return (function for function in found if isinstance(function, types.FunctionType))


def descriptor_of(callee: Any, owner: Any, name: Any) -> Any:
    """What stands in a class by the name of an attribute and has its own way of being read, set or deleted."""
    if not isinstance(name, str):
        return None
    found = _standing_in(type(owner), name)
    changes = hasattr(type(found), "__set__") or hasattr(type(found), "__delete__")
    if callee is setattr or callee is delattr:
        return found if changes else None
    if found is not _MISSING and changes and hasattr(type(found), "__get__"):
        return found
    if isinstance(owner, type):
        own = _standing_in(owner, name)
        if own is not _MISSING:
            return own if hasattr(type(own), "__get__") else None
    elif name in _held(owner):
        return None
    return found if hasattr(type(found), "__get__") else None


def _standing_in(cls: type, name: str) -> Any:
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), _MISSING)


def _held(owner: Any) -> Any:
    held = inspect.getattr_static(owner, "__dict__", None)
    return object.__getattribute__(owner, "__dict__") if held is not None else ()


def read_plainly(owner: Any, name: str) -> Any:
    """`owner.name` as Python's own classes read it."""
    return (type if isinstance(owner, type) else object).__getattribute__(owner, name)


def receiver(owner: Any, descriptor: Any) -> Any:
    """What a descriptor is read of: nothing if it stands in the class that is asked."""
    if not isinstance(owner, type):
        return owner
    standing = [found for base in owner.__mro__ for found in vars(base).values()]
    return None if any(found is descriptor for found in standing) else owner


def missing_way(container: Any, key: Any) -> Any:
    """How a class made from `dict` answers for a key that it does not have."""
    own: Any = type(container)
    if own.__getitem__ is not dict.__getitem__ or dict.__contains__(container, key):
        return None
    return getattr(own, "__missing__", None)


def is_plain_container(value: Any) -> bool:
    """Whether the text of a container is made of the texts of its items."""
    return type(value) in (list, tuple, dict)


def tell_attribute(error: AttributeError, owner: Any, name: str) -> None:
    """Let an error say which attribute of what was asked for, unless it does already."""
    if error.name is None and error.obj is None:
        error.name, error.obj = name, owner
