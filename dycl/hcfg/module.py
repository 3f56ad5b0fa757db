"""A program in the middle of its compilation: blocks, sub-DNNs as graphs of operations, constants by name.

Rewriting makes a module, every pass takes one and gives another, and lowering turns it into an `Hcfg`, whose sub-DNNs
have code in the place of operations. A constant is a name and a type: its elements are nobody's business before they
are stored. Nothing here needs PyTorch.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from dycl.hcfg.nodes import (
    Block,
    BlockId,
    Branch,
    Check,
    Fail,
    Hcfg,
    Jump,
    Let,
    Name,
    Parameter,
    Return,
    Run,
    SizeRule,
    Step,
    Subnet,
    SubnetId,
    Switch,
    Target,
    Terminator,
    Weight,
    WeightId,
    next_calls,
    targets,
)
from dycl.hcfg.structure import Structure
from dycl.hcfg.subnet import Argument, Operation, Ref, SubnetGraph
from dycl.hcfg.types import TensorType

NO_BACKEND, NOT_COMPILED = "none", "not compiled yet"


@dataclass(frozen=True, slots=True)
class SubDnn:
    """A sub-DNN's operations, and the constants that its weights are bound to."""

    graph: SubnetGraph
    weights: tuple[WeightId, ...]


@dataclass(frozen=True, slots=True)
class Module:
    """A whole program before its sub-DNNs are compiled; the fields are those of `Hcfg`."""

    name: str
    signature: Structure
    inputs: tuple[Parameter, ...]
    entry: BlockId
    blocks: Mapping[BlockId, Block]
    subnets: Mapping[SubnetId, SubDnn]
    constants: Mapping[WeightId, TensorType] = field(default_factory=dict)
    parameter_names: tuple[str, ...] = field(default=(), kw_only=True)
    sizes: tuple[SizeRule, ...] = field(default=(), kw_only=True)


def with_subnets(module: Module, subnets: Mapping[SubnetId, Subnet]) -> Hcfg:
    """The program with these sub-DNNs in the place of its own."""
    return Hcfg(
        module.name,
        module.signature,
        module.inputs,
        module.entry,
        module.blocks,
        subnets,
        module.constants,
        parameter_names=module.parameter_names,
        sizes=module.sizes,
    )


def outline(module: Module) -> Hcfg:
    """The program as far as the host sees it: sub-DNNs have types and no operations."""
    signatures = {}
    for name, subnet in module.subnets.items():
        inputs, outputs = (tuple(map(subnet.graph.type_of, refs)) for refs in subnet.graph.ends)
        signatures[name] = Subnet(name, inputs, outputs, NO_BACKEND, NOT_COMPILED, subnet.weights)
    return with_subnets(module, signatures)


def only_used(module: Module) -> Module:
    """The same program without blocks that nothing leads to, sub-DNNs that none runs and constants that none reads."""
    reached = {module.entry}
    waiting = [module.entry]
    while waiting:
        terminator = module.blocks[waiting.pop()].terminator
        new = {target.block for target in (*targets(terminator), *next_calls(terminator))} - reached
        reached |= new
        waiting.extend(new)
    blocks = {name: block for name, block in module.blocks.items() if name in reached}
    steps = [step for block in blocks.values() for step in block.steps]
    run = {step.subnet for step in steps if isinstance(step, Run)}
    subnets = {name: subnet for name, subnet in module.subnets.items() if name in run}
    read = {weight for subnet in subnets.values() for weight in subnet.weights}
    held = [step.constant for step in steps if isinstance(step, Let)]
    read |= {constant.weight for constant in held if isinstance(constant, Weight)}
    constants = {name: kind for name, kind in module.constants.items() if name in read}
    return replace(module, blocks=blocks, subnets=subnets, constants=constants)


# Inside a sub-DNN.


def operands(operation: Operation) -> list[Ref]:
    """Every tensor that an operation reads."""
    found: list[Ref] = []
    _collect(operation.arguments.values(), found)
    return found


def _collect(arguments: Iterable[Argument], found: list[Ref]) -> None:
    for argument in arguments:
        if isinstance(argument, Ref):
            found.append(argument)
        elif isinstance(argument, tuple):
            _collect(argument, found)


