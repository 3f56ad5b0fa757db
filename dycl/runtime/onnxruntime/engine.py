"""Sub-DNNs run by ONNX Runtime on the CPU.

Between calls a tensor stays in ONNX Runtime's hands, as the C value inside the public `OrtValue`: handing that
straight to the session's C object takes 5 us a call, the public wrapper 45 us. Should a release of ONNX Runtime hide
the C objects, the public ones are used instead.

Memory: an array that is put is used in place, by way of DLPack, which keeps it alive for as long as ONNX Runtime needs
it; ONNX Runtime gives every output fresh memory, even one that only forwards an input or a weight; an array made from a
value keeps the value's memory alive. Weights are bound in place, not copied, and shared by all sessions.
"""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]

from dycl.hcfg.nodes import SubnetId
from dycl.hcfg.types import DType
from dycl.runtime.backend import CompiledSubnet, Slots, SubnetCall, SubnetFailure, Value
from dycl.runtime.errors import ArtefactError
from dycl.runtime.onnxruntime.scan import ONNX_TYPES
from dycl.runtime.onnxruntime.threads import opened
from dycl.runtime.weight_store import Array, contiguous, unlocked

_LOG_NOTHING = 4
"""ONNX Runtime says what fails by an exception, too: nothing need be on the terminal."""

Runner = Callable[[dict[str, Value], list[str], None], Sequence[Value]]


class OnnxRuntimeEngine:
    """Sub-DNNs as ONNX Runtime sessions; equal codes with equal weights share one."""

    def __init__(self, subnets: Sequence[CompiledSubnet], threads: int) -> None:
        self._values = _direct_values() or _PublicValues()
        self.value_types = (self._values.value_type,)
        self._subnets = {subnet.id: subnet for subnet in subnets}
        self._weights: dict[int, _BoundWeight] = {}
        self._sessions: dict[SubnetId, Any] = {}
        opened: dict[tuple[bytes, tuple[int, ...]], Any] = {}
        for subnet in subnets:
            key = (subnet.code, tuple(map(id, subnet.weights)))
            if key not in opened:
                opened[key] = self._open_session(subnet, threads)
            self._sessions[subnet.id] = opened[key]

    def subnet(self, subnet: SubnetId, inputs: Sequence[int]) -> SubnetCall:
        """The call that runs a sub-DNN on the values at `inputs` in the slots; SubnetFailure if ONNX Runtime fails."""
        feeds = [(f"i{index}", position) for index, position in enumerate(inputs)]
        outputs = [f"o{index}" for index in range(len(self._subnets[subnet].signature.outputs))]
        run = self._values.runner(self._sessions[subnet])

        def call(slots: Slots) -> Sequence[Value]:
            try:
                return run({name: slots[position] for name, position in feeds}, outputs, None)
            except Exception as error:  # ONNX Runtime's own error types have no base class but this one.
                raise SubnetFailure(str(error)) from error

        return call

    def put(self, array: Array, dtype: DType) -> Value:
        """A value that uses the memory of `array` where it can, else holds a copy."""
        return self._values.put(array, dtype)

    def take(self, value: Any, dtype: DType) -> Array:
        """The array that `value` holds, sharing its memory."""
        if dtype != "bfloat16":
            array: Array = value.numpy()
            return array
        # ONNX Runtime gives no array of a type that numpy lacks; the bits are copied out.
        bits = np.empty(value.shape(), np.uint16)
        ctypes.memmove(bits.ctypes.data, value.data_ptr(), bits.nbytes)
        return bits

    def number(self, value: Any) -> bool | int | float:
        """The one number that `value` holds."""
        number: bool | int | float = value.numpy().item()
        return number

    def _open_session(self, subnet: CompiledSubnet, threads: int) -> Any:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = _LOG_NOTHING
        # Otherwise bytes that are valid ONNX to the scan could be taken for ONNX Runtime's own format.
        options.add_session_config_entry("session.load_model_format", "ONNX")
        if subnet.weights:
            bound = [
                self._bound(array, weight_type.dtype)
                for array, weight_type in zip(subnet.weights, subnet.signature.weights, strict=True)
            ]
            options.add_external_initializers([f"w{index}" for index in range(len(bound))], bound)

        def session(options: Any) -> Any:
            return onnxruntime.InferenceSession(
                subnet.code, options, providers=["CPUExecutionProvider"], enable_fallback=0, read_config_from_model=0
            )

        try:
            return opened(session, options, threads)
        except Exception as error:  # ONNX Runtime's own error types have no base class but this one.
            raise ArtefactError(f"ONNX Runtime refuses the code of sub-DNN {subnet.id}: {error}") from error

    def _bound(self, weight: Array, dtype: DType) -> Any:
        """A public value that uses the memory of a weight, the same one for all sessions."""
        if id(weight) not in self._weights:
            array = contiguous(weight)
            if dtype == "bfloat16":
                value = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array, ONNX_TYPES[dtype])
            else:
                value = onnxruntime.OrtValue.ortvalue_from_numpy(array)
            self._weights[id(weight)] = _BoundWeight(weight, array, value)
        return self._weights[id(weight)].value


