"""The backend `onnxruntime`: sub-DNNs whose code is an ONNX model, run by ONNX Runtime on the CPU."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dycl.runtime.backend import CompiledSubnet, SubnetSignature
from dycl.runtime.onnx_scan import scan_onnx

if TYPE_CHECKING:
    from dycl.runtime.onnxruntime_engine import OnnxRuntimeEngine


class OnnxRuntimeBackend:
    """The runtime half of the backend `onnxruntime`."""

    def check(self, code: bytes, signature: SubnetSignature) -> None:
        """Nothing if `code` is an ONNX model that fits `signature` and asks for nothing else."""
        scan_onnx(code, signature)

    def open(self, subnets: Sequence[CompiledSubnet], threads: int) -> "OnnxRuntimeEngine":
        """The engine that runs `subnets`; ArtefactError if ONNX Runtime refuses a code."""
        # Imported here: programs of other backends run, and every artefact is checked, without ONNX Runtime.
        from dycl.runtime.onnxruntime_engine import OnnxRuntimeEngine

        return OnnxRuntimeEngine(subnets, threads)
