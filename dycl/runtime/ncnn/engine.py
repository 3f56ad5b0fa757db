"""Sub-DNNs run by ncnn on the CPU, in single precision.

Between nets a map stays as ncnn has it, in its packed layout: the next net takes it as it is. ncnn's layers write into
the memory that they are given where nobody else holds it, so an array that is put is copied into memory of ncnn's own.
"""

import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import ncnn  # type: ignore[import-untyped]
import numpy as np

from dycl.hcfg.nodes import SubnetId
from dycl.hcfg.types import DType
from dycl.runtime.backend import CompiledSubnet, Slots, SubnetCall, SubnetFailure, Value
from dycl.runtime.errors import ArtefactError
from dycl.runtime.ncnn.code import COMPARISONS, Flag, Net, Step, parameters_text, read, read_names, weight_of
from dycl.runtime.ncnn.layers import LAYERS
from dycl.runtime.weight_store import Array

_PRECISION = (
    *("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic", "use_bf16_storage", "use_bf16_packed"),
    *("use_int8_inference", "use_vulkan_compute"),
)
_PACKED, _IMAGE = 1, 4


class Map:
    """A tensor as a map of ncnn's, and the tensor's shape."""

    __slots__ = ("mat", "shape")

    def __init__(self, mat: Any, shape: tuple[int, ...]) -> None:
        self.mat = mat
        self.shape = shape


class NcnnEngine:
    """Sub-DNNs as ncnn's nets."""

    value_types = (Map, np.ndarray)

    def __init__(self, subnets: Sequence[CompiledSubnet], threads: int) -> None:
        self._plain = ncnn.Option()
        self._plain.num_threads = 1
        for name in _PRECISION:
            setattr(self._plain, name, False)
        self._opened = {subnet.id: _Opened(subnet, threads) for subnet in subnets}

    def subnet(self, subnet: SubnetId, inputs: Sequence[int]) -> SubnetCall:
        """The call that runs a sub-DNN on the values at `inputs` in the slots."""
        opened = self._opened[subnet]
        feeds = [(f"v{index}", position) for index, position in enumerate(inputs)]
        create, results, put = opened.net.create_extractor, opened.results, self._map

        def call(slots: Slots) -> Sequence[Value]:
            extractor = create()
            for name, position in feeds:
                value: Any = slots[position]
                extractor.input(name, (value if type(value) is Map else put(value, "float32")).mat)
            return [result(extractor) for result in results]

        return call

    def put(self, array: Any, dtype: DType) -> Value:
        """A map that holds a copy of `array`; what no net takes stays an array."""
        shape: tuple[int, ...] = array.shape
        fits = dtype == "float32" and array.size and (array.ndim < _IMAGE or (array.ndim == _IMAGE and shape[0] == 1))
        return self._map(array, dtype) if fits else array

    def _map(self, array: Any, dtype: DType) -> Map:
        shape = array.shape
        sizes = shape[1:] if len(shape) > 1 and shape[0] == 1 else shape or (1,)
        return Map(ncnn.Mat(array.reshape(sizes)).clone(), shape)

    def take(self, value: Any, dtype: DType) -> Array:
        """The array that a map holds, as a copy; flags are arrays already."""
        if type(value) is not Map:
            return np.asarray(value)
        plain = ncnn.Mat()
        ncnn.convert_packing(value.mat, plain, 1, self._plain)
        return np.array(plain.numpy(), copy=True).reshape(value.shape)

    def number(self, value: Any) -> bool | int | float:
        """The one number that a value holds."""
        if type(value) is Map:
            value = self.take(value, "float32")
        number: bool | int | float = value.item()
        return number


class _Opened:
    """A sub-DNN's net, loaded, and what is read of it."""

    def __init__(self, subnet: CompiledSubnet, threads: int) -> None:
        net = read(subnet.code, subnet.signature)
        self.net = ncnn.Net()
        options = self.net.opt
        options.num_threads = threads
        for name in _PRECISION:
            setattr(options, name, False)
        self._load(net, subnet)
        shapes: list[Any] = [told.shape for told in subnet.signature.outputs]
        self.results = [
            _flag(name, output, subnet.weights) if isinstance(output, Flag) else _map(name, shape)
            for name, output, shape in zip(read_names(net), net.outputs, shapes, strict=True)
        ]

    def _load(self, net: Net, subnet: CompiledSubnet) -> None:
        if self.net.load_param_mem(parameters_text(net)):
            raise ArtefactError(f"ncnn refuses the layers of sub-DNN {subnet.id}")
        # ncnn reads weights from a file; one in memory where the system has such.
        if hasattr(os, "memfd_create"):
            number = os.memfd_create("weights")
            with os.fdopen(number, "wb") as file:
                _write(net, subnet, file)
                file.flush()
                status = self.net.load_model(f"/proc/self/fd/{number}")
        else:
            with tempfile.NamedTemporaryFile(suffix=".bin") as file:
                _write(net, subnet, file)
                file.flush()
                status = self.net.load_model(file.name)
        if status:
            raise ArtefactError(f"ncnn refuses the weights of sub-DNN {subnet.id}")


def _write(net: Net, subnet: CompiledSubnet, file: Any) -> None:
    """Write all weights in the order of their layers."""
    for step in net.steps:
        layer = LAYERS[step.kind]
        for place, recipe in enumerate(step.recipes):
            numbers = weight_of(recipe, subnet.weights, _channels(step))
            if place in layer.tagged:
                file.write(b"\0\0\0\0")
            file.write(np.ascontiguousarray(numbers, np.float32).tobytes())


def _channels(step: Step) -> int:
    return step.sizes[-1] if step.kind == "InnerProduct" else step.sizes[0]


def _map(name: str, shape: tuple[int, ...]) -> Callable[[Any], Value]:
    """What reads a map, in ncnn's packed layout."""

    def read_map(extractor: Any) -> Map:
        status, mat = extractor.extract(name, _PACKED)
        if status:
            raise SubnetFailure(f"ncnn fails with status {status}")
        return Map(mat, shape)

    return read_map


def _flag(name: str, flag: Flag, weights: Sequence[Array]) -> Callable[[Any], Value]:
    """What reads a number and compares it, in double precision."""
    compare = COMPARISONS[flag.comparison]
    other = np.float64(flag.number if flag.weight is None else weights[flag.weight].reshape(-1)[0])

    def read_flag(extractor: Any) -> Value:
        status, mat = extractor.extract(name)
        if status:
            raise SubnetFailure(f"ncnn fails with status {status}")
        return np.asarray(compare(np.float64(mat.numpy().item()), other))

    return read_flag