@dataclass(frozen=True, slots=True)
class _BoundWeight:
    """A weight as it came, in row-major order, and as a value: ONNX Runtime does not keep alive what its values use."""

    weight: Array
    array: Array
    value: Any


class _PublicValues:
    """Values as ONNX Runtime's documented `OrtValue`."""

    value_type: type = onnxruntime.OrtValue

    def put(self, array: Array, dtype: DType) -> Any:
        """A value that holds a copy of `array`: an array made from a public value would not keep `array` alive."""
        value = self._empty(array.shape, ONNX_TYPES[dtype])
        value.update_inplace(array)
        return value

    def runner(self, session: Any) -> Runner:
        return lambda feeds, outputs, run_options: session.run_with_ort_values(outputs, feeds, run_options)

    def _empty(self, shape: tuple[int, ...], onnx_type: int) -> Any:
        return onnxruntime.OrtValue.ortvalue_from_shape_and_type(shape, onnx_type)


class _DirectValues(_PublicValues):
    """Values as the C objects inside `OrtValue`, and calls on the C object inside the session."""

    def __init__(self, c_module: Any) -> None:
        device = c_module.OrtDevice
        self._cpu = device(device.cpu(), device.default_memory(), 0)
        self._create = c_module.OrtValue.ortvalue_from_shape_and_onnx_type
        self._from_dlpack = getattr(c_module.OrtValue, "from_dlpack", None)
        self.value_type = c_module.OrtValue

    def put(self, array: Array, dtype: DType) -> Any:
        # DLPack has no word for bfloat16 that numpy knows, and ONNX Runtime takes flags as bytes.
        if self._from_dlpack is None or dtype == "bfloat16":
            return super().put(array, dtype)
        is_bool = dtype == "bool"
        plain = array.view(np.uint8) if is_bool else array
        shared: Any = unlocked(plain)
        return self._from_dlpack(shared.__dlpack__(), is_bool)

    def runner(self, session: Any) -> Runner:
        run: Runner = session._sess.run_with_ort_values
        return run

    def _empty(self, shape: tuple[int, ...], onnx_type: int) -> Any:
        return self._create(shape, onnx_type, self._cpu)


def _direct_values() -> _DirectValues | None:
    """The direct way to ONNX Runtime's C objects, or None where this release of it does not have them."""
    try:
        from onnxruntime.capi import _pybind_state  # type: ignore[import-untyped]
        from onnxruntime.capi.onnxruntime_inference_collection import Session  # type: ignore[import-untyped]
    except ImportError:
        return None
    has_direct_access = (
        hasattr(Session(), "_sess")
        and hasattr(_pybind_state.OrtValue, "ortvalue_from_shape_and_onnx_type")
        and hasattr(_pybind_state.InferenceSession, "run_with_ort_values")
    )
    return _DirectValues(_pybind_state) if has_direct_access else None
