"""Lowerings of pooling to a given number of windows, which PyTorch lays out unevenly where they do not fit."""

import math
from collections.abc import Sequence

import numpy as np

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.lowerings.pooling import spatial_rank
from dycl.backends.onnx.lowerings.reductions import extreme_over, mean_over
from dycl.backends.onnx.nan import nan_along, unless_nan
from dycl.backends.onnx.pieces import (
    arange,
    gather,
    move_axis,
    reduce,
    reshape,
    squeeze,
    transpose,
    unsqueeze,
)
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import UNKNOWN, Value, is_float, static_shape, wider
from dycl.backends.onnx.weighted import weighted_sums


def _layout(a: Arguments, x: Value, spatial: int) -> tuple[list[int], list[int]] | None:
    """The sizes of the windowed axes before and after; None if they are only known at run time."""
    before, after = static_shape(x.shape[-spatial:]), static_shape(a.result.shape[-spatial:])
    return None if before is None or after is None else (list(before), list(after))


def _window_counts(b: Builder, a: Arguments, x: Value, spatial: int) -> list[tuple[int, int]]:
    """The axes that are pooled, each with its number of windows; one that is not given leaves its axis as it is."""
    counts = []
    for axis in range(x.rank - spatial, x.rank):
        windows = a.result.shape[axis]
        if windows == x.shape[axis]:
            continue
        if not isinstance(windows, int):
            b.refuse("an axis is pooled to a number of windows that is only known at run time")
        counts.append((axis, windows))
    return counts


def _membership(b: Builder, x: Value, axis: int, windows: int) -> tuple[Value, Value]:
    """Which places of an axis are in which window, with a window a column; and how long the windows are."""
    size = b.number(b.size_of(x, axis), "int64")
    numbers = np.arange(windows)
    count = b.constant(windows)
    starts = b.node("Div", b.node("Mul", b.constant(numbers), size), count)
    reach = b.node("Add", b.node("Mul", b.constant(numbers + 1), size), b.constant(windows - 1))
    ends = b.node("Div", reach, count)
    places = unsqueeze(b, arange(b, size), [1])
    inside = b.node("And", b.node("GreaterOrEqual", places, starts), b.node("Less", places, ends))
    return inside, b.node("Sub", ends, starts)


