"""`dycl run`: run an artefact on arrays from files."""

import argparse
from pathlib import Path

import numpy as np

from dycl.cli.calls import add_call_arguments, arguments_of, read_array, require_threads
from dycl.cli.leaves import leaves
from dycl.runtime import load

NAME = "run"
SUMMARY = "run an artefact on arrays from .npy files"
DESCRIPTION = """\
Runs an artefact once, without PyTorch. Inputs are .npy files, in the order in
which `dycl inspect` lists them; a Python number is an array of no dimensions.
"""
EXAMPLES = """\
  dycl run model.dycl --input image.npy
  dycl run model.dycl --input image.npy --trace
  dycl run model.dycl --input tokens.npy --input mask.npy --output results.npz
"""

_STORABLE = (np.ndarray, bool, int, float, str)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing; `parser` knows the command's arguments afterwards."""
    add_call_arguments(parser)
    parser.add_argument("--output", type=Path, metavar="out.npz", help="write the results here instead of printing")
    parser.add_argument("--trace", action="store_true", help="print the path that the input takes")


def run(arguments: argparse.Namespace) -> int:
    """The exit code, 0: what cannot be run raises."""
    require_threads(arguments)
    program = load(arguments.artefact, threads=arguments.threads)
    args, kwargs = arguments_of(program.hcfg, list(map(read_array, arguments.single)))
    trace = program.trace(*args, **kwargs)
    if arguments.trace:
        print(trace.path)
    results = leaves("output", trace.outputs)
    if arguments.output is None:
        for name, value in results:
            print(_shown(name, value))
    else:
        _write(arguments.output, dict(results))
    return 0


def _shown(name: str, value: object) -> str:
    if not isinstance(value, np.ndarray):
        return f"{name}: {value!r}"
    shape = ", ".join(map(str, value.shape))
    return f"{name}: {value.dtype}[{shape}]\n{value}"


def _write(path: Path, results: dict[str, object]) -> None:
    """Nothing; the arrays, numbers and strings among the results are in the file afterwards."""
    arrays = {name: np.asarray(value) for name, value in results.items() if isinstance(value, _STORABLE)}
    with open(path, "wb") as file:  # An open file, since numpy would append .npz to another name.
        np.savez(file, allow_pickle=False, **arrays)
