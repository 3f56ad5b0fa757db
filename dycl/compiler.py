"""The pipeline: rewrite the model, run the passes, lower the sub-DNNs, store the weights, make a program."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import nn

from dycl.backends import Compiler, find_compiler
from dycl.backends.cut import cut
from dycl.backends.lower import Lowered, lower
from dycl.check import check as compare_on_example
from dycl.collection import collection_put_off
from dycl.dump import Dump
from dycl.errors import CompileError
from dycl.hcfg.module import Module
from dycl.hcfg.types import Span
from dycl.hcfg.verify import verify
from dycl.hcfg.verify_module import verify_module
from dycl.optimize.passes import Pass
from dycl.optimize.pipeline import PASSES, PassError, chosen, optimize
from dycl.rewrite import DEFAULT_BUDGET, ExampleCall, Rewritten, rewrite
from dycl.rewrite.assemble.draws import refused_draws
from dycl.rewrite.example.call import example_call
from dycl.rewrite.explore.diagnostics import Problem, own_mistake, problem_at
from dycl.rewrite.model_parts import modules_of
from dycl.rewrite.normalise.compiled_by_torch import original
from dycl.rewrite.normalise.source import span_of_function
from dycl.rewrite.signals import Again, CheckMet, DecisionMet, Refused, Restart
from dycl.runtime import Program, PythonHost
from dycl.runtime.artefact import Artefact
from dycl.runtime.errors import DyclError
from dycl.runtime.timings import Timings
from dycl.store import store
from dycl.version import __version__

Progress = Callable[[str, int, int], None]


def compile(
    model: nn.Module,
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    backend: str | Sequence[str] = "onnxruntime",
    method: str = "forward",
    threads: int = 1,
    without: Iterable[str] = (),
    passes: Sequence[Pass] = (),
    progress: Progress | None = None,
    budget: float = DEFAULT_BUDGET,
    check: bool | None = None,
) -> Program:
    """A program that does what `model` does, decisions included, and runs without PyTorch.

    `args` (a tuple, or the one argument itself) and `kwargs` are an example call: the program takes arguments of the
    same nesting, element types and shapes. `dynamic_shapes` says, as in `torch.export`, which sizes may differ from
    the example's: `{"x": {0: torch.export.Dim("batch")}}`; the program then holds for every size, and the example's
    does not matter. `method` is the method to compile. `threads` is how many threads a sub-DNN may use.

    `backend` names the DL compiler; of several, each sub-DNN, or the part of it that a backend is good at, goes to the
    first that translates all of it, and the last must translate what the others leave.

    `without` names passes to leave out (`dycl passes` lists them), `passes` are your own, which run behind DyCL's.
    `progress` is called with the stage's name, how much of it is done and how much is known to be left;
    `program.timings` says afterwards how long each stage took. If the environment variable `DYCL_DUMP` names a folder,
    the program's text is written there after every stage.

    `budget` is how many seconds rewriting may take: a program whose decisions multiply is refused, with the reason,
    instead of going on for hours. `check` compares the program with the model on the example before it is returned;
    the environment variable `DYCL_CHECK` set to 1 makes that the default.

    Raises CompileError, with every problem found, if the model needs something that is not supported.
    """
    compilation = Compilation(find_compilers(backend), chosen(without, passes), progress, budget)
    with collection_put_off():
        examined = compilation.examine(model, args, kwargs, dynamic_shapes, method)
        with own_mistakes_told(model):
            program = compilation.program(examined, threads)
            if check or (check is None and os.environ.get("DYCL_CHECK") == "1"):
                # A program of its own, since a call may change the state of one.
                second = Program(program.artefact, threads=threads, types=examined.rewritten.types)
                compare_on_example(second, model, method, args, kwargs)
            return program


@contextmanager
def own_mistakes_told(model: nn.Module, others: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Let an error that is DyCL's own fault be a CompileError that says so; `others` are somebody else's."""
    try:
        yield
    except Refused as refused:
        # Nobody on the way knew the line.
        raise CompileError([problem_at(refused, (span_of_function(model.forward),))]) from None
    except (Exception, DecisionMet, CheckMet, Restart, Again) as error:
        if isinstance(error, (DyclError, *others)):
            raise
        raise CompileError([own_mistake(error, (span_of_function(model.forward),))]) from error


def find_compilers(backend: str | Sequence[str]) -> tuple[Compiler, ...]:
    """The backends of these names, in their order."""
    names = (backend,) if isinstance(backend, str) else tuple(backend)
    if not names:
        raise ValueError("no backend is named")
    return tuple(map(find_compiler, names))


