"""Compile one program and compare it with eager PyTorch: results, exceptions and paths."""

import atexit
import copy
import functools
import importlib.util
import itertools
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

import dycl
from dycl.bench.eager_path import EagerPath, difference, eager_path
from tests.generated.grammar import ROWS, WIDTH
from tests.generated.programs import GeneratedProgram
from tests.generated.rounding import assert_same_but_for_rounding
from tests.generated.surroundings import has_tensors_before
from tests.surroundings.everything import assert_unchanged, everything_around

INPUTS = 8
Row = tuple[torch.Tensor, ...]
_OPEN_SIZES = (2, 0, 1, 3, 5)
_EXPECTED = (ValueError, LookupError, ZeroDivisionError, AssertionError)
_numbers = itertools.count()
_folder = tempfile.TemporaryDirectory(prefix="dycl_generated_")
atexit.register(_folder.cleanup)


class Mismatch(AssertionError):
    """The compiled program does something else than eager PyTorch."""


class Crash(AssertionError):
    """Compiling or running ended in an error that is no refusal."""


class Invalid(AssertionError):
    """The program itself fails in eager PyTorch where no program of the grammar should."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What eager PyTorch does with one input: its result or error, and its path."""

    result: Any
    error: Exception | None
    path: EagerPath


def check(program: GeneratedProgram) -> dycl.CompileError | None:
    """None if the compiled program does what eager PyTorch does, or why it is refused; anything else is raised.

    Where eager PyTorch fails whatever the input, a refusal that says how is what eager does.
    """
    with _written(program.source) as filename:
        rows = _inputs(program)
        outcomes = list(_eager(program, filename, rows))
        model = _model(filename, program.seed)
        before = everything_around(model)
        refused: dycl.CompileError | None = None
        try:
            compiled = dycl.compile(model, rows[0], dynamic_shapes=_open_sizes(rows[0]))
        except dycl.CompileError as error:
            refused = error
        except Exception as error:
            raise Crash(f"dycl.compile failed: {type(error).__name__}: {error}") from error
        _require_unchanged(before, model)
        if refused is not None:
            return None if _fails_alike(refused, outcomes) else refused
        for number, (row, outcome) in enumerate(zip(rows, outcomes, strict=True), start=1):
            _compare(compiled, row, outcome, functools.partial(_again, program, filename, rows[:number]), filename)
            if outcome.error is not None:
                compiled.reset()  # the model may be left halfway, the program is as it was before that call
        return None


def _fails_alike(refused: dycl.CompileError, outcomes: Sequence[Outcome]) -> bool:
    errors = {f"the model raises {type(outcome.error).__name__}: " for outcome in outcomes}
    reasons = [f"{problem.reason}: " for problem in refused.problems]
    return all(reason.startswith(tuple(errors)) for reason in reasons) and all(item.error for item in outcomes)


def _eager(program: GeneratedProgram, filename: str, rows: Sequence[Row]) -> Iterator[Outcome]:
    """What eager PyTorch does, call after call, with what those before left behind; after an error it starts afresh."""
    model = _model(filename, program.seed)
    for row in rows:
        outcome = _run(model, row, filename)
        yield outcome
        if outcome.error is not None:
            model = _model(filename, program.seed)


def _again(program: GeneratedProgram, filename: str, rows: Sequence[Row]) -> Any:
    """What eager PyTorch gives in the last of these calls, once more."""
    return list(_eager(program, filename, rows))[-1].result


def _require_unchanged(before: Any, model: nn.Module) -> None:
    try:
        assert_unchanged(before, everything_around(model))
    except AssertionError as error:
        raise Mismatch(f"compiling changes what was there: {error}") from error


def _compare(compiled: dycl.Program, row: Row, eager: Outcome, again: Callable[[], Any], filename: str) -> None:
    try:
        trace = compiled.trace(*map(torch.clone, row))
    except Exception as error:
        if eager.error is None:
            raise Crash(f"only the compiled program fails: {type(error).__name__}: {error}\n{_shown(row)}") from error
        _compare_errors(eager.error, error, row, filename)
        return
    if eager.error is not None:
        raise Mismatch(f"only eager fails: {eager.error!r}\ncompiled gives: {trace.outputs}\n{_shown(row)}")
    try:
        assert_same_but_for_rounding(eager.result, trace.outputs, again)
    except AssertionError as error:
        raise Mismatch(f"eager:    {eager.result}\ncompiled: {trace.outputs}\n{_shown(row)}") from error
    constant = has_tensors_before(Path(filename).read_text(encoding="utf-8"))
    path = EagerPath(eager.path.tests, []) if constant else eager.path
    other = difference(path, trace.path, {filename})
    if other is not None:
        raise Mismatch(f"another path: {other}\n{_shown(row)}")


