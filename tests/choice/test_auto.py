"""`backend="auto"`: installed backends are measured, what is wrong or crashes is left out, the choice is recorded."""

import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

import dycl
from dycl.cli.command import main
from dycl.runtime import ChoiceWarning, artefact
from tests.trials.backends import faulty

__all__ = ["faulty"]

SECONDS = 0.5


class Exits(nn.Module):
    """Layers that every backend takes, and one that only ONNX Runtime does."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.weight = nn.Parameter(torch.randn(8, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.first(x))
        if y.mean() > 0.5:
            return y.mean((2, 3)).topk(3).indices
        return torch.relu(self.second(y).mean((2, 3)) @ self.weight)


X = torch.linspace(-1, 1, 3 * 12 * 12).reshape(1, 3, 12, 12)


@pytest.fixture(scope="module")
def program() -> dycl.Program:
    return dycl.compile(Exits().eval(), (X,), backend="auto", profile=[X, (3 * X,)], tuning=SECONDS)


def same(program: dycl.Program) -> None:
    """Nothing, if the program gives what the model gives."""
    for factor in (1, 3, -30, 100):
        with torch.no_grad():
            torch.testing.assert_close(program(factor * X), Exits().eval()(factor * X), rtol=1e-4, atol=1e-4)


def test_the_choice_is_recorded_and_survives_a_file(program: dycl.Program, tmp_path: Path) -> None:
    same(program)
    choice = program.artefact.choice
    assert choice is not None
    assert {"auto", "onnxruntime"} & choice.programs.keys()
    assert choice.taken in choice.programs
    assert choice.threads == 1
    for name, ways in choice.subnets.items():
        own = program.hcfg.subnets[name]
        assert (own.backend, own.code) in {(way.backend, way.code) for way in ways}
        assert all(way.seconds > 0 for way in ways)
    program.save(tmp_path / "model.dycl")
    again = artefact.read(tmp_path / "model.dycl")
    assert again.choice == choice
    assert again.left == program.artefact.left
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(dycl.load(tmp_path / "model.dycl"))


def test_inspect_shows_it(program: dycl.Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program.save(tmp_path / "model.dycl")
    assert main(["inspect", str(tmp_path / "model.dycl")]) == 0
    told = capsys.readouterr().out
    assert "chosen     " in told
    assert "onnxruntime, ms" in told
    choice = program.artefact.choice
    assert choice is not None
    for name in choice.subnets:
        (line,) = (line for line in told.splitlines() if line.startswith(f"{name} "))
        assert line.count("*") == 1


def test_a_choice_made_elsewhere_is_told(
    program: dycl.Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.save(tmp_path / "model.dycl")
    monkeypatch.setattr("dycl.runtime.program.processor", lambda: "another one")
    with pytest.warns(ChoiceWarning, match="dycl tune"):
        same(dycl.load(tmp_path / "model.dycl"))


def test_what_is_not_needed_need_not_be_there(program: dycl.Program, tmp_path: Path) -> None:
    path = tmp_path / "model.dycl"
    program.save(path)
    used = {subnet.backend for subnet in program.hcfg.subnets.values()}
    others = sorted({"ncnn", "openvino", "onnxruntime"} - used) + ["torch"]
    code = f"""
import sys
for name in {others!r}: sys.modules[name] = None
import dycl, numpy
assert dycl.load({str(path)!r})(numpy.ones((1, 3, 12, 12), numpy.float32)).shape
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.parametrize("fault", ("adds", "crashes", "exits"))
def test_a_backend_that_is_wrong_gets_nothing(faulty: None, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    class Layers(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.tensor([[1.0, -2.0], [3.0, 4.0]]))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x @ self.weight + x)

    x = torch.tensor([[1.0, 2.0], [-3.0, 0.5]])
    monkeypatch.setenv("FAULT", fault)
    program = dycl.compile(Layers().eval(), (x,), backend="auto", tuning=SECONDS)
    assert all(subnet.backend != "faulty" for subnet in program.hcfg.subnets.values())
    (left,) = (left for left in program.artefact.left if left.backend == "faulty")
    assert left.subnets == 1
    assert ("wrong from `aten.relu.default` on" if fault == "adds" else "faulty is wrong") in left.reason
    with torch.no_grad():
        torch.testing.assert_close(program(x), Layers()(x))
