"""The campaign itself: what is equal, refused and wrong is told as such."""

import ast
import importlib.util
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from dycl.rewrite.normalise import syntax
from tests.operators.trial import Outcome
from tests.operators.workers import TOO_LONG, run_all
from tests.python_semantics import report
from tests.python_semantics.report import Result
from tests.python_semantics.rewriting import MODES, Mode
from tests.python_semantics.selection import cases_of, why_left_out
from tests.python_semantics.trial import codes_in, outcome_of

_CASES = """
from tests.python_semantics.case import Case
from tests.python_semantics.model import decide


class Cases(Case):
    def test_adds(self):
        decide()
        self.assertEqual([1] + [2], [1, 2])

    def test_looks(self):
        decide()
        self.assertTrue("decide" in globals())

    def test_fails(self):
        self.assertEqual(1, 2)

    def test_collects(self):
        import gc
        gc.collect()
"""


@pytest.fixture
def module(tmp_path: Path) -> types.ModuleType:
    path = tmp_path / "cases_of_the_campaign.py"
    path.write_text(_CASES, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def _outcome(module: types.ModuleType, method: str) -> Outcome:
    assert module.__file__ is not None
    return outcome_of(module.Cases, method, codes_in(Path(module.__file__)))


def test_a_test_that_passes_is_equal(module: types.ModuleType) -> None:
    assert _outcome(module, "test_adds").verdict == "equal"


def test_a_refusal_is_told_with_its_reason(module: types.ModuleType) -> None:
    outcome = _outcome(module, "test_looks")
    assert outcome.verdict == "refused"
    assert outcome.detail.startswith("DY002 `globals`")


def test_what_fails_in_plain_python_is_skipped(module: types.ModuleType) -> None:
    assert _outcome(module, "test_fails").verdict == "skipped"


def test_a_wrong_result_is_noticed(module: types.ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(syntax.BINARY, ast.Add, lambda left, right: left)
    outcome = _outcome(module, "test_adds")
    assert outcome.verdict == "wrong"
    assert "not equal" in outcome.detail


def test_tests_of_the_interpreter_are_left_out(module: types.ModuleType) -> None:
    found = {name: why_left_out(f"cases.{name}", cls, name) for cls, name in cases_of(module)}
    assert found["test_adds"] is None
    assert found["test_collects"] is not None


@pytest.mark.parametrize("mode", MODES)
def test_an_unknown_refusal_is_told(mode: Mode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "REFUSED", tmp_path / "refused.txt")
    report.REFUSED.write_text(report.heading() + "\ncases.old behind: DY002 kept\n", encoding="utf-8")
    results = [Result("cases.test_looks", mode, Outcome("refused", "DY002 why"))]
    assert not report.agrees(results)
    report.regenerate(results, is_whole=False)
    assert report.agrees(results)
    assert "cases.old behind: DY002 kept" in report.REFUSED.read_text(encoding="utf-8")
    report.regenerate(results, is_whole=True)
    assert report.REFUSED.read_text(encoding="utf-8").splitlines() == [report.heading(), results[0].line]


def test_what_takes_too_long_here_or_where_the_list_was_written_is_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "REFUSED", tmp_path / "refused.txt")
    report.REFUSED.write_text(report.heading() + "\ncases.slow behind: takes too long\n", encoding="utf-8")
    assert report.agrees([Result("cases.slow", "behind", Outcome("equal"))])
    assert report.agrees([Result("cases.other", "behind", Outcome("refused", TOO_LONG))])
    assert not report.agrees([Result("cases.other", "behind", Outcome("refused", "DY002 other"))])


def test_a_job_ends_when_its_time_is_over() -> None:
    def forever() -> Iterator[Outcome]:
        while True:
            pass
        yield Outcome("equal")

    assert list(run_all([("a loop", forever)], processes=1, limit=0.2)) == [("a loop", [Outcome("crashed", TOO_LONG)])]
