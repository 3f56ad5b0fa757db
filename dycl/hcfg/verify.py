"""The rules of a well-formed graph, checked after every pass and on every load.

A graph that passes can be executed without a further look: every name is defined before it is used, every edge brings
the values its block expects, every sub-DNN and weight exists.
"""

import re
from collections.abc import Collection, Mapping
from typing import assert_never

from dycl.hcfg.errors import HcfgError
from dycl.hcfg.nodes import (
    Block,
    Branch,
    Check,
    Fail,
    Hcfg,
    Jump,
    Let,
    Literal,
    Name,
    Parameter,
    Return,
    Run,
    Step,
    Subnet,
    Switch,
    Target,
    Terminator,
    Weight,
    next_calls,
    targets,
)
from dycl.hcfg.structure import Items, Named, Record, Rows, Slot, Structure, Table, nested, slots
from dycl.hcfg.types import DTYPES, HOST_KINDS, MAX_DIMENSION, DType, HostType, TensorType, ValueType, carrier
from dycl.hcfg.verify_structure import check_identifier, check_name, check_structure, require_distinct

MAX_RANK = 16
INTEGER_DTYPES: tuple[DType, ...] = ("uint8", "int8", "int16", "int32", "int64")
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
BACKEND_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
"""What a backend may be called: plain enough to be part of a file's name."""

Scope = dict[Name, ValueType]
Number = bool | int | float


def verify(hcfg: Hcfg) -> None:
    """Nothing if `hcfg` is well formed; otherwise HcfgError with the first rule that it breaks."""
    check_name(hcfg.name, "the program's name")
    for name in hcfg.parameter_names:
        check_identifier(name, "a parameter name of the program")
    require_distinct(hcfg.parameter_names, "the program's parameter names")
    _check_weights(hcfg)
    for key, subnet in hcfg.subnets.items():
        _check_subnet(key, subnet, hcfg)
    for parameter in hcfg.inputs:
        _check_parameter(parameter, "the program's inputs")
    _check_signature(hcfg)
    _check_sizes(hcfg)
    for block_id, block in hcfg.blocks.items():
        _check_block(block_id, block, hcfg)
    _check_entry(hcfg)
    _check_reachable(hcfg)


def _check_weights(hcfg: Hcfg) -> None:
    for weight_id, weight_type in hcfg.weights.items():
        place = f"weight {weight_id}"
        check_name(weight_id, "a weight's name")
        if not isinstance(weight_type, TensorType):
            raise HcfgError(f"{place} is not a tensor")
        check_type(weight_type, place)
        if not all(isinstance(dimension, int) for dimension in weight_type.shape):
            raise HcfgError(f"{place} has a symbolic dimension: {weight_type}")


def _check_subnet(key: str, subnet: Subnet, hcfg: Hcfg) -> None:
    place = f"sub-DNN {key}"
    check_name(key, "a sub-DNN's name")
    if subnet.id != key:
        raise HcfgError(f"{place} calls itself {subnet.id}")
    if not BACKEND_NAME.fullmatch(subnet.backend):
        raise HcfgError(f"{place} is for a backend of the unusual name {subnet.backend!r:.80}")
    check_name(subnet.code, f"the code of {place}")
    for tensor_type in (*subnet.inputs, *subnet.outputs):
        check_type(tensor_type, place)
    for weight in subnet.weights:
        if weight not in hcfg.weights:
            raise HcfgError(f"{place} is bound to weight {weight}, which does not exist")


