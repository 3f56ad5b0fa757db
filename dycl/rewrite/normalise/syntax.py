"""The functions that the normal form itself calls: what Python's syntax does, as callables."""

import ast
import builtins
import collections
import importlib
import itertools
import math
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

import torch

from dycl.rewrite.signals import Refused

BINARY: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
IN_PLACE: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: operator.iadd,
    ast.Sub: operator.isub,
    ast.Mult: operator.imul,
    ast.Div: operator.itruediv,
    ast.FloorDiv: operator.ifloordiv,
    ast.Mod: operator.imod,
    ast.Pow: operator.ipow,
    ast.MatMult: operator.imatmul,
    ast.BitAnd: operator.iand,
    ast.BitOr: operator.ior,
    ast.BitXor: operator.ixor,
    ast.LShift: operator.ilshift,
    ast.RShift: operator.irshift,
}
UNARY: dict[type[ast.unaryop], Callable[..., Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}


def contained(item: Any, container: Any) -> Any:
    """`item in container`."""
    return item in container


def not_contained(item: Any, container: Any) -> Any:
    """`item not in container`."""
    return item not in container


COMPARE: dict[type[ast.cmpop], Callable[..., Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: contained,
    ast.NotIn: not_contained,
}
getitem = operator.getitem
setitem = operator.setitem
delitem = operator.delitem


def tells_what_it_contains(container: Any) -> bool:
    """Whether the class of `container` has a `__contains__` of its own, in Python."""
    own = isinstance(getattr(type(container), "__contains__", None), types.FunctionType)
    return own and not isinstance(container, torch.Tensor)


def finds_by_hash(container: Any, item: Any, candidate: Any) -> bool:
    """Whether a container compares nothing of another hash, as a tensor has: it is equal to itself alone there."""
    hashes = isinstance(container, set | frozenset | dict | type({}.keys()))
    return hashes and any(isinstance(value, torch.Tensor) for value in (item, candidate))


def goes_its_own_way(container: Any) -> bool:
    """Whether a class made from a container gives other items than it holds: Python's own functions see those alone."""
    if not isinstance(container, list | tuple | dict):
        return False
    names = ("__iter__", "__len__", "__getitem__", "keys", "items")
    return any(isinstance(getattr(type(container), name, None), types.FunctionType) for name in names)


def own_entries(container: dict[Any, Any]) -> dict[Any, Any]:
    """What a dict holds, whatever its class has made of it."""
    return dict(dict.items(container))


def own_items(container: Any) -> list[Any]:
    """What a sequence holds, whatever its class has made of indexing and iteration."""
    kind: Any = next(kind for kind in (list, tuple, collections.deque, object) if isinstance(container, kind))
    return [*container] if kind is object else [*kind.__iter__(container)]


def index_message(container: Any) -> str:
    """What Python says of an index that is out of range."""
    if isinstance(container, str):
        return "string index out of range"
    named = isinstance(container, list | tuple | collections.deque)
    return f"{type(container).__name__} index out of range" if named else "index out of range"


def empty_message(function: Callable[[Any], Any]) -> str:
    """What this Python says of `min(())` or `max(())`."""
    try:
        function(())
    except ValueError as error:
        return str(error)
    raise AssertionError(function)


def require_options(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Raise what `min` or `max` says of arguments that do not go together."""
    if len(args) != 1 or options.keys() - {"key", "default"}:
        function(*(0 for _ in args), **dict.fromkeys(options))


def require_slice(*bounds: Any) -> None:
    """Raise what `itertools.islice` says of bounds that are none; those that only the input determines are numbers."""
    given: list[Any] = [bound if isinstance(bound, int | str | float | None) else 1 for bound in bounds]
    itertools.islice((), *given)


# From Python 3.12 on, `sum` of floats adds in the end what rounding lost on the way.
SUMS_EXACTLY = sys.version_info >= (3, 12)


def loses(total: Any, item: Any) -> bool:
    """Whether `sum` takes note of what rounding loses where it adds these."""
    return SUMS_EXACTLY and type(total) is float and type(item) is float


def rounding_error(left: Any, right: Any) -> Any:
    """What `left + right` loses of the exact sum: a float itself."""
    total = left + right
    of_right = total - left
    return (left - (total - of_right)) + (right - of_right)


def summed(total: Any, lost: Any) -> Any:
    """The result of `sum`, with what rounding lost unless that is endless."""
    return total + lost if lost != 0 and math.isfinite(lost) and isinstance(total, float) else total


def make_tuple(*items: Any) -> tuple[Any, ...]:
    """`(a, b, *rest)`."""
    return items


def make_list(*items: Any) -> list[Any]:
    """`[a, b, *rest]`."""
    return list(items)


def make_set(*items: Any) -> set[Any]:
    """`{a, b, *rest}`."""
    return set(items)


def make_class(body: Any, name: str, *bases: Any, **options: Any) -> Any:
    """`class name(*bases, **options)`."""
    return builtins.__build_class__(body, name, *bases, **options)


def require_pythons_super(callee: Any) -> None:
    """Refuse what only has the name of `super`: Python gives it no class and no object."""
    if callee is not super:
        raise Refused("DY002", "something else than Python's own is called `super`")


def missing_for_super(code: types.CodeType) -> str | None:
    """What `super()` misses in a function; None if it has all."""
    if not code.co_argcount:
        return "no arguments"
    return None if "__class__" in code.co_freevars else "__class__ cell not found"


def no_super(missing: str) -> Any:
    """`super()` where it cannot know whose it is."""
    raise RuntimeError(f"super(): {missing}")


def mapping(source: Any) -> Any:
    """What is spread in `{**source}`."""
    if not hasattr(source, "keys"):
        raise TypeError(f"'{type(source).__name__}' object is not a mapping")
    return source


def empty(cell: Any) -> None:
    """`del name` of a variable that an inner function uses."""
    del cell.cell_contents


def catches(error: BaseException, kinds: Any) -> bool:
    """Whether `except kinds` takes an error."""
    classes = kinds if isinstance(kinds, tuple) else (kinds,)
    if not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in classes):
        raise TypeError("catching classes that do not inherit from BaseException is not allowed")
    return issubclass(type(error), classes)


def is_error_class(value: Any) -> bool:
    """Whether `raise value` makes an object first."""
    return isinstance(value, type) and issubclass(value, BaseException)


def made_from(cls: Any, made: Any) -> Any:
    """What `raise cls` has made, if that can be raised."""
    if not isinstance(made, BaseException):
        kind = type(made).__name__
        raise TypeError(f"calling {cls!r} should have returned an instance of BaseException, not <class '{kind}'>")
    return made


def active_error() -> Any:
    """The error that is being handled, which `raise` alone raises again."""
    raise RuntimeError("No active exception to reraise")


def throw(generator: Any, error: BaseException) -> Any:
    """`generator.throw(error)`."""
    return generator.throw(error)


def send_to(iterator: Any, value: Any) -> Any:
    """`iterator.send(value)`, as `yield from` does it; only the machine can do it for a generator."""
    if not hasattr(iterator, "send"):
        raise AttributeError(f"'{type(iterator).__name__}' object has no attribute 'send'")
    return iterator.send(value)


def throw_into(iterator: Any, error: BaseException) -> Any:
    """`iterator.throw(error)`, as `yield from` does it; what is no generator is just left."""
    raise error


_MISSING = object()


def iterated(source: Any) -> Any:
    """What a loop goes through: `source`, or the iterator that its class makes in Python."""
    cls = type(source)
    own = cls.__module__.startswith("dycl.") or hasattr(cls, "__getitem__")
    if getattr(cls, "__iter__", _MISSING if own else None) is None:
        raise TypeError(f"'{cls.__name__}' object is not iterable")
    return source


def iterates_itself(value: Any) -> bool:
    """Whether a class says in Python how to go through its objects."""
    own = getattr(type(value), "__iter__", None)
    by_index = getattr(type(value), "__getitem__", None) if not hasattr(type(value), "__iter__") else None
    return _is_users(own) or _is_users(by_index)


def gives_items_itself(value: Any) -> bool:
    """Whether the class of an iterator says in Python what comes next."""
    return _is_users(getattr(type(value), "__next__", None))


def _is_users(method: Any) -> bool:
    """Whether a method is written in Python, and neither PyTorch's nor DyCL's own."""
    return isinstance(method, types.FunctionType) and method.__module__.partition(".")[0] not in ("torch", "dycl")


def is_iterator(value: Any) -> bool:
    """Whether this gives its items itself, each once: somebody else may ask it for them, too."""
    return hasattr(type(value), "__next__") and not isinstance(value, torch.Tensor)


def require_iterator(value: Any) -> Any:
    """What `__iter__` gave, which must be an iterator."""
    if not hasattr(type(value), "__next__") and not type(value).__module__.startswith("dycl."):
        raise TypeError(f"iter() returned non-iterator of type '{type(value).__name__}'")
    return value


def is_generator(iterator: Any) -> bool:
    """Whether values can be sent to an iterator."""
    return isinstance(iterator, types.GeneratorType) and hasattr(type(iterator), "send")


def returned(iterator: Any) -> Any:
    """What a generator that has come to its end returned: the value of `yield from`."""
    return None


def loop_item(iterator: Any, item: Any) -> Any:
    """What a loop's variable gets: the item that its iterator gave."""
    return item


class KnownNumber(int):
    """A number that the program was split on; states that differ in it do not share a block."""


def known_index(index: Any, size: int, error: str) -> int:
    """A position in a sequence of `size` items that is known from here on: one way of the program for each."""
    place = operator.index(index)
    if not -size <= place < size:
        raise IndexError(error)
    return place % size


def known_bound(bound: Any, size: int) -> Any:
    """A bound of a slice of `size` items that is known from here on."""
    return bound


def known_key(key: Any, what: str) -> Any:
    """A key that is known from here on."""
    return key


def plain(key: Any) -> Any:
    """A key as the program itself would have it."""
    return int(key) if isinstance(key, KnownNumber) else key


def refuse(identifier: str, reason: str) -> None:
    """End this path of the compilation with a problem."""
    raise Refused(identifier, reason)


def whole_power(base: Any, exponent: Any) -> Any:
    """`base ** exponent`, where the exponent is not negative."""
    return base**exponent


def join(*parts: Any) -> str:
    """An f-string of its parts."""
    return "".join(parts)


def formatted(value: Any, conversion: int, style: str) -> str:
    """`{value!r:style}` inside an f-string."""
    conversions: dict[int, Callable[[Any], str]] = {ord("s"): str, ord("r"): repr, ord("a"): ascii}
    convert = conversions.get(conversion)
    return format(value if convert is None else convert(value), style)


def are_one(item: Any, value: Any) -> bool:
    """Whether two values are one object, which containers ask before they compare."""
    if item is not value and hasattr(type(item), "require_told_apart"):
        item.require_told_apart(value)
    return item is value


def import_module(name: str, whole: bool) -> Any:
    """`import a.b` (the top package) or `import a.b as c` (the module itself, `whole`)."""
    module = importlib.import_module(name)
    return module if whole else builtins.__import__(name)


def import_from(module: str, name: str, level: int, package: str | None) -> Any:
    """`from module import name`."""
    source = builtins.__import__(module, {"__package__": package or ""}, None, (name,), level)
    if hasattr(source, name):
        return getattr(source, name)
    if f"{source.__name__}.{name}" in sys.modules:
        return sys.modules[f"{source.__name__}.{name}"]
    path = getattr(source, "__file__", None)
    told = f"cannot import name {name!r} from {source.__name__!r} ({path or 'unknown location'})"
    raise ImportError(told, name=source.__name__, path=path)
