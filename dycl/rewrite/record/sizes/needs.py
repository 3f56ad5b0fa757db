"""What operations need of sizes: to be equal, to go together, to be large enough.

A size is a number or PyTorch's symbol; a need that numbers alone decide is PyTorch's own to complain of.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch.utils._sympy.value_ranges import bound_sympy

from dycl.rewrite.record.contract import Records

NO_MATCH = "The size of tensor a must match the size of tensor b at a non-singleton dimension"
NEGATIVE = "The expanded size of the tensor isn't allowed to be negative."
INVALID = "invalid shape dimension, or more than one that is left to find out"
EXPANDED = "The expanded size of the tensor must match the existing size at a non-singleton dimension"


def expression(size: Any) -> Any:
    """A size as an expression that conditions are made of."""
    return size.node.expr if isinstance(size, torch.SymInt | torch.SymFloat) else sympy.sympify(size)


def same_sizes(left: Sequence[Any], right: Sequence[Any]) -> bool:
    """Whether sizes are equal, whatever the open ones are."""
    return list(map(expression, left)) == list(map(expression, right))


def _open(*sizes: Any) -> bool:
    return any(expression(size).free_symbols for size in sizes)


def equal(recorder: Records, left: Any, right: Any, message: str, error: str = "RuntimeError") -> None:
    """Two sizes must be equal."""
    if left is not right and _open(left, right):
        _require(recorder, sympy.Eq(expression(left), expression(right)), error, message)


def at_least(recorder: Records, size: Any, least: Any, error: str, message: str) -> None:
    """A size must not be smaller than another."""
    if _open(size, least):
        _require(recorder, sympy.Ge(expression(size), expression(least)), error, message)


def together(
    recorder: Records, shapes: Sequence[Sequence[Any]], message: str = NO_MATCH, error: str = "RuntimeError"
) -> None:
    """Shapes must broadcast: in each dimension, those sizes that are not 1 are equal."""
    for place in range(1, max(map(len, shapes), default=0) + 1):
        sizes = dict.fromkeys(expression(shape[-place]) for shape in shapes if len(shape) >= place)
        known = [size for size in sizes if size.is_number and size != 1]
        unknown = [size for size in sizes if not size.is_number]
        pairs = [(size, known[0]) for size in unknown] if known else itertools.combinations(unknown, 2)
        for left, right in pairs:
            either = [sympy.Eq(left, right), *(sympy.Eq(size, 1) for size in (left, right))]
            _require(recorder, sympy.Or(*either), error, message)


def spreads(recorder: Records, shape: Sequence[Any], wanted: Sequence[Any], message: str = EXPANDED) -> None:
    """A shape must broadcast to another one."""
    for size, target in zip(reversed(shape), reversed(wanted), strict=False):
        if _open(size, target):
            old, new = expression(size), expression(target)
            _require(recorder, sympy.Or(sympy.Eq(old, new), sympy.Eq(old, 1)), "RuntimeError", message)


def spreads_to_one_of(recorder: Records, size: Any, wanted: Sequence[Any], message: str = EXPANDED) -> None:
    """A size must be 1 or one of others."""
    if _open(size, *wanted):
        fits = [sympy.Eq(expression(size), expression(other)) for other in (1, *wanted)]
        _require(recorder, sympy.Or(*fits), "RuntimeError", message)


def divides(recorder: Records, divisor: int, size: Any, message: str) -> None:
    """A size must be a multiple of a number."""
    if _open(size):
        _require(recorder, sympy.Eq(_remainder(expression(size), divisor), 0), "RuntimeError", message)


def as_meant(recorder: Records, shape: Sequence[Any], left_over: Callable[[int], Any], message: str) -> list[Any]:
    """The shape with what `left_over` says of its place for a number of the input that turns out to be -1.

    Where it says None, no negative number is taken. Only where errors are caught: elsewhere a program stops with an
    error that says so.
    """
    sizes = list(shape)
    for place, size in enumerate(sizes):
        if isinstance(size, torch.SymInt) and recorder.catches_errors() and not is_size(recorder, size):
            other = left_over(place)
            at_least(recorder, size, 0 if other is None else -1, "RuntimeError", message)
            if other is not None:
                given = recorder.materialise(size)
                left = recorder.materialise(other) if isinstance(other, torch.SymInt) else other
                with recorder.on():
                    sizes[place] = recorder.symbol_of(torch.where(torch.eq(given, -1), left, given))
    return sizes


def is_size(recorder: Records, number: torch.SymInt) -> bool:
    """Whether a number is known not to be negative."""
    wanted, ranges = number.node.expr, number.node.shape_env.var_to_range
    if wanted.free_symbols <= ranges.keys() and bound_sympy(wanted, ranges).lower >= 0:
        return True
    found = recorder.element_bounds(recorder.materialise(number))
    return found is not None and found[0] >= 0


def covers(recorder: Records, count: Any, shape: Sequence[Any]) -> list[Any]:
    """So many elements must fill a shape, in which one size may be left to find out; gives the shape, as far as known.

    With its last size known, a shape can be had for no elements, too, where the backend could not find it out.
    """
    left_out = [place for place, size in enumerate(shape) if isinstance(size, int) and size == -1]
    rest = expression(sympy.prod(expression(size) for place, size in enumerate(shape) if place not in left_out))
    if not _open(count, rest):
        return list(shape)
    message = f"shape '{_shown(shape)}' is invalid for input of another size"
    if not left_out:
        equal(recorder, count, rest, message)
        return list(shape)
    last = sympy.S.NaN if rest.is_zero else expression(count) / rest
    exact = not sympy.denom(last).free_symbols and last.is_integer is True
    if _open(rest):
        ambiguous = "cannot reshape a tensor of 0 elements where a size is 0 and another one is -1"
        recorder.require_size(sympy.Ne(rest, 0), "RuntimeError", ambiguous, guards=not last.is_number)
    if not exact:
        divisor = sympy.Max(rest, 1) if _open(rest) else rest
        _require(recorder, sympy.Eq(_remainder(expression(count), divisor), 0), "RuntimeError", message)
    return [int(last) if size == -1 else size for size in shape] if exact and last.is_number else list(shape)


def _remainder(size: Any, divisor: Any) -> Any:
    from torch.utils._sympy.functions import PythonMod  # takes long, and is rarely needed

    return PythonMod(size, divisor)


def ceiling(size: Any, divisor: int) -> Any:
    """How many steps of a number it takes to cover a size."""
    from torch.utils._sympy.functions import FloorDiv  # takes long, and is rarely needed

    return size if divisor == 1 else FloorDiv(size + divisor - 1, divisor)


def _shown(shape: Sequence[Any]) -> str:
    return str([size if isinstance(size, int) else "?" for size in shape]).replace("'", "")


def _require(recorder: Records, condition: Any, error: str, message: str) -> None:
    if condition != sympy.true:
        recorder.require_size(condition, error, message)
