"""Elementwise operations on scalars and vectors, and chains of them as plain data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tvm import tirx

from dycl.runtime.tvm.kernels.functions import FUNCTIONS
from dycl.runtime.tvm.kernels.loops import Expr, Register, Statement, number, spread, vector_type


@dataclass(frozen=True, slots=True)
class Applied:
    """An operation on earlier values of a chain, by number; `dtype` is that of its result."""

    kind: str
    operands: tuple[int, ...]
    attributes: tuple[tuple[str, Any], ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Chain:
    """Operations one after the other: the first `given` values come from outside, the last one is the result."""

    given: int
    dtype: str
    steps: tuple[Applied, ...] = ()


def evaluate(chain: Chain, given: Sequence[Expr], lanes: int) -> tuple[list[Statement], Expr]:
    """The statements that compute a chain for these values, and its result."""
    values, statements = list(given), list[Statement]()
    for applied in chain.steps:
        found = _value(applied, [values[operand] for operand in applied.operands], lanes)
        # Not a variable: TVM looks through those, and takes ever longer for what is computed from one another.
        kept = Register(applied.dtype, lanes)
        statements += [kept.declared, kept.set(found)]
        values.append(kept.value)
    return statements, values[-1] if chain.steps else values[0]


def _value(applied: Applied, given: Sequence[Expr], lanes: int) -> Expr:
    a = dict(applied.attributes)
    match applied.kind:
        case "constant":
            return spread(number(a["value"], applied.dtype), lanes)
        case "cast":
            return _cast(given[0], applied.dtype, lanes)
        case "clamp":
            return _clamped(given[0], a["low"], a["high"], applied.dtype, lanes)
        case "where":
            return tirx.Select(*given)
        case "relu":
            # As PyTorch has it, a NaN stays one.
            zero = spread(number(0, applied.dtype), lanes)
            return tirx.Select(given[0] < zero, zero, given[0])
        case "maximum" | "minimum":
            return larger(*given) if applied.kind == "maximum" else smaller(*given)
    if applied.kind in _OPERATORS:
        return _OPERATORS[applied.kind](*given)
    return FUNCTIONS[applied.kind](given[0], applied.dtype, lanes)


_OPERATORS: dict[str, Callable[..., Expr]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": tirx.pow,
    "neg": lambda x: -x,
    "abs": tirx.abs,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "eq": tirx.EQ,
    "ne": tirx.NE,
    "and": tirx.And,
    "or": tirx.Or,
    "not": tirx.Not,
}


def larger(x: Expr, y: Expr) -> Expr:
    """The larger of two, or NaN if one is."""
    return tirx.Select(tirx.Or(y > x, tirx.isnan(y)), y, x)


def smaller(x: Expr, y: Expr) -> Expr:
    """The smaller of two, or NaN if one is."""
    return tirx.Select(tirx.Or(y < x, tirx.isnan(y)), y, x)


def _cast(x: Expr, dtype: str, lanes: int) -> Expr:
    if dtype == "bool":
        return tirx.NE(x, spread(tirx.const(0, str(x.ty.dtype).partition("x")[0]), lanes))
    return x.astype(vector_type(dtype, lanes))


def _clamped(x: Expr, low: float | None, high: float | None, dtype: str, lanes: int) -> Expr:
    if low is not None:
        limit = spread(number(low, dtype), lanes)
        x = tirx.Select(x < limit, limit, x)
    if high is not None:
        limit = spread(number(high, dtype), lanes)
        x = tirx.Select(x > limit, limit, x)
    return x
