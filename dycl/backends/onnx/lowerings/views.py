"""Lowerings of views: other shapes and orders of the same elements, and conversions of the element type."""

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import (
    expand,
    expand_like,
    reshape,
    reshape_like,
    squeeze,
    transpose,
    unsqueeze,
)
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Size, Value


@lowers("aten.view.default", "aten.reshape.default", "aten._unsafe_view.default", "aten._reshape_alias.default")
def view(b: Builder, a: Arguments) -> Value:
    name = "shape" if a.target == "aten.reshape.default" else "size"
    return reshape(b, a.tensor("self"), a.sizes(name), a.result.shape)


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
    sizes += [-1]
    sizes += [b.size_of(x, axis) for axis in range(last + 1, x.rank)]
    return reshape(b, x, sizes, static)


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
    return expand(b, x, kept, a.result.shape)


@lowers("aten.expand_as.default")
def expand_as(b: Builder, a: Arguments) -> Value:
    return expand_like(b, a.tensor("self"), a.tensor("other"))


@lowers("aten.copy.default")
def copy(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    return expand_like(b, b.cast(a.tensor("src"), x.dtype), x)


@lowers("aten.sym_size.int")
def size(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    return b.number(b.size_of(x, a.axis("dim", x.rank)), "int64")
