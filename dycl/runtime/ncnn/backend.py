"""The backend `ncnn`: sub-DNNs whose code is a list of ncnn's layers, run by ncnn on the CPU."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dycl.runtime.backend import CompiledSubnet, SubnetSignature
from dycl.runtime.errors import missing_backend
from dycl.runtime.ncnn.code import read

if TYPE_CHECKING:
    from dycl.runtime.ncnn.engine import NcnnEngine


class NcnnBackend:
    """The runtime half of the backend `ncnn`."""

    def check(self, code: bytes, signature: SubnetSignature) -> None:
        """Nothing if `code` is a list of layers that fit each other and `signature`."""
        read(code, signature)

    def open(self, subnets: Sequence[CompiledSubnet], threads: int) -> "NcnnEngine":
        """The engine that runs `subnets`; ArtefactError if ncnn is not installed, or refuses a code."""
        # Imported here: artefacts are checked without ncnn.
        try:
            from dycl.runtime.ncnn.engine import NcnnEngine
        except ModuleNotFoundError as error:
            if error.name == "ncnn":
                raise missing_backend("ncnn", "dycl[ncnn]") from error
            raise
        return NcnnEngine(subnets, threads)
