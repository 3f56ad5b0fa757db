"""ncnn, compile-time half: a sub-DNN of float32 maps as a list of ncnn's layers."""

import json

from dycl.backends.ncnn.lowerings import LOWERINGS
from dycl.backends.ncnn.writer import Writer
from dycl.hcfg.subnet import SubnetGraph


class NcnnCompiler:
    """Translates sub-DNNs for `dycl.runtime.ncnn.backend`."""

    name = "ncnn"
    strengths = frozenset(("aten.conv2d.default",))
    """What a part of a sub-DNN must have so that cutting it out for ncnn is worth a call."""

    def supports(self, target: str) -> bool:
        """Whether there is a lowering for this operation."""
        return target in LOWERINGS

    def compile(self, graph: SubnetGraph) -> bytes:
        """The layers and outputs of a sub-DNN, as JSON."""
        writer = Writer(graph, LOWERINGS)
        return json.dumps({"layers": writer.layers, "outputs": writer.outputs}, separators=(",", ":")).encode()
