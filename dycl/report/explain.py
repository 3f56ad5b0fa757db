"""Explain a model without compiling it: every decision, what makes it depend on the input, every refusal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from torch import nn

from dycl.backends import find_compiler
from dycl.compiler import examine
from dycl.errors import CompileError
from dycl.hcfg.subnet import Ref
from dycl.hcfg.types import Span
from dycl.rewrite.assemble.blocks import argument_refs, parameter_names
from dycl.rewrite.explore.diagnostics import Problem, source_text
from dycl.rewrite.explore.drafts import Decision, Entry, Rewritten, edges, reached
from dycl.rewrite.record.recording import Recording
from dycl.rewrite.state.widening import Stacked, leaf_sources


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
    backend: str = "onnxruntime",
    method: str = "forward",
) -> Explanation:
    """Every decision of the model and every construct that `dycl.compile` would refuse."""
    try:
        examined = examine(model, args, kwargs, dynamic_shapes, method, find_compiler(backend))
    except CompileError as error:
        return Explanation((), error.problems, ())
    decisions = _decisions(examined.rewritten, examined.inputs.names)
    return Explanation(decisions, examined.problems, examined.notes)


def _decisions(rewritten: Rewritten, input_names: tuple[str, ...]) -> tuple[DecisionPoint, ...]:
    """One entry a place in the source, however many blocks decide there."""
    entries = reached(rewritten.first)
    names = {entry: parameter_names(entry, input_names) for entry in entries}
    origins = _origins(entries, names, input_names)
    found: dict[Span, tuple[Literal["branch", "switch"], dict[str, None], dict[str, None]]] = {}
    for entry in entries:
        draft = entry.draft
        if draft is None or not isinstance(draft.end, Decision):
            continue
        kind: Literal["branch", "switch"] = "branch" if draft.end.error is None else "switch"
        _, inputs, through = found.setdefault(draft.stop, (kind, {}, {}))
        for position in _inputs_of(draft.end.value, draft.recording):
            inputs.update(dict.fromkeys(origins[entry][position]))
            through[names[entry][position].partition(".")[0]] = None
    points = [
        DecisionPoint(span, kind, source_text(span), tuple(sorted(inputs)), tuple(through))
        for span, (kind, inputs, through) in found.items()
    ]
    return tuple(sorted(points, key=lambda point: (point.span.file, point.span.line, point.span.column)))


def _origins(
    entries: list[Entry], names: Mapping[Entry, tuple[str, ...]], input_names: tuple[str, ...]
) -> dict[Entry, list[set[str]]]:
    """For each block and parameter, the program's inputs that the parameter is computed from."""
    origins: dict[Entry, list[set[str]]] = {entry: [set() for _ in names[entry]] for entry in entries}
    for entry in entries:
        if entry.begins_call:
            origins[entry][: len(input_names)] = [{name} for name in input_names]
    changed = True
    while changed:
        changed = False
        for entry in entries:
            if entry.draft is None:
                continue
            for edge in edges(entry.draft):
                skipped = len(input_names) if edge.entry.begins_call else 0
                for place, source in enumerate(leaf_sources(edge.entry.skeleton, edge.skeleton), start=skipped):
                    leaves = source.rows if isinstance(source, Stacked) else (source,)
                    refs = [edge.leaves[leaf] for leaf in leaves if isinstance(leaf, int)]
                    positions = [place for ref in refs for place in _inputs_of(ref, entry.draft.recording)]
                    new = {name for position in positions for name in origins[entry][position]}
                    if not new <= origins[edge.entry][place]:
                        origins[edge.entry][place] |= new
                        changed = True
    return origins


def _inputs_of(ref: Ref, recording: Recording) -> list[int]:
    """The positions of the block's parameters that a value is computed from."""
    needed = {ref}
    for operation in reversed(recording.operations):
        if any(output in needed for output in operation.outputs):
            for argument in operation.arguments.values():
                needed.update(argument_refs(argument))
    return [position for position, parameter in enumerate(recording.inputs) if parameter in needed]
