"""DYCL_DUMP writes what the compiler did, one file a stage."""

from pathlib import Path

import pytest
import torch

import dycl
from dycl.optimize.pipeline import PASSES
from tests.comparison import Calls


def test_every_stage_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.sum() > 0 else x * 2

    monkeypatch.setenv("DYCL_DUMP", str(tmp_path / "stages"))
    dycl.compile(Calls(function).eval(), torch.ones(2))
    files = sorted((tmp_path / "stages").iterdir())
    stages = ["rewritten", *(item.name for item in PASSES), "lowered", "stored"]
    assert [file.name for file in files] == [f"{number:02}-{stage}.txt" for number, stage in enumerate(stages)]
    texts = [file.read_text(encoding="utf-8") for file in files]
    assert "= aten.mul.Tensor(self=%0, other=2): float32[2]" in texts[0]
    assert texts[1].endswith("# changed nothing\n")
    assert "# 4 blocks" not in texts[0] and "# 3 blocks, 3 sub-DNNs" in texts[0]


def test_nothing_is_written_unless_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DYCL_DUMP", raising=False)
    monkeypatch.chdir(tmp_path)
    dycl.compile(Calls(lambda x: x + 1).eval(), torch.ones(2))
    assert list(tmp_path.iterdir()) == []
