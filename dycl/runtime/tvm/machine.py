"""The processor that kernels are built for: this machine's own."""

import functools
from typing import Any

import tvm

from dycl.runtime.tvm.kernels.tiles import Machine


@functools.cache
def target() -> Any:
    """TVM's target for this processor, with what it has of vectors."""
    told = {str(name): bool(has) for name, has in tvm.get_global_func("tvm.codegen.llvm.GetHostCPUFeatures")().items()}
    return tvm.target.Target(
        {
            "kind": "llvm",
            "mcpu": tvm.get_global_func("tvm.codegen.llvm.GetHostCPUName")(),
            "mtriple": tvm.get_global_func("tvm.codegen.llvm.GetProcessTriple")(),
            # A virtual machine may lack what its processor has.
            "mattr": [f"{'+' if has else '-'}{name}" for name, has in sorted(told.items())],
            # LLVM would join vectors to wider ones, which no longer fit the registers.
            "cl-opt": ["-vectorize-slp:bool=0"],
        }
    )


@functools.cache
def machine() -> Machine:
    """How wide this processor's vectors are."""
    features = set(target().attrs["mattr"])
    if "+avx512f" in features:
        return Machine(16, 31)
    if "+avx2" in features:
        return Machine(8, 15)
    return Machine(4, 31 if "+neon" in features else 15)
