"""TVM, compile-time half: a sub-DNN of known sizes as a list of operations of our own; TVM itself is not needed."""

from dycl.backends.tvm.lowerings import LOWERINGS
from dycl.backends.tvm.writer import Writer
from dycl.hcfg.subnet import SubnetGraph
from dycl.runtime.tvm.code import written


class TvmCompiler:
    """Translates sub-DNNs for `dycl.runtime.tvm.backend`."""

    name = "tvm"
    strengths = frozenset(
        ("aten.conv2d.default", "aten.linear.default", "aten.addmm.default", "aten.matmul.default", "aten.lstm.input")
    )
    """What a part of a sub-DNN must have so that cutting it out for TVM is worth a call."""

    def supports(self, target: str) -> bool:
        """Whether there is a lowering for this operation."""
        return target in LOWERINGS

    def compile(self, graph: SubnetGraph) -> bytes:
        """The operations and outputs of a sub-DNN, as JSON."""
        writer = Writer(graph, LOWERINGS)
        return written(writer.steps, writer.outputs)
