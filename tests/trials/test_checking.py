"""What a backend has wrong is never shipped: it is told, or goes to the next backend. Crashes cost a message."""

import pytest
import torch
from torch import nn

import dycl
from dycl import backends
from dycl.runtime.backend_registry import _registered
from dycl.trials import attempts
from examples.toy_backend import ToyBackend, ToyCompiler
from tests.trials.backends import FaultyBackend, faulty

__all__ = ["faulty"]

X = torch.tensor([[1.0, 2.0], [-3.0, 0.5]])
BOTH = ["faulty", "onnxruntime"]


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([[1.0, -2.0], [3.0, 4.0]]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x @ self.weight
        if y.sum() > 0:
            y = y * y
        return torch.relu(y + x) * x


def used(program: dycl.Program) -> set[str]:
    """The backends of a program."""
    return {subnet.backend for subnet in program.hcfg.subnets.values()}


def same(program: dycl.Program) -> None:
    """Nothing, if the program gives what the model gives."""
    for x in (X, -X):
        torch.testing.assert_close(program(x), Layers()(x))


def test_a_backend_that_is_right(faulty: None) -> None:
    program = dycl.compile(Layers().eval(), (X,), backend="faulty", fallback="onnxruntime")
    assert used(program) == {"faulty", "onnxruntime"}  # the condition is none of the toy's operations
    same(program)


@pytest.mark.parametrize(
    ("fault", "told"),
    (
        ("adds", r"wrong from `aten.relu.default` on: for met values it gives 8.01 in the place of 8"),
        ("crashes", r"crashed \(SIGSEGV\)"),
        ("exits", "failed"),
        ("raises", "RuntimeError: no more memory"),
    ),
)
def test_a_backend_with_a_fault(faulty: None, monkeypatch: pytest.MonkeyPatch, fault: str, told: str) -> None:
    monkeypatch.setenv("FAULT", fault)
    program = dycl.compile(Layers().eval(), (X,), backend=BOTH)
    assert used(program) == {"onnxruntime"}
    same(program)

    class Products(Layers):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x @ self.weight + x)

    with pytest.raises(dycl.CompileError, match=told) as refusal:
        dycl.compile(Products().eval(), (X,), backend="faulty")
    (problem,) = refusal.value.problems
    assert problem.identifier == "DY018"
    assert "faulty" in problem.reason


def test_a_backend_that_hangs(faulty: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAULT", "hangs")
    monkeypatch.setattr(attempts, "_SILENT", 3.0)
    program = dycl.compile(Layers().eval(), (X,), backend=BOTH)
    assert used(program) == {"onnxruntime"}
    same(program)


def test_a_backend_of_this_process_is_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAULT", "adds")
    monkeypatch.setitem(_registered, "toy", FaultyBackend())
    monkeypatch.setattr(backends, "_registered", {"toy": ToyCompiler()})

    class Products(Layers):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x @ self.weight + x)

    with pytest.raises(dycl.CompileError, match="the backend toy is wrong"):
        dycl.compile(Products().eval(), (X,), backend="toy")
    dycl.compile(Products().eval(), (X,), backend="toy", check=False)
    monkeypatch.setitem(_registered, "toy", ToyBackend())
    dycl.compile(Products().eval(), (X,), backend="toy")


def test_without_a_fallback_what_has_no_translation_is_refused(faulty: None) -> None:
    with pytest.raises(dycl.CompileError, match="DY004"):
        dycl.compile(Layers().eval(), (X,), backend="faulty")
