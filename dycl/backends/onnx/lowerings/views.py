"""Lowerings of views: other shapes and orders of the same elements, and conversions of the element type."""

import math
from collections.abc import Sequence

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import (
    expand,
    expand_like,
    gather,
    reshape,
    reshape_like,
    squeeze,
    transpose,
    unsqueeze,
)
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Size, Value, static_shape
from dycl.hcfg.types import Dimension


@lowers("aten.view.default", "aten.reshape.default", "aten._unsafe_view.default", "aten._reshape_alias.default")
def view(b: Builder, a: Arguments) -> Value:
    x, sizes = a.tensor("self"), a.sizes("shape" if a.target == "aten.reshape.default" else "size")
    if x.shape == a.result.shape or all(isinstance(size, int) for size in sizes):
        return reshape(b, x, sizes, a.result.shape)
    # Each size as it was asked for: that they fit the number of elements is only found out at run time.
    return b.node("Reshape", x, b.vector(sizes), shape=a.result.shape, allowzero=1)


@lowers("aten.view_as.default", "aten.reshape_as.default")
def view_as(b: Builder, a: Arguments) -> Value:
    return reshape_like(b, a.tensor("self"), a.tensor("other"))


@lowers("aten.flatten.using_ints")
def flatten(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    if not x.rank:
        return reshape(b, x, [1])
    first, last = a.axis("start_dim", x.rank), a.axis("end_dim", x.rank)
    if first == last:
        return x
    static = a.result.shape
    sizes: list[Size] = [b.size_of(x, axis) for axis in range(first)]
    others = [*range(first), *range(last + 1, x.rank)]
    # What is left of the elements is no answer where another axis is empty.
    sizes += [
        -1 if all(x.shape[axis] for axis in others) and not _open(x, others) else b.count(x, range(first, last + 1))
    ]
    sizes += [b.size_of(x, axis) for axis in range(last + 1, x.rank)]
    return reshape(b, x, sizes, static)


def _open(x: Value, axes: Sequence[int]) -> bool:
    """Whether the size of any of these axes is only known at run time."""
    return any(isinstance(x.shape[axis], str) for axis in axes)


@lowers("aten.unflatten.int")
def unflatten(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    axis = a.axis("dim", x.rank)
    sizes = b.sizes_of(x)
    return reshape(b, x, [*sizes[:axis], *a.sizes("sizes"), *sizes[axis + 1 :]], a.result.shape)


@lowers(
    "aten.contiguous.default",
    "aten.clone.default",
    "aten.alias.default",
    "aten.detach.default",
    "aten.lift_fresh_copy.default",
    "aten.positive.default",
)
def same(b: Builder, a: Arguments) -> Value:
    return a.tensor("self")


@lowers(
    "aten._to_copy.default",
    "aten.to.dtype",
    "aten.to.device",
    "aten.type_as.default",
)
def convert(b: Builder, a: Arguments) -> Value:
    return b.cast(a.tensor("self"), a.result.dtype)


@lowers("aten.unsqueeze.default")
def insert_axis(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    return unsqueeze(b, x, [a.integer("dim") % (x.rank + 1)])


@lowers("aten.squeeze.default", "aten.squeeze.dim", "aten.squeeze.dims")
def drop_axes(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    if not x.rank:
        return x
    chosen = range(x.rank) if a.target == "aten.squeeze.default" else {axis % x.rank for axis in a.integers("dim")}
    axes = [axis for axis in chosen if x.shape[axis] == 1]
    if x.rank - len(axes) != len(a.result.shape):
        b.refuse("whether an axis has size 1 is only known at run time")
    return squeeze(b, x, axes)


@lowers("aten.permute.default", "aten.numpy_T.default", "aten.t.default", "aten.mT.default", "aten.adjoint.default")
def permute(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    order = list(range(x.rank))
    match a.target:
        case "aten.permute.default":
            order = [axis % x.rank for axis in a.integers("dims")]
        case "aten.numpy_T.default":
            order.reverse()
        case _ if x.rank > 1:
            order[-2:] = [x.rank - 1, x.rank - 2]
    return transpose(b, x, order)


@lowers("aten.transpose.int", "aten.swapaxes.default", "aten.swapdims.default")
def swap(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    if not x.rank:
        return x
    names = ("axis0", "axis1") if "swapaxes" in a.target else ("dim0", "dim1")
    first, second = (a.axis(name, x.rank) for name in names)
    order = list(range(x.rank))
    order[first], order[second] = second, first
    return transpose(b, x, order)


@lowers("aten.movedim.int", "aten.movedim.intlist", "aten.moveaxis.int")
def movedim(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    if not x.rank:
        return x
    sources = [axis % x.rank for axis in a.integers("source")]
    places = [axis % x.rank for axis in a.integers("destination")]
    order = [axis for axis in range(x.rank) if axis not in sources]
    for place, source in sorted(zip(places, sources, strict=True)):
        order.insert(place, source)
    return transpose(b, x, order)


@lowers("aten.expand.default", "aten.broadcast_to.default")
def expanded(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    sizes = a.sizes("size")
    new = len(sizes) - x.rank
    # In ONNX a size of 1 leaves the axis as it is, which is what -1 means here.
    kept = [
        1 if size == -1 or (axis >= new and size == x.shape[axis - new]) else size for axis, size in enumerate(sizes)
    ]
    if a.result.shape == x.shape:
        return x
    result = expand(b, x, kept, a.result.shape)
    if not any(_may_shrink(x.shape[axis - new], size) for axis, size in enumerate(kept) if axis >= new):
        return result
    # An axis that is longer than what it is expanded to would stay as it is: this fails then.
    exact = [b.size_of(x, axis - new) if axis >= new and size == -1 else size for axis, size in enumerate(sizes)]
    return b.node("Reshape", result, b.vector(exact), shape=a.result.shape, allowzero=1)


def _may_shrink(before: Dimension, after: Size) -> bool:
    """Whether an axis may be asked to become 1 without being 1."""
    return before != 1 and isinstance(after, Value)


@lowers("aten.expand_as.default")
def expand_as(b: Builder, a: Arguments) -> Value:
    return expand_like(b, a.tensor("self"), a.tensor("other"))


@lowers("aten.copy.default")
def copy(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    return expand_like(b, b.cast(a.tensor("src"), x.dtype), x)


@lowers("aten.as_strided.default")
def as_strided(b: Builder, a: Arguments) -> Value:
    """Elements by their distance in memory; the recorder lets only tensors pass whose elements lie in their order."""
    x, sizes, strides = a.tensor("self"), a.integers("size"), a.integers("stride")
    shape = static_shape(x.shape)
    if shape is None or any(stride < 0 for stride in strides):
        b.refuse("the size is only known at run time, or a stride is negative")
    total = math.prod(shape)
    if 0 not in sizes and sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True)) >= total:
        b.refuse("elements beyond the tensor's own are read")
    # Elements that stay together, such as whole rows, are read together.
    unit, outer = 1, len(sizes)
    while outer and strides[outer - 1] == unit:
        outer -= 1
        unit *= sizes[outer]
    if unit == 0 or total % unit or any(stride % unit for stride in strides[:outer]):
        unit, outer = 1, len(sizes)
    places = b.constant(0)
    for axis in range(outer):
        steps = b.constant([number * (strides[axis] // unit) for number in range(sizes[axis])])
        places = b.node("Add", places, unsqueeze(b, steps, range(1, outer - axis)))
    return reshape(b, gather(b, reshape(b, x, [total // unit, unit]), places, 0), sizes)


@lowers("aten.sym_size.int")
def size(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    return b.number(b.size_of(x, a.axis("dim", x.rank)), "int64")
