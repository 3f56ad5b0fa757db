"""A flat function as a person reads it.

EarlyExit.forward
   0  $loop1 = loop over enumerate($3)                   # net.py:9:29
   1  $item2 = next of $loop1, else go to 14             # net.py:9:29
"""

from typing import assert_never

from dycl.hcfg.types import Span
from dycl.rewrite.normalise.instructions import (
    BranchOn,
    Call,
    Delete,
    Drop,
    FlatFunction,
    GoTo,
    Instruction,
    Known,
    Leave,
    LoadCell,
    LoadGlobal,
    MakeFunction,
    Move,
    NextItem,
    Operand,
    PopHandler,
    PushHandler,
    Raise,
    RaiseAgain,
    Star,
    StartLoop,
    StoreCell,
    Unpack,
    Unsupported,
    Yield,
)

_COMMENT_COLUMN = 72


def flat_text(function: FlatFunction) -> str:
    """The instructions of a function, one a line, with their places in the source."""
    lines = [function.name]
    for number, instruction in enumerate(function.instructions):
        lines.append(f"{f'{number:4}  {_shown(instruction)}':<{_COMMENT_COLUMN - 2}}  # {_place(instruction.span)}")
    return "\n".join(lines) + "\n"


def _shown(instruction: Instruction) -> str:
    match instruction:
        case Call(dest=dest, callee=callee, args=args, keywords=keywords):
            given = [
                *map(_argument, args),
                *(f"{name}={_value(value)}" if name else f"**{_value(value)}" for name, value in keywords),
            ]
            return f"{dest} = {_value(callee)}({', '.join(given)})"
        case Move(dest=dest, source=source):
            return f"{dest} = {_value(source)}"
        case LoadGlobal(dest=dest, name=name):
            return f"{dest} = global {name}"
        case LoadCell(dest=dest, cell=cell):
            return f"{dest} = contents of {cell}"
        case StoreCell(cell=cell, source=source):
            return f"contents of {cell} = {_value(source)}"
        case MakeFunction(dest=dest, code=code):
            return f"{dest} = function {code.co_name}"
        case GoTo(label=label):
            return f"go to {label}"
        case BranchOn(condition=condition, then=then, orelse=orelse):
            return f"if {_value(condition)} go to {then} else to {orelse}"
        case StartLoop(dest=dest, source=source):
            return f"{dest} = loop over {_value(source)}"
        case NextItem(dest=dest, iterator=iterator, exhausted=exhausted):
            return f"{dest} = next of {iterator}, else go to {exhausted}"
        case Unpack(dests=dests, star=star, source=source):
            names = [f"*{name}" if place == star else name for place, name in enumerate(dests)]
            return f"{', '.join(names)} = {_value(source)}"
        case PushHandler(label=label, exception=exception):
            return f"on an error, {exception} = it and go to {label}"
        case PopHandler():
            return "end of the part that this error handler covers"
        case Raise(exception=exception, cause=cause):
            return f"raise {_value(exception)}" + ("" if cause is None else f" from {_value(cause)}")
        case RaiseAgain(exception=exception):
            return f"raise {_value(exception)} again"
        case Leave(source=source):
            return f"return {_value(source)}"
        case Yield(dest=dest, source=source):
            return f"{dest} = yield {_value(source)}"
        case Delete(register=register):
            return f"delete {register}"
        case Drop(iterator=iterator):
            return f"leave the loop over {iterator}"
        case Unsupported(identifier=identifier, reason=reason):
            return f"refused, {identifier}: {reason}"
        case _:
            assert_never(instruction)


def _argument(argument: Operand | Star) -> str:
    return f"*{_value(argument.operand)}" if isinstance(argument, Star) else _value(argument)


def _value(operand: Operand) -> str:
    if not isinstance(operand, Known):
        return operand.register
    name = getattr(operand.value, "__qualname__", None)
    return name if isinstance(name, str) else repr(operand.value)


def _place(span: Span) -> str:
    return f"{span.file.replace(chr(92), '/').rsplit('/', 1)[-1]}:{span.line}:{span.column}"
