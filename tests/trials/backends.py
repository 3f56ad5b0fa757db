"""Backends for tests of what tries backends: the toy backend with faults, as an installed package brings it."""

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dycl import backends
from dycl.runtime import CompiledSubnet
from examples.toy_backend import ToyBackend, ToyCompiler

ENTRY_POINTS = """\
[dycl.backends]
faulty = tests.trials.backends:FAULTY

[dycl.compilers]
faulty = tests.trials.backends:FaultyCompiler
"""


class FaultyCompiler(ToyCompiler):
    """The toy backend's, under another name."""

    name = "faulty"


class FaultyBackend(ToyBackend):
    """The toy backend, which does what the environment variable `FAULT` says where a ReLU is computed."""

    def open(self, subnets: Sequence[CompiledSubnet], threads: int) -> "FaultyBackend":
        return FaultyBackend(subnets)

    def run(self, code: list[Any], weights: Sequence[Any], values: list[Any]) -> list[Any]:
        found = super().run(code, weights, values)
        if any(line[0] == "relu" for line in code[:-1]):
            match os.environ.get("FAULT"):
                case "adds":
                    return [value + 1e-2 for value in found]
                case "crashes":
                    os.kill(os.getpid(), signal.SIGSEGV)
                case "hangs":
                    time.sleep(600)
                case "exits":
                    os._exit(3)
                case "raises":
                    raise RuntimeError("no more memory")
        return found


FAULTY = FaultyBackend()


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The faulty backend is installed, so that other processes find it, too."""
    package = tmp_path / "faulty-1.0.dist-info"
    package.mkdir()
    (package / "entry_points.txt").write_text(ENTRY_POINTS)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert backends.find_compiler("faulty").name == "faulty"
