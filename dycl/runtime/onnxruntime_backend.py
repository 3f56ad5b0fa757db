"""Sub-DNNs run by ONNX Runtime on the CPU.

Between calls a tensor stays in ONNX Runtime's memory, as the C value inside the public `OrtValue`: handing that
straight to the session's C object takes 5 us a call, the public wrapper 45 us. Should a release of ONNX Runtime hide
the C objects, the public ones are used instead.

Memory: an input is copied in, so the caller may do with its array what it likes; ONNX Runtime gives every output fresh
memory, even one that only forwards an input or a weight; an array made from a value keeps the value's memory alive.
Weights are bound in place, not copied, and shared by all sessions.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]

from dycl.hcfg.nodes import Subnet, SubnetId, WeightId
from dycl.hcfg.types import DType
from dycl.runtime.artefact import Artefact
from dycl.runtime.backend import Frame, SubnetCall, SubnetFailure, Value
from dycl.runtime.errors import ArtefactError, SettingError
from dycl.runtime.onnx_scan import ONNX_TYPES, scan_onnx
from dycl.runtime.onnxruntime_threads import apply_threads
from dycl.runtime.weight_store import Array, contiguous

_LOG_ERRORS_ONLY = 3

Runner = Callable[[dict[str, Value], list[str], None], Sequence[Value]]


class OnnxRuntimeBackend:
    """The runtime half of the backend `onnxruntime`."""

    def open(self, artefact: Artefact, threads: int) -> "OnnxRuntimeEngine":
        """The engine that runs `artefact` on `threads` threads; ArtefactError if a code is not valid ONNX."""
        return OnnxRuntimeEngine(artefact, threads)


class OnnxRuntimeEngine:
    """An artefact whose sub-DNNs are ONNX Runtime sessions; equal codes with equal weights share one."""

    def __init__(self, artefact: Artefact, threads: int) -> None:
        self._values = _direct_values() or _PublicValues()
        # ONNX Runtime does not keep the arrays alive whose memory its values use.
        self._arrays = {weight: contiguous(array) for weight, array in artefact.weights.items()}
        types = artefact.hcfg.weights
        self._weights = {weight: _borrow(array, types[weight].dtype) for weight, array in self._arrays.items()}
        self._sessions: dict[SubnetId, Any] = {}
        opened: dict[tuple[str, tuple[WeightId, ...]], Any] = {}
        for subnet in artefact.hcfg.subnets.values():
            key = (subnet.code, subnet.weights)
            if key not in opened:
                opened[key] = self._open_session(subnet, artefact, threads)
            self._sessions[subnet.id] = opened[key]
        self._subnets = artefact.hcfg.subnets

    def subnet(self, subnet: SubnetId, inputs: Sequence[int]) -> SubnetCall:
        """The call that runs a sub-DNN on the values at `inputs` in a frame; SubnetFailure if ONNX Runtime fails."""
        feeds = [(f"i{index}", position) for index, position in enumerate(inputs)]
        outputs = [f"o{index}" for index in range(len(self._subnets[subnet].outputs))]
        run = self._values.runner(self._sessions[subnet])

        def call(frame: Frame) -> Sequence[Value]:
            try:
                return run({name: frame[position] for name, position in feeds}, outputs, None)
            except Exception as error:  # ONNX Runtime's own error types have no base class but this one.
                raise SubnetFailure(str(error)) from error

        return call

    def weight(self, weight: WeightId) -> Value:
        """The value of a weight, which nobody may change."""
        return self._values.unwrap(self._weights[weight])

    def put(self, array: Array, dtype: DType) -> Value:
        """A value in ONNX Runtime's memory that holds a copy of `array`."""
        value = self._values.empty(array.shape, ONNX_TYPES[dtype])
        value.update_inplace(contiguous(array))
        return value

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

    def _open_session(self, subnet: Subnet, artefact: Artefact, threads: int) -> Any:
        code = artefact.codes[subnet.code]
        weight_types = [artefact.hcfg.weights[weight] for weight in subnet.weights]
        bound = scan_onnx(code, subnet.inputs, subnet.outputs, weight_types)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = _LOG_ERRORS_ONLY
        # Otherwise bytes that are valid ONNX to the scan could be taken for ONNX Runtime's own format.
        options.add_session_config_entry("session.load_model_format", "ONNX")
        apply_threads(options, threads)
        if bound:
            names = [f"w{index}" for index in bound]
            options.add_external_initializers(names, [self._weights[subnet.weights[index]] for index in bound])
        try:
            return onnxruntime.InferenceSession(
                code, options, providers=["CPUExecutionProvider"], enable_fallback=0, read_config_from_model=0
            )
        except Exception as error:  # ONNX Runtime's own error types have no base class but this one.
            if "global thread pool" in str(error):
                raise SettingError("another library made ONNX Runtime's global thread pool in this process") from error
            raise ArtefactError(f"ONNX Runtime refuses the code of sub-DNN {subnet.id}: {error}") from error


class _PublicValues:
    """Values as ONNX Runtime's documented `OrtValue`."""

    def unwrap(self, value: Any) -> Any:
        return value

    def empty(self, shape: tuple[int, ...], onnx_type: int) -> Any:
        return onnxruntime.OrtValue.ortvalue_from_shape_and_type(shape, onnx_type)

    def runner(self, session: Any) -> Runner:
        return lambda feeds, outputs, run_options: session.run_with_ort_values(outputs, feeds, run_options)


class _DirectValues(_PublicValues):
    """Values as the C objects inside `OrtValue`, and calls on the C object inside the session."""

    def __init__(self, c_module: Any) -> None:
        device = c_module.OrtDevice
        self._cpu = device(device.cpu(), device.default_memory(), 0)
        self._create = c_module.OrtValue.ortvalue_from_shape_and_onnx_type

    def unwrap(self, value: Any) -> Any:
        return value._ortvalue

    def empty(self, shape: tuple[int, ...], onnx_type: int) -> Any:
        return self._create(shape, onnx_type, self._cpu)

    def runner(self, session: Any) -> Runner:
        run: Runner = session._sess.run_with_ort_values
        return run


def _direct_values() -> _DirectValues | None:
    """The direct way to ONNX Runtime's C objects, or None where this release of it does not have them."""
    try:
        from onnxruntime.capi import _pybind_state  # type: ignore[import-untyped]
        from onnxruntime.capi.onnxruntime_inference_collection import Session  # type: ignore[import-untyped]
    except ImportError:
        return None
    value = onnxruntime.OrtValue.ortvalue_from_shape_and_type((), ONNX_TYPES["bool"])
    has_direct_access = (
        hasattr(Session(), "_sess")
        and hasattr(value, "_ortvalue")
        and hasattr(_pybind_state.OrtValue, "ortvalue_from_shape_and_onnx_type")
        and hasattr(_pybind_state.InferenceSession, "run_with_ort_values")
    )
    return _DirectValues(_pybind_state) if has_direct_access else None


def _borrow(array: Array, dtype: DType) -> Any:
    """A public value that uses the memory of `array`."""
    if dtype == "bfloat16":
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array, ONNX_TYPES[dtype])
    return onnxruntime.OrtValue.ortvalue_from_numpy(array)
