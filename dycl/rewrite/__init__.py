"""Rewrites a model into a program of blocks and sub-DNNs: the compiler's first half, and the only one that runs it."""

from collections.abc import Callable, Sequence

import torch
from torch import nn

from dycl.rewrite.assemble.blocks import Rewritten, assemble
from dycl.rewrite.example.call import ExampleCall
from dycl.rewrite.explore.explorer import Explorer
from dycl.rewrite.explore.followed import Follower

Progress = Callable[[int, int], None]

__all__ = ["ExampleCall", "Rewritten", "rewrite", "rewrite_path"]


def rewrite(
    model: nn.Module,
    call: ExampleCall,
    supports: Callable[[str], bool],
    progress: Progress = lambda done, left: None,
) -> Rewritten:
    """Every way through the model, from an example of its call; `supports` tells operations that are taken whole.

    What cannot be compiled is in `explored.problems`; the module then stops where the problems are.
    """
    return assemble(Explorer(model, call, supports).explore(progress), model, call)


def rewrite_path(
    model: nn.Module, call: ExampleCall, supports: Callable[[str], bool], arguments: Sequence[torch.Tensor]
) -> Rewritten:
    """The one way through the model that these arguments take, as blocks of which each leads to the next."""
    return assemble(Follower(model, call, supports, arguments).explore(), model, call)
