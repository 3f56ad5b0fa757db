"""Let feature maps that come from another sub-DNN take ONNX Runtime's blocked layout at once.

ONNX Runtime runs convolutions on maps whose channels lie in blocks, and keeps what follows in that layout as long as
all operands have it. A map that enters the sub-DNN lies in rows. A convolution converts its own operand, but a residual
sum with such a map falls back to rows, and so does the next block's, to the end of the sub-DNN:

before                                  after
  c = Conv(Conv(i0))                      x = AveragePool(i0), a window of one
  y = Add(c, i0)        in rows           c = Conv(Conv(x))
  d = Conv(Conv(y))                       y = Add(c, x)         in blocks
  z = Add(d, y)         in rows           d = Conv(Conv(y))
                                          z = Add(d, y)         in blocks

A pool is converted as a convolution is, and with a window of one it changes nothing but -0.0 to 0.0, which the other
operand of the sum, coming from a convolution, does not keep either.
"""

from collections.abc import Sequence

import onnx
from onnx import helper

from dycl.hcfg.types import TensorType

_BLOCK = 16
"""The largest block of channels on any processor; with other numbers of channels there may be no blocked layout."""

_FIRST_OPERAND = frozenset(("BatchNormalization", "Relu", "MaxPool", "AveragePool", "GlobalAveragePool"))


def in_blocks(nodes: Sequence[onnx.NodeProto], inputs: Sequence[TensorType]) -> list[onnx.NodeProto]:
    """The same nodes after one pool for each input that is better converted once; input `n` is called `in`."""
    made = list(nodes)
    for number, value_type in enumerate(inputs):
        name = f"i{number}"
        if _is_map(value_type) and _is_summed(name, nodes):
            blocked = f"blocked_{name}"
            for node in nodes:
                if node.op_type in ("Conv", "Add", *_FIRST_OPERAND):
                    node.input[:] = [blocked if item == name else item for item in node.input]
            made.insert(0, helper.make_node("AveragePool", [name], [blocked], name=blocked, kernel_shape=[1, 1]))
    return made


def _is_map(value_type: TensorType) -> bool:
    shape = value_type.shape
    if value_type.dtype != "float32" or len(shape) != 4 or shape[2:] == (1, 1):
        return False
    return isinstance(shape[1], int) and shape[1] % _BLOCK == 0


def _is_summed(name: str, nodes: Sequence[onnx.NodeProto]) -> bool:
    """Whether something that comes from a convolution is added to the map, and the sum goes to another convolution."""
    blocked: set[str] = set()
    sums: set[str] = set()
    for node in nodes:
        first, result = node.input[0] if node.input else "", node.output[0]
        if node.op_type == "Conv":
            if first in sums:
                return True
            blocked.add(result)
        elif node.op_type == "Add":
            if name in node.input and not blocked.isdisjoint(node.input):
                sums.add(result)
            if blocked.issuperset(node.input):
                blocked.add(result)
        elif node.op_type in _FIRST_OPERAND:
            blocked.update([result] if first in blocked else [])
            sums.update([result] if first in sums else [])
    return False
