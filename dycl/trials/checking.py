"""Lower a module with every sub-DNN checked: what a backend gives for it is what PyTorch gives, or it goes elsewhere.

    cut, lower ──> run each sub-DNN by its backend and by PyTorch ──> all alike: done
        ^                               │
        └── without what was wrong <────┘

Values come from walking the program from the example on. A backend that is wrong about a sub-DNN refuses it from then
on, so it goes to the next one; if there is none, that is what is wrong with the program.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import torch

from dycl.backends import Compiler
from dycl.backends.cut import divided
from dycl.backends.lower import Lowered, lower
from dycl.backends.taking import left
from dycl.hcfg.module import Module
from dycl.hcfg.nodes import SubnetId, WeightId
from dycl.hcfg.subnet import structure
from dycl.runtime.choice import Left
from dycl.trials.samples import made_up
from dycl.trials.tested import Tested
from dycl.trials.verdicts import Candidate, Trials
from dycl.trials.walk import walk

_WALK = 20.0
"""For how many seconds values are looked for, at most."""

_TRUSTED = "onnxruntime"
"""What is checked in this process: it is no more likely to crash here than when the program is loaded."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Example:
    """What sub-DNNs are checked with: the constants of the program, and the inputs of a call."""

    tensors: Mapping[WeightId, torch.Tensor]
    inputs: Sequence[torch.Tensor]


@dataclass(frozen=True, slots=True)
class Checked:
    """A lowered program, cut where its backends end."""

    module: Module
    lowered: Lowered
    left: tuple[Left, ...] = ()
    """What backends did not get that were to be preferred, since they have no translation or are wrong."""


def lowered_and_checked(
    module: Module,
    compilers: Sequence[Compiler],
    example: Example,
    threads: int,
    progress: Progress = lambda done, left: None,
) -> Checked:
    """The program with each sub-DNN compiled by the first backend that takes it and is right about it."""
    tested = [Tested(compiler) for compiler in compilers]
    while True:
        parts = divided(module, tested)
        lowered = lower(parts, tested, progress)
        if lowered.refused:
            return Checked(parts, lowered)
        if not _found_wrong(parts, lowered, tested, example, threads):
            break
    backends = {name: subnet.backend for name, subnet in lowered.hcfg.subnets.items()}

    def rivals(name: SubnetId) -> Iterator[Tested]:
        return takewhile(lambda one: one.name != backends[name], tested)

    return Checked(parts, lowered, left(parts, rivals))


def _found_wrong(module: Module, lowered: Lowered, compilers: Sequence[Tested], example: Example, threads: int) -> bool:
    """Whether a backend has something wrong that was not looked at before; it refuses that from now on."""
    walked = walk(module, example.tensors, example.inputs, _WALK)
    found = False
    for compiler in compilers:
        candidates: dict[str, Candidate] = {}
        for name, subnet in module.subnets.items():
            key = structure(subnet.graph)
            is_other = lowered.hcfg.subnets[name].backend != compiler.name
            if is_other or key in compiler.right or (key in candidates and name not in walked.inputs):
                continue
            weights = [example.tensors[weight] for weight in subnet.weights]
            candidates[key] = Candidate(subnet.graph, weights, walked.inputs.get(name) or made_up(subnet.graph))
        trials = Trials(compiler, threads, contained=compiler.name != _TRUSTED)
        for (key, candidate), verdict in zip(
            candidates.items(), trials.verdicts(list(candidates.values())), strict=True
        ):
            if verdict.wrong is None:
                compiler.right.add(key)
            else:
                compiler.distrust(candidate.graph, verdict.wrong)
                found = True
    return found
