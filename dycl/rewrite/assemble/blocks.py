"""Put the drafts together: blocks with final parameters, and the sub-DNN that each of them calls."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import torch

from dycl.hcfg.nodes import (
    Block,
    BlockId,
    Branch,
    Check,
    Fail,
    Jump,
    Let,
    Literal,
    Name,
    Parameter,
    Return,
    Run,
    Step,
    SubnetId,
    Switch,
    Target,
    Terminator,
    Weight,
)
from dycl.hcfg.subnet import Argument, Operation, Ref, SubnetGraph
from dycl.hcfg.types import TensorType
from dycl.rewrite.explore.drafts import Decision, Draft, Edge, Entry, Failure, Onward, Result, Rewritten, edges
from dycl.rewrite.state.widening import Fixed, Stacked, leaf_names, leaf_sources
from dycl.rewrite.tensor_types import tensor_type, torch_dtype


@dataclass(frozen=True, slots=True)
class RecordedSubnet:
    """A sub-DNN with the tensors that its weights are bound to."""

    graph: SubnetGraph
    weights: tuple[torch.Tensor, ...]


@dataclass(slots=True)
class Assembled:
    """The program's blocks, sub-DNNs and constants, before sharing and compilation."""

    entry: BlockId
    blocks: dict[BlockId, Block] = field(default_factory=dict)
    subnets: dict[SubnetId, RecordedSubnet] = field(default_factory=dict)
    constants: dict[str, torch.Tensor] = field(default_factory=dict)
    types: dict[str, Any] = field(default_factory=dict)


def assemble(rewritten: Rewritten, input_names: tuple[str, ...]) -> Assembled:
    """Blocks for every draft that can be reached, numbered in the order they are reached."""
    assembled = Assembled("b0")
    numbers: dict[Entry, BlockId] = {rewritten.first: "b0"}
    waiting = [rewritten.first]
    for entry in waiting:
        assert entry.draft is not None
        for edge in edges(entry.draft):
            if edge.entry not in numbers:
                numbers[edge.entry] = f"b{len(numbers)}"
                waiting.append(edge.entry)
    for entry in waiting:
        assert entry.draft is not None
        names = parameter_names(entry, input_names)
        _BlockBuilder(numbers, entry.draft, names, assembled).build(numbers[entry])
    return assembled


