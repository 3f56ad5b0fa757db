"""`dycl inspect`: what is in an artefact."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from dycl.cli.sizes import byte_count, counted
from dycl.hcfg.nodes import Branch, Switch
from dycl.hcfg.text import to_text
from dycl.runtime import artefact as artefact_file
from dycl.runtime.artefact import Artefact

NAME = "inspect"
SUMMARY = "show what is in an artefact"
DESCRIPTION = """\
Shows an artefact's inputs, backend, producer and sizes. The file is checked as
it is before every run; nothing of it is executed.
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
    for label, text in _facts(artefact, os.path.getsize(arguments.artefact)):
        print(f"{label:<10} {text}".rstrip())
    if arguments.graph:
        print()
        print(to_text(artefact.hcfg), end="")
    return 0


def _facts(artefact: Artefact, file_size: int) -> Iterator[tuple[str, str]]:
    hcfg = artefact.hcfg
    yield "model", hcfg.name
    label = "inputs"
    for parameter in hcfg.inputs:
        yield label, f"{parameter.name}: {parameter.type}"
        label = ""
    yield "backend", artefact.backend
    yield "producer", artefact.producer
    decisions = sum(isinstance(block.terminator, Branch | Switch) for block in hcfg.blocks.values())
    yield "blocks", f"{len(hcfg.blocks)}, {counted(decisions, 'decision')}"
    codes = f"{counted(len(artefact.codes), 'code')}, {byte_count(sum(map(len, artefact.codes.values())))}"
    yield "sub-DNNs", f"{len(hcfg.subnets)} ({codes})"
    numbers = sum(array.size for array in artefact.weights.values())
    bytes_of_weights = sum(array.nbytes for array in artefact.weights.values())
    yield "weights", f"{len(artefact.weights)} ({counted(numbers, 'number')}, {byte_count(bytes_of_weights)})"
    yield "file", byte_count(file_size)
