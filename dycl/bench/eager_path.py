"""The path of a model in eager PyTorch, and whether a compiled program took the same one.

Eager PyTorch shows more tests than the compiled program has decisions: those of values known while compiling, which no
input changes. It does not show decisions inside builtins such as `any`, nor whether an operation raises an error. So
two sequences are compared: all decisions at tests of the source must be among the tests that Python makes, in order,
and all tests of tensors must be among the decisions.
"""

import ast
import dis
import functools
import linecache
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from dycl.runtime import Path
from dycl.runtime.program import Taken

Place = tuple[str, int]
Test = tuple[Place | None, bool]
"""The file and line of a test and its outcome; None for a place outside of the model's files."""


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


@functools.lru_cache(maxsize=100)
def _asking(code: CodeType) -> frozenset[int]:
    """The places where the code asks for the truth of what it tests: in the jump, from Python 3.13 on before it."""
    places = set(_jumps(code))
    before = None
    for instruction in dis.get_instructions(code):
        if instruction.offset in places and before is not None and before.opname in ("TO_BOOL", "COMPARE_OP"):
            places.add(before.offset)
        before = instruction
    return frozenset(places)


@dataclass(frozen=True, slots=True)
class EagerPath:
    """The tests that Python made while a model ran, and those among them of tensors."""

    tests: list[Test]
    tensor_tests: list[Test]


@contextmanager
def eager_path(files: Collection[str]) -> Iterator[EagerPath]:
    """Collects the tests that the code of these files makes inside the `with` block, and every step of a `for`."""
    path = EagerPath([], [])
    with _followed(files, path.tests), _TensorTests(files, path.tensor_tests):
        yield path


if sys.version_info >= (3, 12):
    _TOOL = 4  # a number that Python has given to no kind of tool

    @contextmanager
    def _followed(files: Collection[str], tests: list[Test]) -> Iterator[None]:
        """Python says where each jump of its code leads."""
        monitoring = sys.monitoring

        def follow(code: CodeType, offset: int, destination: int) -> Any:
            if code.co_filename not in files:
                return monitoring.DISABLE
            if jump := _jumps(code).get(offset):
                line, target, outcome = jump
                tests.append(((code.co_filename, line), outcome == (destination >= target)))
            return None

        monitoring.use_tool_id(_TOOL, "dycl")
        monitoring.register_callback(_TOOL, monitoring.events.BRANCH, follow)
        monitoring.restart_events()
        monitoring.set_events(_TOOL, monitoring.events.BRANCH)
        try:
            yield
        finally:
            monitoring.set_events(_TOOL, monitoring.events.NO_EVENTS)
            monitoring.register_callback(_TOOL, monitoring.events.BRANCH, None)
            monitoring.free_tool_id(_TOOL)

else:

    @contextmanager
    def _followed(files: Collection[str], tests: list[Test]) -> Iterator[None]:
        """Python says which instruction comes next, a jump's target or the one behind the jump."""
        pending: dict[FrameType, tuple[int, int, bool]] = {}

        def follow(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "call":
                if frame.f_code.co_filename not in files:
                    return None
                frame.f_trace_opcodes = True
            elif event == "opcode":
                if jump := pending.pop(frame, None):
                    line, target, outcome = jump
                    tests.append(((frame.f_code.co_filename, line), outcome == (frame.f_lasti == target)))
                if jump := _jumps(frame.f_code).get(frame.f_lasti):
                    pending[frame] = jump
            elif event == "return":
                pending.pop(frame, None)
            return follow

        before = sys.gettrace()
        sys.settrace(follow)
        try:
            yield
        finally:
            sys.settrace(before)


class _TensorTests(TorchFunctionMode):
    """Collects the tests of tensors; `bool(t)` and `not t` only compute a flag."""

    def __init__(self, files: Collection[str], tests: list[Test]) -> None:
        super().__init__()
        self._files = files
        self._tests = tests

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is torch.Tensor.__bool__:
            frame = sys._getframe(1)
            if frame.f_code.co_filename in self._files and frame.f_lasti in _asking(frame.f_code):
                self._tests.append(((frame.f_code.co_filename, frame.f_lineno), result))
        return result


def difference(eager: EagerPath, compiled: Path, files: Collection[str]) -> str | None:
    """How a compiled program's path differs from the one in eager PyTorch; None if it does not."""
    decisions = [(taken, _file_of(taken, files)) for taken in compiled.decisions if isinstance(taken.outcome, bool)]
    all_of_them = [((file, taken.span.line) if file else None, bool(taken.outcome)) for taken, file in decisions]
    own = [
        ((file, taken.span.line), bool(taken.outcome))
        for taken, file in decisions
        if file and (taken.span.line, taken.span.column - 1, taken.span.end_column - 1) in _places_of_tests(file)
    ]
    invented = _missing_from(own, eager.tests)
    left_out = _missing_from(eager.tensor_tests, all_of_them)
    if invented is None and left_out is None:
        return None
    what = f"only compiled decides {invented}" if invented else f"only eager decides {left_out}"
    return f"{what}\neager:    {eager.tests}\nof which on tensors: {eager.tensor_tests}\ncompiled: {all_of_them}"


def _file_of(taken: Taken, files: Collection[str]) -> str | None:
    return next((file for file in files if file.endswith(taken.span.file)), None)


def _missing_from(part: Sequence[Test], whole: Sequence[Test]) -> Test | None:
    """The first test of `part` that does not come in `whole` in the same order; a place of None is any place."""
    rest = iter(whole)
    for place, outcome in part:
        if not any(outcome == other and (place == where or None in (place, where)) for where, other in rest):
            return place, outcome
    return None


@functools.lru_cache(maxsize=100)
def _places_of_tests(file: str) -> set[tuple[int, int, int | None]]:
    """Line, first and last column of everything that Python itself tests, and of what `for` goes over.

    Calls are left out where they decide something inside: `zip` asks each of its parts for an item, so that one may
    have a further item though the loop ends.
    """
    tree = ast.parse("".join(linecache.getlines(file)))
    tested: list[ast.expr | ast.pattern] = []
    for node in ast.walk(tree):
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
    loops = [node.iter for node in ast.walk(tree) if isinstance(node, ast.For)]
    found.extend(source for source in loops if not ast.unparse(source).startswith("zip("))
    return {(test.lineno, test.col_offset, test.end_col_offset) for test in found}
