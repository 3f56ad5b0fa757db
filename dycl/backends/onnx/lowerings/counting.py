"""Lowerings that count: histograms, how often each number occurs, the most frequent value."""

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.lowerings.reductions import for_any
from dycl.backends.onnx.pieces import (
    END,
    expand_like,
    filled,
    flatten,
    gather,
    guarded,
    may_be_empty,
    reduce,
    slice_axis,
    squeeze,
    unsqueeze,
)
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import UNKNOWN, Size, Value, highest, is_float, wider


def _tally(b: Builder, places: Value, length: Size, weights: Value | None = None) -> Value:
    """How often each place occurs, or the sum of its weights; `length` numbers."""
    if weights is None:
        weights = expand_like(b, b.constant(1), places)
    totals = filled(b, 0, weights.dtype, [length])
    return b.node("ScatterElements", totals, places, weights, shape=totals.shape, axis=0, reduction="add")


@lowers("aten.bincount.default")
def bincount(b: Builder, a: Arguments) -> Value:
    x, weights = b.cast(a.tensor("self"), "int64"), a.optional("weights")
    # One more than the greatest number, if there is one, and no less than asked for.
    numbers = b.node("Concat", x, b.constant([-1]), shape=(UNKNOWN,), axis=0)
    length = b.node("Add", reduce(b, "ReduceMax", numbers, [0], keepdim=False), b.constant(1))
    length = b.node("Max", length, b.number(a.size("minlength"), "int64"))
    negative = for_any(b, b.node("Less", x, b.constant(0)), [0], keepdim=False)
    places = guarded(b, x, b.node("Not", negative))
    return _tally(b, places, length, None if weights is None else b.cast(weights, a.result.dtype))


@lowers("aten.histc.default")
def histc(b: Builder, a: Arguments) -> Value:
    x, bins = flatten(b, _countable(b, a.tensor("self"))), a.integer("bins")
    low, high = a.number("min"), a.number("max")
    if isinstance(low, Value) or isinstance(high, Value):
        b.refuse("the range is only known at run time")
    ends = _data_range(b, x) if low == high else (b.number(low, x.dtype), b.number(high, x.dtype))
    place, inside = _even_bins(b, x, *ends, bins)
    # What lies outside is counted in one more bin, which is dropped.
    place = b.node("Where", inside, place, b.constant(bins))
    return b.cast(slice_axis(b, _tally(b, place, bins + 1), 0, 0, bins), a.result.dtype)


def _countable(b: Builder, x: Value) -> Value:
    if x.dtype not in ("float32", "float64"):
        b.refuse(f"a histogram of {x.dtype}")
    return x


def _data_range(b: Builder, x: Value) -> tuple[Value, Value]:
    """The least and greatest value, one apart from it each if they are the same; both must be finite."""
    if may_be_empty(x, [0]):
        b.refuse("the range of what may be no values at all")
    low, high = (reduce(b, operator, x, [0], keepdim=False) for operator in ("ReduceMin", "ReduceMax"))
    odd = b.node("Or", b.node("IsNaN", x), b.node("IsInf", x))
    low = guarded(b, low, b.node("Not", for_any(b, odd, [0], keepdim=False)))
    same, one = b.node("Equal", low, high), b.number(1, x.dtype)
    return b.node("Where", same, b.node("Sub", low, one), low), b.node("Where", same, b.node("Add", high, one), high)


def _even_bins(b: Builder, x: Value, low: Value, high: Value, bins: int) -> tuple[Value, Value]:
    """Which of several bins of one width each value falls into, and whether it does at all."""
    inside = b.node("And", b.node("GreaterOrEqual", x, low), b.node("LessOrEqual", x, high))
    offset = b.node("Mul", b.node("Sub", b.node("Where", inside, x, low), low), b.number(bins, x.dtype))
    place = b.cast(b.node("Div", offset, b.node("Sub", high, low)), "int64")
    return b.node("Min", place, b.constant(bins - 1)), inside


@lowers("aten.histogram.bins_tensor")
def histogram(b: Builder, a: Arguments) -> list[Value]:
    x = flatten(b, _countable(b, a.tensor("self")))
    edges = b.cast(a.tensor("bins"), x.dtype)
    bins = b.size("Sub", b.size_of(edges, 0), 1)
    column = unsqueeze(b, x, [1])
    before = reduce(b, "ReduceSum", b.cast(b.node("LessOrEqual", edges, column), "int64"), [1], keepdim=False)
    first, last = (gather(b, edges, b.constant(place), 0) for place in (0, -1))
    inside = b.node("And", b.node("GreaterOrEqual", x, first), b.node("LessOrEqual", x, last))
    # The last bin has its right edge too.
    place = b.node("Sub", b.node("Min", before, b.number(bins, "int64")), b.constant(1))
    place = b.node("Where", inside, place, b.number(bins, "int64"))
    weights = a.optional("weight")
    weights = None if weights is None else b.cast(flatten(b, weights), x.dtype)
    counts = slice_axis(b, _tally(b, place, b.size("Add", bins, 1), weights), 0, 0, bins)
    counts = b.cast(counts, x.dtype)
    if a.flag("density"):
        widths = b.node("Sub", slice_axis(b, edges, 0, 1, END), slice_axis(b, edges, 0, 0, -1))
        counts = b.node("Div", counts, reduce(b, "ReduceSum", counts, [0], keepdim=False))
        counts = b.node("Div", counts, widths, shape=counts.shape)
    return [counts, edges]


@lowers("aten.mode.default")
def mode(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    if not x.rank:
        return [x, b.constant(0)]
    axis, keepdim = a.axis("dim", x.rank), a.flag("keepdim")
    length = x.shape[axis]
    if a.used[1] and not (isinstance(length, int) and length <= _STABLE):
        b.refuse("which of several equal values PyTorch names is not determined")
    wide = b.cast(x, wider(x.dtype)) if is_float(x.dtype) else b.cast(x, "int64")
    if is_float(x.dtype):
        numbers = b.node("Not", for_any(b, b.node("IsNaN", wide), range(x.rank), keepdim=False))
        wide = guarded(b, wide, numbers)
    same = b.node("Equal", unsqueeze(b, wide, [axis]), unsqueeze(b, wide, [axis + 1]))
    often = reduce(b, "ReduceSum", b.cast(same, "int64"), [axis], keepdim=False)
    most = b.node("Equal", often, reduce(b, "ReduceMax", often, [axis], keepdim=True))
    least = b.node("Where", most, wide, b.number(highest(wide.dtype), wide.dtype))
    value = reduce(b, "ReduceMin", least, [axis], keepdim=True)
    found = b.cast(b.node("Equal", wide, value), "uint8")
    place = b.node("ArgMax", found, dtype="int64", shape=value.shape, axis=axis, keepdims=1, select_last_index=1)
    results = [b.cast(value, x.dtype), place]
    return results if keepdim else [squeeze(b, result, [axis]) for result in results]


_STABLE = 16
"""Up to so many elements PyTorch sorts by insertion, which keeps the order of equal ones."""
