"""The arguments of a call, from arrays in files."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dycl.cli.failure import Failure
from dycl.hcfg.nodes import Hcfg
from dycl.hcfg.structure import Slot
from dycl.runtime.results import arrange
from dycl.runtime.weight_store import Array
from dycl.terminal import counted


def add_call_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing; `parser` knows afterwards what commands that call an artefact take."""
    parser.add_argument("artefact", type=Path, metavar="model.dycl", help="the artefact")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        type=Path,
        dest="single",
        metavar="x.npy",
        help="an input; repeat it for several",
    )
    parser.add_argument("--threads", type=int, default=1, help="threads of a sub-DNN (default: %(default)s)")


def require_threads(arguments: argparse.Namespace) -> None:
    """Nothing, if a sub-DNN has a thread."""
    if arguments.threads < 1:
        raise Failure(f"--threads is {arguments.threads}, it must be at least 1")


def read_array(path: Path) -> Array:
    """The array in a .npy file; Failure if that holds something else."""
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise Failure(f"{path} is not a .npy file of numbers: {error}") from error
    if not isinstance(array, np.ndarray):
        raise Failure(f"{path} holds several arrays; each input is one .npy file")
    return array


def arguments_of(hcfg: Hcfg, arrays: Sequence[Array]) -> tuple[tuple[object, ...], dict[str, object]]:
    """The positional and keyword arguments of the call, nested as they were compiled."""
    if len(arrays) != len(hcfg.inputs):
        wanted = ", ".join(f"{parameter.name}: {parameter.type}" for parameter in hcfg.inputs) or "none"
        raise Failure(f"the program takes {counted(len(hcfg.inputs), 'input')} ({wanted}), {len(arrays)} came")

    match arrange(hcfg.signature, _Arguments(arrays), {}):
        case (tuple(args), dict(kwargs)):
            return args, kwargs
        case _:
            raise ValueError("the graph was not verified")


class _Arguments:
    """The arrays of a call as the values of its signature, which has no lists of unknown length."""

    def __init__(self, arrays: Sequence[Array]) -> None:
        self._arrays = arrays

    def value(self, slot: Slot, row: int | None) -> object:
        array = self._arrays[slot.index]
        return array.item() if slot.kind != "tensor" and array.ndim == 0 else array

    def length(self, index: int) -> int:
        return len(self._arrays[index])
