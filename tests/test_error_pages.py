"""Every identifier has a page that the index lists, and the pages' examples do what the pages say."""

import re
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import dycl
from tests.case_module import import_program
from tests.comparison import assert_same

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "errors"


def _identifiers() -> list[str]:
    """All identifiers that the sources mention."""
    texts = [file.read_text(encoding="utf-8") for file in sorted((ROOT / "dycl").rglob("*.py"))]
    return sorted({found for text in texts for found in re.findall(r'"(DY\d{3})"', text)})


IDENTIFIERS = _identifiers()
MISTAKES = ("DY016", "DY018")  # of DyCL and of backends: no program shows them, or they would be mended
COMPILE_TIME = [found for found in IDENTIFIERS if found.startswith("DY0") and found not in MISTAKES]


@dataclass(frozen=True)
class Page:
    """A page's title, the programs on it in order, and the message that the first of them gives."""

    title: str
    programs: list[str]
    message: str


def _page(identifier: str) -> Page:
    text = (PAGES / f"{identifier}.md").read_text(encoding="utf-8")
    title = re.match(rf"# {identifier}: (.+)\n", text)
    assert title is not None
    messages = re.findall(r"^```text\n(.*?)\n```$", text, re.DOTALL | re.MULTILINE)
    programs = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return Page(title[1], programs, messages[0] if messages else "")


def test_identifiers_are_found() -> None:
    assert len(COMPILE_TIME) >= 14
    assert len(IDENTIFIERS) - len(COMPILE_TIME) >= 5


def test_there_is_a_page_for_each_identifier_and_no_other() -> None:
    assert sorted(page.stem for page in PAGES.glob("DY*.md")) == IDENTIFIERS


def test_the_index_lists_each_page_by_its_title() -> None:
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[(DY\d{3})\]\((.+?)\) \| (.+) \|$", index, re.MULTILINE)
    assert listed == [(identifier, f"{identifier}.md", _page(identifier).title) for identifier in IDENTIFIERS]


@pytest.mark.parametrize("identifier", COMPILE_TIME)
def test_the_example_is_refused_with_the_message_shown(
    identifier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = _page(identifier)
    module = import_program(page.programs[0], tmp_path, monkeypatch)
    with pytest.raises(dycl.CompileError) as refused:
        dycl.compile(_model(module), module.inputs(), dynamic_shapes=getattr(module, "DYNAMIC_SHAPES", None))
    assert str(refused.value).strip() == page.message
    assert [problem.identifier for problem in refused.value.problems] == [identifier]


@pytest.mark.parametrize("identifier", COMPILE_TIME)
def test_the_rewritten_examples_compile(identifier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rewritten = _page(identifier).programs[1:]
    assert rewritten
    for number, program in enumerate(rewritten):
        folder = tmp_path / str(number)
        folder.mkdir()
        module = import_program(program, folder, monkeypatch)
        torch.manual_seed(0)
        model = _model(module)
        compiled = dycl.compile(model, module.inputs(), dynamic_shapes=getattr(module, "DYNAMIC_SHAPES", None))
        for _ in range(25):
            inputs = module.inputs()
            with torch.no_grad():
                expected = model(*inputs)
            assert_same(expected, compiled(*inputs))


def _model(module: ModuleType) -> Any:
    """The model that a page makes itself, if it shows how, else one ready to be compiled."""
    return module.model if hasattr(module, "model") else module.Model().eval()