def _check_signature(hcfg: Hcfg) -> None:
    place = "the program's signature"
    check_structure(hcfg.signature, place)
    match hcfg.signature:
        case Items("tuple", (Items("tuple"), Table("dict", keys))) if all(isinstance(key, str) for key in keys):
            pass
        case _:
            raise HcfgError(f"{place} is not a pair of positional arguments and keyword arguments")
    for part in nested(hcfg.signature):
        match part:
            case Rows():
                raise HcfgError(f"{place} has a list of unknown length")
            case Named() | Record(kind="object"):
                raise HcfgError(f"{place} has something that no argument can be matched with")
            case _:
                pass
    found = slots(hcfg.signature)
    if sorted(slot.index for slot in found) != list(range(len(hcfg.inputs))):
        raise HcfgError(f"{place} does not use each of the {len(hcfg.inputs)} inputs exactly once")
    for slot in found:
        value_type = hcfg.inputs[slot.index].type
        kind = value_type.kind if isinstance(value_type, HostType) else "tensor"
        if slot.kind != kind:
            raise HcfgError(f"{place} takes input {slot.index} as {slot.kind}, but its type is {value_type}")


def _check_sizes(hcfg: Hcfg) -> None:
    names = {name for parameter in hcfg.inputs for name in carrier(parameter.type).shape if isinstance(name, str)}
    require_distinct([rule.name for rule in hcfg.sizes], "the names of the size rules")
    for rule in hcfg.sizes:
        place = f"the rule for the size {rule.name!r:.80}"
        check_name(rule.root, f"the root of {place}")
        if rule.name not in names:
            raise HcfgError(f"{place} is about no dimension of an input")
        if not 0 <= rule.least <= rule.most <= MAX_DIMENSION:
            raise HcfgError(f"{place} goes from {rule.least} to {rule.most}")
        if not 1 <= rule.factor <= MAX_DIMENSION or abs(rule.offset) > MAX_DIMENSION:
            raise HcfgError(f"{place} is {rule}")
        if rule.name == rule.root and (rule.factor, rule.offset) != (1, 0):
            raise HcfgError(f"{place} says that it is {rule}")


def _check_block(block_id: str, block: Block, hcfg: Hcfg) -> None:
    place = f"block {block_id}"
    check_name(block_id, "a block's name")
    if block.id != block_id:
        raise HcfgError(f"{place} calls itself {block.id}")
    scope: Scope = {}
    for parameter in block.parameters:
        _check_parameter(parameter, place)
        _define(scope, parameter.name, parameter.type, place)
    for step in block.steps:
        _check_step(step, scope, hcfg, place)
    _check_terminator(block.terminator, scope, hcfg, place)


def _check_step(step: Step, scope: Scope, hcfg: Hcfg, place: str) -> None:
    match step:
        case Run(subnet=subnet_id, inputs=inputs, outputs=outputs):
            subnet = hcfg.subnets.get(subnet_id)
            if subnet is None:
                raise HcfgError(f"{place} runs sub-DNN {subnet_id}, which does not exist")
            _check_arguments(inputs, subnet.inputs, scope, place, f"sub-DNN {subnet_id}")
            if len(outputs) != len(subnet.outputs):
                raise HcfgError(
                    f"{place} names {len(outputs)} outputs of sub-DNN {subnet_id}, which has {len(subnet.outputs)}"
                )
            for name, tensor_type in zip(outputs, subnet.outputs, strict=True):
                _define(scope, name, tensor_type, place)
        case Let(name=name, constant=constant):
            _define(scope, name, _constant_type(constant, hcfg, place), place)
        case Check(condition=condition, error=error):
            _check_condition(condition, scope, place)
            check_name(error, f"an error of {place}")
        case _:
            assert_never(step)


def _constant_type(constant: Literal | Weight, hcfg: Hcfg, place: str) -> ValueType:
    if isinstance(constant, Literal):
        return _literal_type(constant.value, place)
    if constant.weight not in hcfg.weights:
        raise HcfgError(f"{place} uses weight {constant.weight}, which does not exist")
    return hcfg.weights[constant.weight]


def _literal_type(value: Number, place: str) -> HostType:
    if isinstance(value, bool):
        return HostType("bool")
    if isinstance(value, int):
        if not INT64_MIN <= value <= INT64_MAX:
            raise HcfgError(f"{place} has the literal {value}, which does not fit 64 bits")
        return HostType("int")
    return HostType("float")


