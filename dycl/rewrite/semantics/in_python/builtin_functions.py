"""Builtins as plain Python, for when a decision hides in what they do.

The machine steps into these instead of calling the builtin, so each comparison becomes a decision of the program.
Containers, `itertools` and what has to do with order have modules of their own beside this one.
"""

import builtins
import functools
import operator
import sys
import types
from collections.abc import Container
from typing import Any

import torch
import torch.utils.checkpoint

from dycl.rewrite.normalise import syntax
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.semantics.in_python import containers, generators, iterators, ordering, special_methods


def any_of(items: Any) -> bool:
    """`any(items)`."""
    for item in items:
        if item:
            return True
    return False


def all_of(items: Any) -> bool:
    """`all(items)`."""
    for item in items:
        if not item:
            return False
    return True


def sum_of(items: Any, start: Any = 0) -> Any:
    """`sum(items, start)`."""
    total = start
    lost = 0.0
    for item in items:
        if syntax.loses(total, item):
            lost = lost + syntax.rounding_error(total, item)
        total = total + item
    return syntax.summed(total, lost)


def least(*args: Any, **options: Any) -> Any:
    """`min(...)`."""
    return _first_best(args, options, operator.lt, min)


def greatest(*args: Any, **options: Any) -> Any:
    """`max(...)`."""
    return _first_best(args, options, operator.gt, max)


def _first_best(args: tuple[Any, ...], options: dict[str, Any], better: Any, builtin: Any) -> Any:
    key = options.get("key")
    values = list_of(args[0]) if len(args) == 1 else list_of(args)
    if not values:
        if "default" in options:
            return options["default"]
        raise ValueError(syntax.empty_message(builtin))
    best = values[0]
    best_key = best if key is None else key(best)
    for value in values[1:]:
        value_key = value if key is None else key(value)
        if better(value_key, best_key):
            best, best_key = value, value_key
    return best


def list_of(items: Any = ()) -> list[Any]:
    """`list(items)`."""
    result = []
    for item in items:
        result.append(item)
    return result


def tuple_of(items: Any = ()) -> tuple[Any, ...]:
    """`tuple(items)`."""
    return tuple(list_of(items))


def set_of(items: Any = ()) -> set[Any]:
    """`set(items)`."""
    result: set[Any] = set()
    for item in items:
        result.add(item)
    return result


def dict_of(items: Any = (), **more: Any) -> dict[Any, Any]:
    """`dict(items)`."""
    result = {}
    for key, value in items:
        result[key] = value
    result.update(more)
    return result


def enumerated(items: Any, start: int = 0) -> Any:
    """`enumerate(items)`."""
    number = start
    for item in items:
        yield number, item
        number = number + 1


def mapped(function: Any, *iterables: Any) -> Any:
    """`map(function, ...)`."""
    if len(iterables) == 1:
        for item in iterables[0]:
            yield function(item)
    else:
        for items in zip(*iterables, strict=False):
            yield function(*items)


def filtered(function: Any, items: Any) -> Any:
    """`filter(function, items)`."""
    for item in items:
        if item if function is None else function(item):
            yield item


def zipped(*iterables: Any, strict: bool = False) -> Any:
    """`zip(...)` of things of which at least one is made step by step."""
    iterators = [iter(items) for items in iterables]
    while iterators:
        row: list[Any] = []
        for iterator in iterators:
            complete = False
            for item in iterator:
                row.append(item)
                complete = True
                break
            if not complete:
                break
        if not complete:
            if strict:
                _require_same_end(iterators, len(row))
            return
        yield tuple(row)


def _require_same_end(iterators: list[Any], place: int) -> None:
    """Raise what `zip(strict=True)` raises when the argument at `place` was the first to end."""
    if place:
        raise ValueError(f"zip() argument {place + 1} is shorter than argument{'s 1-' if place > 1 else ' '}{place}")
    for number, iterator in enumerate(iterators[1:]):
        for _ in iterator:
            longer = f"s 1-{number + 1}" if number else " 1"
            raise ValueError(f"zip() argument {number + 2} is longer than argument{longer}")


def joined(separator: str, items: Any) -> str:
    """`separator.join(items)`."""
    return separator.join(list_of(items))


def contained(item: Any, container: Any) -> bool:
    """`item in container`."""
    if syntax.tells_what_it_contains(container):
        return bool(container.__contains__(item))
    for candidate in container:
        if candidate is item or candidate == item:
            return True
    return False


def not_contained(item: Any, container: Any) -> bool:
    """`item not in container`."""
    if syntax.tells_what_it_contains(container):
        return not container.__contains__(item)
    for candidate in container:
        if candidate is item or candidate == item:
            return False
    return True


def in_order(items: Any, key: Any = None, reverse: bool = False) -> list[Any]:
    """`sorted(items)`, by insertion: equal items keep their order."""
    result: list[Any] = []
    keys: list[Any] = []
    for item in items:
        item_key = item if key is None else key(item)
        place = len(result)
        while place > 0 and (keys[place - 1] < item_key if reverse else item_key < keys[place - 1]):
            place -= 1
        result.insert(place, item)
        keys.insert(place, item_key)
    return result


def sort_in_place(items: list[Any], key: Any = None, reverse: bool = False) -> None:
    """`items.sort()`."""
    items[:] = in_order(items, key, reverse)


def extended(items: list[Any], more: Any) -> None:
    """`items.extend(more)`."""
    for item in more:
        items.append(item)


def chosen(condition: Any, if_true: Any, if_false: Any, operands: Any = ()) -> Any:
    """`torch.cond(...)`."""
    return if_true(*operands) if condition else if_false(*operands)


