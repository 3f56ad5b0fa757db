"""Cut sub-DNNs where a backend's operations end, so that it gets the part that it is good at.

    before                              after
      b1(x):                              b1(x):
        y, flag = run net1(x)               y, c1 = run net1.0(x)        convolutions, for one backend
        branch flag ...                     flag = run net1.1(c1)        the rest, for another
                                            branch flag ...

Operations that a backend takes and those that it leaves are put into as few parts as their order allows. A part that
has none of the operations that the backend is worth calling for goes to the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dycl.backends import Compiler
from dycl.backends.taking import refusal
from dycl.hcfg.module import Module, SubDnn, operands, renumbered
from dycl.hcfg.nodes import Block, Name, Run, Step, SubnetId
from dycl.hcfg.subnet import Ref, SubnetGraph, structure
from dycl.hcfg.verify_module import verify_module


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a graph, and which of the whole's values it takes and gives."""

    graph: SubnetGraph
    inputs: tuple[Ref, ...]
    weights: tuple[int, ...]
    outputs: tuple[Ref, ...]
    is_taken: bool
    """Whether it is for the backend that the graph was cut for."""


def divided(module: Module, compilers: Sequence[Compiler]) -> Module:
    """The program with each sub-DNN in parts, if all but the last of the backends take only some of it; verified."""
    parts: dict[str, list[Part]] = {}
    cuts: dict[SubnetId, list[Part]] = {}
    for name, subnet in module.subnets.items():
        key = structure(subnet.graph)
        if key not in parts:
            found = (parts_for(compiler, subnet.graph) for compiler in compilers[:-1])
            parts[key] = next(filter(None, found), [])
        if parts[key]:
            cuts[name] = parts[key]
    return with_parts(module, cuts)


def parts_for(compiler: Compiler, graph: SubnetGraph) -> list[Part]:
    """The parts of a graph, in order, some of which a backend takes; none if it takes all or nothing worth it."""
    strengths: frozenset[str] = getattr(compiler, "strengths", frozenset())
    if strengths.isdisjoint(operation.target for operation in graph.operations) or not refusal(compiler, graph):
        return []
    taken = {place for place, operation in enumerate(graph.operations) if compiler.supports(operation.target)}
    while taken:
        found = _by_turns(graph, taken)
        wrong = _left(graph, found, taken, compiler, strengths)
        if not wrong:
            return [part for _, part in found]
        taken -= wrong
    return []


def with_parts(module: Module, cuts: Mapping[SubnetId, Sequence[Part]]) -> Module:
    """The program with some of its sub-DNNs in parts."""
    if not cuts:
        return module
    subnets: dict[SubnetId, SubDnn] = {}
    for name, subnet in module.subnets.items():
        for place, part in enumerate(cuts.get(name, ())):
            weights = tuple(subnet.weights[weight] for weight in part.weights)
            subnets[part_name(name, place)] = SubDnn(part.graph, weights)
        if name not in cuts:
            subnets[name] = subnet
    blocks = {name: _with_cuts(block, module, cuts) for name, block in module.blocks.items()}
    made = replace(module, blocks=blocks, subnets=subnets)
    verify_module(made)
    return made


def part_name(subnet: SubnetId, place: int) -> SubnetId:
    """The name of a part of a sub-DNN."""
    return f"{subnet}_{place}"


def _with_cuts(block: Block, module: Module, cuts: Mapping[SubnetId, Sequence[Part]]) -> Block:
    steps: list[Step] = []
    for number, step in enumerate(block.steps):
        if not isinstance(step, Run) or step.subnet not in cuts:
            steps.append(step)
            continue
        graph = module.subnets[step.subnet].graph
        names: dict[Ref, Name] = dict(zip(graph.outputs, step.outputs, strict=True))
        names |= dict(zip(graph.inputs, step.inputs, strict=True))
        for place, part in enumerate(cuts[step.subnet]):
            for ref in part.outputs:
                names.setdefault(ref, f"c{number}_{ref.index}")
            inputs, outputs = (tuple(names[ref] for ref in refs) for refs in (part.inputs, part.outputs))
            steps.append(Run(part_name(step.subnet, place), inputs, outputs, step.span))
    return replace(block, steps=tuple(steps))


def _left(
    graph: SubnetGraph,
    found: Sequence[tuple[list[int], Part]],
    taken: set[int],
    compiler: Compiler,
    strengths: frozenset[str],
) -> set[int]:
    """Operations that the backend must leave after all: one that it cannot take, or a part that is not worth it."""
    for places, part in found:
        if places[0] not in taken:
            continue
        if strengths.isdisjoint(graph.operations[place].target for place in places):
            return set(places)
        if refusal(compiler, part.graph):
            return _first_refused(graph, places, compiler)
    return set()


def _first_refused(graph: SubnetGraph, places: Sequence[int], compiler: Compiler) -> set[int]:
    """The first operation of a part with which the backend no longer takes it; all of it if that does not tell."""
    for count in range(1, len(places) + 1):
        if refusal(compiler, _part(graph, list(places[:count])).graph):
            return {places[count - 1]}
    return set(places)


def _by_turns(graph: SubnetGraph, taken: set[int]) -> list[tuple[list[int], Part]]:
    """The operations in parts that are taken and left by turns, each as early as what it reads allows."""
    turns: dict[Ref, int] = {}
    groups: dict[int, list[int]] = {}
    for place, operation in enumerate(graph.operations):
        turn = max((turns.get(ref, 0) for ref in operands(operation)), default=0)
        turn += (turn % 2 == 0) != (place in taken)
        turns |= {ref: turn for ref in operation.outputs if ref is not None}
        groups.setdefault(turn, []).append(place)
    return [(groups[turn], _part(graph, groups[turn], turn % 2 == 0)) for turn in sorted(groups)]


def _part(graph: SubnetGraph, places: list[int], is_taken: bool = True) -> Part:
    """These operations as a graph of their own: it gives what others read of theirs."""
    inside = set(places)
    operations = [graph.operations[place] for place in places]
    made = {ref for operation in operations for ref in operation.outputs if ref is not None}
    read = {ref for operation in operations for ref in operands(operation)} - made
    weights = tuple(place for place, ref in enumerate(graph.weights) if ref in read)
    bound = tuple(graph.weights[place] for place in weights)
    inputs = tuple(sorted(read.difference(bound), key=lambda ref: ref.index))
    elsewhere = {
        ref for place, operation in enumerate(graph.operations) if place not in inside for ref in operands(operation)
    }
    outputs = tuple(sorted(made & (elsewhere | set(graph.outputs)), key=lambda ref: ref.index))
    return Part(renumbered(graph, inputs, bound, operations, outputs), inputs, weights, outputs, is_taken)
