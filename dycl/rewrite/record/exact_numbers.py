"""Python's exact arithmetic on host values as tensor operations: powers, shifts, rounding, roots of whole numbers.

Whole numbers have 64 bits in a compiled program. Where Python's would outgrow them, the program stops with an
`OverflowError` instead of going on with wrong digits.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.errors.checked_before import needs_no_checks

Operation = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

_BEYOND = "the result has more than 64 bits, which is more than a compiled program keeps"
_INEXACT = "a whole number of more than 53 bits is divided, which a compiled program rounds first"
_EXACT = 2**53
_LARGEST_SHIFT = 62
_SMALLEST = -(2**63)
_LARGEST_STEP = 2**31
# Ten to a higher power is not exact in double precision.
_MOST_DIGITS = 22


def combined(function: Operation, left: torch.Tensor, right: torch.Tensor, recorder: Records) -> torch.Tensor:
    """The sum, difference or product of two numbers; that of whole ones with a check that it has not wrapped."""
    result = function(left, right)
    if result.dtype != torch.int64:
        return result
    if function is torch.mul:
        recorder.large_numbers.meet(result, recorder.element_bounds)
    if not _may_wrap(function, left, right, recorder):
        return result
    if function is not torch.mul and not recorder.is_dynamic(right):
        fits = torch.gt(result, left) if (int(right) > 0) == (function is torch.add) else torch.lt(result, left)
    else:
        # What wraps is off by 2**64 or more, what rounds by some thousands: doubles tell one from the other.
        estimate = function(left.to(torch.float64), right.to(torch.float64))
        fits = torch.lt(torch.abs(torch.sub(result.to(torch.float64), estimate)), 2.0**62)
    recorder.check(fits, "OverflowError", _BEYOND, is_limit=True)
    return result


def _may_wrap(function: Operation, left: torch.Tensor, right: torch.Tensor, recorder: Records) -> bool:
    """Whether the result may need more than 64 bits, as far as the operations that made both numbers tell."""
    if needs_no_checks():
        return False
    ranges = [recorder.element_bounds(number) for number in (left, right)]
    unchanging = (0, 1) if function is torch.mul else (0,)
    if any(not recorder.is_dynamic(number) and int(number) in unchanging for number in (left, right)):
        return function is torch.sub and not recorder.is_dynamic(left)
    sizes = [math.inf if possible is None else max(map(abs, possible)) for possible in ranges]
    most = math.prod(sizes) if function is torch.mul else sum(sizes)
    if most < 2.0**63:
        return False
    is_step = (
        function is not torch.mul and not all(map(recorder.is_dynamic, (left, right))) and min(sizes) <= _LARGEST_STEP
    )
    return not is_step or recorder.large_numbers.are_there()


def turned(function: Callable[[torch.Tensor], torch.Tensor], number: torch.Tensor, recorder: Records) -> torch.Tensor:
    """`-number` or `abs(number)`: that of the smallest whole number has more than 64 bits."""
    if number.dtype == torch.int64 and not needs_no_checks():
        possible = recorder.element_bounds(number)
        if (possible is None or possible[0] <= _SMALLEST) and recorder.large_numbers.are_there():
            recorder.check(torch.ne(number, _SMALLEST), "OverflowError", _BEYOND, is_limit=True)
    return function(number)


def divisor_that_fits(
    number: torch.Tensor, divisor: torch.Tensor, recorder: Records, gives_quotient: bool
) -> torch.Tensor:
    """The divisor, or 1 where the smallest number is divided by -1: its quotient has more than 64 bits."""
    if number.dtype != torch.int64 or needs_no_checks():
        return divisor
    possible = [recorder.element_bounds(operand) for operand in (number, divisor)]
    if any(
        found is not None and not found[0] <= excluded <= found[1]
        for found, excluded in zip(possible, (_SMALLEST, -1), strict=True)
    ):
        return divisor
    beyond = torch.logical_and(torch.eq(number, _SMALLEST), torch.eq(divisor, -1))
    if gives_quotient:
        recorder.check(torch.logical_not(beyond), "OverflowError", _BEYOND, is_limit=True)
    return torch.where(beyond, torch.ones_like(divisor), divisor)


def require_exact(numbers: Sequence[torch.Tensor], recorder: Records) -> None:
    """Check that whole numbers are the same in double precision: Python rounds their quotient, and not them."""
    for number in numbers if not needs_no_checks() else ():
        possible = recorder.element_bounds(number) if recorder.is_dynamic(number) else (int(number), int(number))
        if possible is None or max(map(abs, possible)) > _EXACT:
            same = torch.eq(number.to(torch.float64).to(torch.int64), number)
            if recorder.is_dynamic(same):
                recorder.check(same, "OverflowError", _INEXACT, is_limit=True)
            elif not same.item():
                raise OverflowError(_INEXACT)


def compared(function: Operation, left: torch.Tensor, right: torch.Tensor, recorder: Records) -> torch.Tensor:
    """A comparison of two numbers of any kinds; that of a whole number and a float is exact, as Python's is."""
    left, right = (number.to(torch.int64) if number.dtype == torch.bool else number for number in (left, right))
    if left.dtype == right.dtype:
        return function(left, right)
    if left.dtype == torch.int64:
        return _compared_exactly(function, left, right, recorder)
    mirrored: dict[Operation, Operation] = {
        torch.lt: torch.gt,
        torch.le: torch.ge,
        torch.gt: torch.lt,
        torch.ge: torch.le,
    }
    return _compared_exactly(mirrored.get(function, function), right, left, recorder)


