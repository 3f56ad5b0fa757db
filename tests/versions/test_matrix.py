"""The matrix of versions and the project's own words about them agree, and its table says what was run."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from tests.versions import campaign, environments
from tests.versions.campaign import exit_code, main, table
from tests.versions.environments import ROOT, NotRun, Outcome, find_python, read_counts
from tests.versions.matrix import PAIRS, Pair, UnknownPair, chosen, constraints_for

GOOD = Outcome("3.13.0", "2.15.0+cpu", passed=4321, failed=0, skipped=0, seconds=900)
BAD = Outcome("3.11.7", "2.15.0+cpu", passed=4320, failed=1, skipped=0, seconds=90)
NO_DEMO = Outcome("3.12.1", "2.15.0+cpu", 4321, 0, 0, 60, problem="`dycl demo` ended with exit code 1")
LEFT_OUT = NotRun("no Python 3.12 here")


def test_pairs_are_chosen_by_name() -> None:
    assert chosen("") == list(PAIRS)
    assert [pair.torch for pair in chosen("torch2.15-py3.13, torch2.13-py3.11")] == ["2.13.0", "2.15.0"]
    with pytest.raises(UnknownPair, match="no torch1-py2; there are torch"):
        chosen("torch2.15-py3.13 torch1-py2")


def test_the_package_says_the_versions_of_the_matrix() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pythons = sorted({pair.python for pair in PAIRS}, key=lambda version: int(version.removeprefix("3.")))
    named = [item.removeprefix("Programming Language :: Python :: ") for item in project["classifiers"]]
    assert [version for version in named if re.fullmatch(r"3\.\d+", version)] == pythons
    minors = sorted({int(pair.torch.split(".")[1]) for pair in PAIRS})
    allowed = f"torch>=2.{minors[0]},<2.{minors[-1] + 1}"
    assert allowed in project["optional-dependencies"]["compile"]
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"Python {pythons[0]} to {pythons[-1]}" in readme
    assert f"PyTorch 2.{minors[0]} to 2.{minors[-1]}" in readme


def test_only_the_version_of_pytorch_differs() -> None:
    ours = (ROOT / "constraints.txt").read_text("utf-8")
    theirs = constraints_for(Pair("3.13", "2.15.0"), ours)
    changed = [(old, new) for old, new in zip(ours.splitlines(), theirs.splitlines(), strict=True) if old != new]
    assert changed == [("torch==2.13.0", "torch==2.15.0")]


def test_the_table_says_what_was_run_and_what_was_not() -> None:
    pair = Pair("3.12", "2.14.1")
    shown = table([(pair, GOOD), (pair, BAD), (pair, NO_DEMO), (pair, LEFT_OUT)])
    assert shown.splitlines() == [
        "Python  PyTorch        passed  failed  skipped  minutes",
        "3.13.0  2.15.0+cpu      4,321       0        0     15.0",
        "3.11.7  2.15.0+cpu      4,320       1        0      1.5",
        "3.12.1  2.15.0+cpu      4,321       0        0      1.0  `dycl demo` ended with exit code 1",
        "3.12    2.14.1         not run: no Python 3.12 here",
    ]


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([GOOD], 0),
        ([GOOD, LEFT_OUT], 0),
        ([GOOD, BAD], 1),
        ([NO_DEMO], 1),
        ([LEFT_OUT], 1),
        ([Outcome("3.13.0", "2.15.0", 0, 0, 0, 1)], 1),
    ],
    ids=["good", "one left out", "one bad", "no demo", "none run", "no tests"],
)
def test_it_fails_where_something_failed_or_nothing_ran(outcomes: list[Outcome | NotRun], code: int) -> None:
    assert exit_code(outcomes) == code


def test_what_cannot_be_set_up_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environments, "_interpreters", lambda version: iter(()))
    assert main(["--only", "torch2.14-py3.12", "--folder", str(tmp_path)]) == 1
    assert "not run: no Python 3.12 with venv on the PATH, nor among those of pyenv and uv" in capsys.readouterr().out


def test_pairs_are_tried_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(campaign, "set_up", lambda pair, folder: folder / "bin")
    monkeypatch.setattr(campaign, "run_tests", lambda programs, tests: GOOD if "3.13" in str(programs) else BAD)
    assert main(["--only", "torch2.15-py3.11,torch2.15-py3.13", "--folder", str(tmp_path), "tests/hcfg"]) == 1
    shown = capsys.readouterr().out
    assert shown.index("== torch2.15-py3.11: tests/hcfg") < shown.index("== torch2.15-py3.13: tests/hcfg")
    assert shown.count("2.15.0+cpu") == 2


def test_a_python_of_a_version_is_found() -> None:
    assert find_python("{}.{}".format(*sys.version_info)) == Path(sys.executable)


def test_pytests_report_is_counted(tmp_path: Path) -> None:
    report = tmp_path / "results.xml"
    suite = '<testsuite name="pytest" errors="1" failures="2" skipped="3" tests="10" time="1.0"/>'
    report.write_text(f"<testsuites>{suite}</testsuites>", "utf-8")
    assert read_counts(report) == (4, 3, 3)
