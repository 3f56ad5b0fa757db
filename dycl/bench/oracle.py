"""The limit: an input's whole path as one sub-DNN, for the same backend.

On the same backend and runtime, nothing that must decide can do better than a program that knows every decision
beforehand. The oracle is made by DyCL's own means, so that the two differ in nothing but the decisions: the path is
rewritten alone, its blocks are put in one line, and what only the decisions needed is dropped.
"""

from collections.abc import Sequence

import torch
from torch import nn

from dycl.backends import Compiler
from dycl.compiler import Compilation
from dycl.optimize.pipeline import PASSES
from dycl.optimize.straighten import STRAIGHTEN
from dycl.rewrite import ExampleCall, rewrite_path
from dycl.runtime import Program


def oracle(
    model: nn.Module, call: ExampleCall, arguments: Sequence[torch.Tensor], compiler: Compiler, threads: int
) -> Program:
    """A program without a decision, which does what the model does for all inputs that take the path of this one."""
    compilation = Compilation((compiler,), (STRAIGHTEN, *PASSES))
    rewritten = rewrite_path(model, call, compiler.supports, arguments)
    return compilation.program(compilation.lowered(rewritten), threads)