def _compared_exactly(function: Operation, whole: torch.Tensor, real: torch.Tensor, recorder: Records) -> torch.Tensor:
    rounded = whole.to(torch.float64)
    result = function(rounded, real)
    ranges = [recorder.element_bounds(number) for number in (whole, real)]
    if any(found is not None and max(map(abs, found)) < 2.0**53 for found in ranges):
        return result
    # Rounding keeps order: only where it makes both equal do the digits count that it took away.
    beyond = torch.ge(real, 2.0**63)
    near = torch.where(torch.eq(rounded, real), torch.clamp(real, max=2.0**63 - 1024), torch.zeros_like(real))
    rest = whole - near.to(torch.int64) - torch.where(beyond, 1024, 0)
    return torch.where(torch.eq(rounded, real), function(rest, torch.zeros_like(rest)), result)


def whole_power(base: torch.Tensor, exponent: torch.Tensor, recorder: Records) -> torch.Tensor:
    """`base ** exponent` of whole numbers, where the exponent is not negative."""
    size = torch.pow(torch.abs(base).to(torch.float64), exponent.to(torch.float64))
    recorder.check(torch.lt(size, 2.0**63), "OverflowError", _BEYOND, is_limit=True)
    # 0, 1 and -1 may be raised to any power: only whether it is zero, odd or even counts.
    small = torch.where(torch.gt(exponent, 64), 62 + torch.remainder(exponent, 2), exponent)
    return torch.pow(base, torch.clamp(small, min=0))


def real_power(base: torch.Tensor, exponent: torch.Tensor, recorder: Records) -> torch.Tensor:
    """`base ** exponent` of floats, with Python's errors."""
    real = torch.logical_not(is_complex_power(base, exponent))
    recorder.check(real, "ValueError", "a negative number to a fractional power is a complex number", is_limit=True)
    recorder.check(torch.logical_not(is_pole(base, exponent)), "ZeroDivisionError", _POLE)
    result = torch.pow(base, exponent)
    finite = torch.logical_and(torch.isfinite(base), torch.isfinite(exponent))
    fits = torch.logical_or(torch.logical_not(torch.isinf(result)), torch.logical_not(finite))
    recorder.check(fits, "OverflowError", "(34, 'Numerical result out of range')")
    return result


def _told_of_a_pole() -> str:
    """What this Python says of zero to a negative power."""
    try:
        return str(float(0) ** -1)
    except ZeroDivisionError as error:
        return str(error)


_POLE = _told_of_a_pole()


def is_complex_power(base: torch.Tensor, exponent: torch.Tensor) -> torch.Tensor:
    """Whether a power is a complex number: of a negative finite number to a finite fraction."""
    negative = torch.logical_and(torch.lt(base, 0), torch.isfinite(base))
    return torch.logical_and(negative, torch.isfinite(exponent) & torch.ne(torch.floor(exponent), exponent))


def is_pole(base: torch.Tensor, exponent: torch.Tensor) -> torch.Tensor:
    """Whether a power has no value: of zero to a negative finite number."""
    return torch.logical_and(torch.eq(base, 0), torch.isfinite(exponent) & torch.lt(exponent, 0))


def shifted_left(number: torch.Tensor, places: torch.Tensor, recorder: Records) -> torch.Tensor:
    """`number << places`."""
    recorder.check(torch.ge(places, 0), "ValueError", "negative shift count")
    factor = _power_of_two(places)
    size = torch.abs(number.to(torch.float64)) * torch.pow(torch.full_like(factor, 2).double(), places.double())
    recorder.check(
        torch.logical_or(torch.eq(number, 0), torch.lt(size, 2.0**63)), "OverflowError", _BEYOND, is_limit=True
    )
    return torch.mul(number, factor)


