"""Lowerings that look for places and orders: arg-max, sorting, the largest few, distinct values."""

import math
from collections.abc import Callable, Sequence

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.lowerings.reductions import extreme_over, for_any
from dycl.backends.onnx.nan import nan_along, or_nan, unless_nan
from dycl.backends.onnx.pieces import (
    concat,
    flatten,
    gather,
    move_axis,
    reduce,
    reshape_like,
    slice_axis,
    squeeze,
    unless_empty,
    unsqueeze,
)
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import UNKNOWN, Size, Value, is_float, lowest, wider


def _place(b: Builder, operator: str, x: Value, axis: int, keepdim: bool) -> Value:
    """The index of the first extreme along one axis, among numbers only."""
    kept = (1,) if keepdim else ()
    shape = x.shape[:axis] + kept + x.shape[axis + 1 :]
    x = b.cast(x, "uint8") if x.dtype == "bool" else x
    return b.node(operator, x, dtype="int64", shape=shape, axis=axis, keepdims=int(keepdim))


def _extreme_place(b: Builder, operator: str, x: Value, axis: int, keepdim: bool) -> Value:
    """The index of the first extreme along one axis, or of the first NaN."""
    wide = b.cast(x, wider(x.dtype))

    def careful() -> list[Value]:
        found, first = nan_along(b, wide, axis, keepdim)
        return [b.node("Where", found, first, _place(b, operator, wide, axis, keepdim))]

    (place,) = unless_nan(b, [wide], lambda: [_place(b, operator, wide, axis, keepdim)], careful)
    return place


