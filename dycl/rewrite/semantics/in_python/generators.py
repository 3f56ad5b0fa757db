"""What is done with generators, as plain Python: closing them, throwing into them, and going through all they give."""

import collections
import functools
import math
import operator
from typing import Any

from dycl.rewrite.normalise import syntax
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.semantics.in_python import filling


def closed(generator: Any) -> None:
    """`generator.close()`."""
    try:
        syntax.throw(generator, GeneratorExit())
    except (GeneratorExit, StopIteration):
        return
    raise RuntimeError("generator ignored GeneratorExit")


def thrown_into(iterator: Any, error: BaseException) -> Any:
    """An error that is thrown into a generator while it waits in `yield from iterator`."""
    if syntax.is_generator(iterator):
        if isinstance(error, GeneratorExit):
            closed(iterator)
            raise error
        return syntax.throw(iterator, error)
    if isinstance(error, GeneratorExit):
        try:
            close = getattr(iterator, "close", None)
        except Exception:
            close = None  # Python prints this error, and goes on
        if close is not None:
            close()
        raise error
    throw = getattr(iterator, "throw", None)
    if throw is None:
        raise error
    return throw(error)


def called_with_lists(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call that goes through all that its arguments give, with lists in the place of generators."""
    return callee(*[_listed(value) for value in args], **kwargs)


def _listed(value: Any) -> Any:
    if not syntax.is_generator(value):
        return value
    items = []
    for item in value:
        items.append(item)
    return items


def one_at_a_time(callee: Any, args: tuple[Any, ...]) -> Any:
    """What stands in for a builtin that fills a container with what a generator gives, while that may look at it."""
    for function, name, kind, substitute in _IN_PLACE:
        if callee is function and isinstance(args[0], kind):
            return substitute if getattr(type(args[0]), name) is getattr(kind, name) else None
    owner, name = attribute(callee, "__self__"), attribute(callee, "__name__", "")
    found = next((table.get(name) for kind, table in _FILLING if isinstance(owner, kind)), None)
    return None if found is None else functools.partial(found, owner)


_IN_PLACE: tuple[tuple[Any, str, type, Any], ...] = (
    (operator.iadd, "__iadd__", list, filling.added),
    (operator.iadd, "__iadd__", collections.deque, filling.added),
    (operator.ior, "__ior__", dict, filling.updated_in_place),
)
_FILLING: tuple[tuple[type, dict[str, Any]], ...] = (
    (dict, {"update": filling.updated}),
    (set, {"update": filling.with_items, "difference_update": filling.without_items}),
)


def keeps(callee: Any, args: tuple[Any, ...]) -> bool:
    """Whether a builtin keeps a generator that it gets as it is, where a container holds it from now on."""
    if callee is operator.setitem and len(args) == 3:
        container, key, _ = args
        return isinstance(container, _CONTAINERS) and not isinstance(key, slice) and not syntax.is_generator(key)
    if callee is collections.OrderedDict or attribute(callee, "__name__", "") == "update":
        # What has a name is kept, what has none is gone through.
        return not any(map(syntax.is_generator, args))
    owner, described = attribute(callee, "__self__"), attribute(callee, "__objclass__")
    return (isinstance(owner, _KEEPING) or described in _KEEPING) and not consumes(callee, args)


_CONTAINERS = (list, dict, collections.deque)
_KEEPING = (list, dict, set)


def consumes(callee: Any, args: tuple[Any, ...]) -> bool:
    """Whether a builtin goes through all that it gets before it does anything else that could be noticed."""
    if callee is operator.setitem and len(args) == 3:
        return isinstance(args[0], list | bytearray) and isinstance(args[1], slice)
    if any(callee is kind for kind in (frozenset, bytes, bytearray, collections.deque, collections.OrderedDict)):
        return True
    if any(callee is function for function in (math.fsum, math.prod)):
        return True
    if isinstance(callee, type) and _is_filled_by_python(callee):
        return True
    owner, name = attribute(callee, "__self__"), attribute(callee, "__name__", "")
    return any(isinstance(owner, kind) and name in names for kind, names in _CONSUMING_METHODS)


def _is_filled_by_python(cls: Any) -> bool:
    """Whether a class is made from one of Python's containers, and leaves it to that one what its objects hold."""
    kinds: tuple[Any, ...] = (list, set, frozenset, tuple, collections.deque)
    kind: Any = next((kind for kind in kinds if issubclass(cls, kind)), None)
    if kind is None or type(cls) is not type:
        return False
    return all(getattr(cls, name) is getattr(kind, name) for name in ("__init__", "__new__"))


_OF_SETS = ("union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint")
_CONSUMING_METHODS: tuple[tuple[type, tuple[str, ...]], ...] = (
    (set, (*_OF_SETS, "intersection_update", "symmetric_difference_update")),
    (frozenset, _OF_SETS),
    (collections.deque, ("extend", "extendleft")),
)
