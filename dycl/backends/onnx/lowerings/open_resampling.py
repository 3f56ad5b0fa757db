"""Resizing of images whose sizes are only known at run time: which places to take is computed there too."""

from collections.abc import Sequence

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import arange, gather, unsqueeze
from dycl.backends.onnx.values import Size, Value
from dycl.hcfg.types import DType


def _target(b: Builder, a: Arguments, x: Value, number: int, scale: float | None) -> Size:
    """The size of one axis afterwards: as asked for, or as many times the old one as asked for."""
    known = a.result.shape[number + 2]
    if isinstance(known, int):
        return known
    if a.has("output_size"):
        return a.sizes("output_size")[number]
    size = b.number(b.size_of(x, number + 2), "float64")
    product = b.node("Mul", size, b.number(1.0 if scale is None else scale, "float64"))
    return b.cast(b.node("Floor", product), "int64")


def _ratio(b: Builder, size: Value, target: Value, scale: float | None, dtype: DType) -> Value:
    """How far apart the sampled places are."""
    if scale is not None and scale > 0:
        return b.node("Div", b.number(1.0, dtype), b.number(scale, dtype))
    return b.node("Div", b.cast(size, dtype), b.cast(target, dtype))


def open_nearest(b: Builder, a: Arguments, x: Value, scales: Sequence[float | None], exact: bool) -> Value:
    """The image with each place taken from the nearest one, computed in single precision as PyTorch does."""
    for number, scale in enumerate(scales):
        target, size = _target(b, a, x, number, scale), b.size_of(x, number + 2)
        before, after = b.number(size, "int64"), b.number(target, "int64")
        places = arange(b, target)
        shifted = b.cast(places, "float32")
        if exact:
            shifted = b.node("Add", shifted, b.number(0.5, "float32"))
        scaled = b.node("Mul", shifted, _ratio(b, before, after, scale, "float32"))
        source = b.cast(b.node("Floor", scaled), "int64")
        if not exact:
            half, twice = (
                b.node(operator, value, b.constant(2)) for operator, value in (("Div", places), ("Mul", before))
            )
            source = b.node("Where", b.node("Equal", after, twice), half, source)
            source = b.node("Where", b.node("Equal", after, before), places, source)
        source = b.node("Min", source, b.node("Sub", before, b.constant(1)))
        x = gather(b, x, source, number + 2)
    return x


def open_smooth(
    b: Builder, a: Arguments, x: Value, scales: Sequence[float | None], corners: bool, cubic: bool
) -> Value:
    """The image with each place mixed from its neighbours, one axis after another."""
    for number, scale in enumerate(scales):
        axis = number + 2
        before, after = (b.number(size, "int64") for size in (b.size_of(x, axis), _target(b, a, x, number, scale)))
        place = b.cast(arange(b, after), "float64")
        if corners:
            source = b.node("Mul", place, _corner_ratio(b, before, after))
        else:
            half = b.number(0.5, "float64")
            spread = b.node("Mul", b.node("Add", place, half), _ratio(b, before, after, scale, "float64"))
            source = b.node("Sub", spread, half)
        last = b.node("Sub", before, b.constant(1))
        if not cubic:
            source = b.node("Max", source, b.number(0.0, "float64"))
        base = b.node("Floor", source)
        if not cubic:
            base = b.node("Min", base, b.cast(last, "float64"))
        rest, step = b.node("Sub", source, base), b.constant(1)
        if not cubic:
            # On an axis that keeps its size a place is taken from itself, whatever the factor, and its own neighbour.
            keeps = b.node("Equal", before, after)
            base = b.node("Where", keeps, place, base)
            rest = b.node("Where", keeps, b.number(0.0, "float64"), b.node("Min", rest, b.number(1.0, "float64")))
            step = b.node("Where", keeps, b.constant(0), step)
        x = _mixed(b, x, axis, b.cast(base, "int64"), last, step, _taps(b, rest, cubic))
    return x


def _corner_ratio(b: Builder, before: Value, after: Value) -> Value:
    """The distance of places if the first and the last stay where they are; 0 if there is but one."""
    gaps = b.node("Max", b.node("Sub", after, b.constant(1)), b.constant(1))
    ratio = b.node("Div", b.cast(b.node("Sub", before, b.constant(1)), "float64"), b.cast(gaps, "float64"))
    return b.node("Where", b.node("Greater", after, b.constant(1)), ratio, b.number(0.0, "float64"))


def _taps(b: Builder, rest: Value, cubic: bool) -> list[tuple[int, Value]]:
    """The neighbours that count, by their distance from the place before, and how much each of them counts."""
    one = b.number(1.0, "float64")
    if not cubic:
        return [(0, b.node("Sub", one, rest)), (1, rest)]
    other = b.node("Sub", one, rest)
    return [
        (-1, _polynomial(b, b.node("Add", rest, one), _FAR)),
        (0, _polynomial(b, rest, _NEAR)),
        (1, _polynomial(b, other, _NEAR)),
        (2, _polynomial(b, b.node("Add", other, one), _FAR)),
    ]


# Cubic convolution with a = -0.75: the weight at a distance below 1, and below 2; highest power first.
_NEAR = (1.25, -2.25, 0.0, 1.0)
_FAR = (-0.75, 3.75, -6.0, 3.0)


def _polynomial(b: Builder, x: Value, coefficients: Sequence[float]) -> Value:
    result = b.number(coefficients[0], "float64")
    for coefficient in coefficients[1:]:
        result = b.node("Add", b.node("Mul", result, x), b.number(coefficient, "float64"))
    return result


def _mixed(
    b: Builder, x: Value, axis: int, base: Value, last: Value, step: Value, taps: Sequence[tuple[int, Value]]
) -> Value:
    """The sum of the neighbours along one axis, a step apart, each by its weight."""
    total: Value | None = None
    for offset, weight in taps:
        place = b.node("Max", b.node("Add", base, b.node("Mul", step, b.constant(offset))), b.constant(0))
        neighbour = gather(b, x, b.node("Min", place, last), axis)
        column = unsqueeze(b, b.cast(weight, x.dtype), range(1, x.rank - axis))
        part = b.node("Mul", neighbour, column, shape=neighbour.shape)
        total = part if total is None else b.node("Add", total, part, shape=part.shape)
    assert total is not None
    return total
