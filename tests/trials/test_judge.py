"""What a backend gives is judged as rounding allows: errors are found, other choices among equals are none."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from dycl.compiler import called
from dycl.hcfg.subnet import SubnetGraph
from dycl.rewrite import rewrite
from dycl.trials.judge import Expected
from dycl.trials.walk import walk

Function = Callable[[torch.Tensor], torch.Tensor]
X = torch.tensor([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]])


class _Applied(nn.Module):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


def graph_of(function: Function, x: torch.Tensor) -> SubnetGraph:
    """The one sub-DNN of a model that applies a function."""
    model = _Applied(function).eval()
    rewritten = rewrite(model, called(model, (x,), {}, None, "forward"), lambda target: True)
    assert not rewritten.explored.problems
    (subnet,) = rewritten.module.subnets.values()
    assert not subnet.weights
    return subnet.graph


def told(function: Function, x: torch.Tensor, given: torch.Tensor) -> str | None:
    """What is said of a backend that gives this."""
    return Expected(graph_of(function, x), [x], []).disagreement([given])


@pytest.mark.parametrize(
    "function", (lambda x: x.exp(), lambda x: x.softmax(1), lambda x: x @ x.mT, lambda x: x.half().float() * 2)
)
def test_right_results_and_those_that_are_a_little_off(function: Function) -> None:
    right = function(X)
    assert told(function, X, right) is None
    assert told(function, X, right * (1 + 3e-6)) is None
    assert told(function, X, right + 1e-2) is not None
    assert told(function, X, right * 1.01) is not None


def test_sums_that_cancel_may_differ_by_what_they_lose() -> None:
    x = torch.tensor([[1e6, 1.0, -1e6]])
    assert told(lambda x: x.sum(1), x, torch.tensor([0.9375])) is None
    assert told(lambda x: x.sum(1), x, torch.tensor([150.0])) is not None


def test_other_shapes_types_and_numbers_that_are_not_finite() -> None:
    assert told(torch.relu, X, torch.relu(X).T.contiguous()) is not None
    assert told(torch.relu, X, torch.relu(X).double()) is not None
    broken = torch.relu(X)
    broken[0, 1] = float("nan")
    assert "nan in the place of 0" in (told(torch.relu, X, broken) or "")
    infinite = X * float("inf")
    assert told(lambda x: x * 2, infinite, infinite) is None
    assert told(lambda x: x * 2, infinite, -infinite) is not None


def test_flags_that_only_rounding_decides() -> None:
    x = torch.tensor([[0.1, 0.2, 0.3]])

    def equal(x: torch.Tensor) -> torch.Tensor:
        return x[:, 0] + x[:, 1] > x[:, 2]

    assert told(equal, x, ~equal(x)) is None
    assert told(lambda x: x > 0, X, X <= 0) is not None


@pytest.mark.parametrize("function", (lambda x: x.argmax(1), lambda x: x.topk(2).indices, lambda x: x.argsort(1)))
def test_a_choice_among_equals_is_nobodys_fault(function: Function) -> None:
    ties = torch.tensor([[1.0, 1.0, 1.0, 1.0]])
    right = function(ties)
    assert told(function, ties, 3 - right) is None
    clear = torch.tensor([[1.0, 4.0, 2.0, 3.0]])
    assert told(function, clear, function(clear)) is None
    assert told(function, clear, 3 - function(clear)) is not None


def test_whole_numbers_are_exact() -> None:
    x = torch.tensor([[3, 1, 2]])
    assert told(lambda x: x * 3, x, x * 3) is None
    assert told(lambda x: x * 3, x, x * 3 + 1) is not None
    assert told(lambda x: x.max(1).values, x, torch.tensor([2])) is not None


def test_results_without_elements() -> None:
    x = torch.ones(0, 3)
    assert told(lambda x: x * 2, x, x) is None


class _Exits(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(3):
            if x.sum() > 1e6:
                return x.exp()
            x = x * 2 + 1
        return x[x.argmax().clamp(max=0).item() :]


def test_a_walk_meets_the_sub_dnns_of_every_way() -> None:
    model = _Exits().eval()
    call = called(model, (torch.ones(4),), {}, None, "forward")
    rewritten = rewrite(model, call, lambda target: True)
    walked = walk(rewritten.module, rewritten.tensors, call.tensors, 10)
    assert walked.inputs.keys() == rewritten.module.subnets.keys()
    assert not walked.failed
