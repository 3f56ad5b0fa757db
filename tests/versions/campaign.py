"""One pair of versions after the other, and a table of what came of them."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from tests.versions.environments import ROOT, NotRun, Outcome, run_tests, set_up
from tests.versions.matrix import PAIRS, Pair, UnknownPair, chosen


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 if something could be run and all of it passed; what could not be run is said."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.versions",
        description="Run all tests and the demo with each version of Python and PyTorch that can be had here.",
        epilog="The pairs of versions are " + ", ".join(pair.name for pair in PAIRS) + ".",
    )
    parser.add_argument("--only", default="", metavar="NAMES", help="these pairs, with commas between them")
    parser.add_argument("--folder", type=Path, default=ROOT / ".versions", help="where the environments are kept")
    parser.add_argument("tests", nargs="*", help="files of tests to run (default: all tests and the demo)")
    asked = parser.parse_args(arguments)
    try:
        pairs = chosen(asked.only)
    except UnknownPair as error:
        parser.error(str(error))
    folder = asked.folder.absolute()
    outcomes = [(pair, _try(pair, folder / pair.name, asked.tests)) for pair in pairs]
    print("\n" + table(outcomes))
    return exit_code([outcome for _, outcome in outcomes])


def _try(pair: Pair, folder: Path, tests: Sequence[str]) -> Outcome | NotRun:
    print(f"\n== {pair.name}: setting up {folder}", flush=True)
    try:
        programs = set_up(pair, folder)
    except NotRun as reason:
        print(f"not run: {reason}", flush=True)
        return reason
    print(f"== {pair.name}: {' '.join(tests) or 'all tests and the demo'}", flush=True)
    return run_tests(programs, tests)


def table(outcomes: Sequence[tuple[Pair, Outcome | NotRun]]) -> str:
    """A line for each pair of versions."""
    lines = [f"{'Python':<8}{'PyTorch':<14}{'passed':>7}{'failed':>8}{'skipped':>9}{'minutes':>9}"]
    for pair, outcome in outcomes:
        if isinstance(outcome, NotRun):
            lines.append(f"{pair.python:<8}{pair.torch:<14} not run: {outcome}")
            continue
        counts = f"{outcome.passed:>7,}{outcome.failed:>8,}{outcome.skipped:>9,}{outcome.seconds / 60:>9.1f}"
        lines.append(f"{outcome.python:<8}{outcome.torch:<14}{counts}  {outcome.problem or ''}".rstrip())
    return "\n".join(lines)


def exit_code(outcomes: Sequence[Outcome | NotRun]) -> int:
    """0 if something was run and all of it is good."""
    ran = [outcome for outcome in outcomes if isinstance(outcome, Outcome)]
    return 0 if ran and all(outcome.good for outcome in ran) else 1
