"""Lowerings that look for places and orders: arg-max, sorting, the largest few, distinct values."""

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import (
    concat,
    flatten,
    gather,
    reduce,
    reshape_like,
    slice_axis,
    squeeze,
    unsqueeze,
)
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import UNKNOWN, Size, Value


def _place(b: Builder, operator: str, x: Value, axis: int, keepdim: bool) -> Value:
    """The index of the first extreme along one axis."""
    kept = (1,) if keepdim else ()
    shape = x.shape[:axis] + kept + x.shape[axis + 1 :]
    x = b.cast(x, "uint8") if x.dtype == "bool" else x
    return b.node(operator, x, dtype="int64", shape=shape, axis=axis, keepdims=int(keepdim))


@lowers("aten.argmax.default", "aten.argmin.default")
def argmax(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    operator = "ArgMax" if "argmax" in a.target else "ArgMin"
    if not x.rank:
        return b.constant(0)
    if a.has("dim"):
        return _place(b, operator, x, a.axis("dim", x.rank), a.flag("keepdim"))
    place = _place(b, operator, flatten(b, x), 0, keepdim=False)
    return unsqueeze(b, place, range(x.rank)) if a.flag("keepdim") else place


@lowers("aten.max.dim", "aten.min.dim")
def max_with_place(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    if not x.rank:
        return [x, b.constant(0)]
    axis, keepdim = a.axis("dim", x.rank), a.flag("keepdim")
    reducer, finder = ("ReduceMax", "ArgMax") if ".max." in a.target else ("ReduceMin", "ArgMin")
    return [reduce(b, reducer, x, [axis], keepdim), _place(b, finder, x, axis, keepdim)]


def largest(b: Builder, x: Value, axis: int, count: Size, descending: bool) -> tuple[Value, Value]:
    """The first values in order, and their places; equal values keep their order."""
    shape = x.shape[:axis] + (count if isinstance(count, int) else UNKNOWN,) + x.shape[axis + 1 :]
    types = [(x.dtype, shape), ("int64", shape)]
    values, places = b.outputs(
        "TopK",
        [x, b.vector([count])],
        types,
        axis=axis,
        largest=int(descending),
        sorted=1,
    )
    return values, places


@lowers("aten.topk.default")
def topk(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    if not x.rank:
        return [x, b.constant(0)]
    return list(largest(b, x, a.axis("dim", x.rank), a.size("k"), a.flag("largest")))


@lowers("aten.sort.default", "aten.sort.stable", "aten.msort.default")
def sort(b: Builder, a: Arguments) -> list[Value] | Value:
    x = a.tensor("self")
    alone = a.target == "aten.msort.default"
    if not x.rank:
        return x if alone else [x, b.constant(0)]
    axis = 0 if alone else a.axis("dim", x.rank)
    values, places = largest(b, x, axis, b.size_of(x, axis), not alone and a.flag("descending"))
    return values if alone else [values, places]


@lowers("aten.argsort.default", "aten.argsort.stable")
def argsort(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    if not x.rank:
        return b.constant(0)
    axis = a.axis("dim", x.rank)
    return largest(b, x, axis, b.size_of(x, axis), a.flag("descending"))[1]


@lowers("aten.kthvalue.default", "aten.median.dim")
def kth(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    if not x.rank:
        return [x, b.constant(0)]
    axis = a.axis("dim", x.rank)
    count = a.size("k") if "kthvalue" in a.target else _middle(b, b.size_of(x, axis))
    results = [slice_axis(b, item, axis, -1, 2**62) for item in largest(b, x, axis, count, descending=False)]
    results = [Value(item.name, item.dtype, x.shape[:axis] + (1,) + x.shape[axis + 1 :]) for item in results]
    return results if a.flag("keepdim") else [squeeze(b, item, [axis]) for item in results]


def _middle(b: Builder, size: Size) -> Size:
    """How many of the smallest values reach up to the median, the lower one of two."""
    return b.size("Div", b.size("Add", size, 1), 2)


@lowers("aten.median.default")
def median(b: Builder, a: Arguments) -> Value:
    x = flatten(b, a.tensor("self"))
    values, _ = largest(b, x, 0, _middle(b, b.size_of(x, 0)), descending=False)
    return gather(b, values, b.constant(-1), 0)


@lowers("aten.searchsorted.Tensor", "aten.bucketize.Tensor")
def bucket(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    edges = a.tensor("sorted_sequence" if "searchsorted" in a.target else "boundaries")
    if a.has("sorter"):
        b.refuse("`sorter` is given")
    right = a.flag("right") or (a.has("side") and a.text("side") == "right")
    if x.dtype != edges.dtype:
        b.refuse(f"{x.dtype} is looked up among {edges.dtype}")
    # The place is how many edges lie before the value.
    edges = edges if edges.rank == 1 else unsqueeze(b, edges, [edges.rank - 1])
    before = b.node("LessOrEqual" if right else "Less", edges, unsqueeze(b, x, [x.rank]))
    count = reduce(b, "ReduceSum", b.cast(before, "int64"), [before.rank - 1], keepdim=False)
    return b.cast(count, a.result.dtype)


@lowers("aten._unique2.default", "aten.unique_dim.default")
def unique(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    one_axis = a.target == "aten.unique_dim.default"
    axis = a.axis("dim", x.rank) if one_axis else 0
    carrier = "float32" if x.dtype in ("float16", "bfloat16") else x.dtype
    carrier = carrier if carrier in ("float32", "float64", "int8", "int64") else "int64"
    shape = a.result.shape
    wide = b.cast(x, carrier)
    types = [(carrier, shape), ("int64", (UNKNOWN,)), ("int64", (UNKNOWN,)), ("int64", (UNKNOWN,))]
    inputs = [wide if one_axis else flatten(b, wide)]
    values, _, inverse, counts = b.outputs("Unique", inputs, types, axis=axis, sorted=1)
    if not one_axis:
        inverse = reshape_like(b, inverse, x) if a.flag("return_inverse") else b.constant(range(0))
        counts = counts if a.flag("return_counts") else b.constant(range(0))
    return [b.cast(values, x.dtype), inverse, counts]


@lowers("aten.unique_consecutive.default")
def unique_consecutive(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    if a.has("dim"):
        b.refuse("runs of equal slices")
    flat = flatten(b, x)
    changes = b.node("Not", b.node("Equal", slice_axis(b, flat, 0, 1, 2**62), slice_axis(b, flat, 0, 0, -1)))
    # The first value opens a run, unless there is none.
    first = b.node("Equal", *[slice_axis(b, flat, 0, 0, 1)] * 2)
    opens = concat(b, [first, Value(changes.name, "bool", (UNKNOWN,))], 0)
    starts = b.node("NonZero", opens, dtype="int64", shape=(1, UNKNOWN))
    starts = squeeze(b, starts, [0])
    values = gather(b, flat, starts, 0)
    inverse, counts = b.constant(range(0)), b.constant(range(0))
    if a.flag("return_inverse"):
        run = b.node("CumSum", b.cast(opens, "int64"), b.constant(0), shape=(UNKNOWN,))
        inverse = reshape_like(b, b.node("Sub", run, b.constant(1)), x)
    if a.flag("return_counts"):
        ends = concat(b, [slice_axis(b, starts, 0, 1, 2**62), b.vector([b.count(flat, [0])])], 0)
        counts = b.node("Sub", ends, starts, shape=(UNKNOWN,))
    return [values, inverse, counts]
