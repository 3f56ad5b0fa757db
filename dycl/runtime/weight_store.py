"""The weights of an artefact: `weights.bin` with each weight once, and `weights.json` that says where."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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
    """The array itself if its memory is in order and aligned, else a copy; a 0-d array stays 0-d, unlike with numpy."""
    flags = array.flags
    return array if flags.c_contiguous and flags.aligned else array.copy(order="C")


def unlocked(array: Array) -> Array:
    """The array itself, or if it is read-only, one in its memory that says it is not; nobody may write to it.

    There are libraries that use memory in place, and take none that is read-only.
    """
    return array if array.flags.writeable else np.asarray(_Unlocked(array))


class _Unlocked:
    """The memory of a read-only array, said to be writable."""

    def __init__(self, array: Array) -> None:
        self._array = array  # which is kept alive for as long as its memory is used
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def array_dtype(dtype: DType) -> np.dtype[np.generic]:
    """The numpy element type that carries `dtype`: numpy has no bfloat16, its bits travel as uint16."""
    return np.dtype(_CARRIERS.get(dtype, dtype))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a weight lies in `weights.bin`."""

    weight: WeightId
    type: TensorType
    shape: tuple[int, ...]
    offset: int
    size: int


def _places(types: Mapping[WeightId, TensorType]) -> Iterator[_Place]:
    """One weight after the other, each at the next multiple of ALIGNMENT."""
    position = 0
    for weight, tensor_type in types.items():
        shape = tuple(size for size in tensor_type.shape if isinstance(size, int))
        size = math.prod(shape) * array_dtype(tensor_type.dtype).itemsize
        position += -position % ALIGNMENT
        yield _Place(weight, tensor_type, shape, position, size)
        position += size


def weight_index(types: Mapping[WeightId, TensorType]) -> bytes:
    """The bytes of `weights.json`."""
    index: list[Json] = [
        {
            "id": place.weight,
            "dtype": place.type.dtype,
            "shape": list(place.shape),
            "offset": place.offset,
            "size": place.size,
        }
        for place in _places(types)
    ]
    return strict_json.write(index)


def weight_pieces(weights: Mapping[WeightId, Array], types: Mapping[WeightId, TensorType]) -> Iterator[Buffer]:
    """The bytes of `weights.bin` in order, taken from the arrays where they lie."""
    position = 0
    for place in _places(types):
        array = weights[place.weight]
        if array.dtype != array_dtype(place.type.dtype) or array.shape != place.shape:
            raise ValueError(f"weight {place.weight} is {array.dtype}{list(array.shape)}, its type is {place.type}")
        yield bytes(place.offset - position)
        ordered = contiguous(array).astype(array.dtype.newbyteorder("<"), copy=False)
        yield ordered.reshape(-1).view(np.uint8).data
        position = place.offset + place.size


def unpack_weights(index: bytes, data: Buffer, types: Mapping[WeightId, TensorType]) -> dict[WeightId, Array]:
    """The weights as read-only arrays that view `data`; HcfgError unless index and data are what this module writes."""
    entries = strict_json.items(strict_json.parse(index, "weights.json"), "weights.json")
    if len(entries) != len(types):
        raise HcfgError(f"weights.json lists {len(entries)} weights, the graph has {len(types)}")
    weights: dict[WeightId, Array] = {}
    position = 0
    for (entry, name), place in zip(entries, _places(types), strict=True):
        _check_entry(entry, name, place)
        if place.offset + place.size > len(data):
            raise HcfgError(f"{name} lies outside weights.bin")
        if any(data[position : place.offset]):
            raise HcfgError(f"weights.bin has something other than zeros before {name}")
        weights[place.weight] = _array(data, place)
        position = place.offset + place.size
    if position != len(data):
        raise HcfgError("weights.bin has bytes that belong to no weight")
    return weights


def _check_entry(entry: object, name: str, place: _Place) -> None:
    id_, dtype, shape, offset, size = strict_json.fields(entry, name, "id", "dtype", "shape", "offset", "size")
    dimensions = tuple(strict_json.integer(*item) for item in strict_json.items(shape, f"{name}.shape"))
    if (id_, dtype, dimensions) != (place.weight, place.type.dtype, place.shape):
        raise HcfgError(f"{name} is not weight {place.weight} of type {place.type}")
    if strict_json.integer(offset, f"{name}.offset") != place.offset:
        raise HcfgError(f"{name} is not at its place in weights.bin")
    if strict_json.integer(size, f"{name}.size") != place.size:
        raise HcfgError(f"{name} has {size} bytes, a {place.type} has {place.size}")


def _array(data: Buffer, place: _Place) -> Array:
    element = array_dtype(place.type.dtype).newbyteorder("<")
    count = math.prod(place.shape)
    flat = np.frombuffer(data, dtype=element, count=count, offset=place.offset) if count else np.empty(0, element)
    # A flag that is neither 0 nor 1 means something else to every kernel that reads it.
    if place.type.dtype == "bool" and flat.view(np.uint8).max(initial=0) > 1:
        raise HcfgError("weights.bin holds a flag that is neither true nor false")
    try:
        array = flat.reshape(place.shape).astype(array_dtype(place.type.dtype), copy=False)
    except ValueError as error:
        raise HcfgError(f"a weight of type {place.type} cannot exist: {error}") from error
    array.flags.writeable = False
    return array
