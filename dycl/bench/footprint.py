"""Peak memory of a process that does nothing but load a network and run it.

A compiled program needs no PyTorch, so that PyTorch's own memory counts for the network in eager PyTorch alone.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np


def of_program(artefact: Path, inputs: Path, threads: int) -> int:
    """The peak memory in bytes of a process that runs the artefact on the arrays of a file."""
    return _in_new_process("program", str(artefact), str(inputs), str(threads))


def of_eager(network: str, size: str, weights: Path, threads: int) -> int:
    """The peak memory in bytes of a process that runs the network in PyTorch."""
    return _in_new_process("eager", network, size, str(weights), str(threads))


def _in_new_process(*arguments: str) -> int:
    command = [sys.executable, "-W", "ignore", "-m", "dycl.bench.footprint", *arguments]
    return int(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def _run_program(artefact: str, inputs: str, threads: str) -> None:
    from dycl.runtime import load

    program = load(artefact, threads=int(threads))
    with np.load(inputs) as arrays:
        program(*(arrays[name] for name in arrays.files))


def _run_eager(name: str, size: str, weights: str, threads: str) -> None:
    import torch

    from dycl import zoo

    torch.set_num_threads(int(threads))
    kind: zoo.Size = "full" if size == "full" else "small"
    model = zoo.network(name).build(kind).eval()
    # The random weights are gone before the file's are read, so only one of them counts.
    model.load_state_dict(torch.load(weights, weights_only=True, mmap=True), assign=True)
    with torch.inference_mode():
        model(*zoo.inputs(name, kind, 1, seed=1)[0])


def main(arguments: Sequence[str]) -> None:
    """Nothing; the peak memory of this process is on standard output afterwards."""
    runs: dict[str, Callable[..., None]] = {"program": _run_program, "eager": _run_eager}
    runs[arguments[0]](*arguments[1:])
    print(_peak())


def _peak() -> int:
    """The peak memory of this process; what `resource` says may be that of the process which started it."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    main(sys.argv[1:])
