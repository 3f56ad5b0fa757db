"""Drop what nothing reads: block parameters, what neighbours pass for them, and the work done to compute it.

before                                  after
  b1(x, y):                               b1(x):
    t0, t1 = run net1(x)                    t0 = run net1(x)
    branch t0 ? b2(t1) : b3()               branch t0 ? b2() : b3()
  b2(z):                                  b2():
    return 1                                return 1
"""

from collections.abc import Mapping
from dataclasses import replace

from dycl.hcfg.nodes import (
    Block,
    BlockId,
    Branch,
    Check,
    Jump,
    Let,
    Name,
    Return,
    Run,
    Step,
    SubnetId,
    Switch,
    Target,
    Terminator,
    next_calls,
    targets,
)
from dycl.rewrite.assemble.blocks import Assembled, RecordedSubnet, needed_part

Live = dict[BlockId, set[Name]]

Dependencies = tuple[frozenset[int], ...]
"""For each output of a sub-DNN, the positions of the inputs that it is computed from."""


def drop_unread(assembled: Assembled) -> Assembled:
    """The same program, in which every parameter is read on some path."""
    ways = {name: _dependencies(subnet) for name, subnet in assembled.subnets.items()}
    live: Live = {name: set() for name in assembled.blocks}
    inputs = len(assembled.blocks[assembled.entry].parameters)
    calls = {assembled.entry} | {
        target.block for block in assembled.blocks.values() for target in next_calls(block.terminator)
    }
    changed = True
    while changed:
        changed = False
        for name, block in reversed(assembled.blocks.items()):
            read = _read(block, assembled.blocks, inputs, live, ways)
            new = read & {parameter.name for parameter in block.parameters}
            if name in calls:
                new |= {parameter.name for parameter in block.parameters[:inputs]}
            if new != live[name]:
                live[name] = new
                changed = True
    result = Assembled(assembled.entry, {}, {}, assembled.constants, assembled.types)
    for block in assembled.blocks.values():
        read = _read(block, assembled.blocks, inputs, live, ways)
        result.blocks[block.id] = _trimmed(block, assembled, inputs, live, read, result.subnets)
    return result


def _dependencies(subnet: RecordedSubnet) -> Dependencies:
    graph = subnet.graph
    found = []
    for output in graph.outputs:
        part = needed_part(graph, (output,))
        found.append(frozenset(position for position, ref in enumerate(graph.inputs) if ref in part.inputs))
    return tuple(found)


def _read(
    block: Block, blocks: Mapping[BlockId, Block], inputs: int, live: Live, ways: Mapping[SubnetId, Dependencies]
) -> set[Name]:
    """The names of a block that something reads, in it or on a way on from it."""
    read = set(_terminator_reads(block.terminator))
    for target, skipped in _ways_on(block.terminator, inputs):
        parameters = blocks[target.block].parameters[skipped:]
        for parameter, argument in zip(parameters, target.arguments, strict=True):
            if parameter.name in live[target.block]:
                read.add(argument)
    read.update(step.condition for step in block.steps if isinstance(step, Check))
    for step in block.steps:
        if isinstance(step, Run):
            for output, sources in zip(step.outputs, ways[step.subnet], strict=True):
                if output in read:
                    read.update(step.inputs[position] for position in sources)
    return read


def _ways_on(terminator: Terminator, inputs: int) -> list[tuple[Target, int]]:
    """Every way on, and how many parameters of its block do not come from here: a next call brings its own inputs."""
    return [
        *((target, 0) for target in targets(terminator)),
        *((target, inputs) for target in next_calls(terminator)),
    ]


def _terminator_reads(terminator: Terminator) -> tuple[Name, ...]:
    match terminator:
        case Branch(condition=name) | Switch(value=name):
            return (name,)
        case Return(values=values):
            return values
        case _:
            return ()


def _trimmed(
    block: Block,
    assembled: Assembled,
    inputs: int,
    live: Live,
    read: set[Name],
    subnets: dict[SubnetId, RecordedSubnet],
) -> Block:
    steps: list[Step] = []
    for step in block.steps:
        match step:
            case Run():
                trimmed = _trimmed_run(step, assembled.subnets[step.subnet], read, subnets)
                steps.extend([] if trimmed is None else [trimmed])
            case Let(name=name):
                steps.extend([step] if name in read else [])
            case Check():
                steps.append(step)

    def trim(target: Target, skipped: int = 0) -> Target:
        parameters = assembled.blocks[target.block].parameters[skipped:]
        kept = [
            argument
            for parameter, argument in zip(parameters, target.arguments, strict=True)
            if parameter.name in live[target.block]
        ]
        return Target(target.block, tuple(kept))

    terminator = block.terminator
    match terminator:
        case Jump(target=target):
            terminator = replace(terminator, target=trim(target))
        case Branch(then=then, orelse=orelse):
            terminator = replace(terminator, then=trim(then), orelse=trim(orelse))
        case Switch(cases=cases):
            terminator = replace(terminator, cases=tuple((case, trim(target)) for case, target in cases))
        case Return(next_call=Target() as target):
            terminator = replace(terminator, next_call=trim(target, inputs))
    parameters = tuple(parameter for parameter in block.parameters if parameter.name in live[block.id])
    return replace(block, parameters=parameters, steps=tuple(steps), terminator=terminator)


def _trimmed_run(
    run: Run, subnet: RecordedSubnet, read: set[Name], subnets: dict[SubnetId, RecordedSubnet]
) -> Run | None:
    wanted = [position for position, name in enumerate(run.outputs) if name in read]
    if not wanted:
        return None
    graph = subnet.graph
    part = needed_part(graph, tuple(graph.outputs[position] for position in wanted))
    weights = dict(zip(graph.weights, subnet.weights, strict=True))
    names = dict(zip(graph.inputs, run.inputs, strict=True))
    subnets[run.subnet] = RecordedSubnet(part.graph, tuple(weights[ref] for ref in part.weights))
    inputs = tuple(names[ref] for ref in part.inputs)
    return replace(run, inputs=inputs, outputs=tuple(run.outputs[position] for position in wanted))
