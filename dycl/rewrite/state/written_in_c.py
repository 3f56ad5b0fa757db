"""Objects of Python's own classes that keep their contents where no attribute shows them: written down, and made again.

Numbers in `known` are no part of the skeleton that widening goes through: such objects take known ones alone.
"""

import gc
import io
import itertools
import threading
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from dycl.rewrite.signals import Refused
from dycl.rewrite.state.pinned import Pinned
from dycl.rewrite.state.skeleton import PinnedNode, ReferenceNode, Skeleton


class CopiedNode(NamedTuple):
    """An object of a class that is written in C: what is known of it, and what it holds."""

    cls: Any
    known: tuple[Any, ...]
    parts: tuple[Skeleton, ...]
    tag: str = "copied"


Freeze = Callable[[Any], Skeleton]
Thaw = Callable[[Skeleton], Any]
_VIEWS: dict[Any, Callable[[dict[Any, Any]], Any]] = {
    type({}.keys()): dict.keys,
    type({}.values()): dict.values,
    type({}.items()): dict.items,
}
_LOCK, _REENTRANT = type(threading.Lock()), type(threading.RLock())
_BACKWARDS: type = type(reversed([]))


def frozen_copy(value: Any, freeze: Freeze, pinned: Pinned) -> CopiedNode | None:
    """What must be written down to make an object again; None if it is of no such class."""
    cls = type(value)
    if cls is bytearray:
        return CopiedNode(cls, (bytes(value),), ())
    if cls in _VIEWS or cls is types.MappingProxyType:
        (owner,) = gc.get_referents(value)
        return CopiedNode(cls, (), (freeze(owner if cls in _VIEWS else _shown(owner, pinned)),))
    if cls in (io.StringIO, io.BytesIO):
        *known, attributes = value.__getstate__()
        return CopiedNode(cls, tuple(known), (freeze(attributes),))
    if cls is _LOCK:
        return CopiedNode(cls, (value.locked(),), ())
    if cls is _REENTRANT:
        return CopiedNode(cls, (_times_held(value),), ())
    if cls is _BACKWARDS:
        _, (items,), *place = value.__reduce__()
        return CopiedNode(cls, tuple(place), (freeze(items),))
    if cls is itertools.count:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            numbers = value.__reduce__()[1]
        return CopiedNode(cls, (), tuple(map(freeze, numbers)))
    if cls is weakref.WeakKeyDictionary and all(isinstance(key, type) or key in pinned for key in value):
        # Nothing that the program does is the end of a class, or of what was there before.
        return CopiedNode(cls, (), tuple([freeze(part) for item in value.items() for part in item]))
    if isinstance(value, types.MemberDescriptorType) and pinned.was_made(value.__objclass__):
        return CopiedNode(cls, (value.__name__,), (freeze(value.__objclass__),))
    return None


def thawed_copy(node: CopiedNode, thaw: Thaw) -> Any:
    """An object like the one that was written down."""
    cls, known = node.cls, node.known
    parts = [thaw(part) for part in node.parts]
    if cls in _VIEWS:
        return _VIEWS[cls](*parts)
    if cls in (io.StringIO, io.BytesIO):
        made = cls()
        made.__setstate__((*known, *parts))
        return made
    if cls is types.MappingProxyType:
        return vars(parts[0]) if isinstance(parts[0], type) else cls(parts[0])
    if cls in (_LOCK, _REENTRANT):
        lock: Any = threading.Lock() if cls is _LOCK else threading.RLock()
        for _ in range(known[0]):
            lock.acquire()
        return lock
    if cls is _BACKWARDS:
        backwards: Any = iter(reversed(parts[0]))
        if known:
            backwards.__setstate__(known[0])
        else:
            list(backwards)
        return backwards
    if cls is itertools.count:
        return itertools.count(*parts)
    if cls is weakref.WeakKeyDictionary:
        return cls(dict(zip(parts[::2], parts[1::2], strict=True)))
    if cls is types.MemberDescriptorType:
        return vars(parts[0])[known[0]]
    return cls(*known)


def _times_held(lock: Any) -> int:
    """How often the program has acquired a lock."""
    if not lock._is_owned():
        return 0
    state = lock._release_save()
    lock._acquire_restore(state)
    return int(state[0])


def _shown(owner: Any, pinned: Pinned) -> Any:
    """What a mapping that cannot be changed shows: the class whose names they are, or another mapping."""
    described = getattr(owner.get("__dict__"), "__objclass__", None) if isinstance(owner, dict) else None
    if described is not None and gc.get_referents(vars(described))[0] is owner:
        return described
    if isinstance(owner, dict) and "__module__" in owner and "__doc__" in owner and owner not in pinned:
        raise Refused("DY009", "the names of a class are alive across a decision", "ask the class for them")
    return owner


def require_no_proxy(value: Any) -> None:
    """Refuse a proxy, which says that it is of the class of the object behind it."""
    if type(value) in weakref.ProxyTypes:
        raise Refused("DY009", "a weak proxy is alive across a decision")


def frozen_reference(value: weakref.ReferenceType[Any], pinned: Pinned) -> ReferenceNode:
    """A weak reference: how long an object lives that the call made is not kept track of."""
    owner = value()
    if type(value) is not weakref.ref or value.__callback__ is not None or owner is None:
        raise Refused("DY009", "a weak reference to nothing any more, or with a callback, is alive across a decision")
    if owner not in pinned:
        reason = "a weak reference to an object that the call made is alive across a decision"
        raise Refused("DY009", reason, "keep the object itself")
    return ReferenceNode(PinnedNode(id(owner)))
