"""Run Python's own tests of its language through DyCL, and compare what is refused with what is known to be."""

import argparse
import functools
import importlib
import importlib.util
import json
import sys
import tempfile
import time
import types
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from tests.operators.trial import Outcome
from tests.operators.workers import TOO_LONG, Job, run_all
from tests.python_semantics import report
from tests.python_semantics.report import Result
from tests.python_semantics.rewriting import MODES, Mode, module_name, write
from tests.python_semantics.selection import MODULES, cases_of, why_left_out
from tests.python_semantics.trial import codes_in, outcomes, read_source, warm_up


def main() -> int:
    """Run, say how it went, and give the exit code."""
    options = _options()
    if importlib.util.find_spec("test.support") is None:
        print("this Python comes without its tests, the package `test`: install them, or use another Python")
        return 1
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        sys.dont_write_bytecode = True
        names = options.modules.split(",")
        groups = [_jobs(name, mode, options, Path(folder)) for name in names for mode in _modes(options)]
        results = _run(groups, options)
    print(report.counts(results))
    bad = any(result.outcome.verdict in ("wrong", "crashed") for result in results)
    if options.regenerate:
        is_whole = not options.only and set(names) == set(MODULES) and len(_modes(options)) == len(MODES)
        report.regenerate(results, is_whole)
        return int(bad)
    return int(not report.agrees(results) or bad)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.python_semantics", description=__doc__)
    parser.add_argument("--modules", default=",".join(MODULES), help="test modules, separated by commas")
    parser.add_argument("--only", default="", help="a text that a test's name must contain")
    parser.add_argument("--modes", default=",".join(MODES), help="where decisions are made, separated by commas")
    parser.add_argument("--processes", type=int, default=2, help="how many tests at a time")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of the processor that one test may take")
    parser.add_argument("--regenerate", action="store_true", help="write the list of what is refused anew")
    parser.add_argument("--results", default="", help="a file that every outcome is added to, as lines of JSON")
    return parser.parse_args()


@dataclass
class _Jobs:
    """The tests of one module in one mode."""

    codes: set[types.CodeType] = field(default_factory=set)
    jobs: list[tuple[str, Job]] = field(default_factory=list)


def _modes(options: argparse.Namespace) -> list[Mode]:
    return [mode for mode in MODES if mode in options.modes.split(",")]


def _jobs(name: str, mode: Mode, options: argparse.Namespace, folder: Path) -> _Jobs:
    paths = write(name, mode, folder)
    if not paths:
        print(f"{name}: not in this Python")
        return _Jobs()
    found = _Jobs(set().union(*map(codes_in, paths)))
    try:
        module = importlib.import_module(module_name(name, mode))
    except Exception as error:
        print(f"{name}: cannot be imported: {type(error).__name__}: {error}")
        return _Jobs()
    left_out = Counter[str]()
    for case, method in cases_of(module):
        test = f"{name}.{case.__qualname__}.{method}"
        if options.only not in test:
            continue
        if (reason := why_left_out(test, case, method)) is not None:
            left_out[reason] += 1
            continue
        found.jobs.append((f"{test} {mode}", functools.partial(outcomes, case, method, found.codes)))
    for reason, count in left_out.items():
        print(f"{name}: {count} left out: {reason}")
    return found


def _run(groups: Sequence[_Jobs], options: argparse.Namespace) -> list[Result]:
    began = time.monotonic()
    found: list[Result] = []
    total = sum(len(group.jobs) for group in groups)
    warm_up()
    for group in groups:
        if group.jobs:
            read_source(group.codes)
        for name, outcome in run_all(group.jobs, options.processes, options.limit):
            test, _, mode = name.rpartition(" ")
            result = Result(test, "before" if mode == "before" else "behind", _known(outcome[0]))
            found.append(result)
            if options.results:
                _write(result, options.results)
            if result.outcome.verdict in ("wrong", "crashed"):
                print(f"{result.outcome.verdict}: {name}: {result.outcome.detail}"[:400].replace("\n", " "), flush=True)
            if len(found) % 100 == 0 or len(found) == total:
                print(f"{len(found)} of {total} after {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return sorted(found, key=lambda result: (result.test, result.mode))


def _known(outcome: Outcome) -> Outcome:
    """A test that goes through a decision a thousand times may take too long; that is listed like a refusal."""
    return Outcome("refused", outcome.detail) if outcome.detail == TOO_LONG else outcome


def _write(result: Result, path: str) -> None:
    """Add a line to the file of results, which can be read while the others run."""
    outcome = result.outcome
    line = {"test": result.test, "mode": result.mode, "verdict": outcome.verdict, "detail": outcome.detail}
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
