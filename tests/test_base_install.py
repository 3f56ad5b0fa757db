"""An artefact runs in a virtual environment that has only the base install, and gives the same bits there."""

import os
import shutil
import subprocess
import venv
from pathlib import Path

import numpy as np
import pytest
import torch

import dycl
from dycl.demo.model import EarlyExitNet

ROOT = Path(__file__).parents[1]
PACKAGE = ("dycl", "pyproject.toml", "README.md", "LICENSE")

SCRIPT = """
import importlib.util
import sys

import numpy as np

import dycl

assert all(importlib.util.find_spec(name) is None for name in ("torch", "onnx", "sklearn"))
program = dycl.load("model.dycl")
traces = [program.trace(image) for image in np.load("images.npy")]
np.save("outputs.npy", np.stack([trace.outputs for trace in traces]))
print("\\n".join(str(trace.path) for trace in traces))
"""


def run(*command: str | Path, folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def base_install(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment with the base install."""
    folder = tmp_path_factory.mktemp("base")
    source = folder / "source"
    source.mkdir()
    for name in PACKAGE:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / "bin"
    run(programs / "python", "-m", "pip", "install", "-c", ROOT / "constraints.txt", source, folder=folder)
    return programs


@pytest.mark.slow
def test_the_base_install_gives_the_same_bits(base_install: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = EarlyExitNet().eval()
    model.threshold = 0.13
    program = dycl.compile(model, (torch.zeros(1, 1, 8, 8),))
    images = np.random.default_rng(0).normal(0, 2, (50, 1, 1, 8, 8)).astype(np.float32)
    traces = [program.trace(image) for image in images]
    assert len({trace.path.blocks for trace in traces}) > 1
    program.save(tmp_path / "model.dycl")
    np.save(tmp_path / "images.npy", images)

    paths = run(base_install / "python", "-c", SCRIPT, folder=tmp_path)

    assert paths == "".join(f"{trace.path}\n" for trace in traces)
    outputs = np.load(tmp_path / "outputs.npy")
    expected = np.stack([np.asarray(trace.outputs) for trace in traces])
    assert outputs.dtype == expected.dtype
    assert outputs.tobytes() == expected.tobytes()


@pytest.mark.slow
def test_the_base_install_has_the_command(base_install: Path, tmp_path: Path) -> None:
    assert run(base_install / "dycl", "--version", folder=tmp_path) == f"dycl {dycl.__version__}\n"
    done = subprocess.run([base_install / "dycl", "demo"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "error: the demo needs torch, which is not installed: pip install 'dycl[demo]'\n"