def looped(goes_on: Any, body: Any, carried: Any) -> Any:
    """`torch.while_loop(...)`."""
    while goes_on(*carried):
        carried = body(*carried)
    return tuple(carried)


def not_checkpointed(function: Any, *args: Any, **kwargs: Any) -> Any:
    """`torch.utils.checkpoint.checkpoint(...)`, which saves memory in training alone."""
    options = ("use_reentrant", "context_fn", "determinism_check", "debug", "early_stop", "preserve_rng_state")
    return function(*args, **{name: value for name, value in kwargs.items() if name not in options})


def first(items: Any, *default: Any) -> Any:
    """`next(items)`."""
    for item in items:
        return item
    if default:
        return default[0]
    raise StopIteration


def reduced(function: Any, items: Any, *initial: Any) -> Any:
    """`functools.reduce(function, items)`."""
    values = list_of(items)
    if initial:
        values = [initial[0], *values]
    if not values:
        raise TypeError("reduce() of empty iterable with no initial value")
    total = values[0]
    for value in values[1:]:
        total = function(total, value)
    return total


SUBSTITUTES: dict[Any, Any] = {
    **iterators.SUBSTITUTES,
    **ordering.SUBSTITUTES,
    builtins.any: any_of,
    builtins.all: all_of,
    builtins.sum: sum_of,
    builtins.min: least,
    builtins.max: greatest,
    builtins.list: list_of,
    builtins.tuple: tuple_of,
    builtins.set: set_of,
    builtins.dict: dict_of,
    builtins.enumerate: enumerated,
    builtins.map: mapped,
    builtins.filter: filtered,
    builtins.zip: zipped,
    builtins.sorted: in_order,
    builtins.next: first,
    functools.reduce: reduced,
    str.join: joined,
    list.sort: sort_in_place,
    list.extend: extended,
    torch.cond: chosen,
    torch._higher_order_ops.while_loop: looped,
    torch.utils.checkpoint.checkpoint: not_checkpointed,
    syntax.throw_into: generators.thrown_into,
    syntax.spread: list_of,
    syntax.contained: contained,
    syntax.not_contained: not_contained,
}


_ALWAYS = (torch.cond, torch._higher_order_ops.while_loop, torch.utils.checkpoint.checkpoint, syntax.throw_into)


def comes_first(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the substitute must be taken before a native call is tried."""
    if any(callee is always for always in _ALWAYS):
        return True
    if callee is builtins.sum and syntax.SUMS_EXACTLY and args and type(args[0]) in (list, tuple):
        return any(isinstance(item, HostValue) and item.kind == "float" for item in args[0])
    return callee in ordering.HEAPS or iterators.is_lazy(callee, args, kwargs)


def for_call(callee: Any) -> Any:
    """The substitute of a builtin or of a builtin container's method, if there is one."""
    if not _is_method_of_container(callee):
        return _looked_up(callee)
    method = _looked_up(_unbound(callee))
    return None if method is None else functools.partial(method, callee.__self__)


def for_special_methods(callee: Any, args: tuple[Any, ...], interpreted: Container[types.CodeType]) -> Any:
    """The substitute of an operator or builtin where one of its operands' special methods is interpreted."""
    try:
        substitute = special_methods.SUBSTITUTES.get(callee)
    except TypeError:
        return None
    operands = () if substitute is None else args[:2]
    has_any = any(_has_interpreted_method(type(value), interpreted) for value in operands)
    return substitute if has_any else None


def _has_interpreted_method(cls: type, interpreted: Container[types.CodeType]) -> bool:
    if cls.__flags__ & _IS_HEAP_TYPE == 0 or issubclass(cls, torch.Tensor | HostValue):
        return False
    return any(
        isinstance(found, types.FunctionType) and found.__code__ in interpreted
        for base in cls.__mro__
        for name, found in vars(base).items()
        if name.startswith("__") and name.endswith("__")
    )


_IS_HEAP_TYPE = 1 << 9


def iterates(callee: Any) -> bool:
    """Whether this builtin goes through the items of its arguments."""
    try:
        return (_unbound(callee) if _is_method_of_container(callee) else callee) in SUBSTITUTES
    except TypeError:
        return False


def _looked_up(callee: Any) -> Any:
    try:
        return SUBSTITUTES.get(callee) or containers.SUBSTITUTES.get(callee)
    except TypeError:
        return None


def _is_method_of_container(callee: Any) -> bool:
    return isinstance(callee, types.BuiltinMethodType) and isinstance(callee.__self__, _CONTAINERS)


def _unbound(method: Any) -> Any:
    kind = next(kind for kind in _CONTAINERS if isinstance(method.__self__, kind))
    return getattr(kind, method.__name__, None)


_CONTAINERS = (str, list, tuple, dict, set)
# These work on positions in lists, which must stay exact numbers while the lists are alive.
WITH_POSITIONS = frozenset(function.__code__ for function in (in_order, sort_in_place, *ordering.WITH_POSITIONS))


def stands_in(code: types.CodeType) -> bool:
    """Whether this is code of a function that stands in for a builtin, or of one inside such a function."""
    return code in _codes()


@functools.cache
def _codes() -> frozenset[types.CodeType]:
    here = sys.modules[__name__]
    found = [
        function.__code__
        for module in (here, containers, generators, iterators, ordering, special_methods)
        for owner in (module, *(item for item in vars(module).values() if isinstance(item, type)))
        for function in vars(owner).values()
        if isinstance(function, types.FunctionType) and function.__module__ == module.__name__
    ]
    for code in found:
        found.extend(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return frozenset(found)
