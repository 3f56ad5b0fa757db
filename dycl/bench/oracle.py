"""The limit: an input's whole path as one sub-DNN, for the same backend.

On the same backend and runtime, nothing that must decide can do better than a program that knows every decision
beforehand. The oracle is made by DyCL's own means, so that the two differ in nothing but the decisions: the path is
rewritten alone, its blocks are put in one line, and what only the decisions needed is dropped.

before                                  after
  b0(x):                                  b0(x):
    y, p = run net0(x)                      z = run line(x)
    jump b1(y)                              return z
  b1(y):
    z = run net1(y)
    return z
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import nn

from dycl.backends import Compiler
from dycl.bench.followed import follow
from dycl.compiler import link
from dycl.errors import CompileError
from dycl.hcfg.nodes import (
    Block,
    Jump,
    Let,
    Literal,
    Name,
    Return,
    Run,
    Weight,
)
from dycl.hcfg.subnet import Argument, Operation, Ref, SubnetGraph
from dycl.hcfg.types import TensorType, carrier
from dycl.optimize.drop_unread import drop_unread
from dycl.optimize.read_through import read_through
from dycl.optimize.share import share
from dycl.rewrite.assemble.blocks import Assembled, RecordedSubnet, assemble
from dycl.rewrite.example.inputs import Inputs
from dycl.rewrite.tensor_types import tensor_type
from dycl.runtime import Program

_LINE = "line"


def oracle(
    model: nn.Module, inputs: Inputs, arguments: Sequence[torch.Tensor], compiler: Compiler, threads: int
) -> Program:
    """A program without a decision, which does what the model does for all inputs that take the path of this one."""
    rewritten = follow(model, inputs, arguments, compiler)
    if rewritten.problems:
        raise CompileError(rewritten.problems)
    assembled = drop_unread(read_through(straight(assemble(rewritten, inputs.names))))
    names = {id(tensor): name for name, tensor in (*model.named_parameters(), *model.named_buffers())}
    shared = share(assembled, compiler, names, True, lambda done, left: None)
    if shared.problems:
        raise CompileError(shared.problems)
    return link(model, inputs, assembled, shared, compiler, threads)


def straight(assembled: Assembled) -> Assembled:
    """A program whose blocks only lead to each other, as one block with one sub-DNN."""
    entry = block = assembled.blocks[assembled.entry]
    line = _Line()
    values = {parameter.name: line.take(carrier(parameter.type)) for parameter in entry.parameters}
    own = dict(zip(values.values(), values, strict=True))
    for number in range(len(assembled.blocks)):
        for step in block.steps:
            match step:
                case Run(subnet=subnet, inputs=given, outputs=outputs):
                    results = line.run(assembled.subnets[subnet], [values[name] for name in given], number)
                    values |= zip(outputs, results, strict=True)
                case Let(name=constant, constant=Literal(value=value)):
                    values[constant] = line.hold(_as_tensor(value))
                case Let(name=constant, constant=Weight(weight=weight)):
                    values[constant] = line.hold(assembled.constants[weight])
        if not isinstance(block.terminator, Jump):
            break
        arguments = [values[name] for name in block.terminator.target.arguments]
        block = assembled.blocks[block.terminator.target.block]
        values = {parameter.name: ref for parameter, ref in zip(block.parameters, arguments, strict=True)}
    if not isinstance(block.terminator, Return):
        raise ValueError("the path does not end in a result")
    return _one_block(assembled, entry, block.terminator, line, values, own)


def _as_tensor(value: bool | int | float) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)


def _one_block(
    assembled: Assembled, entry: Block, end: Return, line: "_Line", values: dict[Name, Ref], own: dict[Ref, Name]
) -> Assembled:
    results = [values[name] for name in end.values]
    computed = tuple(dict.fromkeys(ref for ref in results if ref not in own))
    names = own | {ref: f"r{number}" for number, ref in enumerate(computed)}
    run = Run(_LINE, tuple(own.values()), tuple(names[ref] for ref in computed), end.span)
    block = replace(
        entry,
        steps=(run,) if computed else (),
        terminator=replace(end, values=tuple(names[ref] for ref in results), next_call=None),
    )
    subnets = {_LINE: line.recorded(tuple(own), computed)} if computed else {}
    return Assembled(entry.id, {entry.id: block}, subnets, {}, assembled.types)


class _Line:
    """A sub-DNN that grows by the operations of others."""

    def __init__(self) -> None:
        self._types: list[TensorType] = []
        self._operations: list[Operation] = []
        self._weights: dict[Ref, torch.Tensor] = {}
        self._held: dict[int, Ref] = {}

    def take(self, value_type: TensorType) -> Ref:
        self._types.append(value_type)
        return Ref(len(self._types) - 1)

    def hold(self, tensor: torch.Tensor) -> Ref:
        if id(tensor) not in self._held:
            self._held[id(tensor)] = self.take(tensor_type(tensor))
            self._weights[self._held[id(tensor)]] = tensor
        return self._held[id(tensor)]

    def run(self, subnet: RecordedSubnet, inputs: Sequence[Ref], number: int) -> Iterator[Ref]:
        """The outputs of a sub-DNN that runs on these tensors; its unknown sizes get names of their own."""
        graph = subnet.graph
        known = dict(zip(graph.inputs, inputs, strict=True))
        known |= zip(graph.weights, map(self.hold, subnet.weights), strict=True)

        def here(argument: Argument) -> Argument:
            if isinstance(argument, tuple):
                return tuple(map(here, argument))
            return known[argument] if isinstance(argument, Ref) else argument

        for operation in graph.operations:
            for ref in filter(None, operation.outputs):
                known[ref] = self.take(_renamed(graph.type_of(ref), number))
            arguments = {name: here(value) for name, value in operation.arguments.items()}
            outputs = tuple(None if ref is None else known[ref] for ref in operation.outputs)
            self._operations.append(replace(operation, arguments=arguments, outputs=outputs))
        return (known[ref] for ref in graph.outputs)

    def recorded(self, inputs: tuple[Ref, ...], outputs: tuple[Ref, ...]) -> RecordedSubnet:
        graph = SubnetGraph(inputs, tuple(self._weights), tuple(self._operations), outputs, tuple(self._types))
        return RecordedSubnet(graph, tuple(self._weights.values()))


def _renamed(value_type: TensorType, number: int) -> TensorType:
    shape = tuple(f"{size}_{number}" if isinstance(size, str) else size for size in value_type.shape)
    return TensorType(value_type.dtype, shape)