def _compare_errors(eager: Exception, compiled: Exception, row: Row, filename: str) -> None:
    """Errors are the same if type, message and line are; types of the program's own are named in a ModelError.

    How Python words a division by zero changes from version to version, and a check's message, which is written while
    compiling, leaves out shapes that only the input determines.
    """
    line = [frame.lineno for frame in traceback.extract_tb(eager.__traceback__) if frame.filename == filename][-1]
    place = f"{Path(filename).name}:{line}:"
    if isinstance(compiled, dycl.ModelError):
        same = f"{type(eager).__name__} at " in str(compiled) and str(eager) in str(compiled)
    else:
        worded_alike = str(compiled) in (str(eager), _without_shapes(str(eager)))
        same = type(compiled) is type(eager) and (worded_alike or isinstance(eager, ZeroDivisionError))
    if not same or place not in "".join(getattr(compiled, "__notes__", ())):
        notes = getattr(compiled, "__notes__", ())
        raise Mismatch(f"eager:    {eager!r} at {place}\ncompiled: {compiled!r} {notes}\n{_shown(row)}") from compiled


def _without_shapes(text: str) -> str:
    return re.sub(r" \[[\d, ]*\]", "", text)


def _run(model: nn.Module, row: Row, filename: str) -> Outcome:
    result, failure = None, None
    with torch.no_grad(), eager_path({filename}) as path:
        try:
            # The next call may write to what this one returns.
            result = copy.deepcopy(model(*map(torch.clone, row)))
        except Exception as error:
            failure = error
    if failure is not None and not isinstance(failure, _EXPECTED) and type(failure).__name__ != "Fault":
        raise Invalid(f"{type(failure).__name__}: {failure}\n{_shown(row)}") from failure
    return Outcome(result, failure, path)


@contextmanager
def _written(source: str) -> Iterator[str]:
    """A file with this source, since the compiler reads the files of running code."""
    path = Path(_folder.name) / f"generated_{next(_numbers)}.py"
    path.write_text(source, encoding="utf-8")
    try:
        yield str(path)
    finally:
        for name in [name for name in sys.modules if name.startswith(f"{path.stem}_")]:
            del sys.modules[name]


def _model(filename: str, seed: int) -> nn.Module:
    """A model of the program in this file, and a module all of its own around it.

    Its weights are multiples of a half, so that no sum is rounded.
    """
    name = f"{Path(filename).stem}_{next(_numbers)}"
    spec = importlib.util.spec_from_file_location(name, filename)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    generator = torch.Generator().manual_seed(seed)
    model: nn.Module = module.Model().eval()
    for parameter in model.parameters():
        parameter.data = torch.randint(-2, 3, parameter.shape, generator=generator) / 2
    model.embedding.weight.data.mul_(2)  # type: ignore[union-attr, operator]
    return model


def _inputs(program: GeneratedProgram) -> list[Row]:
    """Grids of small whole numbers, some large, some leaning to one side, some with many zeros; rows of three."""
    generator = torch.Generator().manual_seed(program.seed)
    rows = []
    for index in range(INPUTS):
        lean = (0, 1, -1, 0)[index % 4]
        reach = (1, 2, 4)[index % 3]
        shapes = [(ROWS, WIDTH), (_OPEN_SIZES[index % len(_OPEN_SIZES)], 3)]
        grids = [torch.randint(-reach, reach + 1, shape, generator=generator).float() + lean for shape in shapes]
        rows.append(tuple(grids) if "def forward(self, x, y)" in program.source else (grids[0],))
    return rows


def _open_sizes(row: Row) -> Any:
    return None if len(row) == 1 else {"x": None, "y": {0: torch.export.Dim("n", max=8)}}


def _shown(row: Row) -> str:
    return f"input: {', '.join(str(x.tolist()) for x in row)}"
