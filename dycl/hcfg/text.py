"""The graph as a person reads it, and as golden tests compare it.

hcfg GatedNet(x: float32[1, 3])
  weights 1, sub-DNNs 2

b0(x: float32[1, 3]):                                 # net.py:12
  flag, y = run net0(x)                               # net.py:13:9
  branch flag ? b1(y) : b2(y)                         # net.py:14:12
...
net0(float32[1, 3]) with stage.weight -> bool[], float32[1, 3]

A module, whose sub-DNNs are not compiled yet, shows what they compute:

net0(float32[1, 3]) with stage.weight -> bool[], float32[1, 3]
  %2 = mm(%0, %1): float32[1, 3]                      # net.py:13:9
"""

from collections.abc import Iterable
from typing import assert_never

from dycl.hcfg.module import Module, outline
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
    next_calls,
)
from dycl.hcfg.structure import Items, Named, Record, Rows, Slot, Static, Structure, Table
from dycl.hcfg.subnet import Argument, DTypeArgument, Ref, SubnetGraph
from dycl.hcfg.types import MAX_DIMENSION, Span

COMMENT_COLUMN = 56


def to_text(program: Hcfg | Module) -> str:
    """The text form of a program: its blocks in order, then its sub-DNNs, with their operations if they have any."""
    hcfg = outline(program) if isinstance(program, Module) else program
    graphs = {name: item.graph for name, item in program.subnets.items()} if isinstance(program, Module) else {}
    lines = [
        f"hcfg {hcfg.name}({_parameters(hcfg.inputs)})",
        f"  call {_structure(hcfg.signature, [parameter.name for parameter in hcfg.inputs])}",
        f"  weights {len(hcfg.weights)}, sub-DNNs {len(hcfg.subnets)}, entry {hcfg.entry}",
    ]
    lines += [f"  size {_size_rule(rule)}" for rule in hcfg.sizes]
    for block in hcfg.blocks.values():
        lines += ("", *_block(block))
    if hcfg.subnets and not graphs:
        lines.append("")
    is_mixed = len({subnet.backend for subnet in hcfg.subnets.values()}) > 1
    for name, subnet in hcfg.subnets.items():
        signature = _subnet(subnet, is_mixed)
        lines += ["", signature, *_operations(graphs[name])] if graphs else [signature]
    return "\n".join(lines) + "\n"


def _size_rule(rule: SizeRule) -> str:
    bounds = f"{rule.least} to {rule.most}" if rule.most < MAX_DIMENSION else f"{rule.least} or more"
    if rule.name == rule.root:
        return f"{rule.name}: {bounds}"
    formula = "" if rule.name == str(rule) else f" = {rule}"
    return f"{rule.name}{formula}: {rule.root} is {bounds}"


def _block(block: Block) -> Iterable[str]:
    yield _commented(f"{block.id}({_parameters(block.parameters)}):", f"{_file(block.span)}:{block.span.line}")
    for step in block.steps:
        yield _commented(f"  {_step(step)}", _place(step.span))
    first, *rest = _terminator(block.terminator)
    yield _commented(f"  {first}", _place(block.terminator.span))
    yield from (f"    {line}" for line in rest)


def _step(step: Step) -> str:
    match step:
        case Run(subnet=subnet, inputs=inputs, outputs=outputs):
            results = f"{', '.join(outputs)} = " if outputs else ""
            return f"{results}run {subnet}({', '.join(inputs)})"
        case Let(name=name, constant=constant):
            return (
                f"{name} = {constant.value!r}"
                if isinstance(constant, Literal)
                else f"{name} = weight {constant.weight}"
            )
        case Check(condition=condition, error=error, message=message):
            return f"check {condition} else {_error(error, message)}"
        case _:
            assert_never(step)


