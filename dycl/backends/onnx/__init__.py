"""The ONNX backend: a sub-DNN as an ONNX model.

Every ATen operation is translated by one small function, its lowering; `lowerings/` has a module a topic. Results,
element types and corner cases are PyTorch's; what cannot be translated exactly is refused.
"""

from dycl.backends.errors import Untranslatable
from dycl.backends.onnx.lowerings import LOWERINGS
from dycl.backends.onnx.model import translate

__all__ = ["Untranslatable", "supports", "translate"]


def supports(target: str) -> bool:
    """Whether there is a lowering for an operation such as `aten.conv2d.default`."""
    return target in LOWERINGS
