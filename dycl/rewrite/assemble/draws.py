"""Refuse the random draws that something in the program depends on."""

import torch

from dycl.hcfg.subnet import Operation
from dycl.hcfg.types import Span
from dycl.rewrite.assemble.blocks import Assembled, argument_refs
from dycl.rewrite.explore.diagnostics import Problem, problem_at
from dycl.rewrite.explore.drafts import Decision, Draft, Result, Rewritten, edges, reached
from dycl.rewrite.signals import Refused


def refused_draws(rewritten: Rewritten, assembled: Assembled | None) -> list[Problem]:
    """A problem for each random draw that something in the program depends on.

    A program with other problems cannot be put together; then every draw counts that a block hands on.
    """
    if not rewritten.draws:
        return []
    if assembled is not None:
        operations = [item for subnet in assembled.subnets.values() for item in subnet.graph.operations]
    else:
        drafts = [entry.draft for entry in reached(rewritten.first) if entry.draft is not None]
        operations = [item for draft in drafts for item in _needed_operations(draft)]
    found: dict[Span, Problem] = {}
    for operation in operations:
        if operation.span in rewritten.draws and _is_random(operation.target):
            places, reason = rewritten.draws[operation.span]
            found.setdefault(operation.span, problem_at(Refused("DY005", reason), places))
    return list(found.values())


def _needed_operations(draft: Draft) -> list[Operation]:
    """The operations that a draft's way out depends on."""
    needed = {leaf for edge in edges(draft) for leaf in edge.leaves}
    match draft.end:
        case Decision(value=value):
            needed.add(value)
        case Result(values=values):
            needed.update(values)
    found = []
    for operation in reversed(draft.recording.operations):
        if not needed.isdisjoint(operation.outputs):
            found.append(operation)
            for argument in operation.arguments.values():
                needed.update(argument_refs(argument))
    return found


def _is_random(target: str) -> bool:
    """Whether an operation, by its name, draws random numbers."""
    namespace, name, overload = target.split(".", 2)
    operation = getattr(getattr(getattr(torch.ops, namespace), name), overload)
    return torch.Tag.nondeterministic_seeded in operation.tags
