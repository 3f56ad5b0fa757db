"""What is said of a run: how many tests came out how, and which are known to be refused."""

import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.house import ROOT
from tests.operators.trial import Outcome
from tests.operators.workers import TOO_LONG
from tests.python_semantics.rewriting import Mode

REFUSED = ROOT / "tests" / "python_semantics" / "refused.txt"


@dataclass(frozen=True)
class Result:
    """What came of one test in one mode."""

    test: str
    mode: Mode
    outcome: Outcome

    @property
    def line(self) -> str:
        """The test and why it is refused."""
        return f"{self.test} {self.mode}: {self.outcome.detail}"


def heading() -> str:
    """The first line of the list: it holds for one version of Python, whose tests it names."""
    return f"# Python {'.'.join(platform.python_version_tuple()[:2])}"


def refused_lines(results: Iterable[Result]) -> list[str]:
    """One line for each test that is refused."""
    return sorted(result.line for result in results if result.outcome.verdict == "refused")


def counts(results: Sequence[Result]) -> str:
    """How many tests came out how, and why they were refused."""
    lines = []
    for mode in sorted({result.mode for result in results}):
        found = Counter(result.outcome.verdict for result in results if result.mode == mode)
        told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(found.items()))
        lines.append(f"a decision {mode}: {told}")
    identifiers = Counter(
        result.outcome.detail.partition(" ")[0] for result in results if result.outcome.verdict == "refused"
    )
    share = sum(identifiers.values()) / len(results) if results else 0.0
    told = ", ".join(f"{count} {name}" for name, count in identifiers.most_common())
    lines.append(f"refused: {share:.1%} ({told})")
    return "\n".join(lines)


def agrees(results: Sequence[Result]) -> bool:
    """Whether exactly those of these tests are refused that are known to be; the differences are printed.

    Which tests take too long depends on the machine: one that does, here or when the list was written, is not compared.
    """
    version, known = _known()
    if version != heading():
        print(f"the list of refusals is one of {version[2:]}: it is not compared")
        return True
    slow = {_test(line) for line in (*known, *refused_lines(results)) if line.endswith(f": {TOO_LONG}")}
    compared = {f"{result.test} {result.mode}" for result in results} - slow
    expected = [line for line in known if _test(line) in compared]
    lines = [line for line in refused_lines(results) if _test(line) in compared]
    for sign, some, others in (("+", lines, expected), ("-", expected, lines)):
        for line in sorted(set(some) - set(others)):
            print(f"{sign} {line}")
    if lines != expected:
        print("what is refused has changed: make test-python-semantics REGENERATE=--regenerate")
    return lines == expected


def regenerate(results: Sequence[Result], is_whole: bool) -> None:
    """Write the list anew; what it says of tests that were not tried stays, unless these were all."""
    version, known = _known()
    tried = {f"{result.test} {result.mode}" for result in results}
    kept = [line for line in known if not is_whole and version == heading() and _test(line) not in tried]
    REFUSED.write_text("\n".join([heading(), *sorted(kept + refused_lines(results))]) + "\n", encoding="utf-8")


def _known() -> tuple[str, list[str]]:
    version, *known = REFUSED.read_text(encoding="utf-8").splitlines()
    return version, known


def _test(line: str) -> str:
    return line.partition(":")[0]
