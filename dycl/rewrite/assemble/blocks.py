"""Put the drafts together: blocks with final parameters, and the sub-DNN that each of them calls."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, assert_never

import torch
from torch import nn

from dycl.hcfg.module import Module, SubDnn, needed_part, operands
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
    WeightId,
)
from dycl.hcfg.subnet import Argument, Operation, Ref, SubnetGraph
from dycl.hcfg.types import Span, TensorType, carrier
from dycl.rewrite.assemble.constants import Constants
from dycl.rewrite.assemble.waves import waves
from dycl.rewrite.example.call import ExampleCall
from dycl.rewrite.explore.drafts import Decision, Draft, Edge, Entry, Explored, Failure, Onward, Result, reached
from dycl.rewrite.model_parts import tensors_of
from dycl.rewrite.record.recording import Recording
from dycl.rewrite.state.reading import leaf_names, leaf_types
from dycl.rewrite.state.sources import Fixed, Stacked, leaf_sources
from dycl.rewrite.tensor_types import tensor_type, torch_dtype


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A model as a program: its module, the tensors behind the constants, and the classes that its results name."""

    module: Module
    tensors: Mapping[WeightId, torch.Tensor]
    types: Mapping[str, Any]
    explored: Explored = field(repr=False)  # states refer to each other: written out, they would have no end


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the blocks built so far are made of."""

    constants: Constants
    blocks: dict[BlockId, Block] = field(default_factory=dict)
    subnets: dict[SubnetId, SubDnn] = field(default_factory=dict)
    types: dict[str, Any] = field(default_factory=dict)


def assemble(explored: Explored, model: nn.Module, call: ExampleCall) -> Rewritten:
    """Blocks for every draft that can be reached, numbered in the order they are reached."""
    names = {id(tensor): name for name, tensor in tensors_of(model)}
    parts = _Parts(Constants(names))
    numbers = {entry: f"b{number}" for number, entry in enumerate(reached(explored.first))}
    for entry, block in numbers.items():
        _BlockBuilder(numbers, entry, call, parts).build(block)
    module = Module(
        type(model).__name__,
        call.signature,
        tuple(map(Parameter, call.names, call.types)),
        "b0",
        parts.blocks,
        parts.subnets,
        parts.constants.types,
        parameter_names=call.parameter_names,
        sizes=call.sizes,
    )
    return Rewritten(module, parts.constants.tensors, parts.types, explored)


class _BlockBuilder:
    """Builds one block: a sub-DNN with just the operations that something needs, checks, then the way out."""

    def __init__(self, numbers: Mapping[Entry, BlockId], entry: Entry, call: ExampleCall, parts: _Parts) -> None:
        self.numbers = numbers
        self.parts = parts
        self.draft = entry.draft or _refused(entry, call)
        recording = self.draft.recording
        inputs = call.names if entry.begins_call else ()
        names = inputs + leaf_names(entry.skeleton, inputs)
        self.parameters = tuple(map(Parameter, names, self.draft.parameters))
        self.names: dict[Ref, Name] = dict(zip(recording.inputs, names, strict=True))
        self.captured = {item.ref: item.value for item in (*recording.captured, *recording.weights.values())}
        self.operations = list(recording.operations)
        self.value_types = list(recording.types)
        self.taken = set(names)
        self.lets: list[Let] = []
        self.wanted: dict[Ref, Name] = {}

    def build(self, block: BlockId) -> None:
        checks = [
            Check(self.name(item.flag), item.error, item.message, item.span) for item in self.draft.recording.checks
        ]
        terminator = self.terminator()
        steps = (*self.lets, *self.computed(checks))
        self.parts.blocks[block] = Block(block, self.parameters, steps, terminator, self.draft.start)

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
            case Decision(value=value, edges=edges, error=error):
                decided = self.name(value)
                cases = tuple((int(case), self.target(edge)) for case, edge in edges)
                if error is not None:
                    return Switch(decided, cases, *error, span)
                (_, then), (_, orelse) = cases
                return Branch(decided, then, orelse, span)
            case Onward(edge=edge):
                inputs = self.draft.recording.inputs if edge.entry.begins_call else ()
                target = self.target(edge)
                return Jump(Target(target.block, (*(self.names[ref] for ref in inputs), *target.arguments)), span)
            case Result(values=values, structure=structure, next_call=edge):
                self.parts.types.update(structure.types)
                return Return(tuple(map(self.name, values)), structure.structure, span, self.kept(edge))
            case Failure(error=error, message=message, next_call=edge):
                return Fail(error, message, span, self.kept(edge))
            case end:
                assert_never(end)

    def kept(self, edge: Edge | None) -> Target | None:
        return None if edge is None else self.target(edge)

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
        rows: list[Ref] = []
        for row in source.rows:
            if isinstance(row, Fixed):
                value = row.value if isinstance(row.value, torch.Tensor) else torch.tensor(row.value)
                value = value.to(torch_dtype(source.dtype))
                rows.append(self.new_ref(tensor_type(value)))
                self.captured[rows[-1]] = value
            else:
                rows.append(edge.leaves[row])
        result = self.new_ref(TensorType(source.dtype, source.shape))
        arguments: dict[str, Argument] = {"tensors": tuple(rows), "dim": 0}
        self.operations.append(Operation("aten.stack.default", arguments, (result,), self.draft.stop))
        return result

    def new_ref(self, value_type: TensorType) -> Ref:
        self.value_types.append(value_type)
        return Ref(len(self.value_types) - 1)

    def fixed(self, value: int | float | torch.Tensor) -> Name:
        """The name of a constant."""
        if isinstance(value, torch.Tensor):
            return self.let(Weight(self.parts.constants.name(value)))
        return self.let(Literal(value))

    def computed(self, checks: Sequence[Check]) -> list[Step]:
        """The block's sub-DNN and its checks; a sub-DNN for each wave if what comes later hangs on checks before."""
        known = list(self.draft.recording.inputs)
        if not self.draft.recording.guards:
            run = [self.run(self.graph(known, self.operations, self.wanted))] if self.wanted else []
            return [*run, *checks]
        steps: list[Step] = []
        planned, checked = waves(self.draft.recording, self.operations, self.wanted)
        for wave, operations in enumerate(planned):
            later = {ref for others in planned[wave + 1 :] for item in others for ref in operands(item)}
            here = {ref for item in operations for ref in item.outputs if ref is not None}
            for ref in sorted(here & later, key=lambda ref: ref.index):
                self.name(ref)
            outputs = [ref for ref in self.wanted if ref in here]
            if outputs:
                steps.append(self.run(self.graph(known, operations, outputs)))
            known.extend(outputs)
            steps.extend(check for check, number in zip(checks, checked, strict=True) if number == wave)
        return steps

    def graph(self, inputs: Sequence[Ref], operations: Sequence[Operation], outputs: Iterable[Ref]) -> SubnetGraph:
        weights = tuple(sorted(self.captured, key=lambda ref: ref.index))
        return SubnetGraph(tuple(inputs), weights, tuple(operations), tuple(outputs), tuple(self.value_types))

    def run(self, whole: SubnetGraph) -> Run:
        """A step that runs what the outputs of a graph need, as a sub-DNN of its own."""
        subnet = SubnetId(f"net{len(self.parts.subnets)}")
        part = needed_part(whole, whole.outputs)
        bound = tuple(self.parts.constants.name(self.captured[ref]) for ref in part.weights)
        self.parts.subnets[subnet] = SubDnn(part.graph, bound)
        given = tuple(self.names[ref] for ref in part.inputs)
        return Run(subnet, given, tuple(self.names[ref] for ref in whole.outputs), self.draft.start)


def _refused(entry: Entry, call: ExampleCall) -> Draft:
    """What stands in for a block that was refused, so that the rest of the program can be looked at."""
    types = [*(call.types if entry.begins_call else ()), *(kind for kind, _ in leaf_types(entry.skeleton))]
    recording = Recording()
    recording.inputs.extend(recording.new_ref(carrier(kind)) for kind in types)
    nowhere = Span("?", 1, 1, 1, 1, "?")
    return Draft(recording, tuple(types), Failure("CompileError", "this part was refused"), nowhere, nowhere)
