"""Rewrites a model into a program of blocks and sub-DNNs: the compiler's first half, and the only one that runs it."""

from collections.abc import Callable, Sequence

import torch
from torch import nn

from dycl.rewrite.assemble.blocks import Rewritten, assemble
from dycl.rewrite.example.call import ExampleCall
from dycl.rewrite.explore.budget import DEFAULT_BUDGET
from dycl.rewrite.explore.explorer import Progress, explore, follow

__all__ = ["DEFAULT_BUDGET", "ExampleCall", "Rewritten", "rewrite", "rewrite_path"]


def rewrite(
    model: nn.Module,
    call: ExampleCall,
    supports: Callable[[str], bool],
    progress: Progress = lambda done, left: None,
    budget: float = DEFAULT_BUDGET,
) -> Rewritten:
    """Every way through the model, from an example of its call; `supports` tells operations that are taken whole.

    `budget` is how many seconds that may take.
    What cannot be compiled is in `explored.problems`; the module then stops where the problems are.
    """
    return assemble(explore(model, call, supports, progress, budget), model, call)


def rewrite_path(
    model: nn.Module, call: ExampleCall, supports: Callable[[str], bool], arguments: Sequence[torch.Tensor]
) -> Rewritten:
    """The one way through the model that these arguments take, as blocks of which each leads to the next."""
    return assemble(follow(model, call, supports, arguments), model, call)
