"""Try every operator of PyTorch's database, and compare what is refused with what is known to be."""

import argparse
import functools
import json
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import torch

from tests.operators.exceptions import RANDOM
from tests.operators.report import DTYPES, PAGE, REFUSED, Result, counts, page, refused_lines
from tests.operators.trial import Outcome, outcomes
from tests.operators.workers import TOO_LONG, Job, run_all

_SAMPLES = {"float32": 4}
_FEWER = 2


def main() -> int:
    """Run, say how it went, and give the exit code."""
    options = _options()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    jobs = _jobs(options.only.split(",") if options.only else [], options.dtypes.split(","))
    results = _run(jobs, options.processes, options.limit)
    _tell(results, options.results)
    bad = any(result.verdict in ("wrong", "crashed") for result in results)
    if options.only or options.dtypes != ",".join(DTYPES):
        return int(bad)
    return int(bad or not _documents_agree(results, options.regenerate))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.operators", description=__doc__)
    parser.add_argument("--only", default="", help="names of operators, separated by commas")
    parser.add_argument("--dtypes", default=",".join(DTYPES), help="element types, separated by commas")
    parser.add_argument("--processes", type=int, default=2, help="how many operators at a time")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of the processor that one operator may take")
    parser.add_argument(
        "--regenerate", action="store_true", help="write the list of what is refused, and the page, anew"
    )
    parser.add_argument("--results", default="", help="a file for every outcome, as lines of JSON")
    return parser.parse_args()


def _jobs(only: Sequence[str], dtypes: Sequence[str]) -> list[tuple[str, Job]]:
    from torch.testing._internal.common_methods_invocations import op_db

    found: list[tuple[str, Job]] = []
    for dtype in dtypes:
        for operator in op_db:
            if _is_left_out(operator, getattr(torch, dtype), only):
                continue
            job = functools.partial(outcomes, operator, getattr(torch, dtype), _SAMPLES.get(dtype, _FEWER))
            found.append((f"{operator.formatted_name} {dtype}", job))
    return found


def _is_left_out(operator: Any, dtype: torch.dtype, only: Sequence[str]) -> bool:
    if only and operator.name not in only and operator.formatted_name not in only:
        return True
    strange = "sparse" in operator.name or "quantize" in operator.name
    return strange or operator.name in RANDOM or not operator.supports_dtype(dtype, "cpu")


def _run(jobs: Sequence[tuple[str, Job]], processes: int, limit: float) -> list[Result]:
    began = time.monotonic()
    found = []
    for number, (name, outcome) in enumerate(run_all(jobs, processes, limit), start=1):
        operator, _, dtype = name.rpartition(" ")
        result = Result(operator, dtype, tuple(outcome))
        found.append(result)
        for item in result.outcomes:
            if item.verdict in ("wrong", "crashed"):
                print(f"{item.verdict}: {name}: {item.detail}"[:300].replace("\n", " "), flush=True)
        if number % 100 == 0 or number == len(jobs):
            print(f"{number} of {len(jobs)} after {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return sorted(found, key=lambda result: (result.name, DTYPES.index(result.dtype)))


def _tell(results: Sequence[Result], path: str) -> None:
    for dtype, found in counts(results).items():
        if found:
            print(f"{dtype}: {', '.join(f'{count} {mark}' for mark, count in sorted(found.items()))}")
    hurried = [f"{result.name} {result.dtype}" for result in results if Outcome("skipped", TOO_LONG) in result.outcomes]
    if hurried:
        print(f"compared for some of their samples, till the time was over: {', '.join(hurried)}")
    if path:
        with open(path, "w", encoding="utf-8") as file:
            for result in results:
                for item in result.outcomes:
                    line = {"op": result.name, "dtype": result.dtype, "verdict": item.verdict, "detail": item.detail}
                    file.write(json.dumps(line) + "\n")


def _documents_agree(results: Sequence[Result], regenerate: bool) -> bool:
    lines = refused_lines(results)
    if regenerate:
        REFUSED.write_text("\n".join(lines) + "\n", encoding="utf-8")
        PAGE.write_text(page(results), encoding="utf-8")
        return True
    known = REFUSED.read_text(encoding="utf-8").splitlines()
    for sign, some, others in (("+", lines, known), ("-", known, lines)):
        for line in sorted(set(some) - set(others)):
            print(f"{sign} {line}")
    agree = lines == known and page(results) == PAGE.read_text(encoding="utf-8")
    if not agree:
        print("what is refused has changed: make test-operators REGENERATE=--regenerate")
    return agree
