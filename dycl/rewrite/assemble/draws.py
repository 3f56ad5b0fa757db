"""Refuse the random draws that something in the program depends on."""

from collections.abc import Mapping

import torch

from dycl.hcfg.module import Module
from dycl.hcfg.types import Span
from dycl.rewrite.explore.diagnostics import Problem, problem_at
from dycl.rewrite.signals import Refused


def refused_draws(module: Module, draws: Mapping[Span, tuple[tuple[Span, ...], str]]) -> list[Problem]:
    """A problem for each random draw that is left in the program; `draws` says what was drawn where."""
    found: dict[Span, Problem] = {}
    for operation in (item for subnet in module.subnets.values() for item in subnet.graph.operations if draws):
        if operation.span in draws and _is_random(operation.target):
            places, reason = draws[operation.span]
            found.setdefault(operation.span, problem_at(Refused("DY005", reason), places))
    return list(found.values())


def _is_random(target: str) -> bool:
    """Whether an operation, by its name, draws random numbers."""
    namespace, name, overload = target.split(".", 2)
    operation = getattr(getattr(getattr(torch.ops, namespace), name), overload)
    return torch.Tag.nondeterministic_seeded in operation.tags
