"""Builtins as plain Python, for when a decision hides in what they do.

The machine steps into these, so that each comparison becomes a decision of the program.
"""

import builtins
import collections
import functools
import operator
import sys
import types
from collections.abc import Container
from typing import Any

import torch
import torch.utils.checkpoint

from dycl.rewrite.normalise import syntax
from dycl.rewrite.own_thread import usual
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.semantics.in_python import (
    attributes,
    caching,
    classes,
    containers,
    filling,
    generators,
    grouping,
    iterators,
    operators,
    ordering,
    special_methods,
    tensor_functions,
    texts,
)
from dycl.rewrite.semantics.in_python.filling import list_of, only_copies
from dycl.rewrite.semantics.in_python.grouping import END


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
    syntax.require_options(builtin, args, options)
    key = options.get("key")
    best: Any = END
    best_key = None
    for value in args[0] if len(args) == 1 else args:
        value_key = value if key is None else key(value)
        if best is END or better(value_key, best_key):
            best, best_key = value, value_key
    if best is not END:
        return best
    if "default" in options:
        return options["default"]
    raise ValueError(syntax.empty_message(builtin))


def contained(item: Any, container: Any) -> bool:
    """`item in container`."""
    if isinstance(container, type({}.items())):
        syntax.refuse("DY001", "whether the items of a dict contain this")
    if syntax.tells_what_it_contains(container):
        return bool(container.__contains__(item))
    for candidate in ordering.as_held(container):
        if syntax.are_one(candidate, item):
            return True
        if not syntax.finds_by_hash(container, item, candidate) and candidate == item:
            return True
    return False


def not_contained(item: Any, container: Any) -> bool:
    """`item not in container`."""
    if isinstance(container, type({}.items())):
        syntax.refuse("DY001", "whether the items of a dict contain this")
    if syntax.tells_what_it_contains(container):
        return not container.__contains__(item)
    for candidate in ordering.as_held(container):
        if syntax.are_one(candidate, item):
            return False
        if not syntax.finds_by_hash(container, item, candidate) and candidate == item:
            return False
    return True


def in_order(items: Any, key: Any = None, reverse: bool = False) -> list[Any]:
    """`sorted(items)`, with the comparisons that Python makes for less than 64 items, in their order."""
    values = list_of(items)
    keys = list_of(values) if key is None else [key(value) for value in values]
    if reverse:
        values.reverse()
        keys.reverse()
    # Positions are those of a loop, so that they stay known where a comparison forks.
    run: list[Any] = ["rises", 0]
    for place in range(1, len(values)):
        if run[0] != "is over" and (_goes_on if _LOOKS_FOR_EQUALS else _went_on)(values, keys, place, run):
            continue
        value, value_key = values.pop(place), keys.pop(place)
        left, right = 0, place
        while left < right:
            middle = (left + right) // 2
            if value_key < keys[middle]:
                right = middle
            else:
                left = middle + 1
        values.insert(left, value)
        keys.insert(left, value_key)
    if run[0] == "falls":
        _turn_run_round(values, keys, len(values), run)
    if reverse:
        values.reverse()
    return values


_LOOKS_FOR_EQUALS = sys.version_info >= (3, 13)


def _went_on(values: list[Any], keys: list[Any], place: int, run: list[Any]) -> bool:
    """Whether the items in order at the beginning go on at this place, as Python up to 3.12 looks for them."""
    if keys[place] < keys[place - 1]:
        if place == 1:
            run[0] = "falls"
        goes_on = bool(run[0] == "falls")
    else:
        goes_on = bool(run[0] == "rises")
    if not goes_on:
        if run[0] == "falls":
            _turn_run_round(values, keys, place, run)
        run[0] = "is over"
    return goes_on


