"""Writes the tables of README.md and docs/ anew from the figures in bench/results, between their markers.

.venv/bin/python -m bench.documented
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import paper
from dycl.bench import tables
from dycl.zoo import NETWORKS

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results"
PAGES = (ROOT / "README.md", ROOT / "docs" / "paper.md")

Record = dict[str, Any]


def records(size: str, threads: int = 1) -> list[Record]:
    """The committed figures of one size and number of threads, in the zoo's order."""
    found = [json.loads(file.read_text(encoding="utf-8")) for file in RESULTS.glob(f"*-{size}-*-{threads}.json")]
    return sorted(found, key=lambda record: list(NETWORKS).index(record["settings"]["network"]))


def made() -> dict[str, str]:
    """Every table by the name of its markers."""
    full = records("full")
    return {
        "summary": tables.summary(full),
        "machine": tables.machine(full),
        "correctness": paper.correctness(full),
        "speed": paper.speed(full),
        "optimisation": paper.optimisation(full),
        "compilation": paper.compilation(full),
        "beyond": paper.beyond(full),
    }


def filled(text: str, parts: Mapping[str, str]) -> str:
    """A page with what stands between `<!-- NAME -->` and `<!-- end of NAME -->` made anew."""

    def part(match: re.Match[str]) -> str:
        name = match.group(1)
        return f"<!-- {name} -->\n{parts[name]}\n<!-- end of {name} -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- end of \1 -->", part, text, flags=re.DOTALL)


def main(pages: Sequence[Path] = PAGES) -> None:
    """Nothing; the pages show the committed figures afterwards."""
    parts = made()
    for page in pages:
        page.write_text(filled(page.read_text(encoding="utf-8"), parts), encoding="utf-8")


if __name__ == "__main__":
    main()
