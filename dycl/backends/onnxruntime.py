"""ONNX Runtime, compile-time half: a sub-DNN's code is its ONNX model."""

from dycl.backends.onnx import supports, translate
from dycl.hcfg.subnet import SubnetGraph


class OnnxRuntimeCompiler:
    """Translates sub-DNNs for `dycl.runtime.onnxruntime.backend`."""

    name = "onnxruntime"

    def supports(self, target: str) -> bool:
        """Whether there is a lowering for this operation."""
        return supports(target)

    def compile(self, graph: SubnetGraph) -> bytes:
        """The serialised ONNX model."""
        return translate(graph)
