"""Functions of `operator` that call methods of what they get, for when a decision hides in one of those."""

import functools
import operator
from typing import Any

from dycl.rewrite.normalise import data_model, syntax


def concatenated(left: Any, right: Any) -> Any:
    """`operator.concat(left, right)`."""
    _require_sequences(left, right)
    return left + right


def concatenated_in_place(left: Any, right: Any) -> Any:
    """`operator.iconcat(left, right)`."""
    _require_sequences(left, right)
    left += right
    return left


def _require_sequences(left: Any, right: Any) -> None:
    if not (_is_sequence(left) and _is_sequence(right)):
        raise TypeError(f"'{type(left).__name__}' object can't be concatenated")


def _is_sequence(value: Any) -> bool:
    return data_model.special(value, "__getitem__") is not None and not isinstance(value, dict)


def counted(items: Any, value: Any) -> int:
    """`operator.countOf(items, value)`."""
    count = 0
    for item in items:
        if syntax.are_one(item, value) or item == value:
            count += 1
    return count


def place_of(items: Any, value: Any) -> int:
    """`operator.indexOf(items, value)`."""
    for place, item in enumerate(items):
        if syntax.are_one(item, value) or item == value:
            return place
    raise ValueError("sequence.index(x): x not in sequence")


def called(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`operator.call(function, ...)`."""
    return function(*args, **kwargs)


def attributes_of(names: tuple[str, ...], owner: Any) -> Any:
    """`operator.attrgetter(*names)(owner)`."""
    if len(names) == 1:
        return _attribute(owner, names[0])
    return tuple([_attribute(owner, name) for name in names])


def _attribute(owner: Any, dotted: str) -> Any:
    found = owner
    for name in dotted.split("."):
        found = getattr(found, name)
    return found


def items_of(keys: tuple[Any, ...], container: Any) -> Any:
    """`operator.itemgetter(*keys)(container)`."""
    if len(keys) == 1:
        return container[keys[0]]
    return tuple([container[key] for key in keys])


def method_called(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], owner: Any) -> Any:
    """`operator.methodcaller(name, ...)(owner)`."""
    return getattr(owner, name)(*args, **kwargs)


def for_getter(callee: Any) -> Any:
    """What stands in for a call of an `attrgetter`, an `itemgetter` or a `methodcaller`; None if it is none."""
    if type(callee) not in (operator.attrgetter, operator.itemgetter, operator.methodcaller):
        return None
    made_by, args = callee.__reduce__()
    if type(callee) is operator.attrgetter:
        return functools.partial(attributes_of, args)
    if type(callee) is operator.itemgetter:
        return functools.partial(items_of, args)
    if isinstance(made_by, functools.partial):
        return functools.partial(method_called, made_by.args[0], args, made_by.keywords)
    return functools.partial(method_called, args[0], args[1:], {})


SUBSTITUTES: dict[Any, Any] = {
    operator.concat: concatenated,
    operator.iconcat: concatenated_in_place,
    operator.countOf: counted,
    operator.indexOf: place_of,
    operator.call: called,
}