@lowers("aten.argmax.default", "aten.argmin.default")
def argmax(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    operator = "ArgMax" if "argmax" in a.target else "ArgMin"
    if not x.rank:
        return b.constant(0)
    if a.has("dim"):
        return _extreme_place(b, operator, x, a.axis("dim", x.rank), a.flag("keepdim"))
    place = _extreme_place(b, operator, flatten(b, x), 0, keepdim=False)
    return unsqueeze(b, place, range(x.rank)) if a.flag("keepdim") else place


@lowers("aten.max.dim", "aten.min.dim")
def max_with_place(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    if not x.rank:
        return [x, b.constant(0)]
    axis, keepdim = a.axis("dim", x.rank), a.flag("keepdim")
    reducer, finder = ("ReduceMax", "ArgMax") if ".max." in a.target else ("ReduceMin", "ArgMin")
    if not a.used[1]:
        return [extreme_over(b, reducer, x, [axis], keepdim), a.unread(1)]
    if not a.used[0]:
        return [a.unread(0), _extreme_place(b, finder, x, axis, keepdim)]
    wide = b.cast(x, wider(x.dtype))

    def usual() -> list[Value]:
        return [reduce(b, reducer, wide, [axis], keepdim), _place(b, finder, wide, axis, keepdim)]

    value, place = unless_nan(b, [wide], usual, lambda: _nan_first(b, wide, axis, keepdim, usual()))
    return [b.cast(value, x.dtype), place]


def _nan_first(b: Builder, x: Value, axis: int, keepdim: bool, otherwise: Sequence[Value]) -> list[Value]:
    """NaN and the place of the first one along the axis, or a value and its place where there is none."""
    found, first = nan_along(b, x, axis, keepdim)
    value, place = otherwise
    return [b.node("Where", found, b.number(math.nan, x.dtype), value), b.node("Where", found, first, place)]


def _ordered(b: Builder, x: Value, axis: int, count: Size, descending: bool) -> tuple[Value, Value]:
    """The first values in order, of numbers only, and their places; equal values keep their order."""
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


def largest(b: Builder, x: Value, axis: int, count: Size, descending: bool) -> tuple[Value, Value]:
    """The first values in order, and their places; equal values keep their order, and NaN is above all others."""
    wide = b.cast(x, wider(x.dtype))

    def careful() -> list[Value]:
        # Order the numbers, and then, since equal ones keep their order, by whether they are numbers.
        found = b.node("IsNaN", wide)
        size = b.size_of(wide, axis)
        numbers = b.node("Where", found, b.number(0, wide.dtype), wide)
        _, by_number = _ordered(b, numbers, axis, size, descending)
        found = b.node("GatherElements", b.cast(found, "uint8"), by_number, shape=wide.shape, axis=axis)
        _, by_kind = _ordered(b, found, axis, count, descending)
        places = b.node("GatherElements", by_number, by_kind, shape=by_kind.shape, axis=axis)
        return [b.node("GatherElements", wide, places, shape=places.shape, axis=axis), places]

    values, places = unless_nan(b, [wide], lambda: _ordered(b, wide, axis, count, descending), careful)
    return b.cast(values, x.dtype), places


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


@lowers("aten.kthvalue.default")
def kth(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    if not x.rank:
        return [x, b.constant(0)]
    axis = a.axis("dim", x.rank)
    return _last(b, largest(b, x, axis, a.size("k"), descending=False), axis, a.flag("keepdim"))


def _last(b: Builder, items: Sequence[Value], axis: int, keepdim: bool) -> list[Value]:
    results = [slice_axis(b, item, axis, -1, 2**62) for item in items]
    results = [Value(item.name, item.dtype, item.shape[:axis] + (1,) + item.shape[axis + 1 :]) for item in results]
    return results if keepdim else [squeeze(b, item, [axis]) for item in results]


@lowers("aten.median.dim")
def median_with_place(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    if not x.rank:
        return [x, b.constant(0)]
    axis, keepdim = a.axis("dim", x.rank), a.flag("keepdim")
    wide = b.cast(x, wider(x.dtype))
    middle = _middle(b, b.size_of(x, axis))

    def usual() -> list[Value]:
        return _last(b, _ordered(b, wide, axis, middle, descending=False), axis, keepdim)

    value, place = unless_nan(b, [wide], usual, lambda: _nan_first(b, wide, axis, keepdim, usual()))
    return [b.cast(value, x.dtype), place]


def _middle(b: Builder, size: Size) -> Size:
    """How many of the smallest values reach up to the median, the lower one of two."""
    return b.size("Div", b.size("Add", size, 1), 2)


@lowers("aten.median.default")
def median(b: Builder, a: Arguments) -> Value:
    x = flatten(b, a.tensor("self"))
    wide = b.cast(x, wider(x.dtype))

    def usual() -> list[Value]:
        values, _ = _ordered(b, wide, 0, _middle(b, b.size_of(x, 0)), descending=False)
        return [or_nan(b, gather(b, values, b.constant(-1), 0), wide)]

    return b.cast(_unless_nothing(b, wide, usual), x.dtype)


def _unless_nothing(b: Builder, row: Value, usual: Callable[[], list[Value]]) -> Value:
    """The median of a row; of nothing it is NaN, or what PyTorch converts NaN to."""
    narrow = row.dtype in ("uint8", "int8", "int16")
    nothing = math.nan if is_float(row.dtype) else 0 if narrow else lowest(row.dtype)
    if row.shape == (0,):
        return b.number(nothing, row.dtype)
    # Not as a constant, which both ways of a choice would have to share.
    return unless_empty(b, [row], usual, lambda: [b.node("Identity", b.number(nothing, row.dtype))])[0]


@lowers("aten.nanmedian.default", "aten.nanmedian.dim")
def median_of_numbers(b: Builder, a: Arguments) -> list[Value] | Value:
    x = a.tensor("self")
    alone = a.target == "aten.nanmedian.default"
    if not x.rank:
        return x if alone else [x, b.constant(0)]
    rows = flatten(b, x) if alone else x
    axis = 0 if alone else a.axis("dim", x.rank)
    keepdim = not alone and a.flag("keepdim")
    wide = b.cast(rows, wider(x.dtype))
    if alone:
        return b.cast(_unless_nothing(b, wide, lambda: _median_of_numbers(b, wide, 0, keepdim=False)[:1]), x.dtype)
    value, place = _median_of_numbers(b, wide, axis, keepdim)
    return [b.cast(value, x.dtype), place]


def _median_of_numbers(b: Builder, wide: Value, axis: int, keepdim: bool) -> list[Value]:
    """The medians along an axis without NaN, and their places."""
    ordered, places = largest(b, wide, axis, b.size_of(wide, axis), descending=False)
    # NaN comes last, so the numbers' middle is at half their count; where there are none, PyTorch names the first.
    found = b.node("Not", b.node("IsNaN", wide)) if is_float(wide.dtype) else b.node("Equal", wide, wide)
    count = reduce(b, "ReduceSum", b.cast(found, "int64"), [axis], keepdim=True)
    rest = b.node("Sub", b.node("Max", count, b.constant(1)), b.constant(1))
    middle = b.node("Div", rest, b.constant(2))
    items = [b.node("GatherElements", item, middle, shape=middle.shape, axis=axis) for item in (ordered, places)]
    return items if keepdim else [squeeze(b, item, [axis]) for item in items]


@lowers("aten.searchsorted.Tensor", "aten.bucketize.Tensor")
def bucket(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    edges = a.tensor("sorted_sequence" if "searchsorted" in a.target else "boundaries")
    if a.has("sorter"):
        edges = b.node("GatherElements", edges, a.tensor("sorter"), shape=edges.shape, axis=edges.rank - 1)
    right = a.flag("right") or (a.has("side") and a.text("side") == "right")
    if x.dtype != edges.dtype:
        b.refuse(f"{x.dtype} is looked up among {edges.dtype}")
    if not is_float(x.dtype):
        return b.cast(_edges_before(b, edges, x, right), a.result.dtype)
    x, edges = (b.cast(value, wider(value.dtype)) for value in (x, edges))
    usual = lambda: [_edges_before(b, edges, x, right)]  # noqa: E731
    (place,) = unless_nan(b, [edges], usual, lambda: [_searched(b, edges, x, right)])
    return b.cast(place, a.result.dtype)


def _edges_before(b: Builder, edges: Value, x: Value, right: bool) -> Value:
    """The places of values among sorted edges: how many of these lie before each."""
    edges = edges if edges.rank == 1 else unsqueeze(b, edges, [edges.rank - 1])
    before = _before(b, edges, unsqueeze(b, x, [x.rank]), right)
    return reduce(b, "ReduceSum", b.cast(before, "int64"), [before.rank - 1], keepdim=False)


def _searched(b: Builder, edges: Value, x: Value, right: bool) -> Value:
    """The places of values among edges, by the steps of PyTorch's own search: it may or may not meet a NaN."""
    last = b.size_of(edges, edges.rank - 1)
    steps = last.bit_length() if isinstance(last, int) else 63

    def step(states: list[Value], _: list[Value]) -> tuple[list[Value], list[Value]]:
        start, end = states
        middle = b.node("Div", b.node("Add", start, end), b.constant(2))
        place = b.node("Min", middle, b.number(b.size("Sub", last, 1), "int64"))
        operator = "Gather" if edges.rank == 1 else "GatherElements"
        edge = b.node(operator, edges, place, shape=x.shape, axis=edges.rank - 1)
        before, open_yet = _before(b, edge, x, right), b.node("Less", start, end)
        later = b.node("And", open_yet, before)
        sooner = b.node("And", open_yet, b.node("Not", before))
        after = b.node("Add", middle, b.constant(1))
        return [b.node("Where", later, after, start), b.node("Where", sooner, middle, end)], []

    nowhere = b.node("Mul", b.cast(b.node("IsNaN", x), "int64"), b.constant(0))
    states = [nowhere, b.node("Add", nowhere, b.number(last, "int64"))]
    return b.scan(states, [b.constant([0] * steps)], 0, step)[0]


def _before(b: Builder, edges: Value, x: Value, right: bool) -> Value:
    """Whether edges lie before values; all do before NaN."""
    if is_float(x.dtype):
        return b.node("Not", b.node("Greater" if right else "GreaterOrEqual", edges, x))
    return b.node("LessOrEqual" if right else "Less", edges, x)


@lowers("aten._unique2.default", "aten.unique_dim.default")
def unique(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    one_axis = a.target == "aten.unique_dim.default"
    axis = a.axis("dim", x.rank) if one_axis else 0
    carrier = "float32" if x.dtype in ("float16", "bfloat16") else x.dtype
    carrier = carrier if carrier in ("float32", "float64", "int8", "int64") else "int64"
    shape = a.result.shape
    wide = b.cast(x, carrier)
    wide = wide if one_axis else flatten(b, wide)

    def usual() -> list[Value]:
        types = [(carrier, shape), ("int64", (UNKNOWN,)), ("int64", (UNKNOWN,)), ("int64", (UNKNOWN,))]
        values, _, inverse, counts = b.outputs("Unique", [wide], types, axis=axis, sorted=1)
        return [values, inverse, counts]

    def careful() -> list[Value]:
        ordered, places = largest(b, wide, 0, b.size_of(wide, 0), descending=False)
        values, run, counts = _runs(b, ordered)
        return [values, b.node("ScatterElements", run, places, run, shape=run.shape, axis=0), counts]

    values, inverse, counts = usual() if one_axis else unless_nan(b, [wide], usual, careful)
    if not one_axis:
        inverse = reshape_like(b, inverse, x) if a.flag("return_inverse") else b.constant(range(0))
        counts = counts if a.flag("return_counts") else b.constant(range(0))
    return [b.cast(values, x.dtype), inverse, counts]


@lowers("aten.unique_consecutive.default")
def unique_consecutive(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    if a.has("dim") and not x.rank:
        b.refuse("a slice of a number")
    if a.has("dim"):
        axis = a.axis("dim", x.rank)
        values, run, counts = _runs(b, move_axis(b, x, axis, 0))
        values = move_axis(b, values, 0, axis)
    else:
        values, run, counts = _runs(b, flatten(b, x))
        run = reshape_like(b, run, x)
    inverse = run if a.flag("return_inverse") else b.constant(range(0))
    return [values, inverse, counts if a.flag("return_counts") else b.constant(range(0))]


def _runs(b: Builder, x: Value) -> tuple[Value, Value, Value]:
    """The values of the runs of equal slices across the first axis, each slice's run, and the runs' lengths."""
    rest = range(1, x.rank)
    changes = b.node("Not", b.node("Equal", slice_axis(b, x, 0, 1, 2**62), slice_axis(b, x, 0, 0, -1)))
    changes = for_any(b, changes, rest, keepdim=False)
    # The first value opens a run, unless there is none.
    head = slice_axis(b, x, 0, 0, 1)
    first = for_any(b, b.node("Equal", b.node("Less", head, head), b.constant(False, "bool")), rest, keepdim=False)
    opens = concat(b, [first, Value(changes.name, "bool", (UNKNOWN,))], 0)
    starts = b.node("NonZero", opens, dtype="int64", shape=(1, UNKNOWN))
    starts = squeeze(b, starts, [0])
    run = b.node("CumSum", b.cast(opens, "int64"), b.constant(0), shape=(UNKNOWN,))
    ends = concat(b, [slice_axis(b, starts, 0, 1, 2**62), b.vector([b.count(x, [0])])], 0)
    counts = b.node("Sub", ends, starts, shape=(UNKNOWN,))
    return gather(b, x, starts, 0), b.node("Sub", run, b.constant(1)), counts
