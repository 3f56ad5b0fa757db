"""Lowerings that resize images, or take them apart into patches."""

import math
from collections.abc import Sequence

import numpy as np

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.lowerings.open_resampling import open_nearest, open_smooth
from dycl.backends.onnx.lowerings.pooling import padded
from dycl.backends.onnx.nan import unless_special
from dycl.backends.onnx.pieces import gather, reshape, transpose
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Value, is_float, static_shape, wider
from dycl.backends.onnx.weighted import Taps, weighted_sums

_NEAREST = [
    f"aten.{kind}{rank}d.{form}"
    for rank in (1, 2, 3)
    for form in ("vec", "default")
    for kind in ("upsample_nearest", "_upsample_nearest_exact")
]


def _scales(a: Arguments, spatial: int) -> list[float | None]:
    """The factors that the caller gave, which PyTorch prefers to the quotient of the sizes."""
    if a.has("scale_factors"):
        return [*(a.reals("scale_factors") or [])]
    names = {1: ("scales",), 2: ("scales_h", "scales_w"), 3: ("scales_d", "scales_h", "scales_w")}[spatial]
    return [a.real(name) if a.has(name) else None for name in names]


def _sizes(a: Arguments, x: Value) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The sizes of the image before and after, if they are known while compiling."""
    before, after = static_shape(x.shape[2:]), static_shape(a.result.shape[2:])
    return None if before is None or after is None else (before, after)


def _ratio(size: int, target: int, scale: float | None) -> np.float32:
    """How far apart the sampled places are, computed in single precision as PyTorch does."""
    if scale is not None and scale > 0:
        return np.float32(1.0 / scale)
    return np.float32(size) / np.float32(target)


@lowers(*_NEAREST)
def nearest(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self" if a.has("self") else "input")
    exact = "exact" in a.target
    scales = _scales(a, x.rank - 2) or [None] * (x.rank - 2)
    known = _sizes(a, x)
    if known is None:
        return open_nearest(b, a, x, scales, exact)
    before, after = known
    for number, (size, target, scale) in enumerate(zip(before, after, scales, strict=True)):
        places = _nearest_places(size, target, scale, exact)
        if places != list(range(size)):
            x = gather(b, x, b.constant(places), number + 2)
    return x


def _nearest_places(size: int, target: int, scale: float | None, exact: bool) -> list[int]:
    if size == target and not exact:
        return list(range(size))
    if target == 2 * size and not exact:
        return [place // 2 for place in range(target)]
    ratio = _ratio(size, target, scale)
    shift = np.float32(0.5 if exact else 0)
    return [min(int(np.floor((np.float32(place) + shift) * ratio)), size - 1) for place in range(target)]


_SMOOTH = [
    f"aten.upsample_{kind}.{form}"
    for kind in ("linear1d", "bilinear2d", "trilinear3d", "bicubic2d")
    for form in ("vec", "default")
]


@lowers(*_SMOOTH)
def smooth(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self" if a.has("self") else "input")
    corners, cubic = a.flag("align_corners"), "bicubic" in a.target
    if not is_float(x.dtype):
        b.refuse(f"{x.dtype} is interpolated, which PyTorch does in fixed-point arithmetic")
    scales = _scales(a, x.rank - 2) or [None] * (x.rank - 2)
    known = _sizes(a, x)
    if known is None:
        wide = open_smooth(b, a, b.cast(x, wider(x.dtype)), scales, corners, cubic)
        return b.cast(wide, x.dtype)
    before, after = known
    if before == after and (not cubic or all(scale is None or scale == 1 for scale in scales)):
        return unless_special(b, x, lambda: [x], lambda: [_exactly(b, a, x, scales)])[0]
    if x.dtype == "float32" and len(before) == 2 and not cubic and _agree(before, after, scales):
        resize, mix = (lambda: [_resized(b, x, after, corners)]), (lambda: [_exactly(b, a, x, scales)])
        return unless_special(b, x, resize, mix)[0]
    return _exactly(b, a, x, scales)


def _resized(b: Builder, x: Value, after: Sequence[int], corners: bool) -> Value:
    """The image resized by ONNX Runtime, which leaves out neighbours that count nothing, also if they are NaN."""
    mode = "align_corners" if corners else "half_pixel"
    sizes, shape = b.vector([*b.sizes_of(x)[:2], *after]), (*x.shape[:2], *after)
    return b.node("Resize", x, None, None, sizes, shape=shape, mode="linear", coordinate_transformation_mode=mode)


def _exactly(b: Builder, a: Arguments, x: Value, scales: Sequence[float | None]) -> Value:
    """The image with each place mixed from its neighbours, one axis after another.

    Axes that keep their size are no exception: a neighbour of no weight counts if it is not finite.
    """
    wide = b.cast(x, wider(x.dtype))
    corners, cubic = a.flag("align_corners"), "bicubic" in a.target
    before, after = static_shape(wide.shape[2:]), static_shape(a.result.shape[2:])
    assert before is not None and after is not None
    for number, (size, target, scale) in enumerate(zip(before, after, scales, strict=True)):
        wide = weighted_sums(b, wide, number + 2, _taps(size, target, scale, corners, cubic))
    return b.cast(wide, x.dtype)


def _agree(before: Sequence[int], after: Sequence[int], scales: Sequence[float | None]) -> bool:
    """Whether the factors, where given, are the quotients of the sizes."""
    return all(
        scale is None or size * scale == target for size, target, scale in zip(before, after, scales, strict=True)
    )


def _taps(size: int, target: int, scale: float | None, corners: bool, cubic: bool) -> Taps:
    """What the places around each result contribute to it."""
    if size == target and not cubic:
        return [[(place, 1.0), (place, 0.0)] for place in range(size)]
    rows = []
    ratio = 1.0 / scale if scale is not None and scale > 0 else size / target
    if corners:
        ratio = (size - 1) / (target - 1) if target > 1 else 0.0
    for place in range(target):
        source = place * ratio if corners else (place + 0.5) * ratio - 0.5
        if not cubic:
            source = max(source, 0.0)
        base = math.floor(source) if cubic else min(math.floor(source), size - 1)
        rest = source - base if cubic else min(source - base, 1.0)
        taps = _cubic_taps(rest) if cubic else [(0, 1 - rest), (1, rest)]
        rows.append([(min(max(base + offset, 0), size - 1), weight) for offset, weight in taps])
    return rows


def _cubic_taps(rest: float, a: float = -0.75) -> list[tuple[int, float]]:
    """The weights of the four neighbours in cubic convolution."""

    def near(x: float) -> float:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: float) -> float:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [(-1, far(rest + 1)), (0, near(rest)), (1, near(1 - rest)), (2, far(2 - rest))]


@lowers("aten.pixel_shuffle.default", "aten.pixel_unshuffle.default")
def pixel_shuffle(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    shuffle = a.target == "aten.pixel_shuffle.default"
    factor = a.integer("upscale_factor" if shuffle else "downscale_factor")
    outer, (channels, height, width) = b.sizes_of(x)[:-3], b.sizes_of(x)[-3:]
    n = len(outer)
    if shuffle:
        split = [b.size("Div", channels, factor * factor), factor, factor, height, width]
        order = [0, 3, 1, 4, 2]
        merged = [split[0], b.size("Mul", height, factor), b.size("Mul", width, factor)]
    else:
        split = [channels, b.size("Div", height, factor), factor, b.size("Div", width, factor), factor]
        order = [0, 2, 4, 1, 3]
        merged = [b.size("Mul", channels, factor * factor), split[1], split[3]]
    apart = transpose(b, reshape(b, x, [*outer, *split]), [*range(n), *(n + axis for axis in order)])
    return reshape(b, apart, [*outer, *merged], a.result.shape)


@lowers("aten.channel_shuffle.default")
def channel_shuffle(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    groups = a.integer("groups")
    batch, channels, *rest = b.sizes_of(x)
    apart = reshape(b, x, [batch, groups, b.size("Div", channels, groups), *rest])
    order = [0, 2, 1, *range(3, apart.rank)]
    return reshape(b, transpose(b, apart, order), [batch, channels, *rest], a.result.shape)


@lowers("aten.im2col.default")
def im2col(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    kernel, dilation, padding, stride = (
        a.spatial(name, 2) for name in ("kernel_size", "dilation", "padding", "stride")
    )
    before = static_shape(x.shape[-2:])
    if before is None:
        b.refuse("an image whose size is only known at run time is taken apart")
    patches = padded(b, x, padding, padding, 0)
    first = x.rank - 2
    counts = []
    for number in range(2):
        reach = dilation[number] * (kernel[number] - 1) + 1
        count = (before[number] + 2 * padding[number] - reach) // stride[number] + 1
        counts.append(count)
        rows = [
            [k * dilation[number] + place * stride[number] for place in range(count)] for k in range(kernel[number])
        ]
        patches = gather(b, patches, b.constant(rows), first + 2 * number)
    # From (..., channels, kh, h, kw, w) to (..., channels * kh * kw, h * w).
    n = patches.rank
    patches = transpose(b, patches, [*range(n - 4), n - 4, n - 2, n - 3, n - 1])
    outer = b.sizes_of(x)
    rows_of_patch = b.size("Mul", outer[-3], kernel[0] * kernel[1])
    return reshape(b, patches, [*outer[:-3], rows_of_patch, counts[0] * counts[1]], a.result.shape)


@lowers("aten.col2im.default")
def col2im(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    if x.rank != 3:
        b.refuse("patches without a batch axis")
    kernel, dilation, padding, stride = (
        a.spatial(name, 2) for name in ("kernel_size", "dilation", "padding", "stride")
    )
    return b.node(
        "Col2Im",
        x,
        b.vector(a.sizes("output_size")),
        b.constant(kernel),
        shape=a.result.shape,
        dilations=dilation,
        pads=[*padding, *padding],
        strides=stride,
    )
