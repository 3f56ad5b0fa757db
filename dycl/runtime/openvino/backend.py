"""The backend `openvino`: sub-DNNs whose code is an ONNX model that takes its weights as inputs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dycl.runtime.backend import CompiledSubnet, SubnetSignature
from dycl.runtime.errors import ArtefactError, missing_backend
from dycl.runtime.onnxruntime.scan import scan_onnx

if TYPE_CHECKING:
    from dycl.runtime.openvino.engine import OpenVinoEngine


class OpenVinoBackend:
    """The runtime half of the backend `openvino`."""

    def check(self, code: bytes, signature: SubnetSignature) -> None:
        """Nothing if `code` is an ONNX model in single precision that fits `signature` and asks for nothing else."""
        given = (*signature.inputs, *signature.weights)
        if any(told.dtype != "float32" for told in (*given, *signature.outputs)):
            raise ArtefactError("a sub-DNN for OpenVINO is not in single precision")
        scan_onnx(code, SubnetSignature(given, signature.outputs, ()))

    def open(self, subnets: Sequence[CompiledSubnet], threads: int) -> "OpenVinoEngine":
        """The engine that runs `subnets`; ArtefactError if OpenVINO is not installed, or refuses a code."""
        # Imported here: artefacts are checked without OpenVINO.
        try:
            from dycl.runtime.openvino.engine import OpenVinoEngine
        except ModuleNotFoundError as error:
            if error.name == "openvino":
                raise missing_backend("openvino", "dycl[openvino]") from error
            raise
        return OpenVinoEngine(subnets, threads)
