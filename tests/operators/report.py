"""What the documents say of a run: which operators work, for which element types, which are refused and why."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.house import ROOT
from tests.operators.trial import Outcome

REFUSED = ROOT / "tests" / "operators" / "refused.txt"
PAGE = ROOT / "docs" / "operations.md"
DTYPES = ("float32", "float64", "int64", "bool", "complex64")
_MARKS = {"equal": "yes", "some": "in part", "refused": "no", "wrong": "wrong", "crashed": "crashed", "": ""}


@dataclass(frozen=True)
class Result:
    """All samples of one operator with one element type."""

    name: str
    dtype: str
    outcomes: tuple[Outcome, ...]

    @property
    def verdict(self) -> str:
        """The worst of all outcomes; empty if no sample tells anything."""
        verdicts = {outcome.verdict for outcome in self.outcomes}
        for bad in ("crashed", "wrong"):
            if bad in verdicts:
                return bad
        if verdicts >= {"equal", "refused"}:
            return "some"
        return next((verdict for verdict in ("refused", "equal") if verdict in verdicts), "")

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why samples were refused, each reason once."""
        return tuple(sorted({outcome.detail for outcome in self.outcomes if outcome.verdict == "refused"}))


def refused_lines(results: Iterable[Result]) -> list[str]:
    """One line for each operator, element type and reason."""
    return sorted(
        f"{result.name} {result.dtype} {_MARKS[result.verdict]}: {reason}"
        for result in results
        for reason in result.reasons
    )


def counts(results: Iterable[Result]) -> Mapping[str, Counter[str]]:
    """How many operators came out how, by element type."""
    found = {dtype: Counter[str]() for dtype in DTYPES}
    for result in results:
        found[result.dtype][_MARKS[result.verdict] or "skipped"] += 1
    return found


def page(results: Sequence[Result]) -> str:
    """`docs/operations.md`."""
    table = {(result.name, result.dtype): result for result in results}
    names = sorted({result.name for result in results if result.verdict})
    lines = [_HEAD, _table(["element type", "yes", "in part", "no"], _summary(results)), _MIDDLE]
    rows = [[f"`{name}`", *(_mark(table.get((name, dtype))) for dtype in DTYPES)] for name in names]
    lines += [_table(["operation", *DTYPES], rows), "## Why not\n"]
    why: dict[tuple[str, str], list[str]] = {}
    for result in results:
        for reason in result.reasons:
            why.setdefault((result.name, reason), []).append(result.dtype)
    lines.append(
        _table(
            ["operation", "element types", "reason"], [[f"`{n}`", ", ".join(d), r] for (n, r), d in sorted(why.items())]
        )
    )
    return "\n".join(lines)


def _mark(result: Result | None) -> str:
    return "" if result is None else _MARKS[result.verdict]


def _summary(results: Sequence[Result]) -> list[list[str]]:
    found = counts(results)
    return [[dtype, *(str(found[dtype][mark]) for mark in ("yes", "in part", "no"))] for dtype in DTYPES]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in cells)]) + "\n"


_HEAD = """# Operations

Which of PyTorch's operations DyCL compiles, for which element types, and which it refuses. This page is written by
`make test-operators`, which compiles each operator of PyTorch's own test database for some of its samples and compares
the program with eager PyTorch: on the sample, on other values, and on values with NaN and infinities. What is not
listed as "yes" is refused while compiling, and what is gives PyTorch's results, but for what stands below the first
table.
"""

_MIDDLE = """"In part" are operations with samples of both kinds: some options are refused. Complex tensors live between
two decisions: pass their parts on, `torch.view_as_real(x)`. How far a NaN or an infinity spreads in complex numbers,
Fourier transforms, convolutions, factors of matrices and statistics is a matter of the algorithm and is not compared.
Which of several equal elements `kthvalue`, `median`, `topk` and `sort` name is not determined, and not compared.
What eager PyTorch says of gelu of infinity in single precision hangs on the processor and on how the tensor lies in
memory, and of seven orthogonal polynomials of NaN on what memory held before: a program gives infinity, and NaN.
Random numbers are left out: drawing them is refused if something depends on it.
"""
