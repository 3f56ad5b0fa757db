"""The graph as JSON, the form that an artefact stores.

The bytes are deterministic: sorted keys, no spaces, ASCII only. A node that may be one of several is an object whose
`kind` is its class name and whose other keys are its fields; blocks, sub-DNNs and weights are lists, so that their
order survives. Reading is strict: an unknown or missing field, or one of the wrong type, is an HcfgError. Whether the
graph makes sense is the verifier's question, not the parser's.
"""

from typing import TypeVar

from dycl.hcfg import strict_json
from dycl.hcfg.errors import HcfgError
from dycl.hcfg.json_values import (
    read_number,
    read_span,
    read_structure,
    read_tensor_type,
    read_type,
    write_number,
    write_span,
    write_structure,
    write_type,
)
from dycl.hcfg.nodes import (
    Block,
    Branch,
    Check,
    Fail,
    Hcfg,
    Jump,
    Let,
    Literal,
    Parameter,
    Return,
    Run,
    SizeRule,
    Step,
    Subnet,
    Switch,
    Target,
    Terminator,
    Weight,
)
from dycl.hcfg.strict_json import Json, fields, integer, items, text, texts
from dycl.hcfg.types import TensorType

Named = TypeVar("Named", Block, Subnet)


def to_json(hcfg: Hcfg) -> bytes:
    """The JSON form of `hcfg`; equal graphs give equal bytes."""
    return strict_json.write(
        {
            "name": hcfg.name,
            "signature": write_structure(hcfg.signature),
            "parameter_names": list(hcfg.parameter_names),
            "inputs": [_write_parameter(parameter) for parameter in hcfg.inputs],
            "sizes": [_write_size_rule(rule) for rule in hcfg.sizes],
            "entry": hcfg.entry,
            "blocks": [_write_block(block) for block in hcfg.blocks.values()],
            "subnets": [_write_subnet(subnet) for subnet in hcfg.subnets.values()],
            "weights": [{"id": key, "type": write_type(value)} for key, value in hcfg.weights.items()],
        }
    )


def from_json(data: bytes) -> Hcfg:
    """The graph that `data` describes; HcfgError if `data` is not the JSON form of one."""
    name, signature, parameter_names, inputs, sizes, entry, blocks, subnets, weights = fields(
        strict_json.parse(data, "the graph"),
        "the graph",
        "name",
        "signature",
        "parameter_names",
        "inputs",
        "sizes",
        "entry",
        "blocks",
        "subnets",
        "weights",
    )
    return Hcfg(
        name=text(name, "name"),
        signature=read_structure(signature, "signature"),
        parameter_names=texts(parameter_names, "parameter_names"),
        inputs=tuple(_read_parameter(*item) for item in items(inputs, "inputs")),
        sizes=tuple(_read_size_rule(*item) for item in items(sizes, "sizes")),
        entry=text(entry, "entry"),
        blocks=_by_id([_read_block(*item) for item in items(blocks, "blocks")], "blocks"),
        subnets=_by_id([_read_subnet(*item) for item in items(subnets, "subnets")], "subnets"),
        weights=_read_weights(weights),
    )


def _by_id(nodes: list[Named], place: str) -> dict[str, Named]:
    table = {node.id: node for node in nodes}
    if len(table) != len(nodes):
        raise HcfgError(f"{place} has two entries of the same id")
    return table


def _write_parameter(parameter: Parameter) -> Json:
    return {"name": parameter.name, "type": write_type(parameter.type)}


def _read_parameter(value: object, place: str) -> Parameter:
    name, value_type = fields(value, place, "name", "type")
    return Parameter(text(name, f"{place}.name"), read_type(value_type, f"{place}.type"))


def _write_size_rule(rule: SizeRule) -> Json:
    return {
        "name": rule.name,
        "least": rule.least,
        "most": rule.most,
        "root": rule.root,
        "factor": rule.factor,
        "offset": rule.offset,
    }


