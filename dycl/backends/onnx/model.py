"""Assemble the ONNX model of a sub-DNN: inputs i0, i1, ..., weights w0, w1, ..., outputs o0, o1, ..."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import onnx
from onnx import helper

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import ONNX_TYPES, Builder
from dycl.backends.onnx.layout import in_blocks
from dycl.backends.onnx.lowerings import LOWERINGS
from dycl.backends.onnx.values import Value, static_shape
from dycl.hcfg.subnet import Argument, Operation, Ref, SubnetGraph
from dycl.hcfg.types import TensorType

OPSET = 20
IR_VERSION = 10
WEIGHTS_LOCATION = "weights"


def translate(graph: SubnetGraph) -> bytes:
    """The serialised ONNX model of a sub-DNN; the same graph always gives the same bytes."""
    builder = Builder()
    values: dict[Ref, Value] = {}
    for prefix, refs in (("i", graph.inputs), ("w", graph.weights)):
        for index, ref in enumerate(refs):
            value_type = graph.type_of(ref)
            values[ref] = Value(f"{prefix}{index}", value_type.dtype, value_type.shape)
    read = _read(graph)
    for operation in graph.operations:
        _lower(operation, graph, values, read, builder)
    results = [values[ref].name for ref in graph.outputs]
    _drop_unread(builder, results)
    _name_outputs(builder, results)
    builder.nodes = in_blocks(builder.nodes, [graph.type_of(ref) for ref in graph.inputs])
    _mention(builder, [f"w{index}" for index in range(len(graph.weights))])
    body = helper.make_graph(
        builder.nodes,
        "subnet",
        [_declared(f"i{index}", graph.type_of(ref)) for index, ref in enumerate(graph.inputs)],
        [_declared(f"o{index}", graph.type_of(ref)) for index, ref in enumerate(graph.outputs)],
        [_weight(f"w{index}", graph.type_of(ref)) for index, ref in enumerate(graph.weights)] + builder.initializers,
    )
    opsets = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(body, opset_imports=opsets, ir_version=IR_VERSION, producer_name="dycl")
    return bytes(model.SerializeToString(deterministic=True))


def _read(graph: SubnetGraph) -> frozenset[Ref]:
    """What some operation, or whoever runs the graph, reads."""
    pending: list[Argument] = list(graph.outputs)
    pending += [argument for operation in graph.operations for argument in operation.arguments.values()]
    found = set()
    while pending:
        argument = pending.pop()
        if isinstance(argument, Ref):
            found.add(argument)
        elif isinstance(argument, tuple):
            pending.extend(argument)
    return frozenset(found)


def _lower(
    operation: Operation, graph: SubnetGraph, values: dict[Ref, Value], read: frozenset[Ref], builder: Builder
) -> None:
    builder.enter(operation.target, operation.span)
    lowering = LOWERINGS.get(operation.target)
    if lowering is None:
        builder.refuse("the ONNX backend has no translation for it")
    types = tuple(graph.type_of(ref) for ref in operation.outputs if ref is not None)
    if types and all(0 in value_type.shape and static_shape(value_type.shape) for value_type in types):
        # ONNX Runtime has many kernels that stumble over empty tensors, and nothing is left to compute.
        results: Value | Sequence[Value] = [builder.empty(value_type) for value_type in types]
    else:
        used = tuple(ref in read for ref in operation.outputs if ref is not None)
        results = lowering(builder, Arguments(operation, values, types, used, builder))
    given = [results] if isinstance(results, Value) else list(results)
    assert len(given) == len(operation.outputs), f"{operation.target} gave {len(given)} results"
    for ref, value in zip(operation.outputs, given, strict=True):
        if ref is not None:
            expected = graph.type_of(ref)
            assert value.dtype == expected.dtype, f"{operation.target} gave {value.dtype}, not {expected}"
            assert value.rank == len(expected.shape), f"{operation.target} gave {value.shape}, not {expected}"
            values[ref] = Value(value.name, value.dtype, expected.shape)


def _drop_unread(builder: Builder, results: Iterable[str]) -> None:
    """Drop the nodes that no result depends on, which ONNX Runtime would run all the same."""
    read = set(results)
    kept = []
    for node in reversed(builder.nodes):
        if not read.isdisjoint(node.output):
            read |= _read_by(node)
            kept.append(node)
    builder.nodes = kept[::-1]


def _name_outputs(builder: Builder, results: Iterable[str]) -> None:
    """Let the nodes that compute the results name them o0, o1, ...; what no node computes is copied."""
    computed = {name for node in builder.nodes for name in node.output}
    names: dict[str, str] = {}
    copies: list[onnx.NodeProto] = []
    for index, result in enumerate(results):
        if result in computed and result not in names:
            names[result] = f"o{index}"
        else:
            source = names.get(result, result)
            copies.append(helper.make_node("Identity", [source], [f"o{index}"], name=f"output_{index}"))
    for node in builder.nodes:
        _rename(node, names)
    builder.nodes.extend(copies)


def _mention(builder: Builder, weights: Iterable[str]) -> None:
    """Give every weight a reader: ONNX Runtime forgets a weight that has none, and then fails to bind it."""
    read = {name for node in builder.nodes for name in _read_by(node)}
    for weight in weights:
        if weight not in read:
            builder.nodes.append(helper.make_node("Identity", [weight], [f"unused_{weight}"], name=f"unused_{weight}"))


def _read_by(node: onnx.NodeProto) -> set[str]:
    return set(node.input).union(*(_read_by(inner) for inner in _inside(node)))


def _rename(node: onnx.NodeProto, names: Mapping[str, str]) -> None:
    for field in (node.input, node.output):
        if not names.keys().isdisjoint(field):
            field[:] = [names.get(name, name) for name in field]
    for inner in _inside(node):
        _rename(inner, names)


def _inside(node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
    """The nodes of the graphs that a node chooses from or repeats."""
    if node.op_type in _WITH_GRAPHS:
        for attribute in node.attribute:
            yield from attribute.g.node


_WITH_GRAPHS = frozenset(("If", "Loop", "Scan"))


def _declared(name: str, value_type: TensorType) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, ONNX_TYPES[value_type.dtype], list(value_type.shape))


def _weight(name: str, value_type: TensorType) -> onnx.TensorProto:
    """A weight without its data, which the runtime binds when it loads the model."""
    tensor = onnx.TensorProto(name=name, data_type=ONNX_TYPES[value_type.dtype])
    tensor.dims.extend(size for size in value_type.shape if isinstance(size, int))
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=WEIGHTS_LOCATION)
    return tensor
