"""Sub-DNNs run by OpenVINO on the CPU, in single precision.

Values are plain arrays: inputs are used where they lie, weights are bound in place and shared by all sub-DNNs. OpenVINO
writes its results into memory of its own, which the next call uses again, so they are copied out.
"""

import queue
from collections.abc import Sequence
from typing import Any

import numpy as np
import openvino  # type: ignore[import-untyped]

from dycl.hcfg.nodes import SubnetId
from dycl.runtime.backend import CompiledSubnet, Slots, SubnetCall, SubnetFailure, Value
from dycl.runtime.engines import ArrayEngine
from dycl.runtime.errors import ArtefactError
from dycl.runtime.weight_store import contiguous, unlocked


class OpenVinoEngine(ArrayEngine):
    """Sub-DNNs as models that OpenVINO has compiled; equal codes with equal weights share one."""

    def __init__(self, subnets: Sequence[CompiledSubnet], threads: int) -> None:
        self._core = openvino.Core()
        self._settings = {
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": "1",
            "PERFORMANCE_HINT": "LATENCY",
            # Where a processor has units for half precision, OpenVINO would use those.
            "INFERENCE_PRECISION_HINT": "f32",
            "ENABLE_CPU_PINNING": False,
        }
        self._models: dict[SubnetId, Any] = {}
        opened: dict[tuple[bytes, tuple[int, ...]], Any] = {}
        for subnet in subnets:
            key = (subnet.code, tuple(map(id, subnet.weights)))
            if key not in opened:
                opened[key] = self._opened(subnet)
            self._models[subnet.id] = opened[key]

    def _opened(self, subnet: CompiledSubnet) -> Any:
        try:
            model = self._core.read_model(subnet.code)
            first = len(subnet.signature.inputs)
            parameters = {parameter.get_friendly_name(): parameter for parameter in model.get_parameters()}
            for number, weight in enumerate(subnet.weights):
                parameter = parameters[f"i{first + number}"]
                bound = openvino.op.Constant(unlocked(contiguous(weight)), shared_memory=True)
                parameter.output(0).replace(bound.output(0))
                model.remove_parameter(parameter)
            return self._core.compile_model(model, "CPU", self._settings)
        except RuntimeError as error:
            raise ArtefactError(f"OpenVINO refuses the code of sub-DNN {subnet.id}: {error}") from error

    def subnet(self, subnet: SubnetId, inputs: Sequence[int]) -> SubnetCall:
        """The call that runs a sub-DNN on the arrays at `inputs` in the slots; SubnetFailure if OpenVINO fails."""
        model = self._models[subnet]
        outputs = range(len(model.outputs))
        # A request holds what one call is given and gives; as many are made as calls run at a time.
        idle: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def call(slots: Slots) -> Sequence[Value]:
            try:
                request = idle.get_nowait()
            except queue.Empty:
                request = model.create_infer_request()
            try:
                for place, position in enumerate(inputs):
                    value: Any = slots[position]
                    request.set_input_tensor(place, openvino.Tensor(unlocked(value), shared_memory=True))
                request.infer()
                return [np.array(request.get_output_tensor(place).data) for place in outputs]
            except RuntimeError as error:
                raise SubnetFailure(str(error)) from error
            finally:
                idle.put(request)

        return call
