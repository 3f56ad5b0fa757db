"""The values of a net in whatever layouts they are needed, and the calls of kernels that make them."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dycl.runtime.tvm.code import Net
from dycl.runtime.tvm.kernels.arrays import MappedArray, View, plain
from dycl.runtime.tvm.kernels.expressions import Applied, Chain
from dycl.runtime.tvm.kernels.images import Image, image_of
from dycl.runtime.tvm.kernels.moving import Moved
from dycl.runtime.tvm.kernels.tiles import Machine
from dycl.runtime.tvm.memory import Buffer
from dycl.runtime.weight_store import Array

Pack = Callable[[Sequence[Array]], Array]
ITEM_SIZES = {"bool": 1, "int32": 4, "int64": 8, "float32": 4, "float64": 8}


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A kernel and the memory that it gets, what it writes last."""

    kernel: Any
    buffers: tuple[Buffer, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """A value as an array in memory."""

    buffer: Buffer
    view: View


@dataclass(frozen=True, slots=True)
class Drawn:
    """A value as images in memory."""

    buffer: Buffer
    image: Image


class Values:
    """All that is known of a net's values while it is planned."""

    def __init__(self, net: Net, machine: Machine) -> None:
        self.net = net
        self.machine = machine
        self.calls: list[KernelCall] = []
        self.scratch: list[Buffer] = []
        self.packs: list[Pack] = []
        self._seen: dict[int, Seen] = {}
        self._drawn: dict[int, list[Drawn]] = {}
        self._packed: dict[Hashable, Buffer] = {}
        self._constants = {step.result: step for step in net.steps if step.kind == "constant"}
        for value in range(net.inputs):
            self._seen[value] = Seen(Buffer("input", value), self._plain(value))

    def _plain(self, value: int) -> View:
        tensor = self.net.tensors[value]
        return plain(tensor.dtype, tensor.shape)

    # Memory.

    def call(self, kernel: Any, *buffers: Buffer) -> None:
        """Call a kernel with this memory."""
        for buffer in buffers:
            buffer.last = len(self.calls)
        self.calls.append(KernelCall(kernel, buffers))

    def room(self, size: int, shape: Hashable = None) -> Buffer:
        """Scratch memory of so many bytes."""
        made = Buffer("scratch", 0, size, shape, len(self.calls))
        self.scratch.append(made)
        return made

    def constant(self, key: Hashable, pack: Pack) -> Buffer:
        """What `pack` makes of the weights, once."""
        if key not in self._packed:
            self._packed[key] = Buffer("constant", len(self.packs))
            self.packs.append(pack)
        return self._packed[key]

    def image_room(self, image: Image) -> Buffer:
        """Scratch memory for images."""
        return self.room(image.size * 4, image if image.top or image.left else None)

    def result(self, value: int) -> Buffer:
        """Memory for a value as an array in order: where the caller wants it, if it is an output."""
        view = self._plain(value)
        if value in self.net.outputs:
            made = Buffer("output", self.net.outputs.index(value))
        else:
            made = self.room(view.size * ITEM_SIZES[view.dtype])
        self._seen[value] = Seen(made, view)
        return made

    # Values.

    def see(self, value: int, seen: Seen) -> None:
        """Take note that a value is this array."""
        self._seen[value] = seen

    def draw(self, value: int, drawn: Drawn) -> None:
        """Take note that a value is these images."""
        self._drawn.setdefault(value, []).append(drawn)

    def is_drawn(self, value: int) -> bool:
        """Whether a value exists as images already."""
        return value in self._drawn

    def view(self, value: int) -> Seen:
        """A value as an array; weights, too."""
        if value in self._seen:
            return self._seen[value]
        if self.net.is_weight(value):
            number, view = value - self.net.inputs, self._plain(value)
            self._seen[value] = Seen(self.constant(value, lambda weights: weights[number].reshape(-1)), view)
        elif value in self._constants:
            self._fill(value)
        else:
            drawn = self._drawn[value]
            self.undraw(value, next((one for one in drawn if one.image.is_plain), drawn[0]))
        return self._seen[value]

    def _fill(self, value: int) -> None:
        step = self._constants[value]
        dtype = self.net.tensors[value].dtype
        chain = Chain(0, dtype, (Applied("constant", (), tuple(sorted(step.attributes.items())), dtype),))
        made = self.result(value)
        self.call(MappedArray(self._seen[value].view, chain, (), self.machine.lanes), made)

    def undraw(self, value: int, drawn: Drawn) -> None:
        """Take note that a value is the array of these images."""
        if drawn.image.is_plain and value not in self.net.outputs:
            view = self._plain(value)
            self._seen[value] = Seen(drawn.buffer, View("float32", view.shape, view.strides, 0, drawn.image.size))
            return
        made = self.result(value)
        self.call(Moved(drawn.image, image_of(drawn.image.shape)), drawn.buffer, made)

    def plain(self, value: int) -> Buffer:
        """A value as an array in order; weights, too."""
        seen = self.view(value)
        if seen.view.is_plain:
            return seen.buffer
        view = self._plain(value)
        made = self.room(view.size * ITEM_SIZES[view.dtype])
        self.call(MappedArray(view, Chain(1, view.dtype), (seen.view,), self.machine.lanes), seen.buffer, made)
        self._seen[value] = Seen(made, view)
        return made

    def image(self, value: int, lanes: int, top: int = 0, left: int = 0, exact: bool = True) -> Drawn:
        """A value as images with so many lanes (or fewer, if not `exact`) and at least this border."""
        shape = self.net.tensors[value].shape
        for drawn in self._drawn.get(value, ()):
            image = drawn.image
            if image.top >= top and image.left >= left and (image.lanes == lanes or not exact):
                return drawn
        wanted = image_of(shape, lanes, (top, left))
        if self.net.is_weight(value):
            found = Drawn(self._packed_image(value, wanted), wanted)
        elif not self.is_drawn(value) and wanted.is_plain:
            found = Drawn(self.plain(value), wanted if wanted.size == math.prod(shape) else image_of(shape))
            if found.image.lanes != lanes:
                found = self._moved(found, wanted)
        else:
            given = self._drawn[value][0] if self.is_drawn(value) else Drawn(self.plain(value), image_of(shape))
            found = self._moved(given, wanted)
        self.draw(value, found)
        return found

    def _moved(self, given: Drawn, wanted: Image) -> Drawn:
        made = self.image_room(wanted)
        self.call(Moved(given.image, wanted), given.buffer, made)
        return Drawn(made, wanted)

    def _packed_image(self, value: int, image: Image) -> Buffer:
        number, lanes = value - self.net.inputs, image.lanes

        def pack(weights: Sequence[Array]) -> Array:
            full = np.zeros((image.images, image.blocks * lanes, image.height, image.width), np.float32)
            full[:, : image.channels] = weights[number].reshape(image.shape)
            blocks = full.reshape(image.images, image.blocks, lanes, image.height, image.width)
            return np.ascontiguousarray(blocks.transpose(0, 1, 3, 4, 2)).reshape(-1)

        return self.constant((value, image), pack)
