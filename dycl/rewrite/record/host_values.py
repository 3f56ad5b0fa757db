"""Host values: Python numbers and flags whose value only the input determines.

A host value is a 0-d tensor of the block in Python's own precision (bool, int64, float64). Arithmetic on it is
recorded like any other operation; asking for its truth or its concrete value is a decision.
"""

import operator
from collections.abc import Callable
from typing import Any, cast

import torch

from dycl.hcfg.types import HostKind
from dycl.rewrite.normalise.syntax import KnownNumber
from dycl.rewrite.record import exact_numbers
from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.number_classes import PYTHON_TYPES, Undetermined, kind_of_class, require_no_other_number
from dycl.rewrite.signals import DecisionMet, Refused

DTYPES: dict[HostKind, torch.dtype] = {"bool": torch.bool, "int": torch.int64, "float": torch.float64}
_ORDER: tuple[HostKind, ...] = ("bool", "int", "float")


class HostValue(Undetermined):
    """A number or flag of known kind and unknown value."""

    __slots__ = ("kind", "origin", "recorder", "tensor")

    def __init__(self, kind: HostKind, tensor: torch.Tensor, recorder: Records, origin: str = "made") -> None:
        self.kind, self.tensor, self.recorder, self.origin = kind, tensor, recorder, origin

    def __bool__(self) -> bool:
        raise DecisionMet("the truth of a number that only the input determines")

    def __format__(self, style: str) -> str:
        raise DecisionMet("the text of a number that only the input determines")

    def __repr__(self) -> str:
        raise DecisionMet("the text of a number that only the input determines")

    __str__ = __repr__

    def as_kind(self, kind: HostKind) -> "HostValue":
        """The same number as another kind, as `int()`, `float()` and `bool()` convert."""
        if kind == self.kind:
            return self
        if kind == "bool":
            return HostValue("bool", torch.ne(self.tensor, 0), self.recorder)
        return HostValue(kind, self.tensor.to(DTYPES[kind]), self.recorder)

    def converted(self, kind: HostKind) -> "HostValue":
        """The same number as `int()`, `float()` or `bool()` make it, with the errors that they raise."""
        if kind == "int" and self.kind == "float":
            is_number = torch.eq(self.tensor, self.tensor)
            self.recorder.check(is_number, "ValueError", "cannot convert float NaN to integer")
            if self.recorder.catches_errors():
                finite = torch.logical_not(torch.isinf(self.tensor))
                self.recorder.check(finite, "OverflowError", "cannot convert float infinity to integer")
            fits = torch.lt(torch.abs(self.tensor), 2.0**63)
            message = "cannot convert float infinity or beyond 64 bits to integer"
            self.recorder.check(fits, "OverflowError", message, is_limit=True)
            self.recorder.large_numbers.meet(self.as_kind(kind).tensor, self.recorder.element_bounds)
        return self.as_kind(kind)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The Python type that this stands for, so that `isinstance` says what it would say of the number."""
        return PYTHON_TYPES[self.kind]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """What NumPy makes of a number and one of its own, which keeps its type."""
        return self.recorder.arrays.function(ufunc, inputs, options) if method == "__call__" else NotImplemented

    def __hash__(self) -> int:
        raise DecisionMet("a number that only the input determines is used as a key")

    def __add__(self, other: Any) -> Any:
        return _arithmetic(torch.add, operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _arithmetic(torch.add, operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return _arithmetic(torch.sub, operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _arithmetic(torch.sub, operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return _arithmetic(torch.mul, operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _arithmetic(torch.mul, operator.mul, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _division(torch.div, operator.truediv, self, other, "float")

    def __rtruediv__(self, other: Any) -> Any:
        return _division(torch.div, operator.truediv, other, self, "float")

    def __floordiv__(self, other: Any) -> Any:
        return _division(torch.floor_divide, operator.floordiv, self, other, "int")

    def __rfloordiv__(self, other: Any) -> Any:
        return _division(torch.floor_divide, operator.floordiv, other, self, "int")

    def __mod__(self, other: Any) -> Any:
        return _division(torch.remainder, operator.mod, self, other, "int")

    def __rmod__(self, other: Any) -> Any:
        return _division(torch.remainder, operator.mod, other, self, "int")

    def __divmod__(self, other: Any) -> Any:
        return _quotient_and_remainder(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return _quotient_and_remainder(other, self)

    def __lshift__(self, other: Any) -> Any:
        return _shifted(exact_numbers.shifted_left, operator.lshift, self, other)

    def __rlshift__(self, other: Any) -> Any:
        return _shifted(exact_numbers.shifted_left, operator.lshift, other, self)

    def __rshift__(self, other: Any) -> Any:
        return _shifted(exact_numbers.shifted_right, operator.rshift, self, other)

    def __rrshift__(self, other: Any) -> Any:
        return _shifted(exact_numbers.shifted_right, operator.rshift, other, self)

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            raise Refused("DY008", "`pow` with a modulus has no translation for an input-dependent number")
        return _power(self, other)

    def __rpow__(self, other: Any) -> Any:
        return _power(other, self)

    def __neg__(self) -> "HostValue":
        return HostValue((+self).kind, exact_numbers.turned(torch.neg, (+self).tensor, self.recorder), self.recorder)

    def __pos__(self) -> "HostValue":
        return self.as_kind("int") if self.kind == "bool" else self

    def __abs__(self) -> "HostValue":
        return HostValue((+self).kind, exact_numbers.turned(torch.abs, (+self).tensor, self.recorder), self.recorder)

    def __invert__(self) -> "HostValue":
        if self.kind == "float":
            raise TypeError("bad operand type for unary ~: 'float'")
        return HostValue("int", torch.bitwise_not((+self).tensor), self.recorder)

    def require_told_apart(self, other: Any) -> None:
        """Stop where this and another number are NaN, unless it is known whether they are one object."""
        exact_numbers.require_told_apart(self, other, self.recorder)

    def __eq__(self, other: Any) -> Any:
        return _comparison(torch.eq, operator.eq, self, other)

    def __ne__(self, other: Any) -> Any:
        return _comparison(torch.ne, operator.ne, self, other)

    def __lt__(self, other: Any) -> Any:
        return _comparison(torch.lt, operator.lt, self, other)

    def __le__(self, other: Any) -> Any:
        return _comparison(torch.le, operator.le, self, other)

    def __gt__(self, other: Any) -> Any:
        return _comparison(torch.gt, operator.gt, self, other)

    def __ge__(self, other: Any) -> Any:
        return _comparison(torch.ge, operator.ge, self, other)

    def __and__(self, other: Any) -> Any:
        return _bitwise(torch.bitwise_and, operator.and_, self, other)

    __rand__ = __and__

    def __or__(self, other: Any) -> Any:
        return _bitwise(torch.bitwise_or, operator.or_, self, other)

    __ror__ = __or__

    def __xor__(self, other: Any) -> Any:
        return _bitwise(torch.bitwise_xor, operator.xor, self, other)

    __rxor__ = __xor__

    def __trunc__(self) -> "HostValue":
        return self.converted("int")

    def __floor__(self) -> "HostValue":
        return self if self.kind != "float" else self._rounded(torch.floor)

    def __ceil__(self) -> "HostValue":
        return self if self.kind != "float" else self._rounded(torch.ceil)

    def _rounded(self, function: Callable[[torch.Tensor], torch.Tensor]) -> "HostValue":
        return HostValue("float", function(self.tensor), self.recorder).converted("int")

    def __round__(self, digits: Any = None) -> "HostValue":
        if digits is None:
            rounded = self if self.kind == "float" else +self
            return rounded if rounded.kind == "int" else rounded._rounded(torch.round)
        if type(digits) is not int:
            raise Refused("DY008", "`round` to a number of digits that depends on the input has no translation")
        if self.kind != "float":
            return HostValue("int", exact_numbers.rounded_whole((+self).tensor, digits), self.recorder)
        result = exact_numbers.rounded_real(self.tensor, digits)
        if result is None:
            raise Refused("DY008", f"`round` of an input-dependent float to {digits} digits has no translation")
        return HostValue("float", result, self.recorder)

    @property
    def real(self) -> "HostValue":
        return +self

    @property
    def imag(self) -> int | float:
        return 0.0 if self.kind == "float" else 0

    @property
    def numerator(self) -> "HostValue":
        if self.kind == "float":
            raise AttributeError("'float' object has no attribute 'numerator'")
        return +self

    @property
    def denominator(self) -> int:
        if self.kind == "float":
            raise AttributeError("'float' object has no attribute 'denominator'")
        return 1

    def conjugate(self) -> "HostValue":
        """The number itself."""
        return +self

    def is_integer(self) -> "HostValue":
        """Whether this has no fraction."""
        number = self.as_kind("float").tensor
        whole = torch.logical_and(torch.isfinite(number), torch.eq(torch.floor(number), number))
        return HostValue("bool", whole, self.recorder)

    def symbol(self) -> Any:
        """What stands for this number where PyTorch wants one."""
        return self.recorder.symbol_of(self.tensor)


def kind_of(value: Any) -> HostKind | None:
    """The kind of a Python number or host value; None for anything else."""
    if isinstance(value, HostValue):
        return value.kind
    if type(value) in (bool, int, float):
        return cast(HostKind, type(value).__name__)
    return "int" if type(value) is KnownNumber else None


def _kind_of_operand(value: Any) -> HostKind | None:
    """The kind of what arithmetic takes for a number, such as a member of an `IntEnum`."""
    cls: type = type(value)
    return kind_of(value) or kind_of_class(cls)


def lift(value: Any, kind: HostKind, recorder: Records) -> HostValue:
    """A number as a host value of the given kind."""
    if isinstance(value, HostValue):
        return value.as_kind(kind)
    return HostValue(kind, torch.tensor(PYTHON_TYPES[kind](value), dtype=DTYPES[kind]), recorder)


def import_symbol(value: Any, recorder: Records) -> HostValue:
    """The host value of a number that PyTorch handed out as a symbol."""
    kinds: dict[type, Any] = {torch.SymInt: "int", torch.SymFloat: "float", torch.SymBool: "bool"}
    return HostValue(kinds[type(value)], recorder.materialise(value), recorder)


def _recorder(left: Any, right: Any) -> Records:
    host: HostValue = left if isinstance(left, HostValue) else right
    return host.recorder


def _with_tensor(plain: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """Arithmetic of a host value and a tensor follows PyTorch's rules for Python numbers."""
    if isinstance(left, torch.Tensor) or isinstance(right, torch.Tensor):
        first = left.symbol() if isinstance(left, HostValue) else left
        return plain(first, right.symbol() if isinstance(right, HostValue) else right)
    require_no_other_number(right if isinstance(left, HostValue) else left)
    return NotImplemented