def _check_terminator(terminator: Terminator, scope: Scope, hcfg: Hcfg, place: str) -> None:
    for target in targets(terminator):
        _check_target(target, scope, hcfg, place)
    match terminator:
        case Jump():
            pass
        case Branch(condition=condition):
            _check_condition(condition, scope, place)
        case Switch(value=value, cases=cases, error=error):
            value_type = _lookup(scope, value, place)
            if carrier(value_type).dtype not in INTEGER_DTYPES or not _has_one_element(value_type):
                raise HcfgError(f"{place} switches on {value}, which is {value_type} and not one integer")
            require_distinct([case for case, _ in cases], f"the cases of the switch in {place}")
            if not all(INT64_MIN <= case <= INT64_MAX for case, _ in cases):
                raise HcfgError(f"{place} has a case that does not fit 64 bits")
            check_name(error, f"an error of {place}")
        case Return(values=values, structure=structure):
            _check_return(values, structure, scope, place)
        case Fail(error=error):
            check_name(error, f"an error of {place}")
        case _:
            assert_never(terminator)
    for target in next_calls(terminator):
        _check_next_call(target, scope, hcfg, place)


def _check_target(target: Target, scope: Scope, hcfg: Hcfg, place: str) -> None:
    block = hcfg.blocks.get(target.block)
    if block is None:
        raise HcfgError(f"{place} goes to block {target.block}, which does not exist")
    expected = [parameter.type for parameter in block.parameters]
    _check_arguments(target.arguments, expected, scope, place, f"block {target.block}")


def _check_arguments(
    names: tuple[Name, ...], expected: Collection[ValueType], scope: Scope, place: str, receiver: str
) -> None:
    if len(names) != len(expected):
        raise HcfgError(f"{place} gives {len(names)} values to {receiver}, which takes {len(expected)}")
    for name, value_type in zip(names, expected, strict=True):
        given = _lookup(scope, name, place)
        if not _fits(carrier(given), carrier(value_type)):
            raise HcfgError(f"{place} gives {name}, which is {given}, to {receiver}, which takes {value_type}")


def _check_return(values: tuple[Name, ...], structure: Structure, scope: Scope, place: str) -> None:
    types = [_lookup(scope, value, place) for value in values]
    check_structure(structure, f"the result of {place}")
    stacked = [rows for rows in nested(structure) if isinstance(rows, Rows)]
    lengths = {rows.length for rows in stacked}
    if {slot.index for slot in slots(structure)} | lengths != set(range(len(values))):
        raise HcfgError(f"the result of {place} does not use each of its {len(values)} values")
    in_rows = {id(slot) for rows in stacked for slot in slots(rows)}
    for slot in slots(structure):
        value_type = carrier(types[slot.index])
        _check_slot(slot, values[slot.index], value_type, id(slot) in in_rows, f"the result of {place}")
    for rows in stacked:
        if any(isinstance(inner, Rows) for inner in nested(rows.item)):
            raise HcfgError(f"the result of {place} has lists of unknown length inside each other")
        if not carrier(types[rows.length]).shape:
            raise HcfgError(f"the result of {place} takes the length of a list from {types[rows.length]}")


def _check_slot(slot: Slot, name: Name, value_type: TensorType, in_rows: bool, place: str) -> None:
    """A number is a 0-d tensor, or a 1-d one where the items of a list are stacked; NumPy has no bfloat16."""
    item = TensorType(value_type.dtype, value_type.shape[1:] if in_rows else value_type.shape)
    match slot.kind:
        case "tensor":
            fits = True
        case "array":
            fits = item.dtype != "bfloat16"
        case "scalar":
            fits = item.dtype != "bfloat16" and not item.shape
        case kind:
            fits = item == HostType(kind).tensor
    if not fits or (in_rows and not value_type.shape):
        raise HcfgError(f"{place} takes {name} as {slot.kind}, but it is {value_type}")


