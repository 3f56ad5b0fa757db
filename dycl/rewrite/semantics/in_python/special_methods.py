"""Python's data model as plain Python: which special method an operator or builtin calls, and with what.

The machine steps into these where one of the special methods has a decision in it, so that it can step into the method.
"""

import builtins
import functools
import math
import operator
import sys
import types
from collections.abc import Container
from typing import Any

import torch

from dycl.rewrite.normalise import data_model, syntax
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.record.number_classes import kind_of_class
from dycl.rewrite.semantics.in_python import texts


def binary(name: str, reflected: str, sign: str, left: Any, right: Any) -> Any:
    """`left + right` and its like."""
    result = _of_numbers(name, reflected, left, right)
    if result is not NotImplemented:
        return result
    if data_model.is_sequence_operation(left, name) or data_model.is_sequence_operation(right, name):
        return data_model.sequence_operation(name, left, right)
    kinds = f"'{data_model.type_name(type(left))}' and '{data_model.type_name(type(right))}'"
    raise TypeError(f"unsupported operand type(s) for {sign}: {kinds}")


def _of_numbers(name: str, reflected: str, left: Any, right: Any) -> Any:
    own = data_model.number_method(left, name)
    other = None if data_model.same_type(left, right) else data_model.number_method(right, reflected)
    if other is not None and data_model.is_overridden(left, right, reflected):
        result = other(right, left)
        if result is not NotImplemented:
            return result
        other = None
    if own is not None:
        result = own(left, right)
        if result is not NotImplemented:
            return result
    return NotImplemented if other is None else other(right, left)


def in_place(name: str, plain: str, reflected: str, sign: str, left: Any, right: Any) -> Any:
    """`left += right` and its like."""
    own = data_model.number_method(left, name)
    if own is not None:
        result = own(left, right)
        if result is not NotImplemented:
            return result
    result = _of_numbers(plain, reflected, left, right)
    if result is not NotImplemented:
        return result
    if data_model.is_sequence_operation(left, plain) or data_model.is_sequence_operation(right, plain):
        return data_model.sequence_operation(name, left, right)
    kinds = f"'{data_model.type_name(type(left))}' and '{data_model.type_name(type(right))}'"
    raise TypeError(f"unsupported operand type(s) for {sign}: {kinds}")


def power(base: Any, exponent: Any, modulus: Any = None) -> Any:
    """`base ** exponent`, or `pow` of three numbers."""
    if modulus is None:
        return binary("__pow__", "__rpow__", "** or pow()", base, exponent)
    own = data_model.special(base, "__pow__")
    result = NotImplemented if own is None else own(base, exponent, modulus)
    if result is not NotImplemented:
        return result
    kinds = "', '".join(data_model.type_name(type(value)) for value in (base, exponent, modulus))
    raise TypeError(f"unsupported operand type(s) for ** or pow(): '{kinds}'")


def compared(name: str, reflected: str, sign: str, left: Any, right: Any) -> Any:
    """`left < right` and its like."""
    own, other = _comparison(left, name), _comparison(right, reflected)
    checked = False
    if other is not None and not data_model.same_type(left, right) and data_model.is_subclass_of(right, left):
        checked = True
        result = other(right, left)
        if result is not NotImplemented:
            return result
    if own is not None:
        result = own(left, right)
        if result is not NotImplemented:
            return result
    if other is not None and not checked:
        result = other(right, left)
        if result is not NotImplemented:
            return result
    if name == "__eq__":
        return left is right
    if name == "__ne__":
        return left is not right
    kinds = f"'{data_model.type_name(type(left))}' and '{data_model.type_name(type(right))}'"
    raise TypeError(f"'{sign}' not supported between instances of {kinds}")


def _comparison(value: Any, name: str) -> Any:
    if name == "__ne__" and data_model.says_only_what_it_equals(value):
        return _unequal
    return data_model.comparison(value, name)


def _unequal(left: Any, right: Any) -> Any:
    own = data_model.special(left, "__eq__")
    result = own(left, right)
    return result if result is NotImplemented else not result


def unary(name: str, wrong: str, value: Any) -> Any:
    """`-value` and its like."""
    own = data_model.special(value, name)
    if own is None:
        raise TypeError(f"{wrong}: '{data_model.type_name(type(value))}'")
    return own(value)


def truth(value: Any) -> bool:
    """`bool(value)`."""
    own = data_model.special(value, "__bool__")
    if own is not None:
        result = own(value)
        if type(result) is not bool:
            raise TypeError(f"__bool__ should return bool, returned {data_model.type_name(type(result))}")
        return result
    own = data_model.special(value, "__len__")
    return own is None or length(value) != 0