def _read_size_rule(value: object, place: str) -> SizeRule:
    name, least, most, root, factor, offset = fields(value, place, "name", "least", "most", "root", "factor", "offset")
    return SizeRule(
        name=text(name, f"{place}.name"),
        least=integer(least, f"{place}.least"),
        most=integer(most, f"{place}.most"),
        root=text(root, f"{place}.root"),
        factor=integer(factor, f"{place}.factor"),
        offset=integer(offset, f"{place}.offset"),
    )


def _write_block(block: Block) -> Json:
    return {
        "id": block.id,
        "parameters": [_write_parameter(parameter) for parameter in block.parameters],
        "steps": [_write_step(step) for step in block.steps],
        "terminator": _write_terminator(block.terminator),
        "span": write_span(block.span),
    }


def _read_block(value: object, place: str) -> Block:
    id_, parameters, steps, terminator, span = fields(value, place, "id", "parameters", "steps", "terminator", "span")
    return Block(
        id=text(id_, f"{place}.id"),
        parameters=tuple(_read_parameter(*item) for item in items(parameters, f"{place}.parameters")),
        steps=tuple(_read_step(*item) for item in items(steps, f"{place}.steps")),
        terminator=_read_terminator(terminator, f"{place}.terminator"),
        span=read_span(span, f"{place}.span"),
    )


def _write_step(step: Step) -> Json:
    span = write_span(step.span)
    match step:
        case Run(subnet=subnet, inputs=inputs, outputs=outputs):
            return {"kind": "Run", "subnet": subnet, "inputs": list(inputs), "outputs": list(outputs), "span": span}
        case Let(name=name, constant=constant):
            if isinstance(constant, Literal):
                return {"kind": "LetLiteral", "name": name, "value": write_number(constant.value), "span": span}
            return {"kind": "LetWeight", "name": name, "weight": constant.weight, "span": span}
        case Check(condition=condition, error=error, message=message):
            return {"kind": "Check", "condition": condition, "error": error, "message": message, "span": span}


def _read_step(value: object, place: str) -> Step:
    match strict_json.kind(value, place):
        case "Run":
            _, subnet, inputs, outputs, span = fields(value, place, "kind", "subnet", "inputs", "outputs", "span")
            return Run(
                text(subnet, f"{place}.subnet"),
                texts(inputs, f"{place}.inputs"),
                texts(outputs, f"{place}.outputs"),
                read_span(span, f"{place}.span"),
            )
        case "LetLiteral":
            _, name, number, span = fields(value, place, "kind", "name", "value", "span")
            literal = Literal(read_number(number, f"{place}.value"))
            return Let(text(name, f"{place}.name"), literal, read_span(span, f"{place}.span"))
        case "LetWeight":
            _, name, weight, span = fields(value, place, "kind", "name", "weight", "span")
            constant = Weight(text(weight, f"{place}.weight"))
            return Let(text(name, f"{place}.name"), constant, read_span(span, f"{place}.span"))
        case "Check":
            _, condition, error, message, span = fields(value, place, "kind", "condition", "error", "message", "span")
            return Check(
                text(condition, f"{place}.condition"),
                text(error, f"{place}.error"),
                text(message, f"{place}.message"),
                read_span(span, f"{place}.span"),
            )
        case unknown:
            raise HcfgError(f"{place} has the unknown kind {unknown!r:.80}")


def _write_target(target: Target) -> Json:
    return {"block": target.block, "arguments": list(target.arguments)}


def _read_target(value: object, place: str) -> Target:
    block, arguments = fields(value, place, "block", "arguments")
    return Target(text(block, f"{place}.block"), texts(arguments, f"{place}.arguments"))


def _write_terminator(terminator: Terminator) -> Json:
    span = write_span(terminator.span)
    match terminator:
        case Jump(target=target):
            return {"kind": "Jump", "target": _write_target(target), "span": span}
        case Branch(condition=condition, then=then, orelse=orelse):
            ways: dict[str, Json] = {"then": _write_target(then), "orelse": _write_target(orelse)}
            return {"kind": "Branch", "condition": condition, **ways, "span": span}
        case Switch(value=value, cases=cases, error=error, message=message):
            return {
                "kind": "Switch",
                "value": value,
                "cases": [{"equals": case, "target": _write_target(target)} for case, target in cases],
                "error": error,
                "message": message,
                "span": span,
            }
        case Return(values=values, structure=structure, next_call=next_call):
            return {
                "kind": "Return",
                "values": list(values),
                "structure": write_structure(structure),
                "next_call": _write_next_call(next_call),
                "span": span,
            }
        case Fail(error=error, message=message, next_call=next_call):
            return {
                "kind": "Fail",
                "error": error,
                "message": message,
                "next_call": _write_next_call(next_call),
                "span": span,
            }


