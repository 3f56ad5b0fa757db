"""What the flat form of a function tells: which registers still matter, which instructions are inside `while` loops."""

from collections.abc import Sequence

from dycl.rewrite.normalise.instructions import (
    BranchOn,
    Call,
    Delete,
    Drop,
    GoTo,
    Instruction,
    Label,
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
    Read,
    Register,
    Star,
    StartLoop,
    StoreCell,
    Unpack,
    Unsupported,
    Yield,
)


def live_registers(
    instructions: Sequence[Instruction], handlers: Sequence[Label | None], handled: Sequence[Register | None]
) -> tuple[frozenset[Register], ...]:
    """For each instruction, the registers that are read before they are written from there on."""
    reads = [
        _reads(instruction) | frozenset(filter(None, (register,)))
        for instruction, register in zip(instructions, handled, strict=True)
    ]
    return _read_later(instructions, handlers, reads)


def dropped_iterators(
    instructions: Sequence[Instruction], handlers: Sequence[Label | None]
) -> tuple[frozenset[Register], ...]:
    """For each instruction, the iterators of loops that may be left before their end from there on."""
    drops = [frozenset((item.iterator,) if isinstance(item, Drop) else ()) for item in instructions]
    return _read_later(instructions, handlers, drops) if any(drops) else tuple(drops)


def _read_later(
    instructions: Sequence[Instruction], handlers: Sequence[Label | None], reads: Sequence[frozenset[Register]]
) -> tuple[frozenset[Register], ...]:
    caught = {item.label: frozenset((item.exception,)) for item in instructions if isinstance(item, PushHandler)}
    live: list[frozenset[Register]] = [frozenset() for _ in range(len(instructions) + 1)]
    changed = True
    while changed:
        changed = False
        for position in reversed(range(len(instructions))):
            instruction = instructions[position]
            after: frozenset[Register] = frozenset()
            for successor in _successors(instruction, position):
                after |= live[successor]
            if isinstance(instruction, NextItem):
                after = (live[position + 1] - {instruction.dest}) | live[instruction.exhausted]
            handler = handlers[position]
            on_exception = live[handler] - caught[handler] if handler is not None else frozenset()
            now = (after - _writes(instruction)) | on_exception | reads[position]
            if now != live[position]:
                live[position] = now
                changed = True
    return tuple(live)


def _successors(instruction: Instruction, position: int) -> tuple[Label, ...]:
    match instruction:
        case GoTo(label=label):
            return (label,)
        case BranchOn(then=then, orelse=orelse):
            return (then, orelse)
        case NextItem(exhausted=exhausted):
            return (position + 1, exhausted)
        case Leave() | Raise() | RaiseAgain() | Unsupported():
            return ()
        case _:
            return (position + 1,)


def _writes(instruction: Instruction) -> frozenset[Register]:
    match instruction:
        case Call(dest=dest) | Move(dest=dest) | LoadGlobal(dest=dest) | LoadCell(dest=dest):
            return frozenset((dest,))
        case MakeFunction(dest=dest) | StartLoop(dest=dest) | Yield(dest=dest):
            return frozenset((dest,))
        case Delete(register=register):
            return frozenset((register,))
        case Unpack(dests=dests):
            return frozenset(dests)
        case _:
            return frozenset()


def _reads(instruction: Instruction) -> frozenset[Register]:
    match instruction:
        case Call(callee=callee, args=args, keywords=keywords):
            operands = [callee, *args, *(value for _, value in keywords)]
        case Move(source=source) | StartLoop(source=source) | Unpack(source=source) | Leave(source=source):
            operands = [source]
        case Yield(source=source) | RaiseAgain(exception=source) | BranchOn(condition=source):
            operands = [source]
        case Raise(exception=exception, cause=cause):
            operands = [exception] if cause is None else [exception, cause]
        case StoreCell(cell=cell, source=source):
            operands = [Read(cell), source]
        case LoadCell(cell=cell):
            operands = [Read(cell)]
        case MakeFunction(defaults=defaults, captures=captures):
            named = (*instruction.keyword_defaults, *instruction.annotations)
            operands = [*defaults, *(value for _, value in named), *map(Read, captures)]
        case NextItem(iterator=iterator):
            operands = [Read(iterator)]
        case Delete(register=register):
            operands = [Read(register)]
        case GoTo() | LoadGlobal() | PushHandler() | PopHandler() | Drop() | Unsupported():
            operands = []
    return frozenset(filter(None, map(_register, operands)))


def _register(operand: Operand | Star) -> Register | None:
    if isinstance(operand, Star):
        operand = operand.operand
    return operand.register if isinstance(operand, Read) else None


def inside_while_loops(instructions: Sequence[Instruction]) -> frozenset[int]:
    """The instructions between a `while` loop's test and the jump back to it."""
    inside: set[int] = set()
    for position, instruction in enumerate(instructions):
        if (
            isinstance(instruction, GoTo)
            and instruction.label <= position
            and not isinstance(instructions[instruction.label], NextItem)
        ):
            inside.update(range(instruction.label, position + 1))
    return frozenset(inside)
