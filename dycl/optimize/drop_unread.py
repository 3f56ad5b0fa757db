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
from typing import assert_never

from dycl.hcfg.module import (
    Module,
    SubDnn,
    begins_of_calls,
    dependencies,
    names_read,
    needed_part,
    only_used,
    with_targets,
)
from dycl.hcfg.nodes import (
    Block,
    BlockId,
    Check,
    Let,
    Name,
    Run,
    Step,
    SubnetId,
    Target,
    Terminator,
    next_calls,
    targets,
)
from dycl.optimize.passes import Pass, Property

Live = dict[BlockId, set[Name]]
"""For each block, the parameters that it reads, or that a way on from it leads to a reader of."""

Ways = Mapping[SubnetId, tuple[frozenset[int], ...]]
"""For each sub-DNN and output, the positions of the inputs that it is computed from."""


def drop_unread(module: Module) -> Module:
    """The same program, in which every parameter is read on some path."""
    ways = _ways(module)
    live = _live(module, ways)
    blocks: dict[BlockId, Block] = {}
    subnets: dict[SubnetId, SubDnn] = {}
    for block in module.blocks.values():
        blocks[block.id] = _trimmed(block, module, live, ways, subnets)
    return only_used(replace(module, blocks=blocks, subnets=subnets))


def _ways(module: Module) -> Ways:
    return {name: dependencies(subnet.graph) for name, subnet in module.subnets.items()}


def _live(module: Module, ways: Ways) -> Live:
    calls = begins_of_calls(module)
    live: Live = {name: set() for name in module.blocks}
    changed = True
    while changed:
        changed = False
        for name, block in reversed(list(module.blocks.items())):
            new = _read(block, module, live, ways) & {parameter.name for parameter in block.parameters}
            if name in calls:
                new |= {parameter.name for parameter in module.inputs}
            if new != live[name]:
                live[name] = new
                changed = True
    return live


def _read(block: Block, module: Module, live: Live, ways: Ways) -> set[Name]:
    """The names of a block that something reads, in it or on a way on from it."""
    read = set(names_read(block.terminator))
    for target, skipped in _ways_on(block.terminator, len(module.inputs)):
        parameters = module.blocks[target.block].parameters[skipped:]
        for parameter, argument in zip(parameters, target.arguments, strict=True):
            if parameter.name in live[target.block]:
                read.add(argument)
    for step in reversed(block.steps):
        match step:
            case Check():
                read.update(names_read(step))
            case Run(subnet=subnet, inputs=inputs, outputs=outputs):
                for output, sources in zip(outputs, ways[subnet], strict=True):
                    if output in read:
                        read.update(inputs[position] for position in sources)
            case Let():
                pass
            case _:
                assert_never(step)
    return read


def _ways_on(terminator: Terminator, inputs: int) -> list[tuple[Target, int]]:
    """Every way on, and how many parameters of its block do not come from here: a next call brings its own inputs."""
    return [
        *((target, 0) for target in targets(terminator)),
        *((target, inputs) for target in next_calls(terminator)),
    ]


def _trimmed(block: Block, module: Module, live: Live, ways: Ways, subnets: dict[SubnetId, SubDnn]) -> Block:
    read = _read(block, module, live, ways)
    steps: list[Step] = []
    for step in block.steps:
        match step:
            case Run():
                steps.extend(_trimmed_run(step, module.subnets[step.subnet], read, subnets))
            case Let(name=name):
                steps.extend([step] if name in read else [])
            case Check():
                steps.append(step)
            case _:
                assert_never(step)

    def trim(target: Target, skipped: int = 0) -> Target:
        parameters = module.blocks[target.block].parameters[skipped:]
        kept = [
            argument
            for parameter, argument in zip(parameters, target.arguments, strict=True)
            if parameter.name in live[target.block]
        ]
        return Target(target.block, tuple(kept))

    terminator = with_targets(block.terminator, trim, lambda target: trim(target, len(module.inputs)))
    parameters = tuple(parameter for parameter in block.parameters if parameter.name in live[block.id])
    return replace(block, parameters=parameters, steps=tuple(steps), terminator=terminator)


def _trimmed_run(run: Run, subnet: SubDnn, read: set[Name], subnets: dict[SubnetId, SubDnn]) -> list[Step]:
    """The run with what is read of its sub-DNN, which becomes its own; nothing if nothing is."""
    wanted = [position for position, name in enumerate(run.outputs) if name in read]
    if not wanted:
        return []
    graph = subnet.graph
    part = needed_part(graph, tuple(graph.outputs[position] for position in wanted))
    weights = dict(zip(graph.weights, subnet.weights, strict=True))
    names = dict(zip(graph.inputs, run.inputs, strict=True))
    own = (
        run.subnet
        if run.subnet not in subnets
        else next(name for number in range(len(subnets) + 1) if (name := f"{run.subnet}.{number}") not in subnets)
    )
    subnets[own] = SubDnn(part.graph, tuple(weights[ref] for ref in part.weights))
    inputs = tuple(names[ref] for ref in part.inputs)
    outputs = tuple(run.outputs[position] for position in wanted)
    return [replace(run, subnet=own, inputs=inputs, outputs=outputs)]


def _first_unread(module: Module) -> str | None:
    live = _live(module, _ways(module))
    for block in module.blocks.values():
        for parameter in block.parameters:
            if parameter.name not in live[block.id]:
                return f"nothing reads {parameter.name} of {block.id}"
    return None


EVERY_PARAMETER_IS_READ = Property("every parameter of a block is read", _first_unread)
DROP_UNREAD = Pass(
    "drop_unread",
    "what nothing reads is dropped: parameters, arguments, and the work behind them",
    drop_unread,
    ensures=(EVERY_PARAMETER_IS_READ,),
)
