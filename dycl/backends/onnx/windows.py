"""Windows that slide over the last axes, for the element types that ONNX Runtime has no such kernels for."""

import math
from collections.abc import Sequence

from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.lowerings.linear import matmul
from dycl.backends.onnx.pieces import gather, reshape, slice_axis, transpose, unsqueeze
from dycl.backends.onnx.values import UNKNOWN, Value
from dycl.hcfg.types import Dimension


def sliding(b: Builder, x: Value, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Value:
    """The windows over the last axes: those axes give their places, as many new ones their elements."""
    count = len(kernel)
    first = x.rank - count
    for axis, (width, step, gap) in enumerate(zip(kernel, stride, dilation, strict=True)):
        place = first + 2 * axis
        size = x.shape[place]
        if not isinstance(size, int):
            b.refuse("the image's size is only known at run time")
        starts = range(0, size - gap * (width - 1), step)
        x = gather(b, x, b.constant([[start + gap * item for item in range(width)] for start in starts]), place)
    places, items = ([first + 2 * axis + offset for axis in range(count)] for offset in (0, 1))
    return transpose(b, x, [*range(first), *places, *items])


def bordered(b: Builder, x: Value, begin: Sequence[int], end: Sequence[int], fill: float = 0) -> Value:
    """The tensor with a border around its last axes; a negative border cuts off."""
    front = [0] * (x.rank - len(begin))
    sizes = zip(x.shape[-len(begin) :], begin, end, strict=True)
    shape = tuple(size + low + high if isinstance(size, int) else UNKNOWN for size, low, high in sizes)
    pads = b.constant([*front, *begin, *front, *end])
    return b.node("Pad", x, pads, b.number(fill, x.dtype), shape=(*x.shape[: len(front)], *shape))


def convolve(b: Builder, x: Value, weight: Value, stride: Sequence[int], dilation: Sequence[int], groups: int) -> Value:
    """The convolution of a batch, without a border or bias, as one matrix product a group."""
    spatial = weight.rank - 2
    kernel = [size for size in weight.shape[2:] if isinstance(size, int)]
    windows = sliding(b, x, kernel, stride, dilation)
    outputs = windows.shape[2 : 2 + spatial]
    outer, inner = _static(b, weight.shape[:2])
    volume = inner * math.prod(kernel)
    batch = b.size_of(x, 0)
    # [batch, channels, places, items] -> [groups, batch * places, channels of a group * items]
    split = reshape(b, windows, [batch, groups, inner, *_static(b, outputs), *kernel])
    rank = split.rank
    order = [1, 0, *range(3, 3 + spatial), 2, *range(3 + spatial, rank)]
    rows = reshape(b, transpose(b, split, order), [groups, -1, volume])
    columns = transpose(b, reshape(b, weight, [groups, outer // groups, volume]), [0, 2, 1])
    product = reshape(b, matmul(b, rows, columns), [groups, batch, *_static(b, outputs), outer // groups])
    back = transpose(b, product, [1, 0, product.rank - 1, *range(2, product.rank - 1)])
    return reshape(b, back, [batch, outer, *_static(b, outputs)])


def spread(b: Builder, x: Value, stride: Sequence[int]) -> Value:
    """The tensor with zeros between the elements of its last axes, so that these lie a stride apart."""
    first = x.rank - len(stride)
    for axis, step in enumerate(stride, start=first):
        if step == 1:
            continue
        (size,) = _static(b, x.shape[axis : axis + 1])
        column = unsqueeze(b, x, [axis + 1])
        pads = [0] * (2 * column.rank)
        pads[column.rank + axis + 1] = step - 1
        shape = (*x.shape[: axis + 1], step, *x.shape[axis + 1 :])
        wide = b.node("Pad", column, b.constant(pads), b.number(0, x.dtype), shape=shape)
        sizes = [*b.sizes_of(x)[:axis], size * step, *b.sizes_of(x)[axis + 1 :]]
        x = slice_axis(b, reshape(b, wide, sizes), axis, 0, (size - 1) * step + 1)
    return x


def mirrored(b: Builder, weight: Value, groups: int) -> Value:
    """The weights of a transposed convolution as those of a plain one: backwards, inputs and outputs exchanged."""
    spatial = weight.rank - 2
    inputs, outputs = _static(b, weight.shape[:2])
    kernel = _static(b, weight.shape[2:])
    for axis in range(2, weight.rank):
        weight = gather(b, weight, b.constant(list(range(kernel[axis - 2] - 1, -1, -1))), axis)
    split = reshape(b, weight, [groups, inputs // groups, outputs, *kernel])
    turned = transpose(b, split, [0, 2, 1, *range(3, 3 + spatial)])
    return reshape(b, turned, [groups * outputs, inputs // groups, *kernel])


def _static(b: Builder, sizes: Sequence[Dimension]) -> list[int]:
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) != len(sizes):
        b.refuse("a size is only known at run time")
    return known
