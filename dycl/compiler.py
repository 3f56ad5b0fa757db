"""The pipeline: rewrite the model, put the graph together, compile the sub-DNNs, make a program."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import nn

from dycl.backends import Compiler, find_compiler
from dycl.errors import CompileError
from dycl.hcfg.nodes import Block, BlockId, Hcfg, Parameter, Subnet, SubnetId, WeightId
from dycl.hcfg.types import Span, TensorType
from dycl.hcfg.verify import verify
from dycl.optimize.drop_unread import drop_unread
from dycl.optimize.read_through import read_through
from dycl.optimize.share import Shared, share
from dycl.rewrite.assemble import Assembled, assemble
from dycl.rewrite.diagnostics import Problem, problem_at
from dycl.rewrite.drafts import Rewritten
from dycl.rewrite.draws import refused_draws
from dycl.rewrite.inputs import Inputs, example_inputs
from dycl.rewrite.rewriter import Rewriter
from dycl.rewrite.signals import Refused
from dycl.rewrite.source import span_of_function
from dycl.rewrite.tensor_types import tensor_type
from dycl.runtime import Program
from dycl.runtime.artefact import Artefact
from dycl.version import __version__

Progress = Callable[[str, int, int], None]


def compile(
    model: nn.Module,
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    backend: str = "onnxruntime",
    method: str = "forward",
    threads: int = 1,
    optimize: bool = True,
    progress: Progress | None = None,
) -> Program:
    """A program that does what `model` does, decisions included, and runs without PyTorch.

    `args` (a tuple, or the one argument itself) and `kwargs` are an example call: the program takes arguments of the
    same nesting, element types and shapes. `dynamic_shapes` says, as in `torch.export`, which sizes may differ from
    the example's: `{"x": {0: torch.export.Dim("batch")}}`; the program then holds for every size, and the example's
    does not matter. `method` is the method to compile. `threads` is how many threads a sub-DNN may use. Without
    `optimize` the graph stays as the rewriting made it, to see what its optimisation is worth. `progress` is called
    with the stage's name, how much of it is done and how much is known to be left; `program.timings` says afterwards
    how long each stage took.

    Raises CompileError, with every problem found, if the model needs something that is not supported.
    """
    compiler = find_compiler(backend)
    stages = Stages()
    examined = examine(model, args, kwargs, dynamic_shapes, method, compiler, optimize, progress, stages)
    if examined.problems:
        raise CompileError(examined.problems)
    assert examined.shared is not None and examined.assembled is not None
    with stages.timed("load"):
        program = link(model, examined.inputs, examined.assembled, examined.shared, compiler, threads)
    program.timings = stages.seconds
    return program


def link(
    model: nn.Module, inputs: Inputs, assembled: Assembled, shared: Shared, compiler: Compiler, threads: int
) -> Program:
    """The program that a model's translated sub-DNNs make together."""
    hcfg = _graph(model, inputs, assembled.entry, shared.blocks, shared.subnets, shared.weight_types)
    artefact = Artefact(hcfg, shared.weights, shared.codes, f"dycl {__version__}")
    return Program(artefact, threads=threads, types=assembled.types)


class Stages:
    """How long each stage of a compilation took, in seconds."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Time what is done inside the `with` block."""
        began = time.perf_counter()
        yield
        self.seconds[stage] = time.perf_counter() - began


@dataclass(frozen=True, slots=True)
class Examined:
    """A model rewritten, put together and translated, as far as its problems let it come."""

    inputs: Inputs
    problems: tuple[Problem, ...]
    notes: tuple[tuple[str, Span], ...]
    rewritten: Rewritten
    assembled: Assembled | None
    shared: Shared | None


def examine(
    model: nn.Module,
    args: Any,
    kwargs: Mapping[str, Any] | None,
    dynamic_shapes: Any,
    method: str,
    compiler: Compiler,
    optimize: bool = True,
    progress: Progress | None = None,
    stages: Stages | None = None,
) -> Examined:
    """Everything up to loading the compiled sub-DNNs: what `compile` builds on and `explain` reports."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"dycl compiles an nn.Module, this is a {type(model).__name__}")
    report = progress or (lambda stage, done, left: None)
    stages = stages or Stages()
    callee: Callable[..., Any] = model if method == "forward" else getattr(model, method)
    try:
        _require_eval(model)
        positional = tuple(args) if isinstance(args, tuple | list) else (args,)
        inputs = example_inputs(callee, positional, dict(kwargs or {}), dynamic_shapes)
    except Refused as refused:
        raise CompileError([problem_at(refused, (span_of_function(getattr(model, method)),))]) from None
    with stages.timed("rewrite"):
        rewriter = Rewriter(model, callee, inputs.types, inputs.rebuild, compiler.supports)
        rewritten = rewriter.rewrite(lambda done, left: report("rewrite", done, left))
    problems = rewritten.problems
    assembled, shared = None, None
    if not problems:
        with stages.timed("optimize"):
            assembled = assemble(rewritten, inputs.names)
            _verify(model, inputs, assembled)
            if optimize:
                assembled = drop_unread(read_through(assembled))
                _verify(model, inputs, assembled)
    problems = [*problems, *refused_draws(rewritten, assembled)]
    if assembled is not None and not problems:
        names = {id(tensor): name for name, tensor in (*model.named_parameters(), *model.named_buffers())}
        with stages.timed("compile"):
            shared = share(assembled, compiler, names, optimize, lambda done, left: report("compile", done, left))
        problems = shared.problems
    ordered = tuple(sorted(problems, key=lambda item: (item.span.file, item.span.line, item.span.column)))
    return Examined(inputs, ordered, tuple(rewritten.notes), rewritten, assembled, shared)


def _graph(
    model: nn.Module,
    inputs: Inputs,
    entry: BlockId,
    blocks: Mapping[BlockId, Block],
    subnets: Mapping[SubnetId, Subnet],
    weights: Mapping[WeightId, TensorType],
) -> Hcfg:
    """The model's graph, verified."""
    parameters = tuple(map(Parameter, inputs.names, inputs.types))
    hcfg = Hcfg(
        type(model).__name__,
        inputs.signature,
        parameters,
        entry,
        blocks,
        subnets,
        weights,
        parameter_names=inputs.parameter_names,
        sizes=inputs.sizes,
    )
    verify(hcfg)
    return hcfg


def _verify(model: nn.Module, inputs: Inputs, assembled: Assembled) -> None:
    """Check the graph between two steps, while its sub-DNNs have no code yet."""
    weights = {name: tensor_type(tensor) for name, tensor in assembled.constants.items()}
    subnets = {}
    for name, recorded in assembled.subnets.items():
        inward, outward = (tuple(map(recorded.graph.type_of, refs)) for refs in recorded.graph.ends)
        subnets[name] = Subnet(name, inward, outward, "none", "not compiled yet", ())
    _graph(model, inputs, assembled.entry, assembled.blocks, subnets, weights)


def _require_eval(model: nn.Module) -> None:
    training = [name for name, module in model.named_modules() if module.training]
    if training:
        where = "the model" if training[0] == "" else f"the module `{training[0]}`"
        raise Refused("DY012", f"{where} is in training mode")
