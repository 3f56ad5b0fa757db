"""A folder in which sub-DNNs wait to be tried by a process of their own, and where that one leaves what it found.

tasks.json      the sub-DNNs: types, and which files belong to them
code-0, ...     what their backend compiled
1.npy, ...      weights and values, each once
found.jsonl     what the process found, a line at a time: what it was doing last, if it was the last thing it did
out-0-met-1.npy an output
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dycl.hcfg.types import TensorType
from dycl.runtime.backend import CompiledSubnet, SubnetSignature
from dycl.runtime.weight_store import Array

_TASKS, _FOUND = "tasks.json", "found.jsonl"

Samples = Mapping[str, Sequence[Array]]


@dataclass(frozen=True, slots=True)
class Task:
    """A sub-DNN to be tried by a backend, and the inputs to try it with, each set by its name."""

    subnet: CompiledSubnet
    samples: Samples


@dataclass(slots=True)
class Found:
    """How a backend fared with a sub-DNN.

    `seconds` is how long a call takes, `put` and `take` how long each input takes in and each output out of its form.
    """

    outputs: dict[str, Sequence[Array]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    seconds: float | None = None
    put: tuple[float, ...] = ()
    take: tuple[float, ...] = ()
    refused: str | None = None
    """Why the backend cannot be used for it: its own words, or how its process ended."""


class Folder:
    """The files of some tasks."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._names: dict[int, str] = {}
        self._held: list[Array] = []

    def write(self, tasks: Sequence[Task]) -> None:
        """Nothing; the tasks wait here afterwards."""
        told = []
        for number, task in enumerate(tasks):
            (self.path / f"code-{number}").write_bytes(task.subnet.code)
            signature = task.subnet.signature
            told.append(
                {
                    "id": task.subnet.id,
                    "types": [
                        [(kind.dtype, kind.shape) for kind in kinds]
                        for kinds in (signature.inputs, signature.outputs, signature.weights)
                    ],
                    "weights": [self._file(array) for array in task.subnet.weights],
                    "samples": {name: [self._file(one) for one in values] for name, values in task.samples.items()},
                }
            )
        (self.path / _TASKS).write_text(json.dumps(told))

    def _file(self, array: Array) -> str:
        """The file of an array, written when it first comes up."""
        if id(array) not in self._names:
            self._names[id(array)] = f"{len(self._names)}.npy"
            self._held.append(array)  # so that no other one gets its identity
            np.save(self.path / self._names[id(array)], array)
        return self._names[id(array)]

    def tasks(self) -> list[Task]:
        """What waits here; weights stay in their files."""
        read: dict[str, Array] = {}

        def array(name: str) -> Array:
            if name not in read:
                read[name] = np.load(self.path / name, mmap_mode="r")
            return read[name]

        found = []
        for number, told in enumerate(json.loads((self.path / _TASKS).read_text())):
            inputs, outputs, weights = (
                tuple(TensorType(dtype, tuple(shape)) for dtype, shape in kinds) for kinds in told["types"]
            )
            code = (self.path / f"code-{number}").read_bytes()
            bound = tuple(array(name) for name in told["weights"])
            subnet = CompiledSubnet(told["id"], code, SubnetSignature(inputs, outputs, weights), bound)
            samples = {name: [np.array(array(one)) for one in files] for name, files in told["samples"].items()}
            found.append(Task(subnet, samples))
        return found

    def note(self, **told: Any) -> None:
        """Write a line about what is going on."""
        with open(self.path / _FOUND, "a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")

    def notes(self) -> list[dict[str, Any]]:
        """What was written so far."""
        path = self.path / _FOUND
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def keep_outputs(self, number: int, found: Found) -> None:
        """Write what a sub-DNN gave."""
        for name, outputs in found.outputs.items():
            for place, output in enumerate(outputs):
                np.save(self.path / f"out-{number}-{name}-{place}.npy", output)

    def outputs(self, number: int, task: Task) -> Iterator[tuple[str, Sequence[Array]]]:
        """What a sub-DNN gave for each of its sets of inputs, where it did."""
        places = range(len(task.subnet.signature.outputs))
        for name in task.samples:
            files = [self.path / f"out-{number}-{name}-{place}.npy" for place in places]
            if all(file.exists() for file in files):
                yield name, [np.load(file) for file in files]
