"""Lowerings that sample images at given points."""

import itertools
from collections.abc import Sequence

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.nan import unless_special
from dycl.backends.onnx.pieces import expand, gather, reduce, reshape, unsqueeze
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Value

_FAR = 1e4


@lowers("aten.grid_sampler.default", "aten.grid_sampler_2d.default", "aten.grid_sampler_3d.default")
def grid_sample(b: Builder, a: Arguments) -> Value:
    x, grid = a.tensor("input"), a.tensor("grid")
    spatial = x.rank - 2
    mode = ("linear", "nearest", "cubic")[a.integer("interpolation_mode")]
    padding = ("zeros", "border", "reflection")[a.integer("padding_mode")]
    shape = (*x.shape[:2], *grid.shape[1 : 1 + spatial])
    corners = int(a.flag("align_corners"))
    if padding != "reflection":
        # So far outside, every place is like another; ONNX Runtime would take the farthest for some place inside.
        near = b.node("Clip", grid, b.number(-_FAR, grid.dtype), b.number(_FAR, grid.dtype))
    else:
        near = grid

    def sampled() -> list[Value]:
        return [b.node("GridSample", x, near, shape=shape, mode=mode, padding_mode=padding, align_corners=corners)]

    if mode == "linear" and padding != "zeros":
        # Outside, ONNX Runtime leaves out the neighbours of the pixel at the border, also if they are not finite.
        return unless_special(b, x, sampled, lambda: [_mixed(b, x, grid, padding, bool(corners))])[0]
    [found] = sampled()
    if mode == "nearest" and padding != "zeros":
        return found
    # What is not a number, or infinite, is nowhere: nothing is found there, or something unknown.
    nowhere = reduce(b, "ReduceSum", b.node("Sub", grid, grid), [grid.rank - 1], keepdim=False)
    nowhere = unsqueeze(b, nowhere, [1])
    if mode != "nearest":
        return b.node("Add", found, nowhere)
    return b.node("Where", b.node("IsNaN", nowhere), b.number(0, x.dtype), found)


def _mixed(b: Builder, x: Value, grid: Value, padding: str, corners: bool) -> Value:
    """Each point mixed from its neighbours as PyTorch does it, one pixel after another."""
    sizes = b.sizes_of(x)
    spatial = x.rank - 2
    points = reshape(b, grid, [b.size_of(grid, 0), -1, spatial])
    flat = reshape(b, x, [*sizes[:2], -1])
    neighbours: list[list[tuple[Value, Value]]] = []
    for axis in range(spatial):
        size = b.node("Squeeze", b.vector([sizes[axis + 2]]), shape=())
        along = gather(b, points, b.constant(spatial - 1 - axis), 2)
        neighbours.append(_neighbours(b, _inside(b, along, b.cast(size, grid.dtype), padding, corners), size))
    total: Value | None = None
    for corner in itertools.product((0, 1), repeat=spatial):
        place, weight = _pixel(b, [neighbours[axis][side] for axis, side in enumerate(corner)], sizes[2:])
        index = expand(b, unsqueeze(b, place, [1]), [*sizes[:2], b.size_of(place, 1)])
        pixel = b.node("GatherElements", flat, index, shape=index.shape, axis=2)
        # Beyond the last pixel there is nothing, whatever stands at the place that is read instead.
        is_pixel = b.node("GreaterOrEqual", weight, b.number(0, weight.dtype))
        there = b.node("Where", unsqueeze(b, is_pixel, [1]), pixel, b.number(0, x.dtype), shape=pixel.shape)
        counted = b.node("Max", unsqueeze(b, weight, [1]), b.number(0, weight.dtype))
        part = b.node("Mul", there, counted, shape=pixel.shape)
        total = part if total is None else b.node("Add", total, part, shape=part.shape)
    assert total is not None
    return reshape(b, total, [*sizes[:2], *b.sizes_of(grid)[1:-1]], (*x.shape[:2], *grid.shape[1:-1]))


def _inside(b: Builder, along: Value, size: Value, padding: str, corners: bool) -> Value:
    """Where points lie among the pixels along one axis, those outside moved to the border or reflected at it."""
    one, two, zero = (b.number(number, along.dtype) for number in (1, 2, 0))
    last = b.node("Sub", size, one)
    shifted = b.node("Add", along, one)
    if corners:
        place = b.node("Mul", b.node("Div", shifted, two), last)
    else:
        place = b.node("Div", b.node("Sub", b.node("Mul", shifted, size), one), two)
    if padding == "reflection":
        place = _reflected(b, place, size, corners)
    known = b.node("Where", b.node("IsNaN", place), zero, place)
    return b.node("Min", b.node("Max", known, zero), last)


def _reflected(b: Builder, place: Value, size: Value, corners: bool) -> Value:
    low = b.number(0 if corners else -0.5, place.dtype)
    span = b.node("Sub", size, b.number(1, place.dtype)) if corners else size
    away = b.node("Abs", b.node("Sub", place, low))
    rounds = b.node("Floor", b.node("Div", away, span))
    rest = b.node("Sub", away, b.node("Mul", rounds, span))
    is_even = b.node("Equal", b.node("Mod", rounds, b.number(2, place.dtype), fmod=1), b.number(0, place.dtype))
    turned = b.node("Where", is_even, rest, b.node("Sub", span, rest))
    return b.node("Add", turned, low)


def _neighbours(b: Builder, place: Value, size: Value) -> list[tuple[Value, Value]]:
    """The pixels before and behind each place, with what they count; -1 is what one counts that is not there."""
    before = b.node("Floor", place)
    rest = b.node("Sub", place, before)
    near = b.cast(before, "int64")
    far = b.node("Add", near, b.constant(1))
    is_there = b.node("Less", far, size)
    there = b.node("Where", is_there, rest, b.number(-1, rest.dtype))
    return [
        (near, b.node("Sub", b.number(1, rest.dtype), rest)),
        (b.node("Min", far, b.node("Sub", size, b.constant(1))), there),
    ]


def _pixel(b: Builder, parts: Sequence[tuple[Value, Value]], sizes: Sequence[int | Value]) -> tuple[Value, Value]:
    """The place of a pixel in the flat image, and what it counts; less than nothing if it is not there."""
    (place, weight), *others = parts
    for (other, factor), size in zip(others, sizes[1:], strict=True):
        place = b.node("Add", b.node("Mul", place, b.node("Squeeze", b.vector([size]), shape=())), other)
        are_there = b.node("GreaterOrEqual", b.node("Min", weight, factor), b.number(0, weight.dtype))
        weight = b.node("Where", are_there, b.node("Mul", weight, factor), b.number(-1, weight.dtype))
    return place, weight