def _common_kind(left: Any, right: Any, least: HostKind) -> HostKind | None:
    kinds = (_kind_of_operand(left), _kind_of_operand(right))
    if None in kinds:
        return None
    return max((*cast(tuple[HostKind, HostKind], kinds), least), key=_ORDER.index)


def _arithmetic(function: Callable[..., torch.Tensor], plain: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    kind = _common_kind(left, right, "int")
    if kind is None:
        return _with_tensor(plain, left, right)
    recorder = _recorder(left, right)
    operands = (left, right)
    one, other = (lift(number, kind, recorder).tensor for number in operands)
    result = HostValue(kind, exact_numbers.combined(function, one, other, recorder), recorder)
    if _kind_of_operand(left) == _kind_of_operand(right) == "int":
        recorder.relate(
            result.tensor, plain, *(item if isinstance(item, HostValue) else int(item) for item in operands)
        )
    return result


def _division(
    function: Callable[..., torch.Tensor], plain: Callable[[Any, Any], Any], left: Any, right: Any, least: HostKind
) -> Any:
    kind = _common_kind(left, right, least)
    if kind is None:
        return _with_tensor(plain, left, right)
    recorder = _recorder(left, right)
    if plain is operator.truediv and kind_of(left) == kind_of(right) == "int":
        exact_numbers.require_exact([lift(number, "int", recorder).tensor for number in (left, right)], recorder)
    divisor = lift(right, kind, recorder).tensor
    if isinstance(right, HostValue):
        recorder.check(torch.ne(divisor, 0), "ZeroDivisionError", _message_of_zero(plain, left, right))
        # A sub-DNN computes before the host looks at the check: keep integer division from trapping.
        divisor = torch.where(torch.eq(divisor, 0), torch.ones_like(divisor), divisor)
    elif right == 0:
        raise ZeroDivisionError(_message_of_zero(plain, left, right))
    number = lift(left, kind, recorder).tensor
    divisor = exact_numbers.divisor_that_fits(number, divisor, recorder, plain is operator.floordiv)
    return HostValue(kind, function(number, divisor), recorder)


def _message_of_zero(plain: Callable[[Any, Any], Any], left: Any, right: Any) -> str:
    """What this Python says of a division of such numbers by zero."""
    kinds = [PYTHON_TYPES[kind_of(number) or "int"] for number in (left, right)]
    try:
        plain(kinds[0](1), kinds[1](0))
    except ZeroDivisionError as error:
        return str(error)
    raise AssertionError(plain)


def _power(left: Any, right: Any) -> Any:
    kind = _common_kind(left, right, "int")
    if kind is None:
        return _with_tensor(operator.pow, left, right)
    recorder = _recorder(left, right)
    if kind == "float":
        base, exponent = lift(left, kind, recorder).tensor, lift(right, kind, recorder).tensor
        return HostValue(kind, exact_numbers.real_power(base, exponent, recorder), recorder)
    if isinstance(right, HostValue) and right.kind == "int":
        raise DecisionMet("whether a power is a whole number")
    if not isinstance(right, HostValue) and right < 0:
        return _power(left.as_kind("float"), right)
    return whole_power(left, right, recorder)


def whole_power(left: Any, right: Any, recorder: Records) -> HostValue:
    """`left ** right` of whole numbers, where the exponent is known not to be negative."""
    base, exponent = lift(left, "int", recorder).tensor, lift(right, "int", recorder).tensor
    return HostValue("int", exact_numbers.whole_power(base, exponent, recorder), recorder)


def _quotient_and_remainder(left: Any, right: Any) -> Any:
    if _common_kind(left, right, "int") is None:
        return NotImplemented
    return left // right, left % right


def _shifted(function: exact_numbers.Shift, plain: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    kind = _common_kind(left, right, "int")
    if kind is None:
        return _with_tensor(plain, left, right)
    if kind == "float":
        return NotImplemented
    recorder = _recorder(left, right)
    number, places = lift(left, kind, recorder).tensor, lift(right, kind, recorder).tensor
    return HostValue(kind, function(number, places, recorder), recorder)


def _comparison(function: Callable[..., torch.Tensor], plain: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    kind = _common_kind(left, right, "int")
    if kind is None:
        return _with_tensor(plain, left, right)
    recorder = _recorder(left, right)
    one, other = (lift(number, _kind_of_operand(number) or kind, recorder).tensor for number in (left, right))
    return HostValue("bool", exact_numbers.compared(function, one, other, recorder), recorder)


def _bitwise(function: Callable[..., torch.Tensor], plain: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    kind = _common_kind(left, right, "bool")
    if kind is None:
        return _with_tensor(plain, left, right)
    if kind == "float":
        return NotImplemented
    recorder = _recorder(left, right)
    result = function(lift(left, kind, recorder).tensor, lift(right, kind, recorder).tensor)
    return HostValue(kind, result, recorder)
