"""Measure what backends make of a program's sub-DNNs: which they get right, and how long each takes them."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from dycl.choice.options import Key, Layout, Timing, layouts, share_of
from dycl.hcfg.module import Module
from dycl.hcfg.nodes import WeightId
from dycl.hcfg.subnet import Ref, structure
from dycl.trials.reference import NoReference, all_values
from dycl.trials.samples import made_up
from dycl.trials.tested import Tested
from dycl.trials.verdicts import Candidate, Trials
from dycl.trials.walk import Walked

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Measured:
    """How long calls take, by backend and graph, and the ways to cut the graphs of a program."""

    timings: dict[tuple[str, Key], Timing] = field(default_factory=dict)
    layouts: dict[Key, list[Layout]] = field(default_factory=dict)


def measured(
    module: Module,
    tensors: Mapping[WeightId, torch.Tensor],
    walked: Walked,
    compilers: Sequence[Tested],
    threads: int,
    budget: float,
    progress: Progress = lambda done, left: None,
) -> Measured:
    """What the backends make of all sub-DNNs, each structure once, within about `budget` seconds of timing.

    They refuse from now on what they have wrong.
    """
    found = Measured()
    candidates: dict[Key, Candidate] = {}
    wanted: dict[str, dict[Key, None]] = {compiler.name: {} for compiler in compilers}
    for name, subnet in module.subnets.items():
        key = structure(subnet.graph)
        if key in found.layouts:
            continue
        found.layouts[key] = layouts(subnet.graph, compilers)
        weights = [tensors[weight] for weight in subnet.weights]
        values = walked.inputs.get(name) or made_up(subnet.graph)
        computed: Mapping[Ref, torch.Tensor] = {}
        with contextlib.suppress(NoReference):
            computed = all_values(subnet.graph, values, weights)
        for layout in found.layouts[key]:
            for part, backends in zip(layout.parts, layout.backends, strict=True):
                own = structure(part.graph)
                if own not in candidates:
                    met = [computed[ref] for ref in part.inputs] if computed else made_up(part.graph)
                    candidates[own] = Candidate(part.graph, [weights[place] for place in part.weights], met)
                for backend in backends:
                    wanted[backend][own] = None
    count = sum(map(len, wanted.values()))
    seconds = share_of(budget, count)
    done = 0
    for compiler in compilers:
        keys = list(wanted[compiler.name])

        def told(number: int, _: int, before: int = done) -> None:
            progress(before + number, count - before - number)

        trials = Trials(compiler, threads)
        given = trials.verdicts([candidates[key] for key in keys], seconds, told)
        for key, verdict in zip(keys, given, strict=True):
            if verdict.wrong is not None:
                compiler.distrust(candidates[key].graph, verdict.wrong)
            elif verdict.found.seconds is not None:
                timing = Timing(verdict.found.seconds, verdict.found.put, verdict.found.take)
                found.timings[compiler.name, key] = timing
        done += len(keys)
    return found
