"""The functions that the normal form itself calls: what Python's syntax does, as callables."""

import ast
import builtins
import collections
import contextlib
import importlib
import math
import operator
import sys
import types
import warnings
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


def index_message(container: Any) -> str:
    """What Python says of an index that is out of range."""
    return (
        f"{type(container).__name__} index out of range"
        if isinstance(container, list | tuple)
        else "index out of range"
    )


def empty_message(function: Callable[[Any], Any]) -> str:
    """What this Python says of `min(())` or `max(())`."""
    try:
        function(())
    except ValueError as error:
        return str(error)
    raise AssertionError(function)


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


def mapping(source: Any) -> Any:
    """What is spread in `{**source}`."""
    if not hasattr(source, "keys"):
        raise TypeError(f"'{type(source).__name__}' object is not a mapping")
    return source


def spread(source: Any) -> Any:
    """What is spread over several variables in `a, b = source`."""
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


def active_error() -> Any:
    """The error that is being handled, which `raise` alone raises again."""
    raise RuntimeError("No active exception to reraise")


def throw(generator: Any, error: BaseException) -> Any:
    """`generator.throw(error)`."""
    return generator.throw(error)


def send_to(iterator: Any, value: Any) -> Any:
    """`iterator.send(value)`, as `yield from` does it; only the machine can do it for a generator."""
    raise AttributeError(f"'{type(iterator).__name__}' object has no attribute 'send'")


def throw_into(iterator: Any, error: BaseException) -> Any:
    """`iterator.throw(error)`, as `yield from` does it; what is no generator is just left."""
    raise error


def is_generator(iterator: Any) -> bool:
    """Whether values can be sent to an iterator."""
    return isinstance(iterator, types.GeneratorType)


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


def import_module(name: str, whole: bool) -> Any:
    """`import a.b` (the top package) or `import a.b as c` (the module itself, `whole`)."""
    module = importlib.import_module(name)
    return module if whole else builtins.__import__(name)


def import_from(module: str, name: str, level: int, package: str | None) -> Any:
    """`from module import name`."""
    source = importlib.import_module("." * level + module, package)
    if hasattr(source, name):
        return getattr(source, name)
    return importlib.import_module(f"{source.__name__}.{name}")


# Context managers that change nothing a compiled program could notice.
_INERT: tuple[type, ...] = (
    torch.no_grad,
    torch.enable_grad,
    torch.inference_mode,
    torch.set_grad_enabled,
    torch.autograd.profiler.record_function,
    torch.autograd.profiler.profile,
    warnings.catch_warnings,
    contextlib.nullcontext,
    contextlib.suppress,
)


def _is_inert(manager: Any) -> bool:
    off = isinstance(manager, torch.autocast) and not manager._enabled
    return off or isinstance(manager, _INERT)


def is_made_in_python(manager: Any) -> bool:
    """Whether a context manager's methods are Python code that changes nothing but the program's own objects."""
    made = isinstance(getattr(type(manager), "__enter__", None), types.FunctionType)
    return made and not _is_inert(manager) and type(manager).__module__.partition(".")[0] != "torch"


def enter_context(manager: Any) -> Any:
    """Enter a `with` block; managers that a compiled program cannot notice are left alone."""
    if isinstance(manager, contextlib.nullcontext):
        return manager.enter_result
    if isinstance(manager, contextlib.suppress):
        return None
    if _is_inert(manager):
        return manager
    if not is_made_in_python(manager):
        raise Refused("DY002", f"the context manager `{type(manager).__name__}` changes something outside the program")
    return type(manager).__enter__(manager)


def exit_context(manager: Any, exception: BaseException | None) -> bool:
    """Leave a `with` block; true if the manager swallows the exception."""
    if isinstance(manager, contextlib.suppress):
        kinds: tuple[type[BaseException], ...] = getattr(manager, "_exceptions")  # noqa: B009
        return exception is not None and isinstance(exception, kinds)
    if _is_inert(manager):
        return False
    kind = None if exception is None else type(exception)
    return bool(type(manager).__exit__(manager, kind, exception, None))


# The data model: which special method an operator or a builtin finds.


def special(value: Any, name: str) -> Any:
    """The special method of this name that the type of `value` has, to be called with `value` first."""
    return getattr(type(value), name, None)


def number_method(value: Any, name: str) -> Any:
    """The special method of a number's kind: sequences join and repeat themselves after numbers have been asked."""
    return None if is_sequence_operation(value, name) else special(value, name)


def is_sequence_operation(value: Any, name: str) -> bool:
    """Whether this is how a sequence joins or repeats itself, written in C."""
    joins = name in ("__add__", "__mul__", "__rmul__", "__iadd__", "__imul__")
    found = getattr(type(value), name, None)
    return joins and any(found is getattr(kind, name, None) for kind in _SEQUENCES if found is not None)


_SEQUENCES = (list, tuple, str, bytes, bytearray, collections.deque)


def sequence_operation(name: str, left: Any, right: Any) -> Any:
    """A sequence joined with another, or repeated."""
    return getattr(operator, name)(left, right)


def same_type(left: Any, right: Any) -> bool:
    """Whether two operands are of one type: then the second is not asked."""
    return type(left) is type(right)


def is_subclass_of(right: Any, left: Any) -> bool:
    """Whether the second operand's type is made from the first's: then it is asked first."""
    return issubclass(type(right), type(left))


def is_overridden(left: Any, right: Any, reflected: str) -> bool:
    """Whether the second operand is asked first: its type is made from the first's and has its own way."""
    own: Any = getattr(type(left), reflected, None)
    return is_subclass_of(right, left) and getattr(type(right), reflected, None) is not own


def comparison(value: Any, name: str) -> Any:
    """How a value compares itself, if it has a way of its own."""
    found = getattr(type(value), name, None)
    return None if found is getattr(object, name) else found


def says_only_what_it_equals(value: Any) -> bool:
    """Whether a class has `__eq__` but no `__ne__`."""
    cls: Any = type(value)
    return bool(cls.__ne__ is object.__ne__ and cls.__eq__ is not object.__eq__)