def _check_next_call(target: Target, scope: Scope, hcfg: Hcfg, place: str) -> None:
    block = hcfg.blocks.get(target.block)
    if block is None:
        raise HcfgError(f"{place} lets the next call begin in block {target.block}, which does not exist")
    count = len(hcfg.inputs)
    if block.parameters[:count] != hcfg.inputs:
        raise HcfgError(f"{place} lets the next call begin in block {target.block}, which does not take the inputs")
    kept = [carrier(parameter.type) for parameter in block.parameters[count:]]
    _check_arguments(target.arguments, kept, scope, place, f"the next call in block {target.block}")


def _check_condition(condition: Name, scope: Scope, place: str) -> None:
    value_type = _lookup(scope, condition, place)
    if carrier(value_type).dtype != "bool" or not _has_one_element(value_type):
        raise HcfgError(f"{place} decides on {condition}, which is {value_type} and not one flag")


def _check_entry(hcfg: Hcfg) -> None:
    entry = hcfg.blocks.get(hcfg.entry)
    if entry is None:
        raise HcfgError(f"the entry block {hcfg.entry} does not exist")
    if entry.parameters != hcfg.inputs:
        raise HcfgError(f"the parameters of the entry block {hcfg.entry} are not the program's inputs")


def _check_reachable(hcfg: Hcfg) -> None:
    seen = {hcfg.entry}
    waiting = [hcfg.entry]
    while waiting:
        terminator = hcfg.blocks[waiting.pop()].terminator
        for target in (*targets(terminator), *next_calls(terminator)):
            if target.block not in seen:
                seen.add(target.block)
                waiting.append(target.block)
    for block_id in hcfg.blocks:
        if block_id not in seen:
            raise HcfgError(f"block {block_id} is never reached")


def _check_parameter(parameter: Parameter, place: str) -> None:
    check_name(parameter.name, f"a parameter of {place}")
    check_type(parameter.type, f"parameter {parameter.name} of {place}")


def check_type(value_type: ValueType, place: str) -> None:
    """Nothing if a type is well formed; otherwise HcfgError."""
    if isinstance(value_type, HostType):
        if value_type.kind not in HOST_KINDS:
            raise HcfgError(f"{place} has the unknown kind {value_type.kind}")
        return
    if value_type.dtype not in DTYPES:
        raise HcfgError(f"{place} has the unknown element type {value_type.dtype}")
    if len(value_type.shape) > MAX_RANK:
        raise HcfgError(f"{place} has {len(value_type.shape)} dimensions, more than {MAX_RANK}")
    for dimension in value_type.shape:
        if isinstance(dimension, str):
            check_name(dimension, f"a dimension of {place}")
        elif not 0 <= dimension <= MAX_DIMENSION:
            raise HcfgError(f"{place} has the dimension {dimension}")


def _define(scope: Scope, name: Name, value_type: ValueType, place: str) -> None:
    check_name(name, f"a name in {place}")
    if name in scope:
        raise HcfgError(f"{place} defines {name} twice")
    scope[name] = value_type


def _lookup(scope: Mapping[Name, ValueType], name: Name, place: str) -> ValueType:
    if name not in scope:
        raise HcfgError(f"{place} uses {name} before it is defined")
    return scope[name]


def _fits(given: TensorType, expected: TensorType) -> bool:
    """Whether a tensor of type `given` may be passed where `expected` is asked for.

    A symbolic dimension stands for any size, so it fits every dimension at its place.
    """
    return (
        given.dtype == expected.dtype
        and len(given.shape) == len(expected.shape)
        and all(
            here == there or isinstance(here, str) or isinstance(there, str)
            for here, there in zip(given.shape, expected.shape, strict=True)
        )
    )


def _has_one_element(value_type: ValueType) -> bool:
    return all(dimension == 1 for dimension in carrier(value_type).shape)
