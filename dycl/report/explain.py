"""Explain a model without compiling it: every decision, what makes it depend on the input, every refusal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from torch import nn

from dycl.collection import collection_put_off
from dycl.compiler import Compilation, find_compilers
from dycl.errors import CompileError
from dycl.hcfg.module import Module, begins_of_calls, dependencies, names_defined
from dycl.hcfg.nodes import Block, BlockId, Branch, Fail, Jump, Name, Return, Run, Switch, next_calls, targets
from dycl.hcfg.types import Span
from dycl.optimize.pipeline import PASSES
from dycl.rewrite.explore.diagnostics import Problem, source_text


@dataclass(frozen=True, slots=True)
class DecisionPoint:
    """A place where the program needs a value that only the input determines."""

    span: Span
    kind: Literal["branch", "switch"]
    condition: str
    inputs: tuple[str, ...]
    through: tuple[str, ...]

    @property
    def file(self) -> str:
        """The file that the decision stands in."""
        return self.span.file

    @property
    def line(self) -> int:
        """The line that the decision stands in."""
        return self.span.line

    @property
    def reason(self) -> str:
        """What makes the decision depend on the input."""
        names = " and ".join(f"`{name}`" for name in self.inputs) or "no input"
        variables = [name for name in self.through if name not in self.inputs]
        way = f", through {', '.join(f'`{name}`' for name in variables)}" if variables else ""
        return f"`{self.condition}` is computed from the input {names}{way}"

    def __str__(self) -> str:
        return f"{self.span}: {self.kind}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """A model's decisions in source order, the reasons to refuse it, and what a compilation would leave out."""

    decisions: tuple[DecisionPoint, ...]
    problems: tuple[Problem, ...]
    notes: tuple[tuple[str, Span], ...]

    def __str__(self) -> str:
        count = len(self.decisions)
        lines = [f"{count} decision{'' if count == 1 else 's'}"]
        lines += [f"  {decision}" for decision in self.decisions]
        lines += [f"note: {span}: {text}" for text, span in self.notes]
        if not self.problems:
            return "\n".join([*lines, "nothing to refuse"])
        lines.append(f"{len(self.problems)} problem{'' if len(self.problems) == 1 else 's'}")
        return "\n".join(lines) + "\n\n" + "\n\n".join(map(str, self.problems))


def explain(
    model: nn.Module,
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    backend: str | Sequence[str] = "onnxruntime",
    method: str = "forward",
) -> Explanation:
    """Every decision of the model and every construct that `dycl.compile` would refuse."""
    compilation = Compilation(find_compilers(backend), PASSES)
    try:
        with collection_put_off():
            examined = compilation.examine(model, args, kwargs, dynamic_shapes, method)
    except CompileError as error:
        return Explanation((), error.problems, ())
    return Explanation(_decisions(examined.rewritten.module), examined.problems, examined.notes)


def _decisions(module: Module) -> tuple[DecisionPoint, ...]:
    """One entry a place in the source, however many blocks decide there."""
    within = {name: _parameters_behind(block, module) for name, block in module.blocks.items()}
    origins = _origins(module, within)
    found: dict[Span, tuple[Literal["branch", "switch"], dict[str, None], dict[str, None]]] = {}
    for name, block in module.blocks.items():
        match block.terminator:
            case Branch(condition=value, span=span):
                kind: Literal["branch", "switch"] = "branch"
            case Switch(value=value, span=span):
                kind = "switch"
            case Jump() | Return() | Fail():
                continue
            case _:
                assert_never(block.terminator)
        _, inputs, through = found.setdefault(span, (kind, {}, {}))
        for parameter in within[name][value]:
            inputs.update(dict.fromkeys(origins[name][parameter]))
            through[parameter.partition(".")[0]] = None
    points = [
        DecisionPoint(span, kind, source_text(span), tuple(sorted(inputs)), tuple(through))
        for span, (kind, inputs, through) in found.items()
    ]
    return tuple(sorted(points, key=lambda point: (point.span.file, point.span.line, point.span.column)))


def _parameters_behind(block: Block, module: Module) -> dict[Name, tuple[Name, ...]]:
    """For each name in a block, the parameters that its value is computed from, in their order."""
    behind: dict[Name, set[Name]] = {parameter.name: {parameter.name} for parameter in block.parameters}
    for step in block.steps:
        if isinstance(step, Run):
            for output, sources in zip(step.outputs, dependencies(module.subnets[step.subnet].graph), strict=True):
                behind[output] = set().union(*(behind[step.inputs[position]] for position in sources))
        else:
            behind.update((name, set()) for name in names_defined(step))
    order = [parameter.name for parameter in block.parameters]
    return {name: tuple(parameter for parameter in order if parameter in found) for name, found in behind.items()}


def _origins(
    module: Module, within: Mapping[BlockId, Mapping[Name, tuple[Name, ...]]]
) -> dict[BlockId, dict[Name, set[str]]]:
    """For each block and parameter, the program's inputs that the parameter is computed from."""
    inputs = [parameter.name for parameter in module.inputs]
    origins: dict[BlockId, dict[Name, set[str]]] = {
        name: {parameter.name: set() for parameter in block.parameters} for name, block in module.blocks.items()
    }
    for name in begins_of_calls(module):
        origins[name].update((given, {given}) for given in inputs)
    changed = True
    while changed:
        changed = False
        for name, block in module.blocks.items():
            ways = [(target, 0) for target in targets(block.terminator)]
            ways += [(target, len(inputs)) for target in next_calls(block.terminator)]
            for target, skipped in ways:
                parameters = module.blocks[target.block].parameters[skipped:]
                for parameter, argument in zip(parameters, target.arguments, strict=True):
                    known = origins[target.block][parameter.name]
                    new = set().union(*(origins[name][source] for source in within[name][argument]))
                    changed = changed or not new <= known
                    known |= new
    return origins
