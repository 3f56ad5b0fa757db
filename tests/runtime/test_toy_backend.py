"""The example of a backend compiles a model and runs it, and refuses what it cannot."""

from pathlib import Path

import pytest
import torch
from torch import nn

import dycl
from dycl import backends
from dycl.runtime import load
from dycl.runtime.backend_registry import _registered
from examples.toy_backend import ToyBackend, ToyCompiler


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing; both halves are registered, in this test only."""
    monkeypatch.setitem(_registered, "toy", ToyBackend())
    monkeypatch.setattr(backends, "_registered", {"toy": ToyCompiler()})


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([[1.0, -2.0], [3.0, 4.0]]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ self.weight + x) * x


def test_a_model_compiled_for_it(tmp_path: Path) -> None:
    model = Layer().eval()
    x = torch.tensor([[1.0, 2.0], [-3.0, 0.5]])
    program = dycl.compile(model, (x,), backend="toy")
    assert {subnet.backend for subnet in program.hcfg.subnets.values()} == {"toy"}
    program.save(tmp_path / "model.dycl")
    assert torch.equal(load(tmp_path / "model.dycl")(x), model(x))


def test_what_it_cannot_translate_is_refused() -> None:
    with pytest.raises(dycl.CompileError, match="the toy backend computes on float32 tensors only"):
        dycl.compile(Layer().double().eval(), (torch.ones(2, 2, dtype=torch.float64),), backend="toy")


def test_it_is_registered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "_registered", {})
    compiler = ToyCompiler()
    backends.register_compiler(compiler)
    backends.register_compiler(compiler)
    with pytest.raises(ValueError, match="another backend is registered as 'toy'"):
        backends.register_compiler(ToyCompiler())
    with pytest.raises(TypeError, match="does not have the methods"):
        backends.register_compiler(ToyBackend())  # type: ignore[arg-type]


def test_the_example_is_short() -> None:
    lines = (Path(__file__).parents[2] / "examples" / "toy_backend.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 60