def untruth(value: Any) -> bool:
    """`not value`."""
    return not truth(value)


def length(value: Any) -> Any:
    """`len(value)`."""
    own = data_model.special(value, "__len__")
    if own is None:
        raise TypeError(f"object of type '{data_model.type_name(type(value))}' has no len()")
    result = own(value)
    result = _plain(result) if isinstance(result, int) else indexed(result)
    if result < 0:
        raise ValueError("__len__() should return >= 0")
    if result > sys.maxsize:
        raise OverflowError("cannot fit 'int' into an index-sized integer")
    return result


def item(container: Any, index: Any) -> Any:
    """`container[index]`."""
    missing = data_model.missing_way(container, index) if isinstance(container, dict) else None
    if missing is not None:
        return missing(container, index)
    own = data_model.special(container, "__getitem__")
    if own is None:
        raise TypeError(f"'{data_model.type_name(type(container))}' object is not subscriptable")
    return own(container, index)


def store(container: Any, index: Any, value: Any) -> None:
    """`container[index] = value`."""
    own = data_model.special(container, "__setitem__")
    if own is None:
        raise TypeError(f"'{data_model.type_name(type(container))}' object does not support item assignment")
    own(container, index, value)


def delete(container: Any, index: Any) -> None:
    """`del container[index]`."""
    own = data_model.special(container, "__delitem__")
    if own is None:
        raise TypeError(f"'{data_model.type_name(type(container))}' object doesn't support item deletion")
    own(container, index)


def contained(value: Any, container: Any) -> bool:
    """`value in container`."""
    own = data_model.special(container, "__contains__")
    if own is not None and not data_model.is_looked_through(container):
        return bool(own(container, value))
    for candidate in container:
        if syntax.are_one(candidate, value) or candidate == value:
            return True
    return False


def not_contained(value: Any, container: Any) -> bool:
    """`value not in container`."""
    return not contained(value, container)


def hashed(value: Any) -> int:
    """`hash(value)`."""
    own = data_model.special(value, "__hash__")
    if own is None:
        raise TypeError(f"unhashable type: '{data_model.type_name(type(value))}'")
    result = own(value)
    if not isinstance(result, int):
        raise TypeError("__hash__ method should return an integer")
    number = _plain(result)
    if number < -sys.maxsize - 1 or number > sys.maxsize:
        return hash(number)
    return -2 if number == -1 else number


def whole(value: Any = 0, *base: Any) -> Any:
    """`int(value)`."""
    if base:
        return int(value, *base)
    own = data_model.special(value, "__int__")
    if own is not None:
        return _plain(_checked(own(value), int, "__int__ returned non-int"))
    own = data_model.special(value, "__index__")
    if own is not None:
        return _plain(_checked(own(value), int, "__index__ returned non-int"))
    own = data_model.special(value, "__trunc__")
    return int(value) if own is None else int(own(value))


def real(value: Any = 0.0) -> Any:
    """`float(value)`."""
    own = data_model.special(value, "__float__")
    if own is not None:
        told = f"{data_model.type_name(type(value))}.__float__ returned non-float"
        result = _checked(own(value), float, told)
        return result if type(result) is float else float.__pos__(result)
    own = data_model.special(value, "__index__")
    return float(value) if own is None else float(own(value))


def indexed(value: Any) -> Any:
    """`operator.index(value)`."""
    own = data_model.special(value, "__index__")
    if own is None:
        raise TypeError(f"'{data_model.type_name(type(value))}' object cannot be interpreted as an integer")
    return _plain(_checked(own(value), int, "__index__ returned non-int"))


def _checked(result: Any, kind: type, wrong: str) -> Any:
    if not isinstance(result, kind):
        raise TypeError(f"{wrong} (type {data_model.type_name(type(result))})")
    return result


def _plain(number: Any) -> Any:
    """A whole number as Python gives it on: of no class that is made from `int`, and no flag."""
    return +number if type(number) in (int, bool) else int.__pos__(number)


def rounded(value: Any, digits: Any = None) -> Any:
    """`round(value, digits)`."""
    own = data_model.special(value, "__round__")
    if own is None:
        raise TypeError(f"type {data_model.type_name(type(value))} doesn't define __round__ method")
    return own(value) if digits is None else own(value, digits)


