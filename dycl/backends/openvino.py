"""OpenVINO, compile-time half: a sub-DNN in single precision, as an ONNX model that takes its weights as inputs."""

from dataclasses import replace

from dycl.backends.errors import Untranslatable
from dycl.backends.onnx import supports, translate
from dycl.hcfg.module import operands
from dycl.hcfg.subnet import SubnetGraph


class OpenVinoCompiler:
    """Translates sub-DNNs for `dycl.runtime.openvino.backend`."""

    name = "openvino"
    strengths = frozenset(
        (
            *("aten.conv1d.default", "aten.conv2d.default", "aten.linear.default", "aten.matmul.default"),
            *("aten.scaled_dot_product_attention.default", "aten.lstm.input", "aten.gru.input"),
        )
    )
    """What a part of a sub-DNN must have so that cutting it out for OpenVINO is worth a call."""

    def supports(self, target: str) -> bool:
        """Whether there is a lowering to ONNX for this operation."""
        return supports(target)

    def compile(self, graph: SubnetGraph) -> bytes:
        """The serialised ONNX model, whose last inputs are the weights."""
        for operation in graph.operations:
            for ref in (*operands(operation), *(ref for ref in operation.outputs if ref is not None)):
                dtype = graph.type_of(ref).dtype
                if dtype != "float32":
                    # OpenVINO computes float64 as float32 and int64 as int32 on a CPU, and says nothing.
                    raise Untranslatable(f"OpenVINO computes no {dtype} as PyTorch does", operation.span)
        return translate(replace(graph, inputs=(*graph.inputs, *graph.weights), weights=()))
