"""The best backend for each sub-DNN, told by measuring: sub-DNNs one by one first, then whole programs.

    sub-DNNs alone ──> what is best of them together, crossings weighed ─┐
                       everything by one backend, as far as it goes ─────┴──> run all of these in turns, keep the best

Times of sub-DNNs alone do not tell everything: what one call leaves in the processor's caches the next one finds there.
So the choice made from them has to prove itself against the backends alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dycl.backends import Compiler
from dycl.backends.cut import part_name, with_parts
from dycl.backends.lower import Lowered, lower
from dycl.backends.taking import left
from dycl.choice.choose import Choosing, candidates
from dycl.choice.flow import calls_of, edges
from dycl.choice.measure import Measured, measured
from dycl.choice.options import Option, options, untimed
from dycl.choice.whole import Trial, quickest
from dycl.hcfg.module import Module
from dycl.hcfg.nodes import SubnetId
from dycl.hcfg.subnet import SubnetGraph, structure
from dycl.runtime.artefact import code_digest
from dycl.runtime.choice import Choice, Left, Way, processor
from dycl.trials.checking import Example
from dycl.trials.tested import Tested
from dycl.trials.walk import walk

_WALK = 20.0

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Best:
    """A program lowered by the backends chosen for it; what was weighed, and what was found wrong on the way."""

    module: Module
    lowered: Lowered
    choice: Choice | None
    left: tuple[Left, ...] = ()
    """Which sub-DNNs backends could not be asked for, since they have no translation or are wrong."""


def best(
    module: Module,
    compilers: Sequence[Compiler],
    example: Example,
    trial: Trial[Lowered],
    threads: int,
    budget: float,
    progress: Progress = lambda done, left: None,
) -> Best:
    """The program with each sub-DNN given to the fastest of the backends that are right; the last takes all the rest.

    Calls of sub-DNNs are timed for about `budget` seconds altogether.
    """
    last = compilers[-1]
    base = lower(module, [last])
    if base.refused:
        return Best(module, base, None)
    tested = [Tested(compiler) for compiler in compilers]
    walked = walk(module, example.tensors, example.inputs, _WALK)
    found = measured(module, example.tensors, walked, tested, threads, budget, progress)
    lost = [subnet.graph for subnet in module.subnets.values() if _is_lost(subnet.graph, found, tested[-1])]
    if lost:
        refused = tuple(tested[-1].wrong[structure(graph)] for graph in lost)
        return Best(module, replace(base, refused=refused), None)
    ways = {name: _ways(module, name, found, last.name) for name in module.subnets}
    visits = trial.visits(base)
    often = {name: float(max(visits[name], 1)) for name in module.blocks}
    chosen = candidates(ways, edges(module, often), calls_of(module, often))
    programs = {name: _lowered(module, one, tested) for name, one in chosen.items()}
    seconds = trial.seconds({name: lowered for name, (_, lowered) in programs.items()})
    name = quickest(seconds)
    parts, lowered = programs[name]
    others = {subnet: _others(parts.subnets[subnet].graph, tested, found) for subnet in lowered.hcfg.subnets}
    known = {
        subnet: tuple(Way(backend, code_digest(code), timing) for backend, code, timing in ways)
        for subnet, ways in others.items()
        if lowered.hcfg.subnets[subnet].backend in {backend for backend, _, _ in ways}
    }
    codes = {code_digest(code): code for subnet in known for _, code, _ in others[subnet]}
    choice = Choice(processor(), threads, known, seconds, name)
    left_out = left(parts, lambda name: (one for one in tested if one.name != lowered.hcfg.subnets[name].backend))
    return Best(parts, replace(lowered, codes={**lowered.codes, **codes}), choice, left_out)


def _others(graph: SubnetGraph, compilers: Sequence[Tested], found: Measured) -> list[tuple[str, bytes, float]]:
    """All backends that are right about a sub-DNN, their codes, and what a call takes them."""
    key = structure(graph)
    return [
        (compiler.name, compiler.compile(graph), found.timings[compiler.name, key].seconds)
        for compiler in compilers
        if (compiler.name, key) in found.timings
    ]


def _is_lost(graph: SubnetGraph, found: Measured, last: Tested) -> bool:
    """Whether no backend is right about a graph."""
    key = structure(graph)
    return key in last.wrong and not any(options(graph, found.layouts[key], found.timings))


def _ways(module: Module, name: SubnetId, found: Measured, last: str) -> list[Option]:
    graph = module.subnets[name].graph
    ways = list(options(graph, found.layouts[structure(graph)], found.timings))
    # What could not be tried stays with the backend that takes everything.
    return ways or [untimed(graph, last)]


def _lowered(module: Module, chosen: Choosing, compilers: Sequence[Compiler]) -> tuple[Module, Lowered]:
    cuts = {name: option.parts for name, option in chosen.items() if len(option.parts) > 1}
    backends: dict[SubnetId, str] = {}
    for name, option in chosen.items():
        for place, backend in enumerate(option.backends):
            backends[part_name(name, place) if name in cuts else name] = backend
    parts = with_parts(module, cuts)
    return parts, lower(parts, compilers, chosen=backends)
