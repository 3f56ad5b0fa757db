"""`dycl tune` chooses again among the codes that an artefact has, without PyTorch."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import dycl
from dycl.cli.command import main
from dycl.runtime import artefact
from dycl.runtime.backend_registry import known_backends
from tests.choice.test_auto import Exits, X, same


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An artefact whose choice was made, it says, on another processor."""
    program = dycl.compile(Exits().eval(), (X,), backend="auto", tuning=0.5)
    choice = program.artefact.choice
    assert choice is not None
    found = tmp_path_factory.mktemp("tuned") / "model.dycl"
    artefact.write(replace(program.artefact, choice=replace(choice, processor="another one")), found)
    return found


def test_a_program_is_tuned_where_it_runs(path: Path, tmp_path: Path) -> None:
    tuned, data = tmp_path / "tuned.dycl", tmp_path / "data.npz"
    np.savez(data, x=np.stack([X.numpy(), 3 * X.numpy()]))
    code = f"""
import sys
sys.modules["torch"] = None
from dycl.cli.command import main
sys.exit(main(["tune", {str(path)!r}, "-o", {str(tuned)!r}, "--seconds", "0.5", "--inputs", {str(data)!r}]))
"""
    ended = subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, capture_output=True, text=True)
    assert "is kept" in ended.stdout
    before, after = artefact.read(path).choice, artefact.read(tuned).choice
    assert before is not None and after is not None
    assert after.processor != "another one"
    assert after.subnets.keys() == artefact.read(path).hcfg.subnets.keys()
    assert after.programs.keys() >= {after.taken, "auto"}
    same(dycl.load(tuned))


def test_in_place_on_made_up_inputs(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copied = tmp_path / "model.dycl"
    copied.write_bytes(path.read_bytes())
    assert main(["tune", str(copied), "--seconds", "0.5"]) == 0
    assert f"written to {copied}" in capsys.readouterr().out
    same(dycl.load(copied))


def test_without_the_other_backends_their_codes_are_left_out(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = [one for one in known_backends() if one.name == "onnxruntime"]
    monkeypatch.setattr("dycl.choice.retune.known_backends", lambda: known)
    tuned = tmp_path / "tuned.dycl"
    assert main(["tune", str(path), "-o", str(tuned), "--seconds", "0.2"]) == 0
    found = artefact.read(tuned)
    assert {subnet.backend for subnet in found.hcfg.subnets.values()} == {"onnxruntime"}
    assert found.choice is not None
    assert {way.backend for way in found.choice.ways} == {"onnxruntime"}
    same(dycl.load(tuned))


@pytest.mark.parametrize(
    ("arguments", "told"),
    (
        (["--input", "x.npy", "--inputs", "data.npz"], "exclude each other"),
        (["--threads", "0"], "at least 1"),
        (["--inputs", "other.npz"], "the inputs are x"),
        (["--inputs", "numbers.npz"], "one row for each call"),
    ),
)
def test_what_cannot_be_done_is_told(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    np.savez(tmp_path / "other.npz", y=X.numpy())
    np.savez(tmp_path / "numbers.npz", x=np.float32(3))
    given = [str(tmp_path / one) if one.endswith(".npz") else one for one in arguments]
    assert main(["tune", str(path), *given]) == 1
    assert told in capsys.readouterr().err


def test_a_program_that_was_not_tuned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dycl.compile(torch.nn.ReLU().eval(), (X,)).save(tmp_path / "model.dycl")
    assert main(["tune", str(tmp_path / "model.dycl")]) == 1
    assert 'backend="auto"' in capsys.readouterr().err