def through(name: str, function: Any, value: Any) -> Any:
    """`math.floor(value)` and its like, which ask the value first."""
    own = data_model.special(value, name)
    return function(float(value)) if own is None else own(value)


def divided(left: Any, right: Any) -> Any:
    """`divmod(left, right)`."""
    return binary("__divmod__", "__rdivmod__", "divmod()", left, right)


def backwards(items: Any) -> Any:
    """`reversed(items)`."""
    own = data_model.special(items, "__reversed__")
    if own is not None:
        return own(items)
    if data_model.special(items, "__getitem__") is None:
        raise TypeError(f"'{data_model.type_name(type(items))}' object is not reversible")
    return _from_the_end(items, length(items))


def _from_the_end(items: Any, place: Any) -> Any:
    while place > 0:
        place = place - 1
        try:
            item = items[place]
        except (IndexError, StopIteration):
            return
        yield item


_ARITHMETIC = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "matmul": "@",
    "and_": "&",
    "or_": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
}
_COMPARISONS = {
    "eq": ("eq", "=="),
    "ne": ("ne", "!="),
    "lt": ("gt", "<"),
    "gt": ("lt", ">"),
    "le": ("ge", "<="),
    "ge": ("le", ">="),
}
_UNARY = {
    "neg": "bad operand type for unary -",
    "pos": "bad operand type for unary +",
    "invert": "bad operand type for unary ~",
}


def _arithmetic() -> dict[Any, Any]:
    found: dict[Any, Any] = {operator.pow: power, builtins.pow: power}
    for name, sign in _ARITHMETIC.items():
        plain = name.rstrip("_")
        method, reflected, updating = f"__{plain}__", f"__r{plain}__", f"__i{plain}__"
        found[getattr(operator, name)] = functools.partial(binary, method, reflected, sign)
        changing = functools.partial(in_place, updating, method, reflected, f"{sign}=")
        found[getattr(operator, f"i{plain}")] = changing
    found[operator.ipow] = functools.partial(in_place, "__ipow__", "__pow__", "__rpow__", "**=")
    for name, (reflected, sign) in _COMPARISONS.items():
        found[getattr(operator, name)] = functools.partial(compared, f"__{name}__", f"__{reflected}__", sign)
    for name, wrong in _UNARY.items():
        found[getattr(operator, name)] = functools.partial(unary, f"__{name}__", wrong)
    return found


SUBSTITUTES: dict[Any, Any] = {
    **_arithmetic(),
    builtins.abs: functools.partial(unary, "__abs__", "bad operand type for abs()"),
    builtins.bool: truth,
    operator.truth: truth,
    operator.not_: untruth,
    builtins.len: length,
    syntax.getitem: item,
    syntax.setitem: store,
    syntax.delitem: delete,
    syntax.contained: contained,
    syntax.not_contained: not_contained,
    operator.contains: lambda container, value: contained(value, container),
    builtins.hash: hashed,
    builtins.str: texts.text,
    builtins.repr: texts.representation,
    builtins.format: texts.formatted,
    syntax.formatted: texts.in_text,
    builtins.int: whole,
    builtins.float: real,
    operator.index: indexed,
    builtins.round: rounded,
    builtins.divmod: divided,
    builtins.reversed: backwards,
    math.floor: functools.partial(through, "__floor__", math.floor),
    math.ceil: functools.partial(through, "__ceil__", math.ceil),
    math.trunc: functools.partial(unary, "__trunc__", "type does not define __trunc__ method"),
}

IS_HEAP_TYPE = 1 << 9


def are_interpreted(operands: tuple[Any, ...], interpreted: Container[types.CodeType]) -> bool:
    """Whether an operand has special methods that are interpreted.

    Those of a number's own class must be where it gets a number of ours, of which Python's own ones know nothing.
    """
    first: Any = operands[0] if operands else None
    cls: Any = type(first)
    is_own = isinstance(first, int | float) and kind_of_class(cls) is None
    every = is_own and isinstance(operands[-1], HostValue)
    return any(_has_method(value, None if every else interpreted) for value in operands)


def _has_method(value: Any, interpreted: Container[types.CodeType] | None) -> bool:
    if type(value).__flags__ & IS_HEAP_TYPE == 0 or isinstance(value, torch.Tensor | HostValue):
        return False
    return any(
        isinstance(found, types.FunctionType) and (interpreted is None or found.__code__ in interpreted)
        for base in type(value).__mro__
        for name, found in vars(base).items()
        if name.startswith("__") and name.endswith("__")
    )
