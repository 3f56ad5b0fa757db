"""The path of a program in eager PyTorch, and whether a compiled program took the same one.

Eager PyTorch shows more tests than the compiled program has decisions: those of values known while compiling, which no
input changes. It does not show decisions inside builtins such as `any`, nor whether an operation raises an error. So
two sequences are compared: all decisions at tests of the source must be among the tests that Python makes, in order,
and all tests of tensors must be among the decisions.
"""

import ast
import dis
import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

import dycl

Test = tuple[int | None, bool]
"""The line of a test and its outcome; None for a line outside of the program."""


@functools.lru_cache(maxsize=100)
def _jumps(code: CodeType) -> dict[int, tuple[int, int, bool]]:
    """Line, target and the outcome that jumps, for each place where the code tests something or asks for an item."""
    jumps = {}
    prefixes: list[int] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname == "EXTENDED_ARG":  # Python announces a far jump at its prefix
            prefixes.append(instruction.offset)
            continue
        line = instruction.positions.lineno if instruction.positions else None
        if line is not None and any(part in instruction.opname for part in ("IF_TRUE", "IF_FALSE", "FOR_ITER")):
            jump = (line, instruction.argval, "IF_TRUE" in instruction.opname)
            jumps.update(dict.fromkeys((*prefixes, instruction.offset), jump))
        prefixes.clear()
    return jumps


@contextmanager
def tests_of_source(filename: str) -> Iterator[list[Test]]:
    """Collects line and outcome of every test that the code of `filename` makes, and of every step of a `for`."""
    tests: list[Test] = []
    pending: dict[FrameType, tuple[int, int, bool]] = {}

    def follow(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "call":
            if frame.f_code.co_filename != filename:
                return None
            frame.f_trace_opcodes = True
        elif event == "opcode":
            if jump := pending.pop(frame, None):
                line, target, outcome = jump
                tests.append((line, outcome == (frame.f_lasti == target)))
            if jump := _jumps(frame.f_code).get(frame.f_lasti):
                pending[frame] = jump
        elif event == "return":
            pending.pop(frame, None)
        return follow

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        yield tests
    finally:
        sys.settrace(before)


class TensorTests(TorchFunctionMode):
    """Collects line and outcome of the tests of tensors; `bool(t)` and `not t` only compute a flag."""

    def __init__(self, filename: str) -> None:
        super().__init__()
        self._filename = filename
        self.tests: list[Test] = []

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is torch.Tensor.__bool__:
            frame = sys._getframe(1)
            if frame.f_code.co_filename == self._filename and frame.f_lasti in _jumps(frame.f_code):
                self.tests.append((frame.f_lineno, result))
        return result


def decisions_of(trace: dycl.Trace, filename: str) -> list[Test]:
    """The decisions of a compiled run that have two outcomes."""
    return [
        (decision.span.line if filename.endswith(decision.span.file) else None, decision.outcome)
        for decision in trace.path.decisions
        if isinstance(decision.outcome, bool)
    ]


def missing_from(part: Sequence[Test], whole: Sequence[Test]) -> Test | None:
    """The first test of `part` that does not come in `whole` in the same order; a line of None is any line."""
    rest = iter(whole)
    for line, outcome in part:
        if not any(outcome == other and (line == place or None in (line, place)) for place, other in rest):
            return line, outcome
    return None


def tests_among(trace: dycl.Trace, source: str, filename: str) -> list[Test]:
    """The decisions of a compiled run that are tests in the source, not those of errors or inside builtins."""
    places = _places_of_tests(source)
    return [
        (decision.span.line, decision.outcome)
        for decision in trace.path.decisions
        if isinstance(decision.outcome, bool) and filename.endswith(decision.span.file)
        if (decision.span.line, decision.span.column - 1, decision.span.end_column - 1) in places
    ]


@functools.lru_cache(maxsize=100)
def _places_of_tests(source: str) -> set[tuple[int, int, int | None]]:
    """Line, first and last column of everything that Python itself tests, and of what `for` goes over.

    Calls are left out where they decide something inside: `zip` asks each of its parts for an item, so that one may
    have a further item though the loop ends.
    """
    tested: list[ast.expr | ast.pattern] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
                tested.append(test)
            case ast.BoolOp(values=tests) | ast.comprehension(ifs=tests):
                tested.extend(tests)
            case ast.UnaryOp(op=ast.Not(), operand=test):
                tested.append(test)
            case ast.match_case(pattern=pattern, guard=guard):
                tested.extend((pattern, *getattr(pattern, "patterns", ())))
                tested.extend([guard] if guard else [])
    found: list[ast.expr | ast.pattern] = [test for test in tested if not isinstance(test, ast.Call)]
    loops = [node.iter for node in ast.walk(ast.parse(source)) if isinstance(node, ast.For)]
    found.extend(source for source in loops if not ast.unparse(source).startswith("zip("))
    return {(test.lineno, test.col_offset, test.end_col_offset) for test in found}
