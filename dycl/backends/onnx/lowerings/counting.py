"""Lowerings that count: histograms, how often each number occurs, the most frequent value."""

import math

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.lowerings.reductions import for_any
from dycl.backends.onnx.pieces import (
    END,
    arange,
    concat,
    expand_like,
    filled,
    flatten,
    gather,
    guarded,
    may_be_empty,
    move_axis,
    reduce,
    reshape,
    slice_axis,
    squeeze,
    unsqueeze,
)
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import UNKNOWN, Size, Value, highest, is_float, static_shape, wider


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
    return _tally(b, x, length, None if weights is None else b.cast(weights, a.result.dtype))


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


def _data_range(b: Builder, x: Value, apart: float = 1) -> tuple[Value, Value]:
    """The least and greatest value, so far apart from it each if they are the same; both must be finite."""
    if may_be_empty(x, [0]):
        b.refuse("the range of what may be no values at all")
    low, high = (reduce(b, operator, x, [0], keepdim=False) for operator in ("ReduceMin", "ReduceMax"))
    odd = b.node("Or", b.node("IsNaN", x), b.node("IsInf", x))
    low = guarded(b, low, b.node("Not", for_any(b, odd, [0], keepdim=False)))
    same, one = b.node("Equal", low, high), b.number(apart, x.dtype)
    return b.node("Where", same, b.node("Sub", low, one), low), b.node("Where", same, b.node("Add", high, one), high)


def _even_bins(b: Builder, x: Value, low: Value, high: Value, bins: int) -> tuple[Value, Value]:
    """Which of several bins of one width each value falls into, and whether it does at all."""
    inside = b.node("And", b.node("GreaterOrEqual", x, low), b.node("LessOrEqual", x, high))
    offset = b.node("Mul", b.node("Sub", b.node("Where", inside, x, low), low), b.number(bins, x.dtype))
    place = b.cast(b.node("Div", offset, b.node("Sub", high, low)), "int64")
    return b.node("Min", place, b.constant(bins - 1)), inside


@lowers("aten.histogram.bins_tensor", "aten.histogram.bin_ct")
def histogram(b: Builder, a: Arguments) -> list[Value]:
    x = flatten(b, _countable(b, a.tensor("self")))
    edges = _even_edges(b, a, x) if a.target == "aten.histogram.bin_ct" else b.cast(a.tensor("bins"), x.dtype)
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


@lowers("aten._histogramdd_bin_edges.default")
def edges_of_axes(b: Builder, a: Arguments) -> list[Value]:
    return [_edges(b, x, bins, given) for x, bins, given in _axes(b, a)]


@lowers("aten._histogramdd_from_bin_cts.default")
def histogram_of_axes(b: Builder, a: Arguments) -> Value:
    place, inside, total = b.constant(0), b.constant(True, "bool"), 1
    volume: Value | None = None
    for x, bins, given in _axes(b, a):
        edges = _edges(b, x, bins, given)
        first, last = (gather(b, edges, b.constant(number), 0) for number in (0, bins))
        own, within = _even_bins(b, x, first, last, bins)
        place = b.node("Add", b.node("Mul", place, b.constant(bins)), own)
        inside, total = b.node("And", inside, within), total * bins
        widths = b.node("Sub", slice_axis(b, edges, 0, 1, END), slice_axis(b, edges, 0, 0, -1))
        volume = widths if volume is None else b.node("Mul", unsqueeze(b, volume, [volume.rank]), widths)
    dtype = a.result.dtype
    weights = a.optional("weight")
    weights = None if weights is None else b.cast(flatten(b, weights), dtype)
    counts = _tally(b, b.node("Where", inside, place, b.constant(total)), total + 1, weights)
    counts = b.cast(slice_axis(b, counts, 0, 0, total), dtype)
    sizes = a.integers("bins")
    result = reshape(b, counts, sizes)
    if not a.flag("density") or volume is None:
        return result
    return b.node("Div", b.node("Div", result, reduce(b, "ReduceSum", counts, [0], keepdim=False)), volume)


def _axes(b: Builder, a: Arguments) -> list[tuple[Value, int, list[float] | None]]:
    """The values of each axis of a histogram of several, its number of bins, and its range if that is given."""
    x, bins, given = _countable(b, a.tensor("self")), a.integers("bins"), a.reals("range")
    sizes = static_shape(x.shape[:-1])
    rows = reshape(b, x, [-1 if sizes is None else math.prod(sizes), len(bins)])
    ranges = [None if given is None else given[2 * axis : 2 * axis + 2] for axis in range(len(bins))]
    columns = [squeeze(b, slice_axis(b, rows, 1, axis, axis + 1), [1]) for axis in range(len(bins))]
    return list(zip(columns, bins, ranges, strict=True))


def _even_edges(b: Builder, a: Arguments, x: Value) -> Value:
    return _edges(b, x, a.integer("bins"), a.reals("range"))


