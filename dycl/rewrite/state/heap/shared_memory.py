"""What from before the call lies in the same memory: a change of one is a change of the other."""

import bisect
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import torch

from dycl.rewrite.state.extents import Extent, extent_of
from dycl.rewrite.state.heap.unchanged.guards import Guard

GETS_AT_MEMORY = frozenset(
    (
        *("numpy", "asarray", "array", "__array__", "from_numpy", "frombuffer", "memoryview", "data_ptr"),
        *("from_dlpack", "to_dlpack", "__dlpack__", "apply_", "map_", "map2_", "storage", "untyped_storage"),
    )
)
"""By these a program may get at a tensor's memory past PyTorch's operations."""


class Memories:
    """Tensors, arrays and buffers, with the memory that they lie in."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Any, Extent]] = {}
        self._guarded: set[int] = set()
        self._merged: tuple[list[int], list[int]] | None = None
        self._bounds: tuple[list[int], list[int]] | None = None

    def add(self, value: Any) -> None:
        """Take note of something that may lie in memory of its own."""
        extent = extent_of(value)
        if extent is not None:
            self._found[id(value)] = (value, extent)
            self._merged = self._bounds = None

    def shares(self, value: Any) -> bool:
        """Whether something else than this lies in the same memory, too."""
        extent = extent_of(value)
        if extent is None:
            return False
        if self._bounds is None:
            extents = [extent for _, extent in self._found.values()]
            self._bounds = sorted(start for start, _ in extents), sorted(end for _, end in extents)
        starts, ends = self._bounds
        there = bisect.bisect_left(starts, extent[1]) - bisect.bisect_right(ends, extent[0])
        _, itself = self._found.get(id(value), (value, (0, 0)))
        return there > (itself[0] < extent[1] and extent[0] < itself[1])

    def reach(self, value: Any) -> bool:
        """Whether something made during the call lies in memory of theirs."""
        extent = extent_of(value)
        if extent is None:
            return False
        if self._merged is None:
            self._merged = _merged(extent for _, extent in self._found.values())
        starts, ends = self._merged
        place = bisect.bisect_left(starts, extent[1])
        return place > 0 and ends[place - 1] > extent[0]

    def owners(self, name: str) -> list[Any]:
        """What the memory of all those belongs to that say so by this name."""
        views = self._found.values() if name in _OWNERS else ()
        return [owner for value, _ in views for owner in owners_of(value, (name,))]

    def new_guards(self) -> list[Guard]:
        """What lets the tensors among them keep their elements, as far as nobody has asked for it before."""
        found = [value for value, _ in self._found.values() if isinstance(value, torch.Tensor)]
        new = [tensor for tensor in found if id(tensor) not in self._guarded]
        self._guarded.update(map(id, new))
        return list(map(_tensor_guard, new))


_OWNERS = {"base": np.ndarray, "obj": memoryview}


def owners_of(value: Any, names: Collection[str]) -> list[Any]:
    """What the memory of a view belongs to, if it says so by one of these names."""
    return [getattr(value, name) for name, kind in _OWNERS.items() if name in names and isinstance(value, kind)]


def _merged(extents: Iterable[Extent]) -> tuple[list[int], list[int]]:
    """The same memory as parts that are apart from each other, in order: where they begin, and where they end."""
    starts: list[int] = []
    ends: list[int] = []
    for start, end in sorted(extents):
        if ends and start <= ends[-1]:
            ends[-1] = max(end, ends[-1])
        else:
            starts.append(start)
            ends.append(end)
    return starts, ends


def _tensor_guard(tensor: torch.Tensor) -> Guard:
    """A tensor of the model keeps its elements, whoever gets at its memory."""
    shown, dtype, shape = _as_bytes(tensor), tensor.dtype, tensor.shape
    elements = shown.tobytes()
    place = tensor.data_ptr() if tensor.is_contiguous() else None

    def changed() -> str | None:
        now = shown if tensor.data_ptr() == place else _as_bytes(tensor)
        return None if now.tobytes() == elements else "the elements of a tensor"

    def restore() -> None:
        if changed() is not None:
            tensor.data.copy_(torch.frombuffer(bytearray(elements), dtype=dtype).reshape(shape))

    return Guard(changed, restore)


def _as_bytes(tensor: torch.Tensor) -> Any:
    """The elements of a tensor; one in which they lie in order shares its memory with them."""
    return tensor.detach().reshape(-1).contiguous().view(torch.uint8).numpy()