@dataclass(frozen=True, slots=True)
class Examined:
    """A model rewritten, optimised and lowered, as far as its problems let it come."""

    rewritten: Rewritten
    problems: tuple[Problem, ...]
    lowered: Lowered | None = None

    @property
    def notes(self) -> tuple[tuple[str, Span], ...]:
        """What a compiled program leaves out, and where."""
        return tuple(self.rewritten.explored.notes)


class Compilation:
    """One way through the pipeline: which backends, which passes, and what is told on the way."""

    def __init__(
        self,
        compilers: Sequence[Compiler],
        passes: Sequence[Pass],
        progress: Progress | None = None,
        budget: float = DEFAULT_BUDGET,
    ) -> None:
        if not budget > 0:
            raise ValueError(f"the budget is {budget} s, it must be more than 0")
        self._budget = budget
        self.compilers = tuple(compilers)
        self.passes = tuple(passes)
        self.timings = Timings()
        self._report = progress or (lambda stage, done, left: None)
        self._dump = Dump(os.environ.get("DYCL_DUMP"))

    def examine(
        self, model: nn.Module, args: Any, kwargs: Mapping[str, Any] | None, dynamic_shapes: Any, method: str
    ) -> Examined:
        """Everything up to storing the weights: what `compile` builds on and `explain` reports."""
        model = original(model)
        call = called(model, args, kwargs, dynamic_shapes, method)
        foreign = (PassError,) if any(item not in PASSES for item in self.passes) else ()
        with own_mistakes_told(model, foreign):
            with self._timed("rewrite"):
                # The last backend takes what the others leave, so it says which operations are taken whole.
                rewritten = rewrite(model, call, self.compilers[-1].supports, self._progress("rewrite"), self._budget)
            self.timings.explorations = rewritten.explored.explorations
            return self.lowered(rewritten)

    def lowered(self, rewritten: Rewritten) -> Examined:
        """A rewritten model, its passes run and its sub-DNNs compiled, as far as its problems let it come."""
        explored = rewritten.explored
        self._dump.rewritten(rewritten)
        verify_module(rewritten.module)
        if explored.problems:
            problems = (*explored.problems, *refused_draws(rewritten.module, explored.draws))
            return Examined(rewritten, _in_order(problems))
        with self._timed("optimize"):
            module = optimize(rewritten.module, self.passes, self._dump.after)
        problems = tuple(refused_draws(module, explored.draws))
        if problems:
            return Examined(rewritten, _in_order(problems))
        return self._lower(rewritten, module)

    def _lower(self, rewritten: Rewritten, module: Module) -> Examined:
        with self._timed("lower"):
            if len(self.compilers) > 1:
                module = cut(module, self.compilers)
                verify_module(module)
            lowered = lower(module, self.compilers, self._progress("lower"))
        if lowered.refused:
            problems = [problem_at(Refused("DY004", item.reason), (item.span,)) for item in lowered.refused]
            return Examined(rewritten, _in_order(problems))
        verify(lowered.hcfg)
        self._dump.lowered(lowered)
        return Examined(rewritten, (), lowered)

    def program(self, examined: Examined, threads: int) -> Program:
        """The program that an examined model makes; CompileError if it has problems."""
        if examined.lowered is None:
            raise CompileError(examined.problems) from examined.problems[0].cause
        hcfg, codes = examined.lowered.hcfg, examined.lowered.codes
        with self._timed("store"):
            weights = store(examined.rewritten.tensors, hcfg.weights)
        artefact = Artefact(hcfg, weights, codes, f"dycl {__version__}")
        self._dump.stored(artefact)
        with self._timed("load"):
            host = PythonHost(checks=False)  # its codes do not come from a file
            program = Program(artefact, threads=threads, types=examined.rewritten.types, host=host)
        program.timings = self.timings
        return program

    def _progress(self, stage: str) -> Callable[[int, int], None]:
        return lambda done, left: self._report(stage, done, left)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.timings[stage] = time.perf_counter() - began


def called(
    model: nn.Module, args: Any, kwargs: Mapping[str, Any] | None, dynamic_shapes: Any, method: str
) -> ExampleCall:
    """The example call of a model; CompileError if the model or the call is not fit for compilation."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"dycl compiles an nn.Module, this is a {type(model).__name__}")
    callee: Callable[..., Any] = model if method == "forward" else getattr(model, method)
    positional = tuple(args) if isinstance(args, tuple | list) else (args,)
    try:
        _require_eval(model)
        return example_call(callee, positional, dict(kwargs or {}), dynamic_shapes)
    except Refused as refused:
        raise CompileError([problem_at(refused, (span_of_function(getattr(model, method)),))]) from None


def _in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda item: (item.span.file, item.span.line, item.span.column)))


def _require_eval(model: nn.Module) -> None:
    training = [name for name, module in modules_of(model) if module.training]
    if training:
        where = "the model" if training[0] == "" else f"the module `{training[0]}`"
        raise Refused("DY012", f"{where} is in training mode")
