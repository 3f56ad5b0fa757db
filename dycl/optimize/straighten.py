"""Put a program without decisions into one block: its blocks only lead to each other, so their sub-DNNs can be one.

before                                  after
  b0(x):                                  b0(x):
    y, p = run net0(x)                      z = run line(x)
    jump b1(y)                              return z
  b1(y):
    z = run net1(y)
    return z

This pass is not in the pipeline: a program that was rewritten along one path is made of such blocks, and becomes what
a compiler could do at best if it knew every decision beforehand. Checks are left out, since the path passed them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from dycl.hcfg.module import Module, SubDnn, mapped
from dycl.hcfg.nodes import Block, Check, Jump, Let, Literal, Name, Return, Run, Weight, WeightId
from dycl.hcfg.subnet import Argument, DTypeArgument, Operation, Ref, SubnetGraph
from dycl.hcfg.types import HostKind, HostType, Span, TensorType, carrier
from dycl.optimize.passes import Pass, Property

_LINE = "line"
_KINDS: dict[type, HostKind] = {bool: "bool", int: "int", float: "float"}


def straighten(module: Module) -> Module:
    """The same program as one block with one sub-DNN."""
    entry = module.blocks[module.entry]
    line = _Line(module)
    values = {parameter.name: line.take(carrier(parameter.type)) for parameter in entry.parameters}
    own = dict(zip(values.values(), values, strict=True))
    block = entry
    for number in range(len(module.blocks)):
        line.add_block(block, values, number)
        if not isinstance(block.terminator, Jump):
            break
        arguments = [values[name] for name in block.terminator.target.arguments]
        block = module.blocks[block.terminator.target.block]
        values = {parameter.name: ref for parameter, ref in zip(block.parameters, arguments, strict=True)}
    assert isinstance(block.terminator, Return)
    return _one_block(module, block.terminator, line, values, own)


def _one_block(module: Module, end: Return, line: "_Line", values: dict[Name, Ref], own: dict[Ref, Name]) -> Module:
    entry = module.blocks[module.entry]
    results = [values[name] for name in end.values]
    computed = tuple(dict.fromkeys(ref for ref in results if ref not in own))
    names = own | {ref: f"r{number}" for number, ref in enumerate(computed)}
    run = Run(_LINE, tuple(own.values()), tuple(names[ref] for ref in computed), end.span)
    block = replace(
        entry,
        steps=(run,) if computed else (),
        terminator=replace(end, values=tuple(names[ref] for ref in results), next_call=None),
    )
    subnets = {_LINE: line.subnet(tuple(own), computed)} if computed else {}
    return replace(module, blocks={entry.id: block}, subnets=subnets)


class _Line:
    """A sub-DNN that grows by the operations of others."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._types: list[TensorType] = []
        self._operations: list[Operation] = []
        self._weights: dict[WeightId, Ref] = {}

    def take(self, value_type: TensorType) -> Ref:
        self._types.append(value_type)
        return Ref(len(self._types) - 1)

    def add_block(self, block: Block, values: dict[Name, Ref], number: int) -> None:
        """Add what a block computes to the line, and its names to `values`."""
        for step in block.steps:
            match step:
                case Run(subnet=subnet, inputs=given, outputs=outputs):
                    results = self._run(self._module.subnets[subnet], [values[name] for name in given], number)
                    values |= zip(outputs, results, strict=True)
                case Let(name=name, constant=constant, span=span):
                    values[name] = self._constant(constant, span)
                case Check():
                    pass
                case _:
                    assert_never(step)

    def _run(self, subnet: SubDnn, inputs: Sequence[Ref], number: int) -> Iterator[Ref]:
        """The outputs of a sub-DNN that runs on these tensors; its unknown sizes get names of their own."""
        graph = subnet.graph
        known = dict(zip(graph.inputs, inputs, strict=True))
        known |= zip(graph.weights, map(self._weight, subnet.weights), strict=True)
        for operation in graph.operations:
            for ref in filter(None, operation.outputs):
                known[ref] = self.take(_renamed(graph.type_of(ref), number))
            self._operations.append(mapped(operation, known.__getitem__))
        return (known[ref] for ref in graph.outputs)

    def _constant(self, constant: Literal | Weight, span: Span) -> Ref:
        return self._literal(constant.value, span) if isinstance(constant, Literal) else self._weight(constant.weight)

    def _weight(self, weight: WeightId) -> Ref:
        if weight not in self._weights:
            self._weights[weight] = self.take(self._module.constants[weight])
        return self._weights[weight]

    def _literal(self, value: bool | int | float, span: Span) -> Ref:
        value_type = HostType(_KINDS[type(value)]).tensor
        arguments: dict[str, Argument] = {
            "size": (), "fill_value": value, "dtype": DTypeArgument(value_type.dtype),
            "layout": None, "device": None, "pin_memory": None,
        }  # fmt: skip
        ref = self.take(value_type)
        self._operations.append(Operation("aten.full.default", arguments, (ref,), span))
        return ref

    def subnet(self, inputs: tuple[Ref, ...], outputs: tuple[Ref, ...]) -> SubDnn:
        refs = tuple(self._weights.values())
        graph = SubnetGraph(inputs, refs, tuple(self._operations), outputs, tuple(self._types))
        return SubDnn(graph, tuple(self._weights))


def _renamed(value_type: TensorType, number: int) -> TensorType:
    shape = tuple(f"{size}_{number}" if isinstance(size, str) else size for size in value_type.shape)
    return TensorType(value_type.dtype, shape)


def _first_decision(module: Module) -> str | None:
    block = module.blocks[module.entry]
    for _ in module.blocks:
        if isinstance(block.terminator, Return):
            return None
        if not isinstance(block.terminator, Jump):
            return f"{block.id} ends in a {type(block.terminator).__name__}"
        block = module.blocks[block.terminator.target.block]
    return "its blocks lead round in a circle"


NO_DECISIONS = Property("the program is a line of blocks that ends in a result", _first_decision)
STRAIGHTEN = Pass(
    "straighten",
    "a program without decisions becomes one block with one sub-DNN",
    straighten,
    requires=(NO_DECISIONS,),
)
