"""Sub-DNNs run as functions that TVM has built.

Values are plain arrays: inputs are used where they lie, outputs are arrays that each call makes. A function gets the
address of a table of addresses; a table and the scratch memory are used by one call at a time, so as many are made as
calls run at a time. A sub-DNN runs on one thread, whatever `threads` says.
"""

import hashlib
import queue
from collections.abc import Sequence
from typing import Any

import numpy as np

from dycl.hcfg.nodes import SubnetId
from dycl.runtime.backend import CompiledSubnet, Slots, SubnetCall, SubnetFailure, Value
from dycl.runtime.engines import ArrayEngine
from dycl.runtime.errors import ArtefactError
from dycl.runtime.tvm.code import read
from dycl.runtime.tvm.library import entry, library
from dycl.runtime.tvm.machine import machine
from dycl.runtime.tvm.memory import ALIGNMENT
from dycl.runtime.tvm.plan import Plan, plan
from dycl.runtime.weight_store import Array, array_dtype, contiguous


class TvmEngine(ArrayEngine):
    """A library of functions, one for each code and signature, and constants, made once for equal weights."""

    def __init__(self, subnets: Sequence[CompiledSubnet], threads: int) -> None:
        codes = list(dict.fromkeys((subnet.code, subnet.signature) for subnet in subnets))
        plans = {key: plan(read(*key), machine()) for key in codes}
        digest = hashlib.sha256(repr(codes).encode()).hexdigest()
        try:
            built = library(list(plans.values()), digest)
        except (RuntimeError, ValueError) as error:
            raise ArtefactError(f"TVM refuses the code of a sub-DNN: {error}") from error
        functions = {key: built[entry(place)] for place, key in enumerate(codes)}
        self._opened: dict[SubnetId, _Opened] = {}
        opened: dict[Any, _Opened] = {}
        for subnet in subnets:
            code = (subnet.code, subnet.signature)
            key = (code, tuple(map(id, subnet.weights)))
            if key not in opened:
                opened[key] = _Opened(plans[code], functions[code], subnet)
            self._opened[subnet.id] = opened[key]

    def subnet(self, subnet: SubnetId, inputs: Sequence[int]) -> SubnetCall:
        """The call that runs a sub-DNN on the arrays at `inputs` in the slots; SubnetFailure if TVM fails."""
        opened = self._opened[subnet]
        run, outputs = opened.run, opened.outputs
        idle, first = opened.idle, 1 + len(inputs)
        feeds = list(enumerate(inputs, start=1))

        def call(slots: Slots) -> Sequence[Value]:
            try:
                work = idle.get_nowait()
            except queue.Empty:
                work = opened.work()
            addresses = work.addresses
            for place, position in feeds:
                value: Any = slots[position]
                addresses[place] = value.__array_interface__["data"][0]
            made = [np.empty(shape, dtype) for shape, dtype in outputs]
            for place, array in enumerate(made, start=first):
                addresses[place] = array.__array_interface__["data"][0]
            try:
                run(work.at)
            except RuntimeError as error:
                raise SubnetFailure(str(error)) from error
            finally:
                idle.put(work)
            return made

        return call


class _Work:
    """What one call at a time uses: a table of addresses, and scratch memory."""

    __slots__ = ("addresses", "at", "memory")

    def __init__(self, scratch: int, before: int, constants: Sequence[Array]) -> None:
        # Zeros, since borders of images are never written.
        self.memory = np.zeros(scratch + ALIGNMENT, np.uint8)
        start: int = self.memory.ctypes.data
        table = np.zeros(before + len(constants), np.int64)
        table[0] = start + -start % ALIGNMENT
        table[before:] = [constant.ctypes.data for constant in constants]
        self.addresses = memoryview(table.data)
        self.at: int = table.ctypes.data


class _Opened:
    """A sub-DNN's function with its constants."""

    def __init__(self, plan: Plan, function: Any, subnet: CompiledSubnet) -> None:
        self.run = function
        self._plan = plan
        weights = [contiguous(weight) for weight in subnet.weights]
        self._constants = [contiguous(pack(weights)) for pack in plan.packs]
        self.idle: queue.SimpleQueue[_Work] = queue.SimpleQueue()
        shapes = [(tuple(told.shape), array_dtype(told.dtype)) for told in subnet.signature.outputs]
        self.outputs: list[tuple[Any, Any]] = shapes

    def work(self) -> _Work:
        """A table and scratch memory for one more call at a time."""
        before = 1 + self._plan.inputs + self._plan.outputs
        return _Work(self._plan.scratch, before, self._constants)
