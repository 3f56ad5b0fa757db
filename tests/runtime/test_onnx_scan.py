"""ONNX code that asks for anything but its inputs and weights is refused before ONNX Runtime sees it."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from dycl.hcfg.types import TensorType
from dycl.runtime import ArtefactError, load
from dycl.runtime.backend import SubnetSignature
from dycl.runtime.onnxruntime.scan import scan_onnx
from tests.hand_built import FLAG, ROW, external_weight, gated, onnx_code
from tests.runtime.sealing import with_code

SCALE = TensorType("float32", (3,))


def model() -> onnx.ModelProto:
    return onnx_code([helper.make_node("Mul", ["i0", "w0"], ["o0"])], [ROW], [ROW], [SCALE])


def scan(code: bytes) -> None:
    scan_onnx(code, SubnetSignature((ROW,), (ROW,), (SCALE,)))


def refused(code: bytes | onnx.ModelProto, message: str) -> None:
    data = code if isinstance(code, bytes) else code.SerializeToString()
    with pytest.raises(ArtefactError, match=message):
        scan(data)


def test_what_dycl_writes_passes() -> None:
    scan(model().SerializeToString())


def test_a_weight_that_is_left_out() -> None:
    code = onnx_code([helper.make_node("Neg", ["i0"], ["o0"])], [ROW], [ROW])
    refused(code, "does not bind each of its 1 weights once")


def test_inline_constants_inner_graphs_and_descriptions_pass() -> None:
    inner = helper.make_graph([helper.make_node("Neg", ["i0"], ["r"])], "inner", [], [onnx.ValueInfoProto(name="r")])
    nodes = [
        helper.make_node("Constant", [], ["c"], value=onnx.numpy_helper.from_array(np.array(True))),
        helper.make_node("If", ["c"], ["n"], then_branch=inner, else_branch=inner),
        helper.make_node("Mul", ["n", "w0"], ["o0"], doc_string="scale"),
    ]
    code = onnx_code(nodes, [ROW], [ROW], [SCALE])
    code.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(3, np.float32), "constant"))
    code.metadata_props.add(key="made by", value="a test")
    scan(code.SerializeToString())


LOCATIONS = ["/etc/passwd", "../weights", "weights/../../x", "", "Weights", "weights\x00", "*/_ORT_MEM_ADDR_/*"]


@pytest.mark.parametrize("location", LOCATIONS)
def test_weights_in_other_files(location: str) -> None:
    code = model()
    code.graph.initializer[0].external_data[0].value = location
    refused(code, "reads 'w0' from the file")


def test_two_locations() -> None:
    code = model()
    code.graph.initializer[0].external_data.add(key="location", value="/etc/passwd")
    refused(code, "in a way that DyCL does not write")


def test_other_keys_of_external_data() -> None:
    code = model()
    code.graph.initializer[0].external_data.add(key="checksum", value="0")
    refused(code, "in a way that DyCL does not write")


def test_external_data_without_the_mark() -> None:
    code = model()
    code.graph.initializer[0].ClearField("data_location")
    refused(code, "reads 'w0' from the file")


@pytest.mark.parametrize("name", ["w1", "w00", "w-1", "W0", "x", "", "w0 ", "w99999999999999999999"])
def test_weights_of_other_names(name: str) -> None:
    code = model()
    code.graph.initializer[0].name = name
    refused(code, "which is none of its 1 weights")


def test_a_weight_twice() -> None:
    code = model()
    code.graph.initializer.append(code.graph.initializer[0])
    refused(code, "does not bind each of its 1 weights once")


def test_a_weight_of_other_dimensions() -> None:
    code = model()
    code.graph.initializer[0].dims[0] = 2**40
    refused(code, r"binds w0 as something else than float32\[3\]")


def test_a_weight_of_another_element_type() -> None:
    code = model()
    code.graph.initializer[0].data_type = TensorProto.DOUBLE
    refused(code, "binds w0 as something else")


def test_a_weight_with_values_of_its_own() -> None:
    code = model()
    code.graph.initializer[0].raw_data = bytes(12)
    refused(code, "says more of w0 than where it lies")
    code = model()
    code.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(np.ones(3, np.float32), "w0"))
    refused(code, "brings its own values for a weight")


def test_external_data_in_an_attribute() -> None:
    code = model()
    code.graph.node.append(helper.make_node("Constant", [], ["c"], value=external_weight("w0", SCALE)))
    refused(code, "an attribute that lies in another file")


def test_external_data_in_an_inner_graph() -> None:
    code = model()
    inner = helper.make_graph([], "inner", [], [], [external_weight("w0", SCALE)])
    code.graph.node.append(helper.make_node("If", ["c"], ["d"], then_branch=inner, else_branch=inner))
    refused(code, "binds a weight inside an inner graph")


@pytest.mark.parametrize("domain", ["com.microsoft", "ai.onnx.ml", "custom", "AI.ONNX", " "])
def test_other_operator_domains(domain: str) -> None:
    code = model()
    code.graph.node[0].domain = domain
    refused(code, "uses the operator domain")
    code = model()
    code.opset_import.append(helper.make_opsetid(domain, 1))
    refused(code, "uses the operator domain")


def test_an_operator_domain_in_an_inner_graph() -> None:
    code = model()
    inner = helper.make_graph([helper.make_node("X", [], ["y"], domain="custom")], "inner", [], [])
    code.graph.node.append(helper.make_node("If", ["c"], ["d"], then_branch=inner, else_branch=inner))
    refused(code, "uses the operator domain 'custom'")


def test_functions() -> None:
    code = model()
    code.functions.append(helper.make_function("", "Mul", [], [], [], []))
    refused(code, "has the section 25 in a Model")


def test_training_sections() -> None:
    code = model()
    code.training_info.add()
    refused(code, "has the section 20 in a Model")


def test_sparse_initializers_and_attributes() -> None:
    code = model()
    code.graph.sparse_initializer.add()
    refused(code, "has the section 15 in a Graph")
    code = model()
    code.graph.node[0].attribute.add(name="a").sparse_tensor.CopyFrom(onnx.SparseTensorProto())
    refused(code, "has the section 22 in a Attribute")


def test_settings_for_onnx_runtime() -> None:
    code = model()
    code.metadata_props.add(key="ort_config", value="{}")
    refused(code, "brings its own settings")


def rename_input(code: onnx.ModelProto) -> None:
    code.graph.input[0].name = "x"


def rename_output(code: onnx.ModelProto) -> None:
    code.graph.output[0].name = "o1"


def add_input(code: onnx.ModelProto) -> None:
    code.graph.input.add(name="i1")


def drop_output(code: onnx.ModelProto) -> None:
    del code.graph.output[0]


@pytest.mark.parametrize("change", [rename_input, rename_output, add_input, drop_output])
def test_other_inputs_and_outputs(change: Callable[[onnx.ModelProto], None]) -> None:
    code = model()
    change(code)
    refused(code, "does not have the 1 values")


def test_inputs_and_outputs_of_another_type() -> None:
    code = model()
    code.graph.output[0].type.tensor_type.elem_type = TensorProto.DOUBLE
    refused(code, "declares o0 as something else")
    code = model()
    code.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 5
    refused(code, "declares i0 as something else")
    code = model()
    code.graph.output[0].ClearField("type")
    refused(code, "declares o0 as something else")


def test_a_missing_graph() -> None:
    refused(onnx.ModelProto(ir_version=9), "has no graph")
    refused(b"", "has no graph")


def test_two_graphs_that_a_parser_would_merge() -> None:
    refused(model().SerializeToString() + model().SerializeToString(), "has two of ir_version in a Model")
    only_graph = onnx.ModelProto(graph=model().graph).SerializeToString()
    refused(only_graph + only_graph, "has two of graph in a Model")


def test_two_locations_of_data_that_a_parser_would_merge() -> None:
    code = onnx.ModelProto(graph=model().graph)
    tensor = code.graph.initializer[0].SerializeToString() + b"\x70\x00"
    graph = onnx.GraphProto()
    graph.CopyFrom(code.graph)
    del graph.initializer[:]
    graph_bytes = graph.SerializeToString() + b"\x2a" + bytes([len(tensor)]) + tensor
    refused(b"\x3a" + bytes([len(graph_bytes)]) + graph_bytes, "has two of data_location in a Tensor")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (b"\x08", "is malformed"),
        (b"\x08" + b"\xff" * 11, "is malformed"),
        (b"\x08" + b"\xff" * 9 + b"\x7f", "is malformed"),
        (b"\x3a\x05\x0a", "is cut short"),
        (b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "is cut short"),
        (b"\x3b\x3c", "is malformed"),
        (b"\x38\x01", "has a malformed graph in a Model"),
        (b"\x0a\x01\x00", "has a malformed ir_version in a Model"),
        (b"\x00\x01", "has the section 0 in a Model"),
        (b"junk" * 10, "the ONNX code of a sub-DNN"),
    ],
)
def test_malformed_bytes(code: bytes, message: str) -> None:
    refused(code, message)


def test_a_depth_bomb() -> None:
    graph = b""
    for _ in range(3000):
        attribute = b"\x32" + varint(len(graph)) + graph
        node = b"\x2a" + varint(len(attribute)) + attribute
        graph = b"\x0a" + varint(len(node)) + node
    refused(b"\x3a" + varint(len(graph)) + graph, "is nested more than 40 deep")


def varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def test_every_truncation_is_refused_or_harmless() -> None:
    code = model().SerializeToString()
    for length in range(len(code)):
        try:
            scan(code[:length])
        except ArtefactError:
            continue


def digest_of(subnet: str) -> str:
    return gated().hcfg.subnets[subnet].code


def test_an_artefact_with_hostile_code_is_refused() -> None:
    code = model()
    code.graph.initializer[0].external_data[0].value = "/etc/passwd"
    data = with_code(gated(), digest_of("net1"), code.SerializeToString())
    with pytest.raises(ArtefactError, match="reads 'w0' from the file '/etc/passwd'"):
        load(data)


def test_code_that_only_onnx_runtime_can_refuse_is_an_artefact_error() -> None:
    code = onnx_code([helper.make_node("NoSuchOperator", ["i0", "w0"], ["o0"])], [ROW], [ROW], [SCALE])
    data = with_code(gated(), digest_of("net1"), code.SerializeToString())
    with pytest.raises(ArtefactError, match="ONNX Runtime refuses the code of sub-DNN net1"):
        load(data)


def test_code_that_looks_like_onnx_runtimes_own_format_is_read_as_onnx() -> None:
    # Bytes 4 to 7 are what marks that format: here they are the start of the producer's name.
    code = model()
    code.producer_name = "ORTM" + "x" * 3
    data = code.SerializeToString()
    assert data[4:8] == b"ORTM"
    program = load(with_code(gated(), digest_of("net1"), data))
    np.testing.assert_array_equal(program(np.ones((2, 3), np.float32)), [[1, 2, 3], [1, 2, 3]])


def test_a_flag_that_is_not_one_is_an_artefact_error() -> None:
    nodes = [
        helper.make_node("Greater", ["i0", "i0"], ["o0"]),
        helper.make_node("Identity", ["i0"], ["o1"]),
    ]
    code = onnx_code(nodes, [ROW], [FLAG, ROW])
    del code.graph.output[0].type.tensor_type.shape.dim[:]
    code.graph.output[0].type.tensor_type.ClearField("shape")
    program = load(with_code(gated(), digest_of("net0"), code.SerializeToString()))
    with pytest.raises(ArtefactError, match="several values where its signature promises one"):
        program(np.ones((2, 3), np.float32))