def _bounds(size: int, windows: int) -> list[tuple[int, int]]:
    """Where each window begins and ends."""
    return [(number * size // windows, -((number + 1) * size // -windows)) for number in range(windows)]


@lowers(
    "aten.adaptive_avg_pool1d.default",
    "aten.adaptive_avg_pool2d.default",
    "aten.adaptive_avg_pool3d.default",
    "aten._adaptive_avg_pool2d.default",
    "aten._adaptive_avg_pool3d.default",
)
def adaptive_avg_pool(b: Builder, a: Arguments) -> Value:
    spatial = spatial_rank(a.target)
    x = a.tensor("self")
    axes = list(range(x.rank - spatial, x.rank))
    # ONNX Runtime pools no map that has no channels or no places.
    pools = x.dtype != "float64" and all(isinstance(size, int) and size for size in x.shape[-spatial - 1 :])
    if all(size == 1 for size in a.result.shape[-spatial:]):
        if x.rank == spatial + 2 and pools:
            shape = x.shape[:2] + (1,) * spatial
            return b.node("GlobalAveragePool", x, shape=shape)
        return mean_over(b, x, axes, keepdim=True)
    if not is_float(x.dtype):
        b.refuse(f"{x.dtype} is averaged")
    layout = _layout(a, x, spatial)
    if layout is None:
        for axis, windows in _window_counts(b, a, x, spatial):
            inside, lengths = _membership(b, x, axis, windows)
            column = unsqueeze(b, move_axis(b, x, axis, -1), [x.rank])
            spread = b.node("Where", inside, column, b.number(0, x.dtype))
            total = reduce(b, "ReduceSum", spread, [x.rank - 1], keepdim=False)
            x = move_axis(b, b.node("Div", total, b.cast(lengths, x.dtype)), -1, axis)
        return x
    before, after = layout
    if all(size % windows == 0 for size, windows in zip(before, after, strict=True)) and pools:
        kernel = [size // windows for size, windows in zip(before, after, strict=True)]
        batched = x if x.rank == spatial + 2 else unsqueeze(b, x, [0])
        shape = (*batched.shape[:2], *after)
        pooled = b.node("AveragePool", batched, shape=shape, kernel_shape=kernel, strides=kernel)
        return pooled if x.rank == spatial + 2 else squeeze(b, pooled, [0])
    for axis, size, windows in zip(axes, before, after, strict=True):
        x = x if size == windows else _mean_along(b, x, axis, size, windows)
    return x


def _mean_along(b: Builder, x: Value, axis: int, size: int, windows: int) -> Value:
    """The windows' means along one axis."""
    bounds = _bounds(size, windows)
    return weighted_sums(
        b, x, axis, [[(place, 1 / (end - start)) for place in range(start, end)] for start, end in bounds]
    )


@lowers(
    "aten.adaptive_max_pool1d.default",
    "aten.adaptive_max_pool2d.default",
    "aten.adaptive_max_pool3d.default",
)
def adaptive_max_pool(b: Builder, a: Arguments) -> list[Value]:
    spatial = spatial_rank(a.target)
    x = a.tensor("self")
    layout = _layout(a, x, spatial)
    if layout is None:
        return [_open_max_pool(b, a, x, spatial), a.unread(1)]
    before, after = layout
    first = x.rank - spatial
    spread = x
    places = np.arange(int(np.prod(before))).reshape(before)
    for number, (size, windows) in enumerate(zip(before, after, strict=True)):
        rows = _window_rows(size, windows)
        spread = gather(b, spread, b.constant(rows), first + 2 * number)
        places = np.take(places, rows, axis=2 * number)
    # From (w0, k0, w1, k1, ...) to (w0, w1, ..., k0 * k1 * ...), for windows w and places k within them.
    order = [*range(0, 2 * spatial, 2), *range(1, 2 * spatial, 2)]
    outer = b.sizes_of(x)[:first]
    spread = transpose(b, spread, [*range(first), *(first + axis for axis in order)])
    spread = reshape(b, spread, [*outer, *after, -1], (*x.shape[:first], *after, UNKNOWN))
    places = places.transpose(order).reshape(*after, -1)
    last = spread.rank - 1
    if not a.used[1]:
        return [extreme_over(b, "ReduceMax", spread, [last], keepdim=False), a.unread(1)]
    value, best = _greatest(b, spread, last)
    table = b.node(
        "Expand", b.constant(places), b.node("Shape", spread, dtype="int64", shape=(spread.rank,)), shape=spread.shape
    )
    found = b.node("GatherElements", table, best, shape=best.shape, axis=last)
    return [squeeze(b, value, [last]), squeeze(b, found, [last])]


def _open_max_pool(b: Builder, a: Arguments, x: Value, spatial: int) -> Value:
    """The greatest value of each window, along one axis after another."""
    if not is_float(x.dtype):
        b.refuse(f"{x.dtype} of sizes that are only known at run time is pooled")
    for axis, windows in _window_counts(b, a, x, spatial):
        inside, _ = _membership(b, x, axis, windows)
        column = unsqueeze(b, move_axis(b, x, axis, -1), [x.rank])
        spread = b.node("Where", inside, column, b.number(-math.inf, x.dtype))
        x = move_axis(b, extreme_over(b, "ReduceMax", spread, [x.rank - 1], keepdim=False), -1, axis)
    return x


def _greatest(b: Builder, x: Value, axis: int) -> list[Value]:
    """The greatest value along one axis and the place of the first such, or NaN and the place of the last."""
    wide = b.cast(x, wider(x.dtype))

    def usual() -> list[Value]:
        value = reduce(b, "ReduceMax", wide, [axis], keepdim=True)
        return [value, b.node("ArgMax", wide, dtype="int64", shape=value.shape, axis=axis, keepdims=1)]

    def careful() -> list[Value]:
        found, last = nan_along(b, wide, axis, keepdim=True, last=True)
        value, place = usual()
        return [b.node("Where", found, b.number(math.nan, wide.dtype), value), b.node("Where", found, last, place)]

    value, place = unless_nan(b, [wide], usual, careful)
    return [b.cast(value, x.dtype), place]


def _window_rows(size: int, windows: int) -> Sequence[Sequence[int]]:
    """The places of each window, shorter ones filled up with their last place."""
    bounds = _bounds(size, windows)
    longest = max(end - start for start, end in bounds)
    return [[min(start + step, end - 1) for step in range(longest)] for start, end in bounds]
