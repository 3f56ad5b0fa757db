"""Emit instructions: registers, labels, names and the place in the source that is being read."""

import ast
import dis
import types
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dycl.hcfg.types import Span
from dycl.rewrite.normalise.instructions import (
    BranchOn,
    Call,
    GoTo,
    Instruction,
    Known,
    Label,
    LoadCell,
    LoadGlobal,
    Move,
    NextItem,
    Operand,
    PushHandler,
    Read,
    Register,
    Star,
)
from dycl.rewrite.normalise.source import span_of


class Emitter:
    """The instructions of one function as they are written down."""

    def __init__(self, code: types.CodeType) -> None:
        self.code = code
        self.instructions: list[Instruction] = []
        self.handler_labels: list[Label | None] = []
        self.handled_registers: list[Register | None] = []
        self.here = Span("", 0, 0, 0, 0, "")
        self._places: dict[Label, int] = {}
        self._labels = 0
        self._registers = 0
        # Whether an expression may assign a variable that an earlier part of the same expression has read.
        self.rebinds = False
        self.deletes: set[str] = set()
        """The names that the function deletes."""
        self.renames: list[dict[str, Register]] = []
        self.comprehension_cells: set[Register] = set()
        # From Python 3.12 on a comprehension's variables stand among the function's own, though outside of the
        # comprehension the same name may be a global's.
        self.globals = {item.argval for item in dis.get_instructions(code) if item.opname == "LOAD_GLOBAL"}
        self._constants = {(type(value), repr(value)): value for value in code.co_consts}

    def handler(self) -> Label | None:
        """Where an exception in the next instruction goes."""
        return None

    def handled(self) -> Register | None:
        """What holds the exception that is being handled at the next instruction."""
        return None

    def emit(self, instruction: Instruction) -> None:
        self.instructions.append(instruction)
        self.handler_labels.append(self.handler())
        self.handled_registers.append(self.handled())

    def span(self, node: ast.AST) -> Span:
        if hasattr(node, "lineno"):
            self.here = span_of(node, self.code)
        return self.here

    def label(self) -> Label:
        self._labels += 1
        return self._labels

    def place(self, label: Label) -> None:
        self._places[label] = len(self.instructions)

    def register(self, purpose: str) -> Register:
        self._registers += 1
        return f"%{purpose}{self._registers}"

    def resolved(self) -> tuple[tuple[Instruction, ...], dict[Label, int]]:
        """The instructions with labels replaced by positions."""
        result: list[Instruction] = []
        for instruction in self.instructions:
            match instruction:
                case GoTo(label=label) | PushHandler(label=label):
                    instruction = replace(instruction, label=self._places[label])
                case BranchOn(then=then, orelse=orelse):
                    instruction = replace(instruction, then=self._places[then], orelse=self._places[orelse])
                case NextItem(exhausted=exhausted):
                    instruction = replace(instruction, exhausted=self._places[exhausted])
                case _:
                    pass
            result.append(instruction)
        return tuple(result), self._places

    def call(self, callee: Operand, args: Sequence[Operand | Star], node: ast.AST) -> Read:
        dest = self.register("value")
        self.emit(Call(dest, callee, tuple(args), (), self.span(node)))
        return Read(dest)

    def move(self, dest: Register, source: Operand, node: ast.AST) -> None:
        self.emit(Move(dest, source, self.span(node)))

    def kept(self, operand: Operand, node: ast.AST) -> Operand:
        """The operand's value now, even if the variable it was read from changes later."""
        if isinstance(operand, Known) or operand.register.startswith("%"):
            return operand
        dest = self.register("kept")
        self.move(dest, operand, node)
        return Read(dest)

    def renamed(self, name: str) -> Register:
        for scope in reversed(self.renames):
            if name in scope:
                return scope[name]
        return name

    def is_cell(self, name: str) -> bool:
        register = self.renamed(name)
        if register != name:
            return register in self.comprehension_cells
        return name in self.code.co_freevars or (name in self.code.co_cellvars and name not in self.globals)

    def constant(self, value: Any) -> Known:
        """A constant as Python's own compiler has it: the same object wherever it stands in the function."""
        return Known(self._constants.get((type(value), repr(value)), value))

    def load_global(self, name: str, node: ast.AST) -> Read:
        dest = self.register("global")
        self.emit(LoadGlobal(dest, name, self.span(node)))
        return Read(dest)

    def load(self, node: ast.Name) -> Operand:
        register = self.renamed(node.id)
        if self.is_cell(node.id):
            dest = self.register("cell")
            self.emit(LoadCell(dest, register, self.span(node)))
            return Read(dest)
        if register != node.id or (node.id in self.code.co_varnames and node.id not in self.globals):
            return self.kept(Read(register), node) if self.rebinds else Read(register)
        return self.load_global(node.id, node)
