"""The backend `onnxruntime`: sub-DNNs whose code is an ONNX model, run by ONNX Runtime on the CPU."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dycl.runtime.backend import CompiledSubnet, SubnetSignature
from dycl.runtime.errors import missing_backend
from dycl.runtime.onnxruntime.scan import scan_onnx

if TYPE_CHECKING:
    from dycl.runtime.onnxruntime.engine import OnnxRuntimeEngine


class OnnxRuntimeBackend:
    """The runtime half of the backend `onnxruntime`."""

    def check(self, code: bytes, signature: SubnetSignature) -> None:
        """Nothing if `code` is an ONNX model that fits `signature` and asks for nothing else."""
        scan_onnx(code, signature)

    def open(self, subnets: Sequence[CompiledSubnet], threads: int) -> "OnnxRuntimeEngine":
        """The engine that runs `subnets`; ArtefactError if ONNX Runtime is not installed, or refuses a code."""
        # Imported here: programs of other backends run, and every artefact is checked, without ONNX Runtime.
        try:
            from dycl.runtime.onnxruntime.engine import OnnxRuntimeEngine
        except ModuleNotFoundError as error:
            if error.name == "onnxruntime":
                raise missing_backend("onnxruntime", "onnxruntime") from error
            raise
        return OnnxRuntimeEngine(subnets, threads)