def _terminator(terminator: Terminator) -> list[str]:
    match terminator:
        case Jump(target=target):
            return [f"jump {_target(target)}"]
        case Branch(condition=condition, then=then, orelse=orelse):
            return [f"branch {condition} ? {_target(then)} : {_target(orelse)}"]
        case Switch(value=value, cases=cases, error=error, message=message):
            ways = [f"{case}: {_target(target)}" for case, target in cases]
            return [f"switch {value}", *ways, f"else: {_error(error, message)}"]
        case Return(values=values, structure=structure):
            return [f"return {_structure(structure, values)}", *_next_call(terminator)]
        case Fail(error=error, message=message):
            return [f"fail {_error(error, message)}", *_next_call(terminator)]
        case _:
            assert_never(terminator)


def _structure(structure: Structure, names: Iterable[str]) -> str:
    """A structure as Python would write it; a host value shows its kind."""
    known = list(names)

    def show(part: Structure) -> str:
        match part:
            case Slot(index=index, kind=kind):
                name = known[index] if 0 <= index < len(known) else f"slot {index}"
                return name if kind == "tensor" else f"{kind}({name})"
            case Static(value=value):
                return repr(value)
            case Items(kind=kind, items=items):
                inner = ", ".join(map(show, items))
                return f"[{inner}]" if kind == "list" else f"({inner}{',' if len(items) == 1 else ''})"
            case Table(type_name=type_name, keys=keys, items=items):
                inner = ", ".join(f"{key!r}: {show(item)}" for key, item in zip(keys, items, strict=True))
                return f"{{{inner}}}" if type_name == "dict" else f"{type_name}({{{inner}}})"
            case Record(type_name=type_name, fields=fields, items=items):
                inner = ", ".join(f"{field}={show(item)}" for field, item in zip(fields, items, strict=True))
                return f"{type_name}({inner})"
            case Named(name=name):
                return f"<{name}>"
            case Rows(length=length, item=item):
                return f"[{show(item)} for each row of {known[length]}]"

    return show(structure)


def _subnet(subnet: Subnet, shows_backend: bool) -> str:
    inputs, outputs = (", ".join(map(str, types)) for types in (subnet.inputs, subnet.outputs))
    weights = f" with {', '.join(subnet.weights)}" if subnet.weights else ""
    backend = f" on {subnet.backend}" if shows_backend else ""
    return f"{subnet.id}({inputs}){weights}{backend} -> {outputs or '()'}"


def _operations(graph: SubnetGraph) -> Iterable[str]:
    for place, refs in (("input", graph.inputs), ("weight", graph.weights)):
        if refs:
            yield f"  {', '.join(map(_value, refs))}: the {place}{'s' if len(refs) > 1 else ''}"
    for operation in graph.operations:
        results = [ref for ref in operation.outputs if ref is not None]
        types = ", ".join(str(graph.type_of(ref)) for ref in results)
        arguments = ", ".join(
            f"{name}={_argument(value)}" for name, value in operation.arguments.items() if value is not None
        )
        named = ", ".join(map(_value, operation.outputs))
        yield _commented(f"  {named} = {operation.target}({arguments}): {types}", _place(operation.span))
    yield f"  out {', '.join(map(_value, graph.outputs))}"


def _value(ref: Ref | None) -> str:
    return "_" if ref is None else f"%{ref.index}"


def _argument(argument: Argument) -> str:
    match argument:
        case Ref():
            return _value(argument)
        case DTypeArgument(dtype=dtype):
            return dtype
        case tuple():
            return f"({', '.join(map(_argument, argument))}{',' if len(argument) == 1 else ''})"
        case _:
            return repr(argument)


def _parameters(parameters: Iterable[Parameter]) -> str:
    return ", ".join(f"{parameter.name}: {parameter.type}" for parameter in parameters)


def _next_call(terminator: Terminator) -> list[str]:
    return [f"next call: {_target(target)}" for target in next_calls(terminator)]


def _target(target: Target) -> str:
    return f"{target.block}({', '.join(target.arguments)})"


def _error(error: str, message: str) -> str:
    return f"{error}({message!r})"


def _file(span: Span) -> str:
    # Where the file lies differs from machine to machine; its name does not.
    return span.file.replace("\\", "/").rsplit("/", 1)[-1]


def _place(span: Span) -> str:
    return f"{_file(span)}:{span.line}:{span.column}"


def _commented(line: str, comment: str) -> str:
    return f"{line:<{COMMENT_COLUMN - 2}}  # {comment}"
