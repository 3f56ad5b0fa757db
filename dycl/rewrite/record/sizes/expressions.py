"""Sizes as PyTorch computes with them, symbolic expressions, turned into recorded arithmetic of host values."""

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch

from dycl.rewrite.record.host_values import HostValue, lift
from dycl.rewrite.signals import Refused


def evaluated(expression: Any, value_of: Callable[[sympy.Symbol], HostValue]) -> Any:
    """The number that an expression stands for: a host value, or a plain number if it has no symbol."""
    if isinstance(expression, sympy.Symbol):
        return value_of(expression)
    if expression in (sympy.true, sympy.false):
        return bool(expression)
    if expression.is_number:
        return int(expression) if expression.is_integer else float(expression)
    combine = _COMBINE.get(type(expression).__name__)
    if combine is None:
        raise Refused("DY008", f"the size `{expression}` has no translation")
    return combine(*(evaluated(argument, value_of) for argument in expression.args))


def _all_of(combine: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda *operands: reduce(combine, operands)


def _extreme(combine: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Callable[..., Any]:
    def of_two(left: Any, right: Any) -> HostValue:
        known: HostValue = left if isinstance(left, HostValue) else right
        first, second = (lift(value, known.kind, known.recorder).tensor for value in (left, right))
        return HostValue(known.kind, combine(first, second), known.recorder)

    return _all_of(of_two)


def _rounded(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[HostValue], HostValue]:
    def rounded(number: HostValue) -> HostValue:
        return HostValue("float", function(number.as_kind("float").tensor), number.recorder).converted("int")

    return rounded


def _not(flag: HostValue) -> HostValue:
    return HostValue("bool", torch.logical_not(flag.tensor), flag.recorder)


def _as_float(number: HostValue) -> HostValue:
    return number.as_kind("float")


def _true_division(left: Any, right: Any) -> Any:
    return left / right


# The names are those of SymPy's classes, and of PyTorch's own beside them.
_COMBINE: dict[str, Callable[..., Any]] = {
    "Add": _all_of(operator.add),
    "Mul": _all_of(operator.mul),
    "Pow": operator.pow,
    "PowByNatural": operator.pow,
    "FloatPow": operator.pow,
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "CeilDiv": lambda left, right: -(-left // right),
    "IntTrueDiv": _true_division,
    "FloatTrueDiv": _true_division,
    "PythonMod": operator.mod,
    "Mod": operator.mod,
    "ModularIndexing": lambda number, divisor, modulus: number // divisor % modulus,
    "Max": _extreme(torch.maximum),
    "Min": _extreme(torch.minimum),
    "Abs": abs,
    "ToFloat": _as_float,
    "TruncToInt": _rounded(torch.trunc),
    "FloorToInt": _rounded(torch.floor),
    "CeilToInt": _rounded(torch.ceil),
    "RoundToInt": _rounded(torch.round),
    "Equality": operator.eq,
    "Unequality": operator.ne,
    "StrictLessThan": operator.lt,
    "LessThan": operator.le,
    "StrictGreaterThan": operator.gt,
    "GreaterThan": operator.ge,
    "And": _all_of(operator.and_),
    "Or": _all_of(operator.or_),
    "Not": _not,
}
