"""The weights of an artefact: `weights.bin` with each weight once, and `weights.json` that says where."""

import math
from collections.abc import Mapping

import numpy as np

from dycl.hcfg import strict_json
from dycl.hcfg.errors import HcfgError
from dycl.hcfg.nodes import WeightId
from dycl.hcfg.strict_json import Json
from dycl.hcfg.types import DType, TensorType
from dycl.runtime.archive import ALIGNMENT, Buffer

Array = np.ndarray[tuple[int, ...], np.dtype[np.generic]]

_CARRIERS: dict[DType, str] = {"bfloat16": "uint16"}


def contiguous(array: Array) -> Array:
    """The array itself if its memory is in order, else a copy; unlike numpy's own, it leaves a 0-d array 0-d."""
    return array if array.flags.c_contiguous else array.copy(order="C")


def array_dtype(dtype: DType) -> np.dtype[np.generic]:
    """The numpy element type that carries `dtype`: numpy has no bfloat16, its bits travel as uint16."""
    return np.dtype(_CARRIERS.get(dtype, dtype))


def pack_weights(weights: Mapping[WeightId, Array], types: Mapping[WeightId, TensorType]) -> tuple[bytes, bytes]:
    """The bytes of `weights.json` and of `weights.bin`."""
    index: list[Json] = []
    parts: list[bytes] = []
    position = 0
    for weight, tensor_type in types.items():
        array = weights[weight]
        if array.dtype != array_dtype(tensor_type.dtype) or array.shape != tensor_type.shape:
            raise ValueError(f"weight {weight} is {array.dtype}{list(array.shape)}, its type is {tensor_type}")
        data = contiguous(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        padding = -position % ALIGNMENT
        parts += (bytes(padding), data)
        position += padding
        index.append(
            {
                "id": weight,
                "dtype": tensor_type.dtype,
                "shape": list(array.shape),
                "offset": position,
                "size": len(data),
            }
        )
        position += len(data)
    return strict_json.write(index), b"".join(parts)


def unpack_weights(index: bytes, data: Buffer, types: Mapping[WeightId, TensorType]) -> dict[WeightId, Array]:
    """The weights as read-only arrays that view `data`; HcfgError unless `pack_weights` could have written both."""
    entries = strict_json.items(strict_json.parse(index, "weights.json"), "weights.json")
    if len(entries) != len(types):
        raise HcfgError(f"weights.json lists {len(entries)} weights, the graph has {len(types)}")
    weights: dict[WeightId, Array] = {}
    position = 0
    for (entry, place), (weight, tensor_type) in zip(entries, types.items(), strict=True):
        id_, dtype, shape, offset, size = strict_json.fields(entry, place, "id", "dtype", "shape", "offset", "size")
        dimensions = tuple(strict_json.integer(*item) for item in strict_json.items(shape, f"{place}.shape"))
        if (id_, dtype, dimensions) != (weight, tensor_type.dtype, tensor_type.shape):
            raise HcfgError(f"{place} is not weight {weight} of type {tensor_type}")
        expected_size = math.prod(dimensions) * array_dtype(tensor_type.dtype).itemsize
        position += -position % ALIGNMENT
        if strict_json.integer(offset, f"{place}.offset") != position:
            raise HcfgError(f"{place} is not at its place in weights.bin")
        if strict_json.integer(size, f"{place}.size") != expected_size:
            raise HcfgError(f"{place} has {size} bytes, a {tensor_type} has {expected_size}")
        if position + expected_size > len(data):
            raise HcfgError(f"{place} lies outside weights.bin")
        weights[weight] = _array(data, tensor_type, dimensions, position)
        position += expected_size
    if position != len(data):
        raise HcfgError("weights.bin has bytes that belong to no weight")
    return weights


def _array(data: Buffer, tensor_type: TensorType, shape: tuple[int, ...], offset: int) -> Array:
    element = array_dtype(tensor_type.dtype).newbyteorder("<")
    count = math.prod(shape)
    flat = np.frombuffer(data, dtype=element, count=count, offset=offset) if count else np.empty(0, element)
    # A flag that is neither 0 nor 1 means something else to every kernel that reads it.
    if tensor_type.dtype == "bool" and flat.view(np.uint8).max(initial=0) > 1:
        raise HcfgError("weights.bin holds a flag that is neither true nor false")
    try:
        array = flat.reshape(shape).astype(array_dtype(tensor_type.dtype), copy=False)
    except ValueError as error:
        raise HcfgError(f"a weight of type {tensor_type} cannot exist: {error}") from error
    array.flags.writeable = False
    return array
