"""State that a program keeps from call to call."""

import copy
import gc
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import dycl
from tests.comparison import assert_same
from tests.programs import states


@pytest.mark.parametrize("make", states.MODELS)
def test_a_sequence_of_calls_equals_eager(make: Callable[[], nn.Module]) -> None:
    torch.manual_seed(0)
    model = make().eval()
    before = copy.deepcopy(model)
    program = dycl.compile(model, (torch.randn(1, 4),))
    for name, value in vars(before).items():
        assert not isinstance(value, int | float | str) or vars(model)[name] == value
    for _ in range(3):
        fresh = copy.deepcopy(before)
        program.reset()
        for _ in range(12):
            x = torch.randn(1, 4)
            with torch.no_grad():
                assert_same(fresh(x), program(x))


def test_a_caller_cannot_reach_the_state_through_a_result() -> None:
    program = dycl.compile(states.Running().eval(), (torch.ones(1, 4),))
    first = program(torch.ones(1, 4))
    first.fill_(100.0)
    assert_same(torch.full((1, 4), 2.0), program(torch.ones(1, 4)))


def test_a_caller_cannot_reach_the_state_through_an_argument() -> None:
    program = dycl.compile(states.Running().eval(), (torch.ones(1, 4),))
    x = torch.ones(1, 4)
    program(x)
    x.fill_(100.0)
    assert_same(torch.full((1, 4), 2.0), program(torch.ones(1, 4)))


def test_a_call_that_raises_keeps_what_it_has_changed() -> None:
    model = states.Picky().eval()
    program = dycl.compile(model, (torch.ones(1, 4),))
    for x in (torch.ones(1, 4), -torch.ones(1, 4), torch.ones(1, 4)):
        if x.sum() < 0:
            for called in (model, program):
                with pytest.raises(ValueError, match="negative"):
                    called(x)
        else:
            assert_same(model(x), program(x))


def test_threads_take_turns() -> None:
    program = dycl.compile(states.Running().eval(), (torch.ones(1, 4),))
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.extend(program(torch.ones(1, 4))[0, 0].item() for _ in range(50)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(1, 201))


def test_a_model_without_state_keeps_none() -> None:
    program = dycl.compile(states.Stateless().eval(), (torch.ones(1, 4),))
    assert not program.keeps_state
    program.reset()


class DecidesInsideOfKernel(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            return x if x.sum() > 0 else -x


def test_a_refused_model_leaves_pytorch_as_it_was() -> None:
    cuda = torch.backends.cuda
    before = (cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.math_sdp_enabled())
    with pytest.raises(dycl.CompileError):
        dycl.compile(DecidesInsideOfKernel().eval(), torch.ones(2))
    assert (cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.math_sdp_enabled()) == before
    gc.collect()  # nothing is left to be undone later, in another context


class WithOperations(nn.Module):
    """Operations of PyTorch as attributes: they lead nowhere."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.ops.aten.sin.default, torch.ops.aten.sinc

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.first(x)
        return self.second(y) if y.sum() > 0 else y


def test_operations_may_hang_on_a_model() -> None:
    model = WithOperations().eval()
    program = dycl.compile(model, (torch.ones(3),))
    for x in (torch.ones(3), -torch.ones(3)):
        torch.testing.assert_close(program(x), model(x))
