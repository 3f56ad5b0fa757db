"""A program that does not do what its model does is not handed out; and rewriting ends in time."""

import time
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import dycl


class _Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.steps = 0
        self.seen: list[float] = [0.0]
        self.register_buffer("total", torch.zeros(2))
        self.total: Tensor

    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        if x.sum() > 0:
            self.steps += 1
            self.seen[0] += 1
        self.total.add_(x)
        return self.total * self.steps, self.steps


def test_a_program_that_agrees_is_returned_as_if_unchecked() -> None:
    model = _Counting().eval()
    program = dycl.compile(model, torch.ones(2), check=True)
    assert (model.steps, model.seen, model.total.tolist()) == (0, [0.0], [0.0, 0.0])
    results = [program(torch.ones(2)) for _ in range(3)]
    assert [steps for _, steps in results] == [1, 2, 3]
    assert results[-1][0].tolist() == [9.0, 9.0]


class _Doubles(nn.Module):
    def forward(self, x: Tensor) -> dict[str, Any]:
        return {"y": [x * 2 if x.sum() > 0 else x]}


def test_a_program_that_disagrees_is_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    run = dycl.Program.__call__

    def wrong(program: dycl.Program, *args: object) -> Any:
        result = run(program, *args)
        result["y"][0][1] += 0.5
        return result

    monkeypatch.setattr(dycl.Program, "__call__", wrong)
    with pytest.raises(dycl.CompileError, match=r"DY016.*the result\['y'\]\[0\] differs .* in 1 of 2 elements"):
        dycl.compile(_Doubles().eval(), torch.ones(2), check=True)
    assert dycl.compile(_Doubles().eval(), torch.ones(2), check=False) is not None


class _Multiplies(nn.Module):
    def forward(self, x: Tensor) -> int:
        names = []
        for i in range(30):
            names.append("a" if x[i] > 0 else "b")
        return len(set(names))


def test_a_program_whose_states_multiply_is_refused_in_time_with_what_multiplies() -> None:
    began = time.monotonic()
    with pytest.raises(dycl.CompileError, match=r"DY017.*differ in `names`"):
        dycl.compile(_Multiplies().eval(), torch.randn(30), budget=60)
    assert time.monotonic() - began < 60


def test_a_budget_is_kept() -> None:
    began = time.monotonic()
    with pytest.raises(dycl.CompileError, match="DY017"):
        dycl.compile(_Multiplies().eval(), torch.randn(30), budget=0.5)
    assert time.monotonic() - began < 30
    with pytest.raises(ValueError, match="budget is 0 s"):
        dycl.compile(_Multiplies().eval(), torch.randn(30), budget=0)
