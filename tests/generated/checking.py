"""Compile one program and compare it with eager PyTorch: results, exceptions and paths."""

import atexit
import functools
import importlib.util
import itertools
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
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

INPUTS = 8
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
    """None if the compiled program does what eager PyTorch does, or why it is refused; anything else is raised."""
    with _imported(program.source) as (module, filename):
        model, inputs = _model(module, program.seed), _inputs(program.seed)
        outcomes = [_run(_model(module, program.seed), x, filename) for x in inputs]
        try:
            compiled = dycl.compile(model, (inputs[0],))
        except dycl.CompileError as refused:
            return refused
        except Exception as error:
            raise Crash(f"dycl.compile failed: {type(error).__name__}: {error}") from error
        for x, outcome in zip(inputs, outcomes, strict=True):
            again = functools.partial(_model(module, program.seed), x.clone())
            _compare(compiled, x, outcome, again, filename)
        return None


def _compare(compiled: dycl.Program, x: torch.Tensor, eager: Outcome, again: Callable[[], Any], filename: str) -> None:
    try:
        trace = compiled.trace(x)
    except Exception as error:
        if eager.error is None:
            raise Crash(f"only the compiled program fails: {type(error).__name__}: {error}\n{_shown(x)}") from error
        _compare_errors(eager.error, error, x, filename)
        return
    if eager.error is not None:
        raise Mismatch(f"only eager fails: {eager.error!r}\ncompiled gives: {trace.outputs}\n{_shown(x)}")
    try:
        assert_same_but_for_rounding(eager.result, trace.outputs, again)
    except AssertionError as error:
        raise Mismatch(f"eager:    {eager.result}\ncompiled: {trace.outputs}\n{_shown(x)}") from error
    other = difference(eager.path, trace.path, {filename})
    if other is not None:
        raise Mismatch(f"another path: {other}\n{_shown(x)}")


def _compare_errors(eager: Exception, compiled: Exception, x: torch.Tensor, filename: str) -> None:
    """Errors are the same if type, message and line are; types of the program's own are named in a ModelError.

    How Python words a division by zero changes from version to version.
    """
    line = [frame.lineno for frame in traceback.extract_tb(eager.__traceback__) if frame.filename == filename][-1]
    place = f"{Path(filename).name}:{line}:"
    if isinstance(compiled, dycl.ModelError):
        same = f"{type(eager).__name__} at " in str(compiled) and str(eager) in str(compiled)
    else:
        same = type(compiled) is type(eager) and (str(compiled) == str(eager) or isinstance(eager, ZeroDivisionError))
    if not same or place not in "".join(getattr(compiled, "__notes__", ())):
        notes = getattr(compiled, "__notes__", ())
        raise Mismatch(f"eager:    {eager!r} at {place}\ncompiled: {compiled!r} {notes}\n{_shown(x)}") from compiled


def _run(model: nn.Module, x: torch.Tensor, filename: str) -> Outcome:
    result, failure = None, None
    with torch.no_grad(), eager_path({filename}) as path:
        try:
            result = model(x)
        except Exception as error:
            failure = error
    if failure is not None and not isinstance(failure, _EXPECTED) and type(failure).__name__ != "Fault":
        raise Invalid(f"{type(failure).__name__}: {failure}\n{_shown(x)}") from failure
    return Outcome(result, failure, path)


@contextmanager
def _imported(source: str) -> Iterator[tuple[Any, str]]:
    """The source as a module in a file of its own, since the compiler reads the files of running code."""
    name = f"generated_{next(_numbers)}"
    path = Path(_folder.name) / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        yield module, str(path)
    finally:
        del sys.modules[name]


def _model(module: Any, seed: int) -> nn.Module:
    """The program's model with weights that are multiples of a half, so that no sum is rounded."""
    generator = torch.Generator().manual_seed(seed)
    model: nn.Module = module.Model().eval()
    for parameter in model.parameters():
        parameter.data = torch.randint(-2, 3, parameter.shape, generator=generator) / 2
    model.embedding.weight.data.mul_(2)  # type: ignore[union-attr, operator]
    return model


def _inputs(seed: int) -> list[torch.Tensor]:
    """Grids of small whole numbers, some large, some leaning to one side, some with many zeros."""
    generator = torch.Generator().manual_seed(seed)
    grids = []
    for index in range(INPUTS):
        lean = (0, 1, -1, 0)[index % 4]
        reach = (1, 2, 4)[index % 3]
        grids.append(torch.randint(-reach, reach + 1, (ROWS, WIDTH), generator=generator).float() + lean)
    return grids


def _shown(x: torch.Tensor) -> str:
    return f"input: {x.tolist()}"
