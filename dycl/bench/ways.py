"""The ways to run a network: what a user has today, DyCL, and the limit."""

import signal
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
from torch import nn

from dycl.backends import find_compiler
from dycl.bench.onnx_branches import OnnxModel, exported
from dycl.bench.oracle import oracle
from dycl.bench.settings import Settings
from dycl.compiler import compile
from dycl.optimize.pipeline import PASSES
from dycl.rewrite.example.call import example_call
from dycl.runtime import Program
from dycl.zoo import Inputs

Run = Callable[..., Any]


@dataclass(slots=True)
class Way:
    """A way to run the network: a function for each timed input, or for the first of them; or why there is none."""

    name: str
    runs: Sequence[Run] = ()
    seconds: float = 0.0
    problem: str = ""


@dataclass(slots=True)
class Subject:
    """A network with all that the ways are made of."""

    settings: Settings
    model: nn.Module
    timed: Sequence[Inputs]
    programs: dict[str, Program] = field(default_factory=dict)
    script: nn.Module | None = None


class NotReady(KeyboardInterrupt):
    """A way cannot be measured: it takes too long, or what it starts from fails.

    Like Ctrl-C, it comes in the middle of anything, and no compiler may take it for an error of the model.
    """


def prepared(name: str, subject: Subject) -> Way:
    """The way of this name, ready to be timed."""
    began = time.perf_counter()
    try:
        with _at_most(subject.settings.patience):
            runs = WAYS[name](subject)
    except (Exception, NotReady) as error:  # whatever a compiler raises is what a user would see
        return Way(name, seconds=time.perf_counter() - began, problem=_said(error))
    return Way(name, runs, time.perf_counter() - began)


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        if not _is_inside_callback(frame):
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise NotReady(f"not ready after {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, stop)
    # Until it is heard: Python drops errors inside of callbacks.
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.01)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _is_inside_callback(frame: FrameType | None) -> bool:
    """Whether Python is cleaning up after an object, where it would drop an error with a warning."""
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_code.co_filename == weakref.__file__:
            return True
        frame = frame.f_back
    return False


def _said(error: BaseException) -> str:
    if isinstance(error, NotReady):
        return str(error)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:300]


def _eager(subject: Subject) -> list[Run]:
    return [subject.model] * len(subject.timed)


def _compiled_by_torch(subject: Subject) -> list[Run]:
    torch._dynamo.reset()
    compiled = torch.compile(subject.model)
    with torch.inference_mode():
        for _ in range(2):
            for given in subject.timed:
                compiled(*given)
    return [compiled] * len(subject.timed)


def _scripted(subject: Subject) -> list[Run]:
    script = subject.script = torch.jit.script(subject.model)
    with torch.inference_mode():
        for given in (*subject.timed, *subject.timed[:3]):  # TorchScript optimises in its first runs
            script(*given)
    return [script] * len(subject.timed)


def _onnx_branches(subject: Subject) -> list[Run]:
    if subject.script is None:
        raise NotReady("torch.jit.script fails, from which it starts")
    model = OnnxModel(exported(subject.script, subject.timed[0]), subject.settings.threads)
    for given in subject.timed:
        model(*given)
    return [model] * len(subject.timed)


def _dycl(name: str, without: Sequence[str] = ()) -> Callable[[Subject], list[Run]]:
    def prepare(subject: Subject) -> list[Run]:
        settings = subject.settings
        program = compile(
            subject.model,
            subject.timed[0],
            backend=settings.backend,
            threads=settings.threads,
            without=without,
        )
        subject.programs[name] = program
        return [program] * len(subject.timed)

    return prepare


def _oracle(subject: Subject) -> list[Run]:
    program = subject.programs.get(DYCL)
    if program is None:
        raise NotReady("DyCL fails, which finds the paths")
    settings, model = subject.settings, subject.model
    compiler = find_compiler(settings.backend)
    inputs = example_call(model, subject.timed[0], {}, None)
    by_path: dict[tuple[object, ...], Program] = {}
    runs: list[Run] = []
    for given in subject.timed:
        try:
            path = tuple((taken.span, taken.outcome) for taken in program.trace(*given).path.decisions)
            if path not in by_path:
                by_path[path] = oracle(model, inputs, given, compiler, settings.threads)
        except NotReady:
            if not runs:
                raise
            break
        runs.append(by_path[path])
    return runs


EAGER, DYCL, PLAIN, ORACLE = "eager PyTorch", "DyCL", "DyCL, graph not optimised", "oracle"

WAYS: dict[str, Callable[[Subject], list[Run]]] = {
    EAGER: _eager,
    "torch.compile": _compiled_by_torch,
    "torch.jit.script": _scripted,
    "ONNX If/Loop": _onnx_branches,
    PLAIN: _dycl(PLAIN, without=[item.name for item in PASSES]),
    DYCL: _dycl(DYCL),
    ORACLE: _oracle,
}
