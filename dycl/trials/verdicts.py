"""Whether backends can be used for sub-DNNs: what they give is what PyTorch gives, and how long it takes them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from dycl.backends import Compiler
from dycl.backends.errors import Untranslatable
from dycl.hcfg.module import needed_part
from dycl.hcfg.subnet import Operation, Ref, SubnetGraph
from dycl.rewrite.assemble.constants import to_array
from dycl.runtime.backend import CompiledSubnet, SubnetSignature
from dycl.runtime.weight_store import Array
from dycl.trials.attempts import attempts
from dycl.trials.folder import Found, Task
from dycl.trials.judge import Expected
from dycl.trials.samples import samples

Progress = Callable[[int, int], None]


class Candidate:
    """A sub-DNN to be tried: its graph, its weights, and sets of inputs with what PyTorch gives for them."""

    def __init__(self, graph: SubnetGraph, weights: Sequence[torch.Tensor], met: Sequence[torch.Tensor]) -> None:
        self.graph = graph
        self.weights = tuple(weights)
        self.sets = {name: Expected(graph, values, self.weights) for name, values in samples(graph, met).items()}

    def only_met(self) -> None:
        """Leave it at the values that it was met with."""
        self.sets = {"met": self.sets["met"]}


@dataclass(frozen=True, slots=True)
class Wrong:
    """What is wrong with a backend's code for a sub-DNN, and the first operation that shows it, if any does."""

    told: str
    operation: Operation | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a backend fared with a sub-DNN; it may be used if nothing is wrong."""

    found: Found
    wrong: Wrong | None


@dataclass(frozen=True, slots=True)
class Trials:
    """A backend that is tried, on so many threads; one that is `contained` runs in processes of its own."""

    compiler: Compiler
    threads: int
    contained: bool = True

    def verdicts(
        self,
        candidates: Sequence[Candidate],
        seconds: float = 0.0,
        progress: Progress = lambda done, left: None,
    ) -> list[Verdict]:
        """What is to be thought of the backend's codes for sub-DNNs; each is timed for so many seconds."""
        found = []
        for candidate, one in zip(candidates, self._attempts(candidates, seconds, progress), strict=True):
            wrong = None if one.refused is None else Wrong(one.refused)
            for name, outputs in one.outputs.items():
                wrong = wrong or self._wrong(candidate, name, outputs)
            for name, failure in one.failures.items():
                if wrong is None and candidate.sets[name].is_computed:
                    wrong = Wrong(f"it fails for {name} values: {failure}")
            found.append(Verdict(one, wrong))
        return found

    def _attempts(self, candidates: Sequence[Candidate], seconds: float, progress: Progress) -> list[Found]:
        arrays = _Arrays()
        tasks = [
            _task(str(number), one, self.compiler.compile(one.graph), arrays) for number, one in enumerate(candidates)
        ]
        return attempts(self.compiler.name, tasks, self.threads, seconds, progress, contained=self.contained)

    def _wrong(self, candidate: Candidate, name: str, outputs: Sequence[Array]) -> Wrong | None:
        """What is wrong with what the backend gave for one set of inputs."""
        expected = candidate.sets[name]
        told = expected.disagreement(_tensors(candidate.graph, outputs))
        if told is None:
            return None
        return Wrong(f"for {name} values it gives {told}", self._first_wrong(candidate, expected.inputs))

    def _first_wrong(self, candidate: Candidate, inputs: Sequence[torch.Tensor]) -> Operation | None:
        """The first operation whose result the backend has wrong when it computes no more than that."""
        values = {ref: place for place, ref in enumerate(candidate.graph.inputs)}
        weights = {ref: place for place, ref in enumerate(candidate.graph.weights)}
        operations, parts = [], []
        for operation in candidate.graph.operations:
            outputs: tuple[Ref, ...] = tuple(ref for ref in operation.outputs if ref is not None)
            part = needed_part(candidate.graph, outputs)
            try:
                self.compiler.compile(part.graph)
            except Untranslatable:
                continue
            met = [inputs[values[ref]] for ref in part.inputs]
            operations.append(operation)
            parts.append(Candidate(part.graph, [candidate.weights[weights[ref]] for ref in part.weights], met))
            parts[-1].only_met()
        found = self._attempts(parts, 0, lambda done, left: None)
        for operation, tried, one in zip(operations, parts, found, strict=True):
            if "met" in one.outputs and tried.sets["met"].disagreement(_tensors(tried.graph, one.outputs["met"])):
                return operation
        return None


class _Arrays:
    """Tensors as arrays, each made once, so that tasks share them."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[torch.Tensor, Array]] = {}

    def of(self, tensor: torch.Tensor) -> Array:
        """The elements of a tensor."""
        if id(tensor) not in self._made:
            self._made[id(tensor)] = (tensor, to_array(tensor))
        return self._made[id(tensor)][1]


def _task(name: str, candidate: Candidate, code: bytes, arrays: _Arrays) -> Task:
    graph = candidate.graph
    inputs, outputs, weights = (
        tuple(map(graph.type_of, refs)) for refs in (graph.inputs, graph.outputs, graph.weights)
    )
    bound = tuple(map(arrays.of, candidate.weights))
    subnet = CompiledSubnet(name, code, SubnetSignature(inputs, outputs, weights), bound)
    return Task(subnet, {name: list(map(arrays.of, one.inputs)) for name, one in candidate.sets.items()})


def _tensors(graph: SubnetGraph, arrays: Sequence[Array]) -> list[torch.Tensor]:
    """The outputs of a sub-DNN as tensors; the bits of bfloat16, which numpy lacks, as that."""
    tensors = []
    for array, ref in zip(arrays, graph.outputs, strict=True):
        tensor = torch.from_numpy(np.array(array, copy=True, order="C"))
        tensors.append(tensor.view(torch.bfloat16) if graph.type_of(ref).dtype == "bfloat16" else tensor)
    return tensors
