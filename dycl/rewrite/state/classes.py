"""Classes that the program makes during its call: each state has its own, as it has its own lists.

A class is taken apart to its bases and what stands in it. It is put together again without asking anybody else: no
metaclass, no `__init_subclass__` and no `__set_name__` runs a second time.
"""

import abc
import types
from collections.abc import Callable
from typing import Any

from dycl.rewrite.normalise import class_making
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.class_nodes import ClassNode, WrapperNode
from dycl.rewrite.state.skeleton import Skeleton

_MADE_BY_PYTHON = frozenset(("__dict__", "__weakref__", "_abc_impl", "__abstractmethods__"))
# What a class may say of its objects, though of itself it means something else.
_OF_TYPES = frozenset(("__class__", "__name__", "__qualname__", "__bases__", "__mro__"))
_PLAIN = (int, float, complex, str, bytes)
_WRAPPERS = (staticmethod, classmethod, property)


def plain_base(cls: type) -> type | None:
    """Which of Python's numbers and texts a class is made from, if it is one."""
    return next((base for base in cls.__mro__ if base in _PLAIN), None)


def plain_value(value: Any) -> Any:
    """The number or text of Python's own that an object is made from, whatever its class says that it is."""
    match value:
        case int():
            return int.__pos__(value)
        case float():
            return float.__pos__(value)
        case complex():
            return complex.__pos__(value)
        case str():
            return str.__str__(value)
        case _:
            return bytes.__getitem__(value, slice(None))


def builtin_maker(cls: type) -> Any:
    """The `__new__` of Python's own that makes the objects of a class in the end."""
    makers = (vars(base).get("__new__") for base in cls.__mro__)
    return next(maker for maker in makers if isinstance(maker, types.BuiltinMethodType))


def require_plain_class(cls: type) -> None:
    """Refuse a class that could not be made again without anybody noticing."""
    reason = f"the class `{cls.__name__}`, made during the call, is alive across a decision and cannot be copied"
    if not _OF_TYPES.isdisjoint(vars(cls)) or type(cls).mro is not type.mro:
        raise Refused("DY009", reason)
    if isinstance(cls, abc.ABCMeta) and _registered(cls):
        raise Refused("DY009", reason)


def _registered(cls: type) -> Any:
    """The classes that were registered with an abstract one."""
    return abc._get_dump(cls)[0]  # type: ignore[attr-defined]


def frozen_class(cls: type, freeze: Callable[[Any], Skeleton]) -> ClassNode:
    """A class as what it is made of."""
    require_plain_class(cls)
    own = {name: value for name, value in vars(cls).items() if not _is_place(name, value)}
    slots = own.pop("__slots__", None)
    kind, bases = freeze(type(cls)), tuple([freeze(base) for base in cls.__bases__])
    values = tuple([freeze(value) for value in own.values()])
    return ClassNode(kind, cls.__name__, bases, _names(slots), (*own, cls.__qualname__), values)


def thawed_wrapper(cls: Any, parts: list[Any], attributes: dict[str, Any]) -> Any:
    """A method of a class, or a property; nothing of a class of the program's own is asked."""
    base: Any = next(base for base in _WRAPPERS if issubclass(cls, base))
    made = base.__new__(cls)
    base.__init__(made, *parts)
    if hasattr(made, "__dict__"):
        vars(made).clear()
        vars(made).update(attributes)
    return made


def is_partial(cls: type) -> bool:
    """Whether this is `functools.partial`, written in C, or a class made from it."""
    return any(base.__name__ == "partial" and base.__module__ == "functools" for base in cls.__mro__) and (
        builtin_maker(cls) is not object.__new__
    )


def _is_place(name: str, value: Any) -> bool:
    """Whether Python puts this into a class by itself."""
    return name in _MADE_BY_PYTHON or isinstance(value, types.MemberDescriptorType)


def _names(slots: Any) -> Any:
    return slots if slots is None or isinstance(slots, str) else tuple(slots)


def empty_class(node: ClassNode, thaw: Callable[[Skeleton], Any]) -> type:
    """A class of these bases in which nothing stands yet: it may stand in itself."""
    kind, bases = thaw(node.kind), tuple([thaw(base) for base in node.bases])
    *names, qualname = node.names
    namespace: dict[str, Any] = dict.fromkeys(names)
    if node.slots is not None:
        namespace["__slots__"] = node.slots
    namespace["__qualname__"] = qualname
    with class_making.untold(bases):
        made: type = type.__new__(kind, node.name, bases, namespace)
    return made


def fill_class(cls: type, node: ClassNode, thaw: Callable[[Skeleton], Any]) -> None:
    """Put into a class what stands in it."""
    for name, value in zip(node.names[:-1], node.values, strict=True):
        type.__setattr__(cls, name, thaw(value))
    if isinstance(cls, abc.ABCMeta):
        abc._abc_init(cls)  # type: ignore[attr-defined]


def frozen_wrapper(value: Any, freeze: Callable[[Any], Skeleton]) -> WrapperNode:
    """A method of a class, or a property, as what it was made of."""
    parts = (value.fget, value.fset, value.fdel) if isinstance(value, property) else (value.__func__,)
    if type(value) is property:
        parts = (*parts, value.__doc__)
    held = attribute(value, "__dict__", {})
    return WrapperNode(
        type(value), tuple([freeze(part) for part in parts]), tuple(held), tuple(map(freeze, held.values()))
    )


def defined_by(method: types.BuiltinMethodType | types.MethodWrapperType) -> type | None:
    """The class that has a bound method written in C: `super().append` is not what the object's own class has."""
    for base in type(method.__self__).__mro__:
        found: Any = vars(base).get(method.__name__)
        in_c = isinstance(found, types.MethodDescriptorType | types.WrapperDescriptorType)
        if in_c and found.__get__(method.__self__) == method:
            return base
    return None


def own_dict(value: Any) -> dict[str, Any] | None:
    """The dict of an object's attributes; a partial call has none until it is asked for, which Python can tell."""
    is_bare = is_partial(type(value)) and value.__reduce__()[2][3] is None
    return None if is_bare else attribute(value, "__dict__")
