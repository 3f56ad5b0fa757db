"""The plan of a net: which kernels are called, in turn, with which memory, and what is made of the weights before.

Convolutions and what follows them stay in blocks of channels, from one to the next; what else there is works on arrays
in order, or on views of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dycl.runtime.tvm import folding, views
from dycl.runtime.tvm.chains import Norm, Other, chain_of
from dycl.runtime.tvm.code import Net, Step
from dycl.runtime.tvm.groups import Group, grouped
from dycl.runtime.tvm.kernels.arrays import MappedArray, Reduced, View, plain, steps_of
from dycl.runtime.tvm.kernels.convolution import Convolution, DepthWise, Window, fits_blocks
from dycl.runtime.tvm.kernels.dense import Dense, dense_tile
from dycl.runtime.tvm.kernels.expressions import Chain
from dycl.runtime.tvm.kernels.images import Image, Mapped, Tail, image_of
from dycl.runtime.tvm.kernels.moving import Moved
from dycl.runtime.tvm.kernels.pooling import Pooled, Resized
from dycl.runtime.tvm.kernels.rows import LayerNormalised, Softmax
from dycl.runtime.tvm.kernels.tiles import Machine, best_tile
from dycl.runtime.tvm.memory import Buffer, placed
from dycl.runtime.tvm.values import Drawn, KernelCall, Pack, Seen, Values


@dataclass(frozen=True, slots=True)
class Plan:
    """The calls of a net's kernels, what memory they need, and what makes their constants."""

    calls: tuple[KernelCall, ...]
    inputs: int
    outputs: int
    scratch: int
    packs: tuple[Pack, ...]


def plan(net: Net, machine: Machine) -> Plan:
    """The plan of a net for a machine."""
    planner = _Planner(net, machine)
    for group in grouped(net):
        planner.add(group)
    planner.deliver()
    found = planner.values
    return Plan(tuple(found.calls), net.inputs, len(net.outputs), placed(found.scratch), tuple(found.packs))