def mapped(operation: Operation, change: Callable[[Ref], Ref]) -> Operation:
    """The operation on other tensors, and with other results."""

    def here(argument: Argument) -> Argument:
        if isinstance(argument, Ref):
            return change(argument)
        return tuple(map(here, argument)) if isinstance(argument, tuple) else argument

    arguments = {name: here(value) for name, value in operation.arguments.items()}
    outputs = tuple(None if ref is None else change(ref) for ref in operation.outputs)
    return replace(operation, arguments=arguments, outputs=outputs)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a graph with its values renumbered; `inputs` and `weights` are what it uses of the old ones."""

    graph: SubnetGraph
    inputs: tuple[Ref, ...]
    weights: tuple[Ref, ...]


def needed_part(whole: SubnetGraph, outputs: tuple[Ref, ...]) -> Part:
    """The part of a graph that `outputs` depend on."""
    needed = set(outputs)
    operations: list[Operation] = []
    for operation in reversed(whole.operations):
        if not needed.isdisjoint(operation.outputs):
            operations.append(operation)
            needed.update(operands(operation))
    operations.reverse()
    inputs = tuple(ref for ref in whole.inputs if ref in needed)
    weights = tuple(ref for ref in whole.weights if ref in needed)
    return Part(renumbered(whole, inputs, weights, operations, outputs), inputs, weights)


def renumbered(
    whole: SubnetGraph,
    inputs: Iterable[Ref],
    weights: Iterable[Ref],
    operations: Iterable[Operation],
    outputs: Iterable[Ref],
) -> SubnetGraph:
    """Some operations of a graph as one of its own, its values numbered anew."""
    inputs, weights, operations = tuple(inputs), tuple(weights), tuple(operations)
    order = [*inputs, *weights, *(ref for operation in operations for ref in operation.outputs if ref is not None)]
    new = {ref: Ref(number) for number, ref in enumerate(order)}
    return SubnetGraph(
        inputs=tuple(new[ref] for ref in inputs),
        weights=tuple(new[ref] for ref in weights),
        operations=tuple(mapped(operation, new.__getitem__) for operation in operations),
        outputs=tuple(new[ref] for ref in outputs),
        types=tuple(whole.types[ref.index] for ref in order),
    )


def dependencies(graph: SubnetGraph) -> tuple[frozenset[int], ...]:
    """For each output of a sub-DNN, the positions of the inputs that it is computed from."""
    sources: dict[Ref, frozenset[int]] = {ref: frozenset((place,)) for place, ref in enumerate(graph.inputs)}
    nothing: frozenset[int] = frozenset()
    for operation in graph.operations:
        read = nothing.union(*(sources.get(ref, nothing) for ref in operands(operation)))
        sources.update((ref, read) for ref in operation.outputs if ref is not None)
    return tuple(sources.get(ref, nothing) for ref in graph.outputs)


# Inside a block.


def names_read(node: Step | Terminator) -> tuple[Name, ...]:
    """Every name that a step or terminator itself reads; what it passes on to other blocks is theirs to read."""
    match node:
        case Run(inputs=inputs):
            return inputs
        case Let() | Jump() | Fail():
            return ()
        case Check(condition=name) | Branch(condition=name) | Switch(value=name):
            return (name,)
        case Return(values=values):
            return values
        case _:
            assert_never(node)


def names_defined(step: Step) -> tuple[Name, ...]:
    """Every name that a step defines."""
    match step:
        case Run(outputs=outputs):
            return outputs
        case Let(name=name):
            return (name,)
        case Check():
            return ()
        case _:
            assert_never(step)


def with_targets(
    terminator: Terminator, change: Callable[[Target], Target], next_call: Callable[[Target], Target]
) -> Terminator:
    """The terminator with other ways on; `next_call` changes where the next call begins."""
    match terminator:
        case Jump(target=target):
            return replace(terminator, target=change(target))
        case Branch(then=then, orelse=orelse):
            return replace(terminator, then=change(then), orelse=change(orelse))
        case Switch(cases=cases):
            return replace(terminator, cases=tuple((case, change(target)) for case, target in cases))
        case Return(next_call=target) | Fail(next_call=target):
            return replace(terminator, next_call=None if target is None else next_call(target))
        case _:
            assert_never(terminator)


def begins_of_calls(module: Module) -> Collection[BlockId]:
    """The blocks in which a call begins: they take the program's inputs first, then what was kept."""
    later = {target.block for block in module.blocks.values() for target in next_calls(block.terminator)}
    return {module.entry} | later
