"""The pipeline: rewrite the model, run the passes, lower the sub-DNNs, store the weights, make a program."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import nn

from dycl.backends import Compiler, find_compiler
from dycl.backends.cut import divided
from dycl.backends.lower import Lowered, lower
from dycl.check import check as compare_on_example
from dycl.choice.auto import best
from dycl.choice.whole import Call, Trial
from dycl.collection import collection_put_off
from dycl.dump import Dump
from dycl.errors import CompileError
from dycl.hcfg.module import Module
from dycl.hcfg.nodes import WeightId
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
from dycl.runtime.backend_registry import known_backends
from dycl.runtime.choice import AUTO, Choice, Left
from dycl.runtime.errors import DyclError
from dycl.runtime.timings import Timings
from dycl.runtime.weight_store import Array
from dycl.store import store
from dycl.trials.checking import Example, lowered_and_checked
from dycl.version import __version__

Progress = Callable[[str, int, int], None]

DEFAULT_TUNING = 10.0
_FALLBACK = "onnxruntime"


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
    fallback: str | None = None,
    profile: Sequence[Any] = (),
    tuning: float = DEFAULT_TUNING,
) -> Program:
    """A program that does what `model` does, decisions included, and runs without PyTorch.

    `args` (a tuple, or the one argument itself) and `kwargs` are an example call: the program takes arguments of the
    same nesting, element types and shapes. `dynamic_shapes` says, as in `torch.export`, which sizes may differ from
    the example's: `{"x": {0: torch.export.Dim("batch")}}`; the program then holds for every size, and the example's
    does not matter. `method` is the method to compile. `threads` is how many threads a sub-DNN may use.

    `backend` names the DL compiler; of several, each sub-DNN, or the part of it that a backend is good at, goes to the
    first that translates all of it, and the last must translate what the others leave. `fallback` names one more for
    that. With `"auto"`, each sub-DNN goes to the fastest of the installed backends, measured for about `tuning`
    seconds; `profile` are calls (tuples of arguments, or the one argument itself) that tell how often each block runs,
    the example alone if there are none. Unless ONNX Runtime is all there is, every sub-DNN is run and compared with
    PyTorch before the program is returned: what a backend has wrong goes to the next one.

    `without` names passes to leave out (`dycl passes` lists them), `passes` are your own, which run behind DyCL's.
    `progress` is called with the stage's name, how much of it is done and how much is known to be left;
    `program.timings` says afterwards how long each stage took. If the environment variable `DYCL_DUMP` names a folder,
    the program's text is written there after every stage.

    `budget` is how many seconds rewriting may take: a program whose decisions multiply is refused, with the reason,
    instead of going on for hours. `check` compares every sub-DNN, and the whole program with the model on the example;
    the environment variable `DYCL_CHECK` set to 1 makes the latter the default. With `False`, nothing is compared.

    Raises CompileError, with every problem found, if the model needs something that is not supported.
    """
    compilation = Compilation(find_compilers(backend, fallback), chosen(without, passes), progress, budget)
    others = any(compiler.name != _FALLBACK for compiler in compilation.compilers)
    compilation.checks = check if check is not None else others
    if backend == AUTO:
        compilation.tuning = Tuning(tuple(map(_as_call, profile)), tuning)
    with collection_put_off():
        examined = compilation.examine(model, args, kwargs, dynamic_shapes, method, threads)
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


def _as_call(given: Any) -> Call:
    return tuple(given) if isinstance(given, tuple | list) else (given,), {}


def find_compilers(backend: str | Sequence[str], fallback: str | None = None) -> tuple[Compiler, ...]:
    """The backends of these names, in their order, and then the one that takes what they leave.

    `auto` is all that are installed; they leave everything else to ONNX Runtime, if no other one is named.
    """
    names = (backend,) if isinstance(backend, str) else tuple(backend)
    if not names:
        raise ValueError("no backend is named")
    if names == (AUTO,):
        fallback = fallback or _FALLBACK
        names = tuple(one.name for one in known_backends() if one.version is not None)
    if fallback is not None:
        names = (*(name for name in names if name != fallback), fallback)
    return tuple(map(find_compiler, names))


@dataclass(frozen=True, slots=True)
class Tuning:
    """What backends are chosen for: calls, beside the example if there are none, and for how many seconds."""

    calls: tuple[Call, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Examined:
    """A model rewritten, optimised and lowered, as far as its problems let it come."""

    rewritten: Rewritten
    problems: tuple[Problem, ...]
    lowered: Lowered | None = None
    choice: Choice | None = None
    left: tuple[Left, ...] = ()

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
        self.checks = False
        """Whether every sub-DNN is checked against PyTorch."""
        self.tuning: Tuning | None = None
        """What backends are chosen for, if they are to be chosen by measuring."""
        self._report = progress or (lambda stage, done, left: None)
        self._stored: dict[WeightId, Array] = {}
        self._dump = Dump(os.environ.get("DYCL_DUMP"))

    def examine(
        self,
        model: nn.Module,
        args: Any,
        kwargs: Mapping[str, Any] | None,
        dynamic_shapes: Any,
        method: str,
        threads: int = 1,
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
            example = Example(rewritten.tensors, call.tensors) if self.checks else None
            if self.tuning is not None and not self.tuning.calls:
                positional = tuple(args) if isinstance(args, tuple | list) else (args,)
                self.tuning = Tuning(((positional, dict(kwargs or {})),), self.tuning.seconds)
            return self.lowered(rewritten, example, threads)

    def lowered(self, rewritten: Rewritten, example: Example | None = None, threads: int = 1) -> Examined:
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
        return self._lower(rewritten, module, example, threads)

    def _lower(self, rewritten: Rewritten, module: Module, example: Example | None, threads: int) -> Examined:
        choice: Choice | None = None
        left: tuple[Left, ...] = ()
        with self._timed("lower"):
            if example is not None and self.tuning is not None:
                calls, seconds = self.tuning.calls, self.tuning.seconds
                trial: Trial[Lowered] = Trial(calls, lambda one: self._loaded(rewritten, one, threads), seconds / 2)
                found = best(module, self.compilers, example, trial, threads, seconds, self._progress("tune"))
                lowered, choice, left = found.lowered, found.choice, found.left
            elif example is not None:
                checked = lowered_and_checked(module, self.compilers, example, threads, self._progress("lower"))
                lowered, left = checked.lowered, checked.left
            else:
                lowered = lower(divided(module, self.compilers), self.compilers, self._progress("lower"))
        if lowered.refused:
            problems = [problem_at(Refused(item.identifier, item.reason), (item.span,)) for item in lowered.refused]
            return Examined(rewritten, _in_order(problems))
        verify(lowered.hcfg)
        self._dump.lowered(lowered)
        return Examined(rewritten, (), lowered, choice, left)

    def program(self, examined: Examined, threads: int) -> Program:
        """The program that an examined model makes; CompileError if it has problems."""
        if examined.lowered is None:
            raise CompileError(examined.problems) from examined.problems[0].cause
        program = self._loaded(examined.rewritten, examined.lowered, threads, examined.choice, examined.left)
        program.timings = self.timings
        return program

    def _loaded(
        self,
        rewritten: Rewritten,
        lowered: Lowered,
        threads: int,
        choice: Choice | None = None,
        left: tuple[Left, ...] = (),
    ) -> Program:
        with self._timed("store"):
            missing = [name for name in lowered.hcfg.weights if name not in self._stored]
            self._stored |= store(rewritten.tensors, missing)
            weights = {name: self._stored[name] for name in lowered.hcfg.weights}
        artefact = Artefact(lowered.hcfg, weights, lowered.codes, f"dycl {__version__}", choice, left)
        self._dump.stored(artefact)
        with self._timed("load"):
            host = PythonHost(checks=False)  # its codes do not come from a file
            return Program(artefact, threads=threads, types=rewritten.types, host=host)

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
