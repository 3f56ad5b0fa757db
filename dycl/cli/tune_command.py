"""`dycl tune`: choose again which backend runs each sub-DNN of an artefact."""

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from dycl.choice.retune import made_up, retuned
from dycl.choice.whole import Call
from dycl.cli.calls import add_call_arguments, arguments_of, read_array, require_threads
from dycl.cli.failure import Failure
from dycl.hcfg.nodes import Hcfg
from dycl.hcfg.types import carrier
from dycl.runtime import artefact as artefact_file
from dycl.runtime.weight_store import Array
from dycl.terminal import ProgressBar, counted

NAME = "tune"
SUMMARY = "choose again which backend runs each part of an artefact, by measuring"
DESCRIPTION = """\
Measures each sub-DNN on every backend that is installed and for which the
artefact has a code, and whole programs in turns, and writes the artefact with
the fastest choice: for another processor than it was compiled on, or for
inputs that take other paths. The artefact must have been compiled with
backend="auto". Codes of backends that are not installed are left out.
PyTorch is not needed.
"""
EXAMPLES = """\
  dycl tune model.dycl                         on made-up inputs
  dycl tune model.dycl --input image.npy       on an input
  dycl tune model.dycl --inputs images.npz     on several: arrays by the inputs' names, a call a row
  dycl tune model.dycl -o tuned.dycl --threads 2 --seconds 30
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing; `parser` knows the command's arguments afterwards."""
    add_call_arguments(parser)
    parser.add_argument("--inputs", type=Path, metavar="data.npz", help="inputs by name, stacked: one call a row")
    parser.add_argument("--output", "-o", type=Path, metavar="out.dycl", help="default: the artefact itself")
    parser.add_argument("--seconds", type=float, default=10.0, help="about how long to measure (default: %(default)g)")


def run(arguments: argparse.Namespace) -> int:
    """The exit code, 0: what cannot be tuned raises."""
    require_threads(arguments)
    if arguments.single and arguments.inputs is not None:
        raise Failure("--input and --inputs exclude each other")
    artefact = artefact_file.read(arguments.artefact)
    if artefact.choice is None:
        raise Failure(f'{arguments.artefact} has one code for each sub-DNN; compile the model with backend="auto"')
    calls = list(_calls(artefact.hcfg, arguments.single, arguments.inputs))
    with ProgressBar("measuring") as bar:
        tuned = retuned(
            artefact,
            artefact.choice,
            calls,
            arguments.threads,
            arguments.seconds,
            lambda done, left: bar.show(done, done + left),
        )
    assert tuned.choice is not None
    output = arguments.output or arguments.artefact
    artefact_file.write(tuned, output)
    moved = sum(artefact.hcfg.subnets[name].backend != subnet.backend for name, subnet in tuned.hcfg.subnets.items())
    for name, seconds in sorted(tuned.choice.programs.items(), key=lambda item: item[1]):
        print(f"{name:<12} {1000 * seconds / len(calls):.4g} ms a call")
    print(f"{tuned.choice.taken} is kept: {counted(moved, 'sub-DNN')} of {len(tuned.hcfg.subnets)} changed the backend")
    print(f"written to {os.fspath(output)}")
    return 0


def _calls(hcfg: Hcfg, single: Sequence[Path], several: Path | None) -> Iterator[Call]:
    """The calls to measure on."""
    if several is not None:
        for arrays in _rows(hcfg, several):
            yield arguments_of(hcfg, arrays)
    elif single:
        yield arguments_of(hcfg, list(map(read_array, single)))
    else:
        yield arguments_of(hcfg, [made_up(carrier(parameter.type)) for parameter in hcfg.inputs])


def _rows(hcfg: Hcfg, path: Path) -> Iterator[list[Array]]:
    """The arrays of each call."""
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
    except (ValueError, EOFError, AttributeError) as error:
        raise Failure(f"{path} is not a .npz file of numbers: {error}") from error
    names = [parameter.name for parameter in hcfg.inputs]
    if sorted(found) != sorted(names):
        raise Failure(f"{path} has arrays named {', '.join(sorted(found))}; the inputs are {', '.join(names)}")
    lengths = {len(array) if array.ndim else 0 for array in found.values()}
    if len(lengths) > 1 or 0 in lengths:
        raise Failure(f"the arrays in {path} do not have one row for each call")
    for number in range(lengths.pop() if lengths else 1):
        yield [np.asarray(found[name][number]) for name in names]