def _read_terminator(value: object, place: str) -> Terminator:
    match strict_json.kind(value, place):
        case "Jump":
            _, target, span = fields(value, place, "kind", "target", "span")
            return Jump(_read_target(target, f"{place}.target"), read_span(span, f"{place}.span"))
        case "Branch":
            _, condition, then, orelse, span = fields(value, place, "kind", "condition", "then", "orelse", "span")
            return Branch(
                text(condition, f"{place}.condition"),
                _read_target(then, f"{place}.then"),
                _read_target(orelse, f"{place}.orelse"),
                read_span(span, f"{place}.span"),
            )
        case "Switch":
            _, name, cases, error, message, span = fields(
                value, place, "kind", "value", "cases", "error", "message", "span"
            )
            return Switch(
                text(name, f"{place}.value"),
                tuple(_read_case(*item) for item in items(cases, f"{place}.cases")),
                text(error, f"{place}.error"),
                text(message, f"{place}.message"),
                read_span(span, f"{place}.span"),
            )
        case "Return":
            _, values, structure, next_call, span = fields(
                value, place, "kind", "values", "structure", "next_call", "span"
            )
            return Return(
                texts(values, f"{place}.values"),
                read_structure(structure, f"{place}.structure"),
                read_span(span, f"{place}.span"),
                _read_next_call(next_call, place),
            )
        case "Fail":
            _, error, message, next_call, span = fields(value, place, "kind", "error", "message", "next_call", "span")
            return Fail(
                text(error, f"{place}.error"),
                text(message, f"{place}.message"),
                read_span(span, f"{place}.span"),
                _read_next_call(next_call, place),
            )
        case unknown:
            raise HcfgError(f"{place} has the unknown kind {unknown!r:.80}")


def _write_next_call(target: Target | None) -> Json:
    return None if target is None else _write_target(target)


def _read_next_call(value: object, place: str) -> Target | None:
    return None if value is None else _read_target(value, f"{place}.next_call")


def _read_case(value: object, place: str) -> tuple[int, Target]:
    equals, target = fields(value, place, "equals", "target")
    return integer(equals, f"{place}.equals"), _read_target(target, f"{place}.target")


def _write_subnet(subnet: Subnet) -> Json:
    return {
        "id": subnet.id,
        "inputs": [write_type(value) for value in subnet.inputs],
        "outputs": [write_type(value) for value in subnet.outputs],
        "backend": subnet.backend,
        "code": subnet.code,
        "weights": list(subnet.weights),
    }


def _read_subnet(value: object, place: str) -> Subnet:
    id_, inputs, outputs, backend, code, weights = fields(
        value, place, "id", "inputs", "outputs", "backend", "code", "weights"
    )
    return Subnet(
        id=text(id_, f"{place}.id"),
        inputs=tuple(read_tensor_type(*item) for item in items(inputs, f"{place}.inputs")),
        outputs=tuple(read_tensor_type(*item) for item in items(outputs, f"{place}.outputs")),
        backend=text(backend, f"{place}.backend"),
        code=text(code, f"{place}.code"),
        weights=texts(weights, f"{place}.weights"),
    )


def _read_weights(value: object) -> dict[str, TensorType]:
    weights: dict[str, TensorType] = {}
    for item, place in items(value, "weights"):
        id_, tensor_type = fields(item, place, "id", "type")
        weight = text(id_, f"{place}.id")
        if weight in weights:
            raise HcfgError("weights has two entries of the same id")
        weights[weight] = read_tensor_type(tensor_type, f"{place}.type")
    return weights
