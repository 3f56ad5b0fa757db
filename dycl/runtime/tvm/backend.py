"""The backend `tvm`: sub-DNNs whose code is a list of operations, built by TVM for the processor that loads them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dycl.runtime.backend import CompiledSubnet, SubnetSignature
from dycl.runtime.errors import missing_backend
from dycl.runtime.tvm.code import read

if TYPE_CHECKING:
    from dycl.runtime.tvm.engine import TvmEngine


class TvmBackend:
    """The runtime half of the backend `tvm`."""

    def check(self, code: bytes, signature: SubnetSignature) -> None:
        """Nothing if `code` is a list of operations that fit each other and `signature`."""
        read(code, signature)

    def open(self, subnets: Sequence[CompiledSubnet], threads: int) -> "TvmEngine":
        """The engine that runs `subnets`; ArtefactError if TVM is not installed."""
        # Imported here: artefacts are checked without TVM.
        try:
            from dycl.runtime.tvm.engine import TvmEngine
        except ModuleNotFoundError as error:
            if error.name == "tvm":
                raise missing_backend("tvm", "dycl[tvm]") from error
            raise
        return TvmEngine(subnets, threads)
