"""Loops, vectors and functions in TVM's TensorIR.

Vectors are read and written whole. What a tile of results adds up to is kept in buffers of one vector each, read and
written at place 0 only, so LLVM holds it in a register.
"""

from collections.abc import Callable, Sequence
from typing import Any

import tvm
from tvm import tirx

Expr = Any
Statement = Any

ELEMENTS = {"bool": "uint8"}
"""How elements of a type lie in memory, where that is not the type itself."""


def whole(number: int) -> Expr:
    """A whole number."""
    return tirx.IntImm("int32", number)


def number(value: float, dtype: str) -> Expr:
    """A constant of an element type."""
    return tirx.const(value, dtype)


def variable(name: str) -> Expr:
    """A whole number that a loop or a binding sets."""
    return tirx.Var(name, "int32")


def vector_type(dtype: str, lanes: int) -> str:
    """The type of as many elements."""
    return dtype if lanes == 1 else f"{dtype}x{lanes}"


def block(statements: Sequence[Statement]) -> Statement:
    """Statements one after the other."""
    return statements[0] if len(statements) == 1 else tirx.SeqStmt(list(statements))


def loop(count: int, body: Callable[[Expr], Sequence[Statement]], name: str = "i") -> list[Statement]:
    """The statements of `body` for each number below `count`; without a loop if there is one only."""
    if count == 1:
        return list(body(whole(0)))
    index = variable(name)
    return [tirx.For(index, whole(0), whole(count), tirx.ForKind.SERIAL, block(body(index)))]


def load(buffer: Expr, index: Expr, lanes: int) -> Expr:
    """Elements that lie side by side."""
    return tirx.BufferLoad(buffer, [index if lanes == 1 else tirx.Ramp(index, whole(1), lanes)])


def store(buffer: Expr, index: Expr, value: Expr, lanes: int) -> Statement:
    """Write elements side by side."""
    return tirx.BufferStore(buffer, value, [index if lanes == 1 else tirx.Ramp(index, whole(1), lanes)])


def spread(value: Expr, lanes: int) -> Expr:
    """One element in all lanes."""
    return value if lanes == 1 else tirx.Broadcast(value, lanes)


def bound(name: str, value: Expr, dtype: str) -> tuple[Expr, Statement]:
    """A variable that holds a value from here on."""
    made = tirx.Var(name, dtype)
    return made, tirx.Bind(made, value)


def start_of(tile: Expr, length: int, total: int) -> Expr:
    """Where a tile starts: the last one is moved back where it would end outside, and does again what was done."""
    if total % length == 0:
        return tile * length
    return tirx.min(tile * length, whole(total - length))


_MOST_ELEMENTS = 2**31 - 2**16
"""Places are numbers of 32 bits; a loop may count a little beyond the end."""


class Register:
    """A vector that is added up."""

    def __init__(self, dtype: str, lanes: int) -> None:
        self._buffer = tirx.decl_buffer((1,), vector_type(dtype, lanes), "sum", data_alignment=4)

    @property
    def declared(self) -> Statement:
        """What makes it."""
        # Without the annotation TVM asks its runtime for the memory of each.
        return tirx.AllocBuffer(self._buffer, {"disable_lower_builtin": tirx.IntImm("bool", 1)})

    @property
    def value(self) -> Expr:
        """What it holds."""
        return tirx.BufferLoad(self._buffer, [whole(0)])

    def set(self, value: Expr) -> Statement:
        """Hold another value."""
        return tirx.BufferStore(self._buffer, value, [whole(0)])


class Arrays:
    """The arrays that a function is given, in the order of its parameters."""

    def __init__(self) -> None:
        self._parameters: list[Expr] = []
        self._declared: list[Statement] = []

    def array(self, dtype: str, size: int, name: str = "a") -> Expr:
        """One more array, of so many elements, which need not be aligned; ValueError if they are too many."""
        if size >= _MOST_ELEMENTS:
            raise ValueError(f"an array of {size} elements")
        element = ELEMENTS.get(dtype, dtype)
        # An address rather than a pointer: of two pointers LLVM is told that they share no memory, and what one kernel
        # writes and the next one reads would change places once both stand in the function that calls them.
        address = tirx.Var(f"{name}{len(self._parameters)}_at", "int64")
        buffer = tirx.decl_buffer((size,), element, f"{name}{len(self._parameters)}", data_alignment=4)
        self._parameters.append(address)
        self._declared.append(tirx.DeclBuffer(buffer, data=tirx.reinterpret("handle", address)))
        return buffer

    def function(self, body: Sequence[Statement]) -> Expr:
        """The function that does `body`."""
        statements = [*self._declared, *body, tirx.Return(whole(0))]
        return tirx.PrimFunc(self._parameters, block(statements), ret_type=tvm.ir.PrimType("int32"))
