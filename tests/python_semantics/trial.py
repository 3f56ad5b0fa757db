"""One test method: run in plain Python, compiled with every function of its module interpreted, and run again."""

import contextlib
import os
import re
import types
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import torch

import dycl
from dycl.rewrite.knowledge import Interpret, Knowledge
from dycl.rewrite.normalise.statements import normalise
from dycl.rewrite.signals import Refused
from tests.operators.trial import Outcome
from tests.python_semantics import case as case_module
from tests.python_semantics.case import Case
from tests.python_semantics.model import INPUTS, Runs, decide, runs


def codes_in(path: Path) -> set[types.CodeType]:
    """The code of every function in a file."""
    waiting = [compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True)]
    found = set()
    for code in waiting:
        waiting.extend(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
        if code.co_flags & 1 and not code.co_name.startswith(("<listcomp>", "<setcomp>", "<dictcomp>")):
            found.add(code)
    return found


OWN_CODES = codes_in(Path(case_module.__file__)) | {decide.__code__}


def warm_up() -> None:
    """Load what every compilation needs, so that the processes of the tests need not."""
    dycl.explain(runs(Case, "setUp"), (INPUTS[0],))


def read_source(codes: set[types.CodeType]) -> None:
    """Read the files that these codes are from; others need not then."""
    for file in {code.co_filename for code in codes}:
        with contextlib.suppress(Refused):
            normalise(next(code for code in codes if code.co_filename == file))


def outcomes(case: type[Case], method: str, codes: set[types.CodeType]) -> Iterator[Outcome]:
    """The one outcome of a test method."""
    with _silence():
        outcome = outcome_of(case, method, codes)
    yield outcome


def outcome_of(case: type[Case], method: str, codes: set[types.CodeType]) -> Outcome:
    """What comes of a test method whose module has these codes."""
    model = runs(case, method)
    try:
        case.setUpClass()
        # Twice, since some tests pass only once.
        expected = [[model(x) for x in INPUTS] for _ in range(2)][1]
    except BaseException as error:
        return Outcome("skipped", f"fails in plain Python: {type(error).__name__}: {error}")
    model.x = None
    return _compiled(model, expected, codes | OWN_CODES)


def _compiled(model: Runs, expected: list[torch.Tensor], codes: set[types.CodeType]) -> Outcome:
    try:
        with _interpreting(codes):
            program = dycl.compile(model, (INPUTS[0],))
    except dycl.CompileError as error:
        return _of_problems(error)
    except BaseException as error:
        return Outcome("crashed", f"compile raises {type(error).__name__}: {error}")
    try:
        found = [program(x) for x in INPUTS]
    except BaseException as error:
        return Outcome("wrong", f"the program raises {type(error).__name__}: {error}")
    same = all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))
    return Outcome("equal") if same else Outcome("wrong", "another result")


def _of_problems(error: dycl.CompileError) -> Outcome:
    for problem in error.problems:
        if problem.identifier == "DY016":
            return Outcome("crashed", f"{problem.identifier} {problem.reason} at {problem.span}")
        if problem.reason.startswith("the model raises"):
            return Outcome("wrong", f"{problem.reason} at {problem.span}")
    return Outcome("refused", plain(f"{error.problems[0].identifier} {error.problems[0].reason}"))


def plain(reason: str) -> str:
    """A reason on one line, without what differs from run to run."""
    return re.sub(r"0x[0-9a-f]+", "0x...", " ".join(reason.split()))[:200]


@contextlib.contextmanager
def _interpreting(codes: set[types.CodeType]) -> Iterator[None]:
    """Let the machine step through these functions from the start, as if decisions had been found in them."""
    begin = Knowledge.__init__

    def informed(self: Knowledge) -> None:
        begin(self)
        self.learn(*map(Interpret, codes))

    with mock.patch.object(Knowledge, "__init__", informed):
        yield


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Nothing that a test prints is seen, nor is anything there to be read."""
    sink = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(sink, stream)
    yield