def parameter_names(entry: Entry, input_names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of a block's parameters: the program's inputs if it begins a call, then the leaves of its state."""
    inputs = input_names if entry.begins_call else ()
    return inputs + leaf_names(entry.skeleton, inputs)


class _BlockBuilder:
    """Builds one block: one sub-DNN with just the operations that something needs, then the way out."""

    def __init__(
        self, numbers: Mapping[Entry, BlockId], draft: Draft, names: tuple[str, ...], assembled: Assembled
    ) -> None:
        self.numbers = numbers
        self.draft = draft
        self.assembled = assembled
        recording = draft.recording
        self.parameters = tuple(map(Parameter, names, draft.parameters))
        self.names: dict[Ref, Name] = dict(zip(recording.inputs, names, strict=True))
        self.captured = {item.ref: item.value for item in (*recording.captured, *recording.weights.values())}
        self.taken = set(names)
        self.lets: list[Let] = []
        self.wanted: dict[Ref, Name] = {}

    def build(self, block: BlockId) -> None:
        checks = [
            Check(self.name(flag), error, message, span) for flag, error, message, span in self.draft.recording.checks
        ]
        terminator = self.terminator()
        steps: list[Step] = [*self.lets]
        if self.wanted:
            steps.append(self.run(SubnetId(f"net{len(self.assembled.subnets)}")))
        self.assembled.blocks[block] = Block(block, self.parameters, (*steps, *checks), terminator, self.draft.start)

    def name(self, ref: Ref) -> Name:
        """What the host calls a value: a parameter, a constant or an output of the block's sub-DNN."""
        if ref in self.names:
            return self.names[ref]
        if ref in self.captured:
            self.names[ref] = self.fixed(self.captured[ref])
        else:
            self.names[ref] = self.wanted[ref] = self.fresh("t")
        return self.names[ref]

    def fresh(self, prefix: str) -> Name:
        """A name that nothing else in the block has."""
        name = next(name for number in count() if (name := f"{prefix}{number}") not in self.taken)
        self.taken.add(name)
        return name

    def let(self, constant: Literal | Weight) -> Name:
        for step in self.lets:
            if step.constant == constant and repr(step.constant) == repr(constant):
                return step.name
        self.lets.append(Let(self.fresh("k"), constant, self.draft.stop))
        return self.lets[-1].name

    def terminator(self) -> Terminator:
        span = self.draft.stop
        match self.draft.end:
            case Decision(value=value, edges=edges, error=None):
                flag = self.name(value)
                then, orelse = (self.target(edge) for _, edge in edges)
                return Branch(flag, then, orelse, span)
            case Decision(value=value, edges=edges, error=(error, message)):
                number = self.name(value)
                cases = tuple((int(case), self.target(edge)) for case, edge in edges)
                return Switch(number, cases, error, message, span)
            case Onward(edge=edge):
                inputs = self.draft.recording.inputs if edge.entry.begins_call else ()
                target = self.target(edge)
                return Jump(Target(target.block, (*(self.names[ref] for ref in inputs), *target.arguments)), span)
            case Result(values=values, structure=structure, next_call=edge):
                self.assembled.types.update(structure.types)
                kept = None if edge is None else self.target(edge)
                return Return(tuple(map(self.name, values)), structure.structure, span, kept)
            case Failure(error=error, message=message):
                return Fail(error, message, span)
            case end:
                raise AssertionError(end)

    def target(self, edge: Edge) -> Target:
        arguments: list[Name] = []
        for source in leaf_sources(edge.entry.skeleton, edge.skeleton):
            match source:
                case Fixed(value=value):
                    arguments.append(self.fixed(value))
                case Stacked():
                    arguments.append(self.name(self.stacked(source, edge)))
                case leaf:
                    arguments.append(self.name(edge.leaves[leaf]))
        return Target(self.numbers[edge.entry], tuple(arguments))

    def stacked(self, source: Stacked, edge: Edge) -> Ref:
        """The table of values that a list has one by one."""
        recording = self.draft.recording
        rows: list[Ref] = []
        for row in source.rows:
            if isinstance(row, Fixed):
                value = row.value if isinstance(row.value, torch.Tensor) else torch.tensor(row.value)
                value = value.to(torch_dtype(source.dtype))
                rows.append(recording.new_ref(tensor_type(value)))
                self.captured[rows[-1]] = value
            else:
                rows.append(edge.leaves[row])
        result = recording.new_ref(TensorType(source.dtype, source.shape))
        arguments: dict[str, Argument] = {"tensors": tuple(rows), "dim": 0}
        recording.operations.append(Operation("aten.stack.default", arguments, (result,), self.draft.stop))
        return result

    def fixed(self, value: int | float | torch.Tensor) -> Name:
        """The name of a constant."""
        if not isinstance(value, torch.Tensor):
            return self.let(Literal(value))
        constant = f"c{len(self.assembled.constants)}"
        self.assembled.constants[constant] = value
        return self.let(Weight(constant))

    def run(self, subnet: SubnetId) -> Run:
        recording = self.draft.recording
        weights = tuple(sorted(self.captured, key=lambda ref: ref.index))
        operations, types = tuple(recording.operations), tuple(recording.types)
        whole = SubnetGraph(tuple(recording.inputs), weights, operations, tuple(self.wanted), types)
        part = needed_part(whole, whole.outputs)
        self.assembled.subnets[subnet] = RecordedSubnet(part.graph, tuple(self.captured[ref] for ref in part.weights))
        inputs = tuple(self.names[ref] for ref in part.inputs)
        return Run(subnet, inputs, tuple(self.wanted.values()), self.draft.start)


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
        if any(output in needed for output in operation.outputs):
            operations.append(operation)
            for argument in operation.arguments.values():
                needed.update(argument_refs(argument))
    operations.reverse()
    inputs = tuple(ref for ref in whole.inputs if ref in needed)
    weights = tuple(ref for ref in whole.weights if ref in needed)
    order = [*inputs, *weights, *(ref for operation in operations for ref in operation.outputs if ref is not None)]
    new = {ref: Ref(number) for number, ref in enumerate(order)}
    graph = SubnetGraph(
        inputs=tuple(new[ref] for ref in inputs),
        weights=tuple(new[ref] for ref in weights),
        operations=tuple(_renumbered(operation, new) for operation in operations),
        outputs=tuple(new[ref] for ref in outputs),
        types=tuple(whole.types[ref.index] for ref in order),
    )
    return Part(graph, inputs, weights)


def argument_refs(argument: Argument) -> list[Ref]:
    """Every ref in an argument."""
    if isinstance(argument, Ref):
        return [argument]
    return [ref for part in argument for ref in argument_refs(part)] if isinstance(argument, tuple) else []


def _renumbered(operation: Operation, new: Mapping[Ref, Ref]) -> Operation:
    def rename(argument: Argument) -> Argument:
        if isinstance(argument, Ref):
            return new[argument]
        return tuple(rename(part) for part in argument) if isinstance(argument, tuple) else argument

    arguments = {name: rename(value) for name, value in operation.arguments.items()}
    outputs = tuple(None if ref is None else new[ref] for ref in operation.outputs)
    return Operation(operation.target, arguments, outputs, operation.span)
