"""What a campaign leaves behind: a page and pictures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dycl.bench import plots, tables
from dycl.bench.ways import DYCL, ORACLE, PLAIN

Record = dict[str, Any]
TOLERANCE = 1e-5


def write(records: Sequence[Record], folder: Path) -> tuple[Path, list[Path]]:
    """The page with all tables, and the pictures of each size with the fewest threads."""
    page = folder / "results.md"
    page.write_text(tables.report(records), encoding="utf-8")
    pictures: list[Path] = []
    for size in sorted({record["settings"]["size"] for record in records}):
        chosen = tables.fewest_threads([record for record in records if record["settings"]["size"] == size])
        pictures += plots.draw(chosen, folder / size)
    return page, pictures


def agrees(record: Record) -> bool:
    """Whether DyCL compiled the network and did what eager PyTorch does, on every input."""
    compared = record.get("compared")
    return compared is not None and (
        compared["paths_equal"] == compared["inputs"]
        and compared["inconsistent"] == 0
        and compared["largest_error"] <= TOLERANCE
        and all(record["ways"][name].get("wrong", 0) == 0 for name in (PLAIN, DYCL, ORACLE))
    )
