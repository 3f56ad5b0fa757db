"""Lowerings of pooling with fixed windows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.nan import unless_special
from dycl.backends.onnx.pieces import batched, expand, reduce, reshape, squeeze
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import UNKNOWN, Value, is_float, lowest, static_shape
from dycl.backends.onnx.windows import bordered, sliding
from dycl.hcfg.types import Dimension, DType


@dataclass(frozen=True, slots=True)
class Windows:
    """Where the windows of a pooling operation lie; `end` is the padding after the input, found from the result."""

    kernel: list[int]
    stride: list[int]
    begin: list[int]
    end: list[int]
    dilation: list[int]
    output: tuple[Dimension, ...]

    @property
    def beyond_padding(self) -> bool:
        """Whether rounding up made windows reach beyond the padding that was asked for."""
        return self.end != self.begin


def _windows(b: Builder, a: Arguments, x: Value, spatial: int) -> Windows:
    kernel = a.spatial("kernel_size", spatial)
    stride = a.spatial("stride", spatial) if a.has("stride") and a.integers("stride") else kernel
    begin = a.spatial("padding", spatial)
    dilation = a.spatial("dilation", spatial) if a.has("dilation") else [1] * spatial
    sizes, output = x.shape[-spatial:], a.result.shape[-spatial:]
    end = list(begin)
    if a.flag("ceil_mode"):
        known, known_output = static_shape(sizes), static_shape(output)
        if known is None or known_output is None:
            b.refuse("`ceil_mode` with a size that is only known at run time")
        for axis in range(spatial):
            reach = (known_output[axis] - 1) * stride[axis] + dilation[axis] * (kernel[axis] - 1) + 1
            end[axis] = max(begin[axis], reach - known[axis] - begin[axis])
    return Windows(kernel, stride, begin, end, dilation, output)


def padded(b: Builder, x: Value, begin: Sequence[int], end: Sequence[int], fill: float) -> Value:
    """The value with a border of one number around its last axes."""
    if not any(begin) and not any(end):
        return x
    front = [0] * (x.rank - len(begin))
    shape = x.shape[: x.rank - len(begin)] + tuple(
        size + low + high if isinstance(size, int) else UNKNOWN
        for size, low, high in zip(x.shape[-len(begin) :], begin, end, strict=True)
    )
    pads = b.constant([*front, *begin, *front, *end])
    return b.node("Pad", x, pads, b.number(fill, x.dtype), shape=shape)


_SPATIAL = {"1d": 1, "2d": 2, "3d": 3}


def spatial_rank(target: str) -> int:
    """How many axes the windows of this operation have, from its name."""
    return next(rank for suffix, rank in _SPATIAL.items() if suffix in target)


@lowers(
    *(f"aten.max_pool{rank}d.default" for rank in (1, 2, 3)),
    "aten.max_pool1d_with_indices.default",
    "aten.max_pool2d_with_indices.default",
    "aten.max_pool3d_with_indices.default",
)
def max_pool(b: Builder, a: Arguments) -> Value | list[Value]:
    spatial = spatial_rank(a.target)
    x, missing = batched(b, a.tensor("self"), spatial)
    windows = _windows(b, a, x, spatial)
    begin, end = windows.begin, windows.end
    shape = (*x.shape[:2], *windows.output)
    indices = "with_indices" in a.target
    if x.dtype not in ("float16", "bfloat16", "float32", "float64", "uint8", "int8"):
        if indices:
            b.refuse(f"ONNX Runtime has no MaxPool for {x.dtype}")
        slid = sliding(b, bordered(b, x, begin, end, lowest(x.dtype)), windows.kernel, windows.stride, windows.dilation)
        result = reduce(b, "ReduceMax", slid, range(slid.rank - spatial, slid.rank), keepdim=False)
        return squeeze(b, result, [0]) if missing else result
    if any(pad >= kernel for pad, kernel in zip(end, windows.kernel, strict=True)):
        if indices or x.dtype in ("uint8", "int8"):
            b.refuse("`ceil_mode` with a dilation that leaves windows mostly outside the input")
        x = padded(b, x, begin, end, float("-inf"))
        begin, end = [0] * spatial, [0] * spatial

    def pooled(whole: Value, indices: bool = False) -> Sequence[Value]:
        types: list[tuple[DType, tuple[Dimension, ...]]] = [(whole.dtype, shape), ("int64", shape)]
        return b.outputs(
            "MaxPool",
            [whole],
            types if indices else types[:1],
            kernel_shape=windows.kernel,
            strides=windows.stride,
            pads=[*begin, *end],
            dilations=windows.dilation,
        )

    def careful() -> list[Value]:
        """A window with NaN in it has NaN and the last place of one, a window of -inf alone has its first place."""
        nan = b.node("IsNaN", x)
        has_nan = b.cast(pooled(b.cast(nan, "float32"))[0], "bool")
        is_low = b.node("Equal", values, b.number(float(np.finfo(_WIDTHS[x.dtype]).min), x.dtype))
        found = b.node("Where", is_low, b.number(float("-inf"), x.dtype), values)
        found = b.node("Where", has_nan, b.number(float("nan"), x.dtype), found)
        if not places:
            return [found]
        numbers = b.node("Range", b.constant(0), plane, b.constant(1), shape=(UNKNOWN,))
        numbers = reshape(b, b.cast(numbers, "float64"), [1, 1, *b.sizes_of(x)[2:]])
        numbers = expand(b, numbers, b.sizes_of(x), x.shape)
        last = pooled(b.node("Where", nan, numbers, b.number(-1, "float64")))[0]
        first = b.node("Neg", pooled(b.node("Neg", numbers))[0])
        place = b.node("Where", is_low, b.cast(first, "int64"), places[0])
        return [found, b.node("Where", has_nan, b.cast(last, "int64"), place)]

    plane = b.number(b.count(x, list(range(2, x.rank))), "int64")
    values, *counted = pooled(x, indices)
    # ONNX counts through the whole tensor, PyTorch within each channel's plane.
    places = [b.node("Mod", place, plane) for place in counted]
    results = [values, *places]
    if is_float(x.dtype):
        results = unless_special(b, x, lambda: results, careful)
    results = [squeeze(b, result, [0]) for result in results] if missing else results
    return results if indices else results[0]


_WIDTHS: dict[str, Any] = {"float16": np.float16, "bfloat16": np.float32, "float32": np.float32, "float64": np.float64}


@lowers("aten.avg_pool1d.default", "aten.avg_pool2d.default", "aten.avg_pool3d.default")
def avg_pool(b: Builder, a: Arguments) -> Value:
    spatial = spatial_rank(a.target)
    x, missing = batched(b, a.tensor("self"), spatial)
    windows = _windows(b, a, x, spatial)
    divisor = a.integer("divisor_override") if a.has("divisor_override") else None
    count_padding = a.flag("count_include_pad")
    shape = (*x.shape[:2], *windows.output)
    if x.dtype == "float64":
        slid = sliding(b, padded(b, x, windows.begin, windows.end, 0), windows.kernel, windows.stride, [1] * spatial)
        result = reduce(b, "ReduceMean", slid, range(slid.rank - spatial, slid.rank), keepdim=False)
        result = b.node("Mul", result, _correction(b, x, windows, divisor, count_padding))
    elif divisor is None and not windows.beyond_padding:
        result = b.node(
            "AveragePool",
            x,
            shape=shape,
            kernel_shape=windows.kernel,
            strides=windows.stride,
            pads=[*windows.begin, *windows.end],
            count_include_pad=int(count_padding),
        )
    else:
        whole = padded(b, x, windows.begin, windows.end, 0)
        mean = b.node("AveragePool", whole, shape=shape, kernel_shape=windows.kernel, strides=windows.stride)
        result = b.node("Mul", mean, _correction(b, x, windows, divisor, count_padding))
    return squeeze(b, result, [0]) if missing else result


def _correction(b: Builder, x: Value, windows: Windows, divisor: int | None, count_padding: bool) -> Value:
    """What turns the mean over whole windows into PyTorch's, which divides by another count."""
    whole = float(np.prod(windows.kernel))
    if divisor is not None:
        return b.number(whole / divisor, x.dtype)
    factor = np.ones((), np.float64)
    sizes, outputs = static_shape(x.shape[2:]), static_shape(windows.output)
    if sizes is None or outputs is None:
        b.refuse("the image's size is only known at run time")
    for size, kernel, stride, pad, output in zip(
        sizes, windows.kernel, windows.stride, windows.begin, outputs, strict=True
    ):
        starts = np.arange(output) * stride - pad
        ends = np.minimum(starts + kernel, size + pad)
        if not count_padding:
            starts, ends = np.maximum(starts, 0), np.minimum(ends, size)
        factor = factor[..., None] * (kernel / (ends - starts))
    return b.constant(factor, x.dtype)


@lowers("aten.max_unpool2d.default")
def max_unpool(b: Builder, a: Arguments) -> Value:
    x, places = a.tensor("self"), a.tensor("indices")
    sizes = a.sizes("output_size")
    rows = b.count(x, list(range(x.rank - 2)))
    plane = b.size("Mul", sizes[0], sizes[1])
    flat = reshape(b, x, [rows, -1])
    zeros = b.node("Expand", b.number(0, x.dtype), b.vector([rows, plane]), shape=(UNKNOWN, UNKNOWN))
    filled = b.node("ScatterElements", zeros, reshape(b, places, [rows, -1]), flat, shape=(UNKNOWN, UNKNOWN), axis=1)
    return reshape(b, filled, [*b.sizes_of(x)[:-2], *sizes], a.result.shape)
