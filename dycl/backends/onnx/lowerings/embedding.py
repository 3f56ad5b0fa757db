"""Lowerings of tables of vectors that are looked up by number."""

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.lowerings.reductions import vector_norm
from dycl.backends.onnx.lowerings.slices import replace_rows
from dycl.backends.onnx.pieces import arange, expand, flatten, gather, reduce, slice_axis, unsqueeze
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Value, lowest


@lowers("aten.embedding.default")
def embedding(b: Builder, a: Arguments) -> Value:
    return gather(b, a.tensor("weight"), a.tensor("indices"), 0)


@lowers("aten.embedding_renorm.default")
def embedding_renorm(b: Builder, a: Arguments) -> Value:
    weight, indices = a.tensor("self"), flatten(b, b.cast(a.tensor("indices"), "int64"))
    rows = gather(b, weight, indices, 0)
    size = vector_norm(b, rows, a.real("norm_type"), [1], keepdim=True)
    limit = b.number(a.real("max_norm"), rows.dtype)
    shrunk = b.node("Mul", rows, b.node("Div", limit, b.node("Add", size, b.number(1e-7, rows.dtype))))
    return replace_rows(b, weight, 0, indices, b.node("Where", b.node("Greater", size, limit), shrunk, rows))


@lowers("aten._embedding_bag_forward_only.default", "aten._embedding_bag.default")
def embedding_bag(b: Builder, a: Arguments) -> list[Value]:
    weight, indices, offsets = (a.tensor(name) for name in ("weight", "indices", "offsets"))
    offsets = slice_axis(b, offsets, 0, 0, -1) if a.flag("include_last_offset") else offsets
    rows = gather(b, weight, indices, 0)
    factors = a.optional("per_sample_weights")
    if factors is not None:
        rows = b.node("Mul", rows, unsqueeze(b, factors, [1]))
    return [_pooled(b, a, rows, indices, offsets), *(a.unread(position) for position in (1, 2, 3))]


def _pooled(b: Builder, a: Arguments, rows: Value, indices: Value, offsets: Value) -> Value:
    """The rows of each bag summed, averaged, or their maximum."""
    mode, padding = a.integer("mode"), a.integer("padding_idx")
    # A row's bag is the last one that begins at or before it.
    numbers = unsqueeze(b, arange(b, b.size_of(rows, 0)), [1])
    begun = b.node("LessOrEqual", unsqueeze(b, b.cast(offsets, "int64"), [0]), numbers)
    bags = b.node("Sub", reduce(b, "ReduceSum", b.cast(begun, "int64"), [1], keepdim=False), b.constant(1))
    counted = b.node("Not", b.node("Equal", b.cast(indices, "int64"), b.constant(padding)))
    neutral = lowest(rows.dtype) if mode == 2 else 0
    rows = b.node("Where", unsqueeze(b, counted, [1]), rows, b.number(neutral, rows.dtype), shape=rows.shape)
    sizes = [b.size_of(offsets, 0), b.size_of(rows, 1)]
    start = expand(b, b.number(neutral, rows.dtype), sizes)
    result = replace_rows(b, start, 0, bags, rows, "max" if mode == 2 else "add")
    if mode == 0:
        return result
    none = expand(b, b.number(0, rows.dtype), sizes[:1])
    count = unsqueeze(b, replace_rows(b, none, 0, bags, b.cast(counted, rows.dtype), "add"), [1])
    if mode == 1:
        return b.node("Div", result, b.node("Max", count, b.number(1, rows.dtype)))
    return b.node("Where", b.node("Equal", count, b.number(0, rows.dtype)), b.number(0, rows.dtype), result)
