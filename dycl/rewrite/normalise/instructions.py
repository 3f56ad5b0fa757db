"""The flat form of a Python function: a list of simple instructions over named registers.

Everything Python can compute is one `Call` of a function on registers and literals (`a + b` is a call of
`operator.add`), so the rest is control. An instruction knows its place in the user's source.
"""

import types
from collections.abc import Mapping
from dataclasses import dataclass

from dycl.hcfg.types import Span

Register = str
Label = int


@dataclass(frozen=True, slots=True)
class Read:
    """The value of a register."""

    register: Register


@dataclass(frozen=True, slots=True)
class Known:
    """A value that stands in the program text, or a function that the normal form itself calls."""

    value: object


@dataclass(frozen=True, slots=True)
class Star:
    """An argument that is spread over several positions (`*args`)."""

    operand: "Operand"


Operand = Read | Known


@dataclass(frozen=True, slots=True)
class Call:
    """Put the result of a call into `dest`; a keyword of None spreads a mapping (`**kwargs`)."""

    dest: Register
    callee: Operand
    args: tuple[Operand | Star, ...]
    keywords: tuple[tuple[str | None, Operand], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Move:
    """Copy a value into `dest`."""

    dest: Register
    source: Operand
    span: Span


@dataclass(frozen=True, slots=True)
class LoadGlobal:
    """Put a global or builtin into `dest`."""

    dest: Register
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class LoadCell:
    """Put what the cell in `cell` holds into `dest`."""

    dest: Register
    cell: Register
    span: Span


@dataclass(frozen=True, slots=True)
class StoreCell:
    """Let the cell in `cell` hold `source`."""

    cell: Register
    source: Operand
    span: Span


@dataclass(frozen=True, slots=True)
class MakeFunction:
    """Put a function made of the nested code object `code` into `dest`; `captures` are its closure's cells."""

    dest: Register
    code: types.CodeType
    defaults: tuple[Operand, ...]
    keyword_defaults: tuple[tuple[str, Operand], ...]
    annotations: tuple[tuple[str, Operand], ...]
    captures: tuple[Register, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class GoTo:
    """Go on at `label`."""

    label: Label
    span: Span


@dataclass(frozen=True, slots=True)
class BranchOn:
    """Go on at `then` if `condition` is true, else at `orelse`: the place where decisions are made."""

    condition: Operand
    then: Label
    orelse: Label
    span: Span


@dataclass(frozen=True, slots=True)
class StartLoop:
    """Put an iterator over `source` into `dest`."""

    dest: Register
    source: Operand
    span: Span


@dataclass(frozen=True, slots=True)
class NextItem:
    """Put the iterator's next item into `dest`, or go on at `exhausted`."""

    dest: Register
    iterator: Register
    exhausted: Label
    span: Span


@dataclass(frozen=True, slots=True)
class Unpack:
    """Spread `source` over `dests`; the one at `star` takes a list of all that is left."""

    dests: tuple[Register, ...]
    star: int | None
    source: Operand
    span: Span


@dataclass(frozen=True, slots=True)
class PushHandler:
    """From here on, an exception goes to `label`, in register `exception`.

    What stands there may be a `finally` that only cleans up, or let the context manager in a register do so.
    """

    label: Label
    exception: Register
    span: Span
    cleans_up: bool = False
    manager: Register | None = None


@dataclass(frozen=True, slots=True)
class PopHandler:
    """Drop the innermost handler."""

    span: Span


@dataclass(frozen=True, slots=True)
class Raise:
    """Raise `exception`, because of `cause` if that is given."""

    exception: Operand
    cause: Operand | None
    span: Span


@dataclass(frozen=True, slots=True)
class RaiseAgain:
    """Let an exception that was raised before go on."""

    exception: Operand
    span: Span


@dataclass(frozen=True, slots=True)
class Leave:
    """Leave the function with `source`."""

    source: Operand
    span: Span


@dataclass(frozen=True, slots=True)
class Yield:
    """Hand `source` to whoever iterates, and wait."""

    dest: Register
    source: Operand
    span: Span


@dataclass(frozen=True, slots=True)
class Delete:
    """Forget a register."""

    register: Register
    span: Span


@dataclass(frozen=True, slots=True)
class Drop:
    """Leave a loop before its end; a generator that waits inside `try` or `with` cleans up."""

    iterator: Register
    span: Span


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A construct that DyCL refuses when control reaches it."""

    identifier: str
    reason: str
    span: Span


Instruction = (
    Call
    | Move
    | LoadGlobal
    | LoadCell
    | StoreCell
    | MakeFunction
    | GoTo
    | BranchOn
    | StartLoop
    | NextItem
    | Unpack
    | PushHandler
    | PopHandler
    | Raise
    | RaiseAgain
    | Leave
    | Yield
    | Delete
    | Drop
    | Unsupported
)


@dataclass(frozen=True, eq=False, slots=True)
class FlatFunction:
    """A normalised function.

    `handlers[i]` is where an exception in instruction i goes, if anywhere in here, and `handled[i]` holds the exception
    that is being handled there. `live[i]` are the registers that matter from instruction i on, and `dropped[i]` those
    that matter if they hold a generator. `endless` are the instructions inside `while` loops; `loops` tells where the
    iterator of each `for` loop is asked for its next item.
    """

    code: types.CodeType
    name: str
    instructions: tuple[Instruction, ...]
    handlers: tuple[Label | None, ...]
    handled: tuple[Register | None, ...]
    cells: frozenset[Register]
    live: tuple[frozenset[Register], ...]
    dropped: tuple[frozenset[Register], ...]
    endless: frozenset[int]
    loops: Mapping[Register, Label]
