"""A library: what the plans of a program's sub-DNNs call, built for this processor, one function for each sub-DNN.

Equal kernels are built once. A function takes the address of a table of addresses: the inputs, outputs, constants and
the scratch memory of its sub-DNN.
"""

from collections.abc import Sequence
from typing import Any

import tvm
from tvm import tirx

from dycl.runtime.tvm.cache import kept
from dycl.runtime.tvm.kernels.loops import Statement, block, whole
from dycl.runtime.tvm.machine import target
from dycl.runtime.tvm.memory import Buffer
from dycl.runtime.tvm.plan import Plan

SCHEDULE = 1
"""Counts the ways in which kernels were built: a library of another one is not used again."""

_PASSES = (
    tirx.transform.StmtSimplify,
    tirx.transform.FlattenBuffer,
    tirx.transform.MakePackedAPI,
    tirx.transform.LowerTVMBuiltin,
    tirx.transform.LowerIntrin,
)


def entry(place: int) -> str:
    """The name of the function of the plan at this place."""
    return f"dycl_subnet_{place}"


def library(plans: Sequence[Plan], digest: str) -> Any:
    """The module with one function a plan: as it was kept under this digest, or built now and kept."""
    return kept(f"{digest}-{tvm.__version__}-{SCHEDULE}-{target()}", entry(0), lambda: _built(plans))


def _built(plans: Sequence[Plan]) -> Any:
    functions: dict[Any, Any] = {}
    kernels: dict[Any, Any] = {}
    for plan in plans:
        for call in plan.calls:
            if call.kernel not in kernels:
                made = tvm.ir.GlobalVar(f"dycl_kernel_{len(kernels)}")
                kernels[call.kernel], functions[made] = made, call.kernel.build()
    for place, plan in enumerate(plans):
        functions[tvm.ir.GlobalVar(entry(place))] = _entry(place, plan, kernels)
    host = target().with_host(target())
    module = tirx.transform.BindTarget(host)(tvm.IRModule(functions))
    module = tvm.ir.transform.Sequential([make() for make in _PASSES])(module)
    return tvm.get_global_func("target.build.llvm")(module, target())


def _entry(place: int, plan: Plan, kernels: dict[Any, Any]) -> Any:
    """The function that calls a plan's kernels one after the other."""
    table = tirx.Var("table", "int64")
    size = 1 + max((position(plan, buffer) for call in plan.calls for buffer in call.buffers), default=0)
    addresses = tirx.decl_buffer((size,), "int64", "addresses")

    def address(buffer: Buffer) -> Any:
        found = tirx.BufferLoad(addresses, [whole(position(plan, buffer))])
        if buffer.kind == "scratch":
            found = found + tirx.IntImm("int64", buffer.number)
        return found

    body: list[Statement] = [tirx.DeclBuffer(addresses, data=tirx.reinterpret("handle", table))]
    for call in plan.calls:
        given = [address(buffer) for buffer in call.buffers]
        body.append(tirx.Evaluate(tvm.ir.Call(kernels[call.kernel], given, ret_ty=tvm.ir.PrimType("int32"))))
    return tirx.PrimFunc([table], block(body)).with_attr("global_symbol", entry(place))


def position(plan: Plan, buffer: Buffer) -> int:
    """Where a buffer's address stands in the table: the scratch memory, inputs, outputs, constants."""
    if buffer.kind == "scratch":
        return 0
    first = {"input": 1, "output": 1 + plan.inputs, "constant": 1 + plan.inputs + plan.outputs}
    return first[buffer.kind] + buffer.number
