"""`dycl inspect`: what is in an artefact."""

import argparse
import os
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from dycl.hcfg.nodes import Branch, Hcfg, Switch
from dycl.hcfg.text import to_text
from dycl.runtime import ArtefactError
from dycl.runtime import artefact as artefact_file
from dycl.runtime.artefact import Artefact
from dycl.runtime.backend import Backend
from dycl.runtime.backend_registry import find_backend
from dycl.runtime.choice import Choice
from dycl.runtime.engines import check_codes
from dycl.terminal import byte_count, counted

NAME = "inspect"
SUMMARY = "show what is in an artefact"
DESCRIPTION = """\
Shows an artefact's inputs, backends, producer and sizes, how its backends were
chosen and what each sub-DNN would take the others. The file is checked as it is
before every run; nothing of it is executed.
"""
EXAMPLES = """\
  dycl inspect model.dycl
  dycl inspect model.dycl --graph
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing; `parser` knows the command's arguments afterwards."""
    parser.add_argument("artefact", type=Path, metavar="model.dycl", help="the artefact")
    parser.add_argument("--graph", action="store_true", help="show the control-flow graph as well")


def run(arguments: argparse.Namespace) -> int:
    """The exit code, 0: an artefact that cannot be read raises ArtefactError."""
    artefact = artefact_file.read(arguments.artefact)
    backends = _installed(artefact.hcfg)
    check_codes(artefact, backends)
    for label, text in _facts(artefact, backends, os.path.getsize(arguments.artefact)):
        print(f"{label:<10} {text}".rstrip())
    if artefact.choice is not None:
        print()
        print("\n".join(_times(artefact.choice, artefact.hcfg)))
    if arguments.graph:
        print()
        print(to_text(artefact.hcfg), end="")
    return 0


def _facts(artefact: Artefact, installed: Collection[str], file_size: int) -> Iterator[tuple[str, str]]:
    hcfg = artefact.hcfg
    yield "model", hcfg.name
    label = "inputs"
    for parameter in hcfg.inputs:
        yield label, f"{parameter.name}: {parameter.type}"
        label = ""
    label = "backend"
    for text in _backends(hcfg, installed):
        yield label, text
        label = ""
    label = "left"
    for one in artefact.left:
        yield label, f"{one.backend} did not get {counted(one.subnets, 'sub-DNN')}: {one.reason}"
        label = ""
    if artefact.choice is not None:
        yield "chosen", _chosen(artefact.choice)
    yield "producer", artefact.producer
    decisions = sum(isinstance(block.terminator, Branch | Switch) for block in hcfg.blocks.values())
    yield "blocks", f"{len(hcfg.blocks)}, {counted(decisions, 'decision')}"
    codes = f"{counted(len(artefact.codes), 'code')}, {byte_count(sum(map(len, artefact.codes.values())))}"
    yield "sub-DNNs", f"{len(hcfg.subnets)} ({codes})"
    numbers = sum(array.size for array in artefact.weights.values())
    bytes_of_weights = sum(array.nbytes for array in artefact.weights.values())
    yield "weights", f"{len(artefact.weights)} ({counted(numbers, 'number')}, {byte_count(bytes_of_weights)})"
    yield "file", byte_count(file_size)


def _installed(hcfg: Hcfg) -> dict[str, Backend]:
    """Those of a graph's backends that are installed: an artefact for others can be looked at all the same."""
    found: dict[str, Backend] = {}
    for subnet in hcfg.subnets.values():
        with suppress(ArtefactError):
            found[subnet.backend] = find_backend(subnet.backend)
    return found


def _chosen(choice: Choice) -> str:
    """How whole programs compared."""
    times = ", ".join(f"{name} {_milliseconds(seconds)} ms" for name, seconds in choice.programs.items())
    return f"{choice.taken}, on {choice.processor} with {counted(choice.threads, 'thread')} ({times})"


def _times(choice: Choice, hcfg: Hcfg) -> Iterator[str]:
    """What a call of each sub-DNN takes every backend that is right about it, as a table; a * marks the one it has."""
    backends = sorted({way.backend for way in choice.ways})
    rows = [["sub-DNN", *(f"{name}, ms " for name in backends)]]
    for subnet, ways in choice.subnets.items():
        own = hcfg.subnets[subnet].backend
        times = {way.backend: _milliseconds(way.seconds) + ("*" if way.backend == own else " ") for way in ways}
        rows.append([subnet, *(times.get(backend, "- ") for backend in backends)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        first, *others = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join([first.strip().ljust(widths[0]), *others]).rstrip()


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.4g}" if seconds >= 1e-4 else f"{1000 * seconds:.3f}"


def _backends(hcfg: Hcfg, installed: Collection[str]) -> Iterator[str]:
    counts = Counter(subnet.backend for subnet in hcfg.subnets.values())
    if not counts:
        yield "none"
    for name, count in sorted(counts.items()):
        notes = [counted(count, "sub-DNN")] if len(counts) > 1 else []
        notes += [] if name in installed else ["not installed, so its codes were not checked"]
        yield f"{name} ({'; '.join(notes)})" if notes else name