class _Planner:
    """Adds one group's kernels after the other's."""

    def __init__(self, net: Net, machine: Machine) -> None:
        self.net = net
        self.machine = machine
        self.values = Values(net, machine)
        self._steps = {step.result: step for step in net.steps}
        self._borders = _borders(net)

    def shape(self, value: int) -> tuple[int, ...]:
        """The sizes of a value."""
        return self.net.tensors[value].shape

    def add(self, group: Group) -> None:
        """Add the kernels of a group."""
        step = group.head
        match step.kind:
            case "conv2d":
                self._convolution(group)
            case "linear" | "matmul":
                self._product(group)
            case "max_pool" | "avg_pool":
                self._pooling(group)
            case "resize":
                self._resized(group)
            case "mean" | "sum" | "amax" | "amin":
                self._reduced(step)
            case "softmax" | "log_softmax":
                self._softmax(step)
            case "layer_norm":
                self._layer_norm(step)
            case "cat":
                self._joined(step)
            case "constant":
                self.values.view(step.result)
            case "reshape":
                self._reshaped(step)
            case "permute" | "slice" | "expand":
                seen = self.values.view(step.operands[0])
                self.values.see(step.result, Seen(seen.buffer, views.viewed(seen.view, step)))
            case _:
                self._mapped(group)

    def deliver(self) -> None:
        """Copy outputs to where the caller wants them, where they are not there yet."""
        for place, value in enumerate(self.net.outputs):
            seen = self.values.view(value)
            if seen.buffer.kind != "output" or seen.buffer.number != place or not seen.view.is_plain:
                view = plain(seen.view.dtype, seen.view.shape)
                kernel = MappedArray(view, Chain(1, view.dtype), (seen.view,), self.machine.lanes)
                self.values.call(kernel, seen.buffer, Buffer("output", place))

    # Images.

    def _convolution(self, group: Group) -> None:
        step, tail = group.head, group.tail
        norm = tail[0] if tail and tail[0].kind == "batch_norm" else None
        tail = tail[1:] if norm else tail
        a, net, lanes = step.attributes, self.net, self.machine.lanes
        inputs, outputs = self.shape(step.operands[0])[1], self.shape(step.result)[1]
        rows, columns = self.shape(step.operands[1])[2:]
        window = Window(rows, columns, *a["stride"], *a["padding"], *a["dilation"])
        groups = a["groups"]
        is_depthwise = groups == inputs == outputs and groups > 1
        if groups > 1 and not is_depthwise and not fits_blocks(outputs, groups, lanes):
            groups_read = 1
        else:
            groups_read = groups
        source = self._source(step.operands[0], lanes, window, is_depthwise)
        result = self._image(group.last)
        told, others = self._image_tail(tail, norm.result if norm else step.result)
        pixels = source.image, result, told
        if (rows, columns, window.down, window.across) == (1, 1, 1, 1):
            pixels = _flattened(source.image, result, told)
        machine = self.machine
        if is_depthwise:
            tile = best_tile(pixels[1].height, pixels[1].width, 1, replace(machine, registers=machine.registers // 2))
            kernel: Convolution | DepthWise = DepthWise(pixels[0], pixels[1], window, tile, pixels[2])
        else:
            own_inputs = groups_read > 1
            tile = best_tile(pixels[1].height, pixels[1].width, result.blocks, machine, not own_inputs)
            kernel = Convolution(pixels[0], pixels[1], window, groups, tile, pixels[2])
        length = result.blocks * result.lanes
        weight = self.values.constant(
            (kernel, step.result), lambda weights: kernel.packed(folding.weight_of(net, step, norm, weights))
        )
        bias = self.values.constant(
            ("bias", step.result), lambda weights: folding.padded(folding.bias_of(net, step, norm, weights), length)
        )
        made = self.values.image_room(result)
        self.values.call(kernel, source.buffer, weight, bias, *others, made)
        self.values.draw(group.last, Drawn(made, result))

    def _source(self, value: int, lanes: int, window: Window, in_blocks: bool) -> Drawn:
        """Images with the border that a window reads; a few channels need no blocks."""
        few = self.shape(value)[1] * 4 <= lanes and not self.values.is_drawn(value)
        wanted = 1 if few and not in_blocks else lanes
        return self.values.image(value, wanted, window.top, window.left, exact=in_blocks)

    def _image(self, value: int) -> Image:
        """The images that a result is written as, with the border that its readers want."""
        return image_of(self.shape(value), self.machine.lanes, self._borders.get(value, (0, 0)))

    def _image_tail(self, steps: Sequence[Step], head: int | None) -> tuple[Tail, list[Buffer]]:
        chain, others = chain_of(self.net, steps, head)
        drawn = [self._drawn_other(other) for other in others]
        return Tail(chain, tuple(one.image for one in drawn)), [one.buffer for one in drawn]

    def _drawn_other(self, other: Other) -> Drawn:
        lanes = self.machine.lanes
        if isinstance(other, Norm):
            image = Image(1, self.shape(other.step)[1], 1, 1, lanes)
            return Drawn(self._norm(other, image.blocks * lanes), image)
        sizes = self.shape(other)
        channels = sizes[-3] if len(sizes) > 2 else 1
        return self.values.image(other, 1 if channels == 1 else lanes)

    def _norm(self, norm: Norm, length: int) -> Buffer:
        net, step = self.net, self._steps[norm.step]
        part = folding.scale_of if norm.part == "scale" else folding.shift_of
        return self.values.constant(
            (norm, length), lambda weights: folding.padded(part(net, step, weights).astype("float32"), length)
        )

    def _pooling(self, group: Group) -> None:
        step = group.head
        a = step.attributes
        window = Window(*a["window"], *a["stride"], *a["padding"])
        self._pooled(group, window, step.kind == "avg_pool", bool(a.get("inside")))

    def _pooled(self, group: Group, window: Window, is_average: bool, inside: bool) -> None:
        value = group.head.operands[0]
        source = self.values.image(value, self.machine.lanes, exact=bool(group.tail))
        result = replace(self._image_of(group), lanes=source.image.lanes)
        tail, others = self._image_tail(group.tail, group.head.result)
        made = self.values.image_room(result)
        kernel = Pooled(source.image, result, window, is_average, inside, tail)
        self.values.call(kernel, source.buffer, *others, made)
        if len(self.shape(group.last)) == 4:
            self.values.draw(group.last, Drawn(made, result))
        else:
            self.values.undraw(group.last, Drawn(made, result))

    def _image_of(self, group: Group) -> Image:
        """The images of a group's result, which may be a reduction that dropped height and width."""
        sizes = self.shape(group.last)
        return self._image(group.last) if len(sizes) == 4 else image_of((*sizes[:2], 1, 1), self.machine.lanes)

    def _resized(self, group: Group) -> None:
        source = self.values.image(group.head.operands[0], self.machine.lanes, exact=bool(group.tail))
        result = replace(self._image(group.last), lanes=source.image.lanes)
        tail, others = self._image_tail(group.tail, group.head.result)
        made = self.values.image_room(result)
        kernel = Resized(source.image, result, group.head.attributes["corners"], tail)
        self.values.call(kernel, source.buffer, *others, made)
        self.values.draw(group.last, Drawn(made, result))

    # Elementwise.

    def _mapped(self, group: Group) -> None:
        steps = (group.head, *group.tail)
        chain, others = chain_of(self.net, steps, None)
        shape = self.shape(group.last)
        values = [other for other in others if not isinstance(other, Norm)]
        dtypes = {self.net.tensors[value].dtype for value in (*values, *(step.result for step in steps))}
        # What has weights on one side only, such as a mask, is drawn, too.
        if len(shape) == 4 and dtypes == {"float32"} and any(self._is_large_image(value, shape) for value in values):
            result = self._image(group.last)
            tail, buffers = self._image_tail(steps, None)
            made = self.values.image_room(result)
            self.values.call(Mapped(result, tail), *buffers, made)
            self.values.draw(group.last, Drawn(made, result))
            return
        seen = [self._seen_other(other) for other in others]
        seen_views = tuple(one.view.repeated(shape) for one in seen)
        made = self.values.result(group.last)
        kernel = MappedArray(plain(chain.dtype, shape), chain, seen_views, self.machine.lanes)
        self.values.call(kernel, *(one.buffer for one in seen), made)

    def _is_large_image(self, value: int, shape: tuple[int, ...]) -> bool:
        return self.values.is_drawn(value) and self.shape(value) == shape and shape[2] * shape[3] > 1

    def _seen_other(self, other: Other) -> Seen:
        if not isinstance(other, Norm):
            return self.values.view(other)
        shape = self.shape(other.step)
        sizes = (shape[1], *(1 for _ in shape[2:]))
        return Seen(self._norm(other, shape[1]), plain("float32", sizes))

    # Products.

    def _product(self, group: Group) -> None:
        step, net = group.head, self.net
        left, result = self.shape(step.operands[0]), self.shape(step.result)
        is_packed = step.kind == "linear"
        batch = 1 if is_packed else left[0]
        inner, columns = left[-1], result[-1]
        rows = net.tensors[step.result].size // batch // columns
        lanes, tile = dense_tile(rows, columns, self.machine)
        chain, others = chain_of(net, group.tail, step.result)
        seen = [self._seen_other(other) for other in others]
        repeated = [(one.buffer, views.in_three(one.view.repeated(result), (batch, rows, columns))) for one in seen]
        if any(view is None or view.strides[-1] not in (0, 1) for _, view in repeated):
            # What it reads besides lies otherwise: the tail is done by itself.
            self._product(Group(step, ()))
            self._mapped(Group(group.tail[0], group.tail[1:]))
            return
        kernel = Dense(
            *(batch, rows, inner, columns, is_packed, lanes, tile, chain),
            tuple(view for _, view in repeated if view is not None),
        )
        operands = [self.values.plain(step.operands[0])]
        if is_packed:
            packed, number = kernel.packed, step.operands[1] - net.inputs
            operands += [
                self.values.constant((kernel, step.result), lambda weights: packed(weights[number])),
                self.values.constant(("bias", step.result), lambda weights: folding.bias_of(net, step, None, weights)),
            ]
        else:
            operands.append(self.values.plain(step.operands[1]))
        made = self.values.result(group.last)
        self.values.call(kernel, *operands, *(buffer for buffer, _ in repeated), made)

    # Reductions.

    def _reduced(self, step: Step) -> None:
        value, axes = step.operands[0], step.attributes["axes"]
        shape = self.shape(value)
        if sorted(axes) == [2, 3] and len(shape) == 4 and self.values.is_drawn(value) and step.kind in ("mean", "amax"):
            window = Window(*shape[2:], *shape[2:], 0, 0)
            self._pooled(Group(step, ()), window, step.kind == "mean", False)
            return
        seen = self.values.view(value)
        kept = [axis for axis in range(len(shape)) if axis not in axes]
        view = views.permuted(seen.view, (*kept, *sorted(axes)))
        made = self.values.result(step.result)
        self.values.call(Reduced(step.kind, view, len(axes), self.machine.lanes), seen.buffer, made)

    def _softmax(self, step: Step) -> None:
        seen, axis = self.values.view(step.operands[0]), step.attributes["axis"]
        shape = seen.view.shape
        order = (*(place for place in range(len(shape)) if place != axis), axis)
        view = views.permuted(seen.view, order)
        kernel = Softmax(view, step.kind == "log_softmax")
        if axis == len(shape) - 1:
            self.values.call(kernel, seen.buffer, self.values.result(step.result))
            return
        made = self.values.room(self.net.tensors[step.result].size * 4)
        self.values.call(kernel, seen.buffer, made)
        back = tuple(order.index(place) for place in range(len(shape)))
        self.values.see(step.result, Seen(made, views.permuted(plain("float32", view.shape), back)))

    def _layer_norm(self, step: Step) -> None:
        shape = self.shape(step.result)
        operands = [self.values.plain(operand) for operand in step.operands]
        rows = self.net.tensors[step.result].size // shape[-1]
        kernel = LayerNormalised(rows, shape[-1], len(operands) > 1, step.attributes["eps"], self.machine.lanes)
        self.values.call(kernel, *operands, self.values.result(step.result))

    # Shapes.

    def _reshaped(self, step: Step) -> None:
        value = step.operands[0]
        seen, shape = self.values.view(value), self.shape(step.result)
        if not seen.view.is_plain and seen.view.strides != steps_of(seen.view.shape):
            seen = Seen(self.values.plain(value), plain(seen.view.dtype, seen.view.shape))
        view = View(seen.view.dtype, shape, steps_of(shape), seen.view.offset, seen.view.size)
        self.values.see(step.result, Seen(seen.buffer, view))

    def _joined(self, step: Step) -> None:
        axis, shape = step.attributes["axis"], self.shape(step.result)
        is_image = len(shape) == 4 and axis == 1 and any(map(self.values.is_drawn, step.operands))
        first = 0
        if is_image:
            result = self._image(step.result)
            made = self.values.image_room(result)
            parts = [self.values.image(value, result.lanes, exact=False) for value in step.operands]
            for part in parts:
                self.values.call(Moved(part.image, result, first), part.buffer, made)
                first += part.image.channels
            self.values.draw(step.result, Drawn(made, result))
            return
        seen = [self.values.view(value) for value in step.operands]
        made = self.values.result(step.result)
        whole = plain(self.net.tensors[step.result].dtype, shape)
        for one in seen:
            length = one.view.shape[axis]
            part_of = views.sliced(whole, axis, first, length, 1)
            kernel = MappedArray(part_of, Chain(1, whole.dtype), (one.view,), self.machine.lanes)
            self.values.call(kernel, one.buffer, made)
            first += length


def _borders(net: Net) -> dict[int, tuple[int, int]]:
    """The border that the convolutions which read a value want around it."""
    found: dict[int, tuple[int, int]] = {}
    for step in net.steps:
        if step.kind == "conv2d":
            (top, left), (down, across) = step.attributes["padding"], found.get(step.operands[0], (0, 0))
            found[step.operands[0]] = max(top, down), max(left, across)
    return found


def _flattened(source: Image, result: Image, tail: Tail) -> tuple[Image, Image, Tail]:
    """Images of one long row, for what looks at one pixel at a time, if there is no border between rows."""
    others = tail.others
    like = [image for image in others if (image.height, image.width) != (1, 1)]
    if any(image.top or image.left or image.shape[2:] != result.shape[2:] for image in (source, result, *like)):
        return source, result, tail

    def flat(image: Image) -> Image:
        return replace(image, height=1, width=image.height * image.width)

    return flat(source), flat(result), Tail(tail.chain, tuple(map(flat, others)))