def _goes_on(values: list[Any], keys: list[Any], place: int, run: list[Any]) -> bool:
    """The same as Python looks for them from 3.13 on: equal items may stand among falling ones.

    `run` has which way they go, and how many items before this place equal the one before them.
    """
    if run[0] == "falls":
        if keys[place] < keys[place - 1]:
            _turn_equals_round(values, keys, place, run)
            return True
        if not keys[place - 1] < keys[place]:
            run[1] += 1
            return True
        _turn_run_round(values, keys, place, run)
        run[0] = "goes on"
    if not keys[place] < keys[place - 1]:
        return True
    if run[0] == "rises" and (place == 1 or not keys[0] < keys[place - 1]):
        _turn_round(values, keys, 0, place)
        run[0] = "falls"
        return True
    run[0] = "is over"
    return False


def _turn_run_round(values: list[Any], keys: list[Any], end: int, run: list[Any]) -> None:
    """Let falling items rise; equal ones keep their order."""
    _turn_equals_round(values, keys, end, run)
    _turn_round(values, keys, 0, end)


def _turn_equals_round(values: list[Any], keys: list[Any], end: int, run: list[Any]) -> None:
    _turn_round(values, keys, end - 1 - run[1], end)
    run[1] = 0


def _turn_round(values: list[Any], keys: list[Any], start: int, end: int) -> None:
    values[start:end] = values[start:end][::-1]
    keys[start:end] = keys[start:end][::-1]


def sort_in_place(items: list[Any], key: Any = None, reverse: bool = False) -> None:
    """`items.sort()`, which takes the items away meanwhile."""
    values = list_of(ordering.as_held(items))
    list.clear(items)
    changed = False
    try:
        values[:] = in_order(values, key, reverse)
    finally:
        changed = list.__len__(items) > 0
        list.__setitem__(items, slice(None), values)
    if changed:
        raise ValueError("list modified during sort")


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


def next_of(items: Any, *default: Any) -> Any:
    """`next(items, default)`."""
    return iterators.following(items, *default) if syntax.gives_items_itself(items) else first(items, *default)


def reduced(function: Any, items: Any, *initial: Any) -> Any:
    """`functools.reduce(function, items)`."""
    total: Any = initial[0] if initial else END
    for value in items:
        total = value if total is END else function(total, value)
    if total is END:
        raise TypeError("reduce() of empty iterable with no initial value")
    return total


SUBSTITUTES: dict[Any, Any] = {
    **iterators.SUBSTITUTES,
    **operators.SUBSTITUTES,
    **ordering.SUBSTITUTES,
    **classes.SUBSTITUTES,
    **filling.SUBSTITUTES,
    builtins.any: any_of,
    builtins.all: all_of,
    builtins.sum: sum_of,
    builtins.min: least,
    builtins.max: greatest,
    builtins.sorted: in_order,
    builtins.next: next_of,
    functools.reduce: reduced,
    list.sort: sort_in_place,
    torch.cond: chosen,
    torch._higher_order_ops.while_loop: looped,
    torch.utils.checkpoint.checkpoint: not_checkpointed,
    syntax.throw_into: generators.thrown_into,
    syntax.contained: contained,
    syntax.not_contained: not_contained,
    builtins.repr: texts.text_of_container,
    builtins.str: texts.text_of_container,
}


_ALWAYS = (
    *(torch.cond, torch._higher_order_ops.while_loop, torch.utils.checkpoint.checkpoint, torch.broadcast_shapes),
    syntax.throw_into,
)


