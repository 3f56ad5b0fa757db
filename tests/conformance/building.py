"""Short words to build the conformance programs with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
from onnx import helper

from dycl.hcfg.nodes import Block, Hcfg, Parameter, Return, Run, SizeRule, Step, Subnet, Target, Terminator
from dycl.hcfg.structure import Items, Slot, Structure
from dycl.hcfg.types import HostType, TensorType, ValueType
from dycl.runtime import Artefact
from tests.conformance.case import Call, Case
from tests.hand_built import artefact_of, call_of, span

WHOLE = Slot(0, "tensor")
INT, FLOAT, BOOL = HostType("int"), HostType("float"), HostType("bool")
END_LINE = 9

Made = tuple[Artefact, Sequence[Call]]
Weights = Mapping[str, tuple[TensorType, Any]]

CASES: list[Callable[[], Case]] = []


def case(make: Callable[[], Made]) -> Callable[[], Made]:
    """The function itself, which is a case from now on: named by its name, described by its docstring."""

    def made() -> Case:
        artefact, calls = make()
        return Case(make.__name__, str(make.__doc__).split("\n", 1)[0], artefact, tuple(calls))

    CASES.append(made)
    return make


def row(*numbers: float) -> Any:
    """A vector of float32."""
    return np.array(numbers, np.float32)


def block(id_: str, parameters: Mapping[str, ValueType], steps: Sequence[Step], end: Terminator) -> Block:
    """A block that begins at line 1."""
    return Block(id_, tuple(map(Parameter, parameters, parameters.values())), tuple(steps), end, span(1))


def run(subnet: str, inputs: str, outputs: str, line: int = 2) -> Run:
    """A step that runs a sub-DNN; names are separated by spaces."""
    return Run(subnet, tuple(inputs.split()), tuple(outputs.split()), span(line))


def to(block_id: str, *arguments: str) -> Target:
    """Where to go, with which values."""
    return Target(block_id, arguments)


def returning(values: str, structure: Structure = WHOLE, next_call: Target | None = None) -> Return:
    """The end of a call; names are separated by spaces."""
    return Return(tuple(values.split()), structure, span(END_LINE), next_call)


def all_of(count: int) -> Items:
    """A tuple of so many tensors."""
    return Items("tuple", tuple(Slot(index, "tensor") for index in range(count)))


def net(
    code: str, inputs: Sequence[TensorType], outputs: Sequence[TensorType], weights: tuple[str, ...] = ()
) -> Subnet:
    """A sub-DNN of an ONNX code."""
    return Subnet("", tuple(inputs), tuple(outputs), "onnxruntime", code, weights)


def node(kind: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    """An ONNX node; names are separated by spaces."""
    return helper.make_node(kind, inputs.split(), outputs.split(), **attributes)


def program(
    name: str,
    blocks: Sequence[Block],
    subnets: Mapping[str, Subnet] | None = None,
    codes: Mapping[str, onnx.ModelProto] | None = None,
    weights: Weights | None = None,
    signature: Structure | None = None,
    sizes: tuple[SizeRule, ...] = (),
) -> Artefact:
    """The program of `blocks`, the first of which is its entry and has its inputs as parameters."""
    inputs = blocks[0].parameters
    given = weights or {}
    hcfg = Hcfg(
        name,
        signature or call_of(*(_slot(index, parameter.type) for index, parameter in enumerate(inputs))),
        inputs,
        blocks[0].id,
        {item.id: item for item in blocks},
        {key: replace(subnet, id=key) for key, subnet in (subnets or {}).items()},
        {key: tensor_type for key, (tensor_type, _) in given.items()},
        parameter_names=() if signature else tuple(parameter.name for parameter in inputs),
        sizes=sizes,
    )
    return artefact_of(hcfg, codes or {}, {key: array for key, (_, array) in given.items()})


def _slot(index: int, value_type: ValueType) -> Slot:
    return Slot(index, value_type.kind if isinstance(value_type, HostType) else "tensor")
