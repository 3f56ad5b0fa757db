"""Values are followed from the sub-DNNs that make them to those that read them, through blocks and calls."""

import torch
from torch import nn

from dycl.choice.flow import edges
from dycl.compiler import called
from dycl.hcfg.module import Module
from dycl.hcfg.nodes import Run, SubnetId
from dycl.rewrite import rewrite


class _Loop(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        while x.sum() < 100:
            x = x * 2 + 1
        return x.exp()


class _Keeps(nn.Module):
    kept: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.kept = self.kept * 0.5 + x
        return self.kept if self.kept.sum() > 0 else x


def rewritten(model: nn.Module) -> Module:
    """The model as a module."""
    call = called(model.eval(), (torch.ones(3),), {}, None, "forward")
    found = rewrite(model, call, lambda target: True)
    assert not found.explored.problems
    return found.module


def named(module: Module, operation: str) -> SubnetId:
    """The one sub-DNN with an operation of this name."""
    (name,) = (name for name, one in module.subnets.items() if any(operation in o.target for o in one.graph.operations))
    return name


def test_a_loop_hands_its_values_to_itself() -> None:
    module = rewritten(_Loop())
    body, end = named(module, "mul"), named(module, "exp")
    found = {
        (edge.source and edge.source.subnet, edge.target and edge.target.subnet)
        for edge in edges(module, often(module))
    }
    assert {(body, body), (body, end), (None, end), (None, body), (end, None)} <= found


def test_what_a_call_keeps_goes_to_the_next() -> None:
    module = rewritten(_Keeps())
    (update,) = {step.subnet for block in module.blocks.values() for step in block.steps if isinstance(step, Run)}
    found = {
        (edge.source and edge.source.subnet, edge.target and edge.target.subnet)
        for edge in edges(module, often(module))
    }
    assert (update, update) in found


def often(module: Module) -> dict[str, float]:
    """Every block once."""
    return dict.fromkeys(module.blocks, 1.0)
