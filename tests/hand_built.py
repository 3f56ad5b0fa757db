"""Small programs built by hand, without the compiler: graphs with ONNX codes for the runtime's tests."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import onnx
from onnx import TensorProto, helper

from dycl.hcfg.nodes import (
    Block,
    Branch,
    Check,
    Hcfg,
    Jump,
    Let,
    Literal,
    Parameter,
    Return,
    Run,
    Subnet,
    Switch,
    Target,
    Weight,
)
from dycl.hcfg.structure import Items, Slot, Structure, Table
from dycl.hcfg.types import HostType, Span, TensorType, ValueType
from dycl.runtime.artefact import Artefact, code_digest
from dycl.runtime.onnxruntime.scan import ONNX_TYPES
from dycl.runtime.weight_store import Array

FLAG = TensorType("bool", ())
COUNT = TensorType("int64", ())
ROW = TensorType("float32", (2, 3))


def span(line: int, column: int = 9) -> Span:
    """A place in the imagined source file of the hand-built programs."""
    return Span("/models/net.py", line, column, line, column + 10, "Net.forward")


def call_of(*items: Structure, **keywords: Structure) -> Items:
    """The signature of a call with these positional and keyword arguments."""
    table = Table("dict", tuple(keywords), tuple(keywords.values()))
    return Items("tuple", (Items("tuple", items), table))


def onnx_code(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[TensorType],
    outputs: Sequence[TensorType],
    weights: Sequence[TensorType] = (),
) -> onnx.ModelProto:
    """An ONNX model in the form that DyCL writes: inputs i0.., outputs o0.., weights w0.. bound from outside."""
    graph = helper.make_graph(
        nodes,
        "subnet",
        [_value_info(f"i{index}", value) for index, value in enumerate(inputs)],
        [_value_info(f"o{index}", value) for index, value in enumerate(outputs)],
        [external_weight(f"w{index}", value) for index, value in enumerate(weights)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 9
    return model


def external_weight(name: str, tensor_type: TensorType) -> TensorProto:
    """An initializer whose values come from the artefact."""
    tensor = TensorProto(name=name, data_type=ONNX_TYPES[tensor_type.dtype])
    tensor.dims.extend(dimension for dimension in tensor_type.shape if isinstance(dimension, int))
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights")
    return tensor


def _value_info(name: str, tensor_type: TensorType) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, ONNX_TYPES[tensor_type.dtype], tensor_type.shape)


def artefact_of(
    hcfg: Hcfg, codes: Mapping[str, onnx.ModelProto | bytes], weights: Mapping[str, Array] | None = None
) -> Artefact:
    """The artefact of `hcfg`, whose sub-DNNs name their code by a key of `codes`."""
    encoded = {
        key: code if isinstance(code, bytes) else code.SerializeToString(deterministic=True)
        for key, code in codes.items()
    }
    subnets = {key: replace(subnet, code=code_digest(encoded[subnet.code])) for key, subnet in hcfg.subnets.items()}
    stored = {code_digest(code): code for code in encoded.values()}
    return Artefact(replace(hcfg, subnets=subnets), weights or {}, stored, "dycl tests")


def gated() -> Artefact:
    """A program with a branch: rows with a positive sum are scaled by a weight, others are returned with a flag.

    if x.sum() > 0: return x * w0       else: return {"row": -x, "why": weight, "count": 7}
    """
    x = Parameter("x", ROW)
    y = Parameter("y", ROW)
    gate = onnx_code(
        [
            helper.make_node("ReduceSum", ["i0"], ["sum"], keepdims=0),
            helper.make_node("Sub", ["sum", "sum"], ["zero"]),
            helper.make_node("Greater", ["sum", "zero"], ["o0"]),
            helper.make_node("Identity", ["i0"], ["o1"]),
        ],
        [ROW],
        [FLAG, ROW],
    )
    scale = onnx_code([helper.make_node("Mul", ["i0", "w0"], ["o0"])], [ROW], [ROW], [TensorType("float32", (3,))])
    negate = onnx_code([helper.make_node("Neg", ["i0"], ["o0"])], [ROW], [ROW])
    blocks = [
        Block(
            "b0",
            (x,),
            (Run("net0", ("x",), ("flag", "copy"), span(13)),),
            Branch("flag", Target("b1", ("copy",)), Target("b2", ("x",)), span(14, 12)),
            span(12),
        ),
        Block(
            "b1",
            (y,),
            (Run("net1", ("y",), ("scaled",), span(15)),),
            Return(("scaled",), Slot(0, "tensor"), span(15)),
            span(15),
        ),
        Block(
            "b2",
            (y,),
            (
                Run("net2", ("y",), ("negated",), span(16)),
                Let("why", Weight("scale"), span(17)),
                Let("count", Literal(7), span(18)),
            ),
            Return(
                ("negated", "why", "count"),
                Table("dict", ("row", "why", "count"), (Slot(0, "tensor"), Slot(1, "tensor"), Slot(2, "int"))),
                span(19),
            ),
            span(16),
        ),
    ]
    hcfg = Hcfg(
        "Gated",
        call_of(Slot(0, "tensor")),
        (x,),
        "b0",
        {block.id: block for block in blocks},
        {
            "net0": Subnet("net0", (ROW,), (FLAG, ROW), "onnxruntime", "gate", ()),
            "net1": Subnet("net1", (ROW,), (ROW,), "onnxruntime", "scale", ("scale",)),
            "net2": Subnet("net2", (ROW,), (ROW,), "onnxruntime", "negate", ()),
        },
        {"scale": TensorType("float32", (3,))},
        parameter_names=("x",),
    )
    weights = {"scale": np.array([1.0, 2.0, 3.0], np.float32)}
    return artefact_of(hcfg, {"gate": gate, "scale": scale, "negate": negate}, weights)


def counting_loop() -> Artefact:
    """A program with a back edge: total = 0; while n > 0: total, n = total + n, n - 1; return total, n."""
    n, total = Parameter("n", HostType("int")), Parameter("total", COUNT)
    constant = helper.make_node("Constant", [], ["one"], value_int=1)
    zero = helper.make_node("Constant", [], ["zero"], value_int=0)
    test = onnx_code([zero, helper.make_node("Greater", ["i0", "zero"], ["o0"])], [COUNT], [FLAG])
    body = onnx_code(
        [
            constant,
            zero,
            helper.make_node("Add", ["i1", "i0"], ["o0"]),
            helper.make_node("Sub", ["i0", "one"], ["o1"]),
            helper.make_node("Greater", ["o1", "zero"], ["o2"]),
        ],
        [COUNT, COUNT],
        [COUNT, COUNT, FLAG],
    )
    step = (Run("body", ("n", "total"), ("more", "less", "flag"), span(5)),)
    result = Return(("total", "n"), Items("tuple", (Slot(0, "tensor"), Slot(1, "int"))), span(6))
    blocks = [
        Block(
            "b0",
            (n,),
            (Let("total", Literal(0), span(3)), Run("test", ("n",), ("flag",), span(4))),
            Branch("flag", Target("b1", ("n", "total")), Target("b2", ("total", "n")), span(4)),
            span(3),
        ),
        Block(
            "b1",
            (n, total),
            step,
            Branch("flag", Target("b1", ("less", "more")), Target("b2", ("more", "less")), span(4)),
            span(5),
        ),
        Block("b2", (total, n), (), result, span(6)),
    ]
    hcfg = Hcfg(
        "Counting",
        call_of(n=Slot(0, "int")),
        (n,),
        "b0",
        {block.id: block for block in blocks},
        {
            "test": Subnet("test", (COUNT,), (FLAG,), "onnxruntime", "test", ()),
            "body": Subnet("body", (COUNT, COUNT), (COUNT, COUNT, FLAG), "onnxruntime", "body", ()),
        },
        parameter_names=("n",),
    )
    return artefact_of(hcfg, {"test": test, "body": body})


def routed() -> Artefact:
    """A program with a check and a switch: assert ready; return [a, b][which]; an unknown `which` is an IndexError."""
    which, ready = Parameter("which", HostType("int")), Parameter("ready", HostType("bool"))
    first, second = Parameter("first", HostType("float")), Parameter("second", HostType("float"))
    result = Return(("value",), Items("list", (Slot(0, "float"),)), span(9))
    blocks = [
        Block(
            "b0",
            (which, ready, first, second),
            (Check("ready", "AssertionError", "not ready", span(7)),),
            Switch(
                "which",
                ((0, Target("b1", ("first",))), (1, Target("b2", ("second",)))),
                "IndexError",
                "list index out of range",
                span(8),
            ),
            span(7),
        ),
        Block("b1", (Parameter("value", HostType("float")),), (), Jump(Target("b3", ("value",)), span(8)), span(8)),
        Block("b2", (Parameter("value", HostType("float")),), (), Jump(Target("b3", ("value",)), span(8)), span(8)),
        Block("b3", (Parameter("value", HostType("float")),), (), result, span(9)),
    ]
    hcfg = Hcfg(
        "Routed",
        call_of(Slot(0, "int"), Slot(1, "bool"), Slot(2, "float"), Slot(3, "float")),
        (which, ready, first, second),
        "b0",
        {block.id: block for block in blocks},
        {},
        parameter_names=("which", "ready", "first", "second"),
    )
    return artefact_of(hcfg, {})


def forwarding(signature: Structure, result: Structure, *types: ValueType, names: tuple[str, ...] = ()) -> Artefact:
    """A program that returns its inputs, one value for each of `types`."""
    parameters = tuple(Parameter(f"v{index}", value_type) for index, value_type in enumerate(types))
    terminator = Return(tuple(parameter.name for parameter in parameters), result, span(2))
    block = Block("b0", parameters, (), terminator, span(1))
    hcfg = Hcfg("Forward", signature, parameters, "b0", {"b0": block}, {}, parameter_names=names)
    return artefact_of(hcfg, {})