def shifted_right(number: torch.Tensor, places: torch.Tensor, recorder: Records) -> torch.Tensor:
    """`number >> places`."""
    recorder.check(torch.ge(places, 0), "ValueError", "negative shift count")
    moved = torch.floor_divide(number, _power_of_two(places))
    nothing_left = torch.where(torch.lt(number, 0), torch.full_like(number, -1), torch.zeros_like(number))
    return torch.where(torch.gt(places, _LARGEST_SHIFT), nothing_left, moved)


def _power_of_two(places: torch.Tensor) -> torch.Tensor:
    powers = torch.tensor([2**place for place in range(_LARGEST_SHIFT + 1)])
    return torch.index_select(powers, 0, torch.clamp(places, 0, _LARGEST_SHIFT).reshape(1)).reshape(())


def rounded_whole(number: torch.Tensor, digits: int) -> torch.Tensor:
    """`round(number, digits)` of a whole number: to the nearest multiple, halves to the even one."""
    if digits >= 0:
        return number
    if digits < -18:
        return torch.zeros_like(number)
    step = 10**-digits
    rest = torch.remainder(number, step)
    below = number - rest
    odd = torch.eq(torch.remainder(torch.floor_divide(below, step), 2), 1)
    up = torch.logical_or(torch.gt(rest, step // 2), torch.logical_and(torch.eq(rest, step // 2), odd))
    return torch.where(up, below + step, below)


def rounded_real(number: torch.Tensor, digits: int) -> torch.Tensor | None:
    """`round(number, digits)` of a float, to the last bit; None for digits at which that is not possible.

    The product with a power of ten is computed exactly, as the sum of two floats, so that the nearest whole number is
    that of the decimal expansion, which is how Python rounds.
    """
    if not 0 <= digits <= _MOST_DIGITS:
        return None
    power = torch.full_like(number, 10.0**digits)
    high, low = _exact_product(number, power)
    whole = torch.round(high)
    # `torch.round` broke a tie of `high` alone: undo it where `low` says otherwise. Only where `high` has no bits
    # behind the point can `low` itself be a half.
    rest, odd = high - whole, torch.ne(torch.remainder(whole, 2.0), 0.0)
    past = torch.where(torch.eq(rest, 0.5), torch.gt(low, 0), torch.logical_and(torch.eq(low, 0.5), odd))
    short = torch.where(torch.eq(rest, -0.5), torch.lt(low, 0), torch.logical_and(torch.eq(low, -0.5), odd))
    whole = torch.where(past, whole + 1, torch.where(short, whole - 1, whole))
    result = torch.copysign(torch.abs(whole / power), number)
    # Of numbers this large, no neighbour is nearer to the rounded one.
    plain = torch.logical_or(torch.ge(torch.abs(high), 2.0**53), torch.logical_not(torch.isfinite(high)))
    return torch.where(plain, number, result)


def _exact_product(left: torch.Tensor, right: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Two floats whose sum is the product, after Dekker."""
    high = left * right
    left_high, left_low = _halves(left)
    right_high, right_low = _halves(right)
    low = ((left_high * right_high - high) + left_high * right_low + left_low * right_high) + left_low * right_low
    return high, low


def _halves(number: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scaled = number * 134217729.0
    high = scaled - (scaled - number)
    return high, number - high


def whole_root(number: torch.Tensor, recorder: Records) -> torch.Tensor:
    """`math.isqrt(number)`."""
    recorder.check(torch.ge(number, 0), "ValueError", "isqrt() argument must be nonnegative")
    root = torch.floor(torch.sqrt(torch.clamp(number, min=0).to(torch.float64))).to(torch.int64)
    root = torch.clamp(root, max=3037000499)
    root = torch.where(torch.gt(root * root, number), root - 1, root)
    following = torch.clamp(root + 1, max=3037000499)
    return torch.where(torch.le(following * following, number), following, root)


Shift = Callable[[torch.Tensor, torch.Tensor, Records], torch.Tensor]


def require_told_apart(one: Any, other: Any, recorder: Records) -> None:
    """Stop where two numbers of the input are NaN, unless it is known whether they are one object.

    It is where one of them was made in this block, and neither is one of several.
    """
    if not hasattr(other, "origin"):
        return  # it is known, and of another making
    origins = (one.origin, other.origin)
    unknown = "chosen" in origins or origins == ("kept", "kept")
    if unknown and one.kind == "float" and other.kind == "float":
        both = torch.logical_and(torch.isnan(one.tensor), torch.isnan(other.tensor))
        message = "whether a number that is NaN is the same object as another one is not known"
        recorder.check(torch.logical_not(both), "ValueError", message, is_limit=True)
