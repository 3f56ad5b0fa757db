"""What the compiler did, as files to read from first to last: the program's text after every stage.

    00-rewritten.txt   the model as blocks and sub-DNNs, as the rewriter left it
    01-read_through.txt
    ...                one file a pass
    05-lowered.txt     with code in the place of operations
    06-stored.txt      the artefact: weights and codes

A file begins with what its stage is for and what it changed. A pass that changed nothing says so and shows no program.
"""

from collections import Counter
from pathlib import Path

from dycl.backends.lower import Lowered
from dycl.hcfg.module import Module
from dycl.hcfg.text import to_text
from dycl.optimize.passes import Pass
from dycl.rewrite import Rewritten
from dycl.runtime.artefact import Artefact


class Dump:
    """Writes the stages of one compilation into a folder; without a folder, nothing."""

    def __init__(self, folder: str | None) -> None:
        self._folder = Path(folder) if folder else None
        self._count = 0
        self._before: Module | None = None

    def rewritten(self, rewritten: Rewritten) -> None:
        """Write the program as the rewriter left it."""
        if self._folder is not None:
            self._before = rewritten.module
            about = "The model's own Python code, followed on every path: a block ends where the input decides."
            self._write("rewritten", about, [_sizes(rewritten.module)], to_text(rewritten.module))

    def after(self, item: Pass, module: Module) -> None:
        """Write the program as a pass left it."""
        if self._folder is not None:
            before, self._before = self._before, module
            changed = [] if before is None else _changes(before, module)
            text = to_text(module) if changed else ""
            about = f"The pass {item.name}: {item.summary}."
            self._write(item.name, about, changed or ["changed nothing"], text)

    def lowered(self, lowered: Lowered) -> None:
        """Write the program with code in the place of operations."""
        if self._folder is not None:
            codes = [f"code {digest}: {len(code):,} bytes" for digest, code in lowered.codes.items()]
            about = "Each sub-DNN compiled by a backend; sub-DNNs of one structure share their code."
            self._write("lowered", about, codes, to_text(lowered.hcfg))

    def stored(self, artefact: Artefact) -> None:
        """Write what the artefact holds."""
        if self._folder is not None:
            total = sum(array.nbytes for array in artefact.weights.values())
            weights = [f"{name}: {kind}" for name, kind in artefact.hcfg.weights.items()]
            about = "The artefact: the graph above, its codes, and each weight once."
            self._write("stored", about, [f"{len(weights)} weights, {total:,} bytes"], "\n".join(weights) + "\n")

    def _write(self, stage: str, about: str, lines: list[str], text: str) -> None:
        assert self._folder is not None
        self._folder.mkdir(parents=True, exist_ok=True)
        head = "\n".join(f"# {line}" for line in (about, *lines))
        path = self._folder / f"{self._count:02}-{stage}.txt"
        path.write_text(f"{head}\n\n{text}" if text else f"{head}\n", encoding="utf-8")
        self._count += 1


def _sizes(module: Module) -> str:
    operations = sum(len(subnet.graph.operations) for subnet in module.subnets.values())
    return f"{len(module.blocks)} blocks, {len(module.subnets)} sub-DNNs, {operations} operations"


def _changes(before: Module, after: Module) -> list[str]:
    """What a pass changed, in numbers; nothing if it changed nothing."""
    if before == after:
        return []
    told = [f"{_sizes(before)} before, {_sizes(after)} after" if _sizes(before) != _sizes(after) else _sizes(after)]
    counts = [Counter(_operations(module)) for module in (before, after)]
    for target in sorted(counts[0].keys() | counts[1].keys()):
        if counts[0][target] != counts[1][target]:
            told.append(f"{target}: {counts[0][target]} before, {counts[1][target]} after")
    return told


def _operations(module: Module) -> list[str]:
    return [operation.target for subnet in module.subnets.values() for operation in subnet.graph.operations]
