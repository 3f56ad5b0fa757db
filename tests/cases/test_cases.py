"""Every case file: the program above compiles to the graph below, or is refused with the message below.

A file holds cases of one topic. `==== name` starts a case, `---- graph` or `---- error` its expected half. The program
defines `Model` and `inputs()`, and `DYNAMIC_SHAPES` if sizes may differ. `make cases` writes the expected halves anew:
look at the difference before you commit. Lines of PyTorch's files are left out, they differ from version to version.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

import dycl
from dycl.hcfg.text import to_text
from tests.case_module import import_program
from tests.comparison import assert_same

FOLDER = Path(__file__).parent
_IMPORTS = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"
_OTHER_FILE = re.compile(r"\b(?!model\.py)(\w+\.py):\d+")
_CASE = re.compile(r"^==== (?P<name>.+)\n(?P<program>(?:.*\n)*?)---- (?P<kind>graph|error)\n", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """One program and what is expected of it."""

    file: Path
    name: str
    program: str
    kind: str
    expected: str

    def __str__(self) -> str:
        return f"{self.file.stem}-{self.name}".replace(" ", "_")


def _read(file: Path) -> list[Case]:
    text = file.read_text()
    starts = list(_CASE.finditer(text))
    ends = [*(match.start() for match in starts[1:]), len(text)]
    cases = []
    for match, end in zip(starts, ends, strict=True):
        program, expected = (part.strip() + "\n" for part in (match["program"], text[match.end() : end]))
        cases.append(Case(file, match["name"], program, match["kind"], expected))
    return cases


CASES = [case for file in sorted(FOLDER.glob("*.case")) for case in _read(file)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    module = import_program(_IMPORTS + case.program, tmp_path, monkeypatch)
    torch.manual_seed(0)
    model = module.Model().eval()
    shapes = getattr(module, "DYNAMIC_SHAPES", None)
    explanation = dycl.explain(model, module.inputs(), dynamic_shapes=shapes)
    if case.kind == "graph":
        program = dycl.compile(model, module.inputs(), dynamic_shapes=shapes)
        actual = to_text(program.hcfg)
        assert explanation.problems == ()
        for _ in range(25):
            inputs = module.inputs()
            with torch.no_grad():
                expected = model(*inputs)
            assert_same(expected, program(*inputs))
    else:
        with pytest.raises(dycl.CompileError) as refused:
            dycl.compile(model, module.inputs(), dynamic_shapes=shapes)
        actual = str(refused.value)
        assert explanation.problems == refused.value.problems
    actual = _OTHER_FILE.sub(r"\1:*", actual)
    if request.config.getoption("--regenerate"):
        _regenerate(case, actual)
    else:
        assert actual.strip() + "\n" == case.expected


def _regenerate(case: Case, actual: str) -> None:
    cases = _read(case.file)
    text = ""
    for other in cases:
        expected = actual.strip() + "\n" if other.name == case.name else other.expected
        text += f"==== {other.name}\n{other.program}---- {other.kind}\n{expected}\n"
    case.file.write_text(text.rstrip() + "\n")


def test_case_files_are_found() -> None:
    assert len(CASES) > 20
