"""Lowerings that shrink images smoothly: each result is a weighted mean of all the places that it covers."""

import numpy as np

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Array, Builder
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Value, is_float, static_shape, wider
from dycl.backends.onnx.weighted import Taps, weighted_sums


@lowers(
    "aten._upsample_bilinear2d_aa.default",
    "aten._upsample_bilinear2d_aa.vec",
    "aten._upsample_bicubic2d_aa.default",
    "aten._upsample_bicubic2d_aa.vec",
)
def antialiased(b: Builder, a: Arguments) -> Value:
    x = a.tensor("input" if a.target.endswith("vec") else "self")
    before, after = static_shape(x.shape[2:]), static_shape(a.result.shape[2:])
    if before is None or after is None:
        b.refuse("an image whose size is only known at run time is resized")
    if not is_float(x.dtype):
        b.refuse(f"{x.dtype} is interpolated, which PyTorch does in fixed-point arithmetic")
    if a.flag("align_corners"):
        b.refuse("corners are aligned")
    if after[1] == 1:
        b.refuse("a single column, all of which PyTorch fills with its first element")
    if a.has("scale_factors"):
        scales: list[float | None] = [*(a.reals("scale_factors") or [])]
    else:
        scales = [a.real(name) if a.has(name) else None for name in ("scales_h", "scales_w")]
    wide = b.cast(x, wider(x.dtype))
    for number in (1, 0):
        size, target, scale = before[number], after[number], (scales or [None, None])[number]
        wide = weighted_sums(b, wide, number + 2, _taps(size, target, scale, "bicubic" in a.target))
    return b.cast(wide, x.dtype)


def _taps(size: int, target: int, scale: float | None, cubic: bool) -> Taps:
    """What the places that each result covers contribute to it."""
    ratio = 1.0 / scale if scale is not None and scale > 0 else size / target
    stretch = max(ratio, 1.0)
    reach = (2.0 if cubic else 1.0) * stretch
    rows = []
    for place in range(target):
        centre = ratio * (place + 0.5)
        first, end = max(int(centre - reach + 0.5), 0), min(int(centre + reach + 0.5), size)
        distance = np.abs(np.arange(first, end) - centre + 0.5) / stretch
        shares = _cubic(distance) if cubic else np.maximum(1 - distance, 0)
        rows.append([*zip(range(first, end), (shares / shares.sum()).tolist(), strict=True)])
    return rows


def _cubic(distance: Array, a: float = -0.5) -> Array:
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = (((distance - 5) * distance + 8) * distance - 4) * a
    return np.where(distance < 1, near, np.where(distance < 2, far, 0))