def _edges(b: Builder, x: Value, bins: int, given: list[float] | None) -> Value:
    """The edges of bins of one width: counted from the lower end up to the middle, from the upper one beyond."""
    if given is not None and given[0] == given[1]:
        given = [given[0] - 0.5, given[1] + 0.5]
    elif given is None and x.shape[0] == 0:
        given = [0.0, 1.0]
    if given is None:
        low, high = _data_range(b, x, apart=0.5)
    else:
        low, high = (b.number(number, x.dtype) for number in given)
    width = b.node("Div", b.node("Sub", high, low), b.number(bins, x.dtype))
    numbers = b.constant(range(bins + 1), x.dtype)
    up = b.node("Add", low, b.node("Mul", width, numbers))
    down = b.node("Sub", high, b.node("Mul", width, b.constant(range(bins, -1, -1), x.dtype)))
    return b.node("Where", b.constant([number < (bins + 1) // 2 for number in range(bins + 1)], "bool"), up, down)


@lowers("aten.mode.default")
def mode(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    if not x.rank:
        return [x, b.constant(0)]
    axis, keepdim = a.axis("dim", x.rank), a.flag("keepdim")
    length = x.shape[axis]
    short = isinstance(length, int) and length <= _STABLE
    if a.used[1] and not short:
        b.refuse("which of several equal values PyTorch names is not determined")
    if is_float(x.dtype) and not short:
        b.refuse(f"where PyTorch sorts NaN among more than {_STABLE} numbers is not determined")
    value, place = _mode_of_sorted(b, x, axis) if is_float(x.dtype) else _mode_of_whole(b, x, axis)
    return [value, place] if keepdim else [squeeze(b, result, [axis]) for result in (value, place)]


_STABLE = 16
"""Up to so many elements PyTorch sorts by insertion, which keeps the order of equal ones."""


def _mode_of_whole(b: Builder, x: Value, axis: int) -> tuple[Value, Value]:
    """The least of the most frequent whole numbers, and the last place where it stands."""
    wide = b.cast(x, "int64")
    most = _most_frequent(b, wide, axis)
    least = b.node("Where", most, wide, b.number(highest("int64"), "int64"))
    value = reduce(b, "ReduceMin", least, [axis], keepdim=True)
    return b.cast(value, x.dtype), _place(b, b.node("Equal", wide, value), axis, last=True)


def _mode_of_sorted(b: Builder, x: Value, axis: int) -> tuple[Value, Value]:
    """The last of the first longest run of equal numbers, once they are sorted as PyTorch sorts them, and its place.

    NaN is a run of its own each time, and stays where it stands but for numbers less than the first one.
    """
    wide = move_axis(b, b.cast(x, wider(x.dtype)), axis, -1)
    last = wide.rank - 1
    order = _by_insertion(b, wide)
    ordered = b.node("GatherElements", wide, order, shape=wide.shape, axis=last)
    before, after = slice_axis(b, ordered, last, 0, -1), slice_axis(b, ordered, last, 1, END)
    new = b.cast(b.node("Not", b.node("Equal", before, after)), "int64")
    new = concat(b, [filled(b, 0, "int64", [*b.sizes_of(wide)[:-1], 1]), new], last)
    run = b.node("CumSum", new, b.constant(last), shape=new.shape)
    longest = b.node(
        "GatherElements", run, _place(b, _most_frequent(b, run, last), last), shape=(*run.shape[:-1], 1), axis=last
    )
    end = _place(b, b.node("Equal", run, longest), last, last=True)
    found = [b.node("GatherElements", part, end, shape=end.shape, axis=last) for part in (ordered, order)]
    value, place = (move_axis(b, part, -1, axis) for part in found)
    return b.cast(value, x.dtype), place


def _most_frequent(b: Builder, x: Value, axis: int) -> Value:
    """Where the numbers stand that occur most often."""
    same = b.node("Equal", unsqueeze(b, x, [axis]), unsqueeze(b, x, [axis + 1]))
    often = reduce(b, "ReduceSum", b.cast(same, "int64"), [axis], keepdim=False)
    return b.node("Equal", often, reduce(b, "ReduceMax", often, [axis], keepdim=True))


def _place(b: Builder, found: Value, axis: int, last: bool = False) -> Value:
    """The first or last place along an axis where a flag is set."""
    shape = (*found.shape[:axis], 1, *found.shape[axis + 1 :])
    return b.node(
        "ArgMax",
        b.cast(found, "uint8"),
        dtype="int64",
        shape=shape,
        axis=axis,
        keepdims=1,
        select_last_index=int(last),
    )


def _by_insertion(b: Builder, x: Value) -> Value:
    """The order in which the last axis is sorted by insertion, NaN being neither less nor greater than anything."""
    numbers = arange(b, b.size_of(x, x.rank - 1))
    last = [x.rank - 1]

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        (places,), (number,) = states, slices
        less = b.node("Less", unsqueeze(b, gather(b, x, number, x.rank - 1), last), x)
        seen = b.node("Less", numbers, number)
        # It comes first if it is less than what does, and else behind the last one that it is not less than.
        first = for_any(b, b.node("And", b.node("And", less, seen), b.node("Equal", places, b.constant(0))), last, True)
        passed = b.node("And", b.node("Not", less), seen)
        behind = b.node("Where", passed, b.node("Add", places, b.constant(1)), b.constant(0))
        place = b.node("Where", first, b.constant(0), reduce(b, "ReduceMax", behind, last, keepdim=True))
        moved = b.node("And", seen, b.node("GreaterOrEqual", places, place))
        places = b.node("Add", places, b.cast(moved, "int64"))
        return [b.node("Where", b.node("Equal", numbers, number), place, places)], []

    everywhere = expand_like(b, numbers, x)
    places = b.scan([everywhere], [numbers], 0, step)[0]
    return b.node("ScatterElements", everywhere, places, everywhere, shape=x.shape, axis=x.rank - 1)
