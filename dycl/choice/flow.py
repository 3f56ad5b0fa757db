"""Where the values of sub-DNNs come from and go to, through the blocks of a program.

b1: y = run net1(x)                 net1's input 0 is the host's, its output 0 goes to net2's input 0 by way of b2
    jump b2(y)
b2(z): w = run net2(z) ...
"""

from collections.abc import Mapping
from dataclasses import dataclass

from dycl.hcfg.module import Module
from dycl.hcfg.nodes import (
    Block,
    BlockId,
    Branch,
    Check,
    Fail,
    Hcfg,
    Jump,
    Name,
    Return,
    Run,
    SubnetId,
    Switch,
    Terminator,
    next_calls,
    targets,
)


@dataclass(frozen=True, slots=True)
class End:
    """An input or output of a sub-DNN's call: which sub-DNN, and its place there."""

    subnet: SubnetId
    place: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A value that goes from a sub-DNN to another, or from or to the host, where it is None; how often it does."""

    source: End | None
    target: End | None
    times: float


Graph = Module | Hcfg
"""A program whose sub-DNNs are operations, or codes."""

_Key = tuple[BlockId, Name]


def calls_of(graph: Graph, visits: Mapping[BlockId, float]) -> dict[SubnetId, float]:
    """How often each sub-DNN is called."""
    calls = dict.fromkeys(graph.subnets, 0.0)
    for block in graph.blocks.values():
        for step in block.steps:
            if isinstance(step, Run):
                calls[step.subnet] += visits[block.id]
    return calls


def edges(module: Graph, visits: Mapping[BlockId, float]) -> list[Edge]:
    """All ways of values to and from sub-DNNs. A value that comes from several places comes as often from each."""
    made, passed = _made(module), _passed(module)
    known: dict[_Key, frozenset[End | None]] = {}

    def sources(key: _Key) -> frozenset[End | None]:
        if key not in known:
            known[key] = _reached(key, made, passed)
        return known[key]

    found = []
    for block in module.blocks.values():
        for name, target in _uses(block):
            ends = sources((block.id, name))
            found += [Edge(end, target, visits[block.id] / len(ends)) for end in ends if (end, target) != (None, None)]
    return found


def _made(module: Graph) -> dict[_Key, End]:
    """The values that sub-DNNs make."""
    return {
        (block.id, name): End(step.subnet, place)
        for block in module.blocks.values()
        for step in block.steps
        if isinstance(step, Run)
        for place, name in enumerate(step.outputs)
    }


def _passed(module: Graph) -> dict[_Key, list[_Key]]:
    """For each parameter of a block, what is passed to it."""
    found: dict[_Key, list[_Key]] = {}
    for block in module.blocks.values():
        for target in targets(block.terminator):
            parameters = module.blocks[target.block].parameters
            for parameter, name in zip(parameters, target.arguments, strict=True):
                found.setdefault((target.block, parameter.name), []).append((block.id, name))
        for target in next_calls(block.terminator):
            parameters = module.blocks[target.block].parameters[len(module.inputs) :]
            for parameter, name in zip(parameters, target.arguments, strict=True):
                found.setdefault((target.block, parameter.name), []).append((block.id, name))
    return found


def _reached(key: _Key, made: Mapping[_Key, End], passed: Mapping[_Key, list[_Key]]) -> frozenset[End | None]:
    """Who may have made a value: sub-DNNs, or the host, which is None."""
    found: set[End | None] = set()
    waiting, seen = [key], {key}
    while waiting:
        at = waiting.pop()
        before = passed.get(at, [])
        if at in made or not before:
            found.add(made.get(at))
        for other in before:
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return frozenset(found)


def _uses(block: Block) -> list[tuple[Name, End | None]]:
    """What reads a block's values: inputs of sub-DNNs, and the host."""
    found: list[tuple[Name, End | None]] = []
    for step in block.steps:
        if isinstance(step, Run):
            found += [(name, End(step.subnet, place)) for place, name in enumerate(step.inputs)]
        elif isinstance(step, Check):
            found.append((step.condition, None))
    return [*found, *((name, None) for name in _read_by_host(block.terminator))]


def _read_by_host(terminator: Terminator) -> tuple[Name, ...]:
    match terminator:
        case Branch(condition=condition):
            return (condition,)
        case Switch(value=value):
            return (value,)
        case Return(values=values):
            return values
        case Jump() | Fail():
            return ()