def comes_first(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the substitute must be taken before a native call is tried."""
    if any(callee is always for always in (*_ALWAYS, *caching.SUBSTITUTES)):
        return True
    if callee is functools.cmp_to_key:
        return len(args) == 1 and isinstance(args[0], types.FunctionType | types.MethodType)
    if callee is builtins.sum and syntax.SUMS_EXACTLY and args and type(args[0]) in (list, tuple):
        return any(isinstance(item, HostValue) and item.kind == "float" for item in args[0])
    if callee in tensor_functions.TENSORS:
        return tensor_functions.may_be_of_no_type(*args, **kwargs)
    return callee in ordering.HEAPS or iterators.is_lazy(callee, args, kwargs)


def for_call(callee: Any) -> Any:
    """The substitute of a builtin or of a builtin container's method, if there is one."""
    if isinstance(attribute(callee, "__self__"), torch.Tensor):
        method = tensor_functions.METHODS.get(callee.__name__)
        return None if method is None else functools.partial(method, callee.__self__)
    if not _is_method_of_container(callee):
        return _looked_up(callee) or operators.for_getter(callee) or _constructor(callee)
    method = _looked_up(_unbound(callee))
    return None if method is None else functools.partial(method, callee.__self__)


def _constructor(callee: Any) -> Any:
    """What stands in for a class that is made in Python, where its `__new__` or its metaclass meets a decision."""
    if isinstance(callee, types.MethodWrapperType) and callee.__name__ == "__call__":
        is_class = isinstance(callee.__self__, type)
        return functools.partial(classes.constructed_usually, callee.__self__) if is_class else None
    made_in_python = isinstance(callee, type) and callee.__flags__ & _IS_HEAP_TYPE and not issubclass(callee, type)
    return functools.partial(classes.constructed, callee) if made_in_python else None


def for_special_methods(callee: Any, args: tuple[Any, ...], interpreted: Container[types.CodeType]) -> Any:
    """The substitute of an operator or builtin where one of its operands' special methods is interpreted."""
    try:
        substitute = special_methods.SUBSTITUTES.get(usual(callee))
    except TypeError:
        return None
    if substitute is None:
        return attributes.for_access(callee, args, interpreted)
    return substitute if special_methods.are_interpreted(args[:2], interpreted) else None


_IS_HEAP_TYPE = special_methods.IS_HEAP_TYPE


def iterates(callee: Any, args: tuple[Any, ...]) -> bool:
    """Whether this builtin goes through the items of its arguments."""
    if callee is builtins.iter or callee is syntax.iterated or only_copies(callee, args):
        return False
    try:
        return (_unbound(callee) if _is_method_of_container(callee) else callee) in SUBSTITUTES
    except TypeError:
        return False


def _looked_up(callee: Any) -> Any:
    try:
        found = SUBSTITUTES.get(callee) or containers.SUBSTITUTES.get(callee)
        return found or tensor_functions.SUBSTITUTES.get(callee) or caching.SUBSTITUTES.get(callee)
    except TypeError:
        return None


def _is_method_of_container(callee: Any) -> bool:
    return isinstance(callee, types.BuiltinMethodType) and isinstance(callee.__self__, _CONTAINERS)


def _unbound(method: Any) -> Any:
    kind = next(kind for kind in _CONTAINERS if isinstance(method.__self__, kind))
    return getattr(kind, method.__name__, None)


_CONTAINERS = (str, list, tuple, dict, set, collections.deque)
# These work on positions in lists, which must stay exact numbers while the lists are alive.
_SORTING = (in_order, _went_on, _goes_on, _turn_run_round, _turn_equals_round, _turn_round, sort_in_place)
WITH_POSITIONS = frozenset(function.__code__ for function in (*_SORTING, *ordering.WITH_POSITIONS))


def stands_in(code: types.CodeType) -> bool:
    """Whether this is code of a function that stands in for a builtin, or of one inside such a function."""
    return code in _codes()


_MODULES: tuple[types.ModuleType, ...] = (
    *(attributes, caching, classes, containers, filling, generators, grouping, iterators, operators, ordering),
    *(special_methods, tensor_functions, texts),
)


@functools.cache
def _codes() -> frozenset[types.CodeType]:
    here = sys.modules[__name__]
    found = [
        function.__code__
        for module in (here, *_MODULES)
        for owner in (module, *(item for item in vars(module).values() if isinstance(item, type)))
        for function in vars(owner).values()
        if isinstance(function, types.FunctionType) and function.__module__ == module.__name__
    ]
    for code in found:
        found.extend(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return frozenset(found)
