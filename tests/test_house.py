"""The source keeps to the rules of the house: small modules, small folders, no PyTorch where none belongs."""

from collections import Counter
from pathlib import Path

import pytest

from tests.house import ROOT, modules

MOST_LINES = 400
MOST_MODULES = 20
# One topic each, and nothing to see between them.
LOWERINGS = ROOT / "dycl" / "backends" / "onnx" / "lowerings"


@pytest.mark.parametrize("path", modules("dycl").values(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_a_folder_can_be_seen_at_once() -> None:
    folders = Counter(path.parent for path in modules("dycl").values() if path.name != "__init__.py")
    assert {folder: count for folder, count in folders.items() if count > MOST_MODULES and folder != LOWERINGS} == {}


@pytest.mark.parametrize("folder", ["dycl/hcfg", "dycl/optimize", "dycl/runtime"])
def test_no_pytorch_where_artefacts_run(folder: str) -> None:
    found = [path for path in modules(folder.replace("/", ".")).values() if "import torch" in path.read_text("utf-8")]
    assert found == []
