"""What convolutions, pools, padding and resampling need of the sizes of an image or a sequence."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import sympy  # type: ignore[import-untyped]
from torch import Tensor

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.sizes.needs import at_least, equal, expression

NO_WINDOW = "Kernel size can't be greater than actual input size"
TOO_SMALL = "Calculated output size is too small"
EMPTY = "Expected input to have non-zero size for non-batch dimensions"


def _each(value: Any, rank: int) -> Sequence[Any]:
    """A number for each dimension."""
    given = list(value) if isinstance(value, list | tuple) else [value]
    return given * rank if len(given) == 1 else given


def _convolved(recorder: Records, inputs: Tensor, weight: Tensor, bias: Any = None, *rest: Any, **options: Any) -> None:
    given = dict(zip(("stride", "padding", "dilation", "groups"), rest, strict=False)) | options
    rank = weight.dim() - 2
    if inputs.dim() < rank + 1:
        return
    channels = expression(weight.shape[1]) * given.get("groups", 1)
    equal(recorder, inputs.shape[-rank - 1], channels, "expected input to have another number of channels")
    dilation = _each(given.get("dilation", 1), rank)
    for axis in range(rank):
        size, kernel = expression(inputs.shape[axis - rank]), expression(weight.shape[axis - rank])
        at_least(recorder, size, 1, "RuntimeError", EMPTY)
        if isinstance(given.get("padding", 0), str):
            if given["padding"] == "same":
                continue
            given["padding"] = 0
        padded = size + 2 * expression(_each(given.get("padding", 0), rank)[axis])
        at_least(recorder, padded, dilation[axis] * (kernel - 1) + 1, "RuntimeError", NO_WINDOW)


def _spread(recorder: Records, inputs: Tensor, weight: Tensor, *_: Any, **__: Any) -> None:
    """A transposed convolution."""
    rank = weight.dim() - 2
    if inputs.dim() > rank:
        message = "expected input to have another number of channels"
        equal(recorder, inputs.shape[-rank - 1], weight.shape[0], message)
        _not_empty(recorder, inputs, rank)


def _general(
    recorder: Records, inputs: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int,
) -> None:  # fmt: skip
    if transposed:
        _spread(recorder, inputs, weight)
    else:
        _convolved(recorder, inputs, weight, bias, stride, padding, dilation, groups)


def _not_empty(recorder: Records, inputs: Tensor, rank: int) -> None:
    for axis in range(-rank, 0):
        at_least(recorder, inputs.shape[axis], 1, "RuntimeError", EMPTY)


def _pooled(rank: int, dilates: bool) -> Callable[..., None]:
    names = ("stride", "padding", *(("dilation",) if dilates else ()), "ceil_mode")

    def rule(recorder: Records, inputs: Tensor, kernel: Any, *rest: Any, **options: Any) -> None:
        given = dict(zip(names, rest, strict=False)) | options
        _not_empty(recorder, inputs, rank)
        kernels = _each(kernel, rank)
        strides = _each(given.get("stride") or kernel, rank)
        paddings, dilations = (
            _each(given.get(name, default), rank) for name, default in (("padding", 0), ("dilation", 1))
        )
        for axis in range(rank):
            padded = expression(inputs.shape[axis - rank]) + 2 * expression(paddings[axis])
            reach = expression(dilations[axis]) * (expression(kernels[axis]) - 1) + 1
            least = reach - (expression(strides[axis]) - 1 if given.get("ceil_mode") else 0)
            at_least(recorder, padded, least, "RuntimeError", TOO_SMALL)

    return rule


def _filled(rank: int) -> Callable[..., None]:
    def rule(recorder: Records, inputs: Tensor, *_: Any, **__: Any) -> None:
        _not_empty(recorder, inputs, rank)

    return rule


def _resized(rank: int) -> Callable[..., None]:
    def rule(recorder: Records, inputs: Tensor, size: Any, *rest: Any, **options: Any) -> None:
        _not_empty(recorder, inputs, rank + 1)  # the channels count too
        message = "Input and output sizes should be greater than 0"
        for wanted in size or ():
            at_least(recorder, wanted, 1, "RuntimeError", message)
        scales = options.get("scale_factors", rest[-1] if rest else None) if size is None else None
        for axis, scale in enumerate(scales or ()):
            if isinstance(scale, float) and 0 < scale < 1:
                at_least(recorder, inputs.shape[axis - rank], math.ceil(1 / scale), "RuntimeError", message)

    return rule


def _mirrored(recorder: Records, inputs: Tensor, padding: Sequence[Any]) -> None:
    message = "Padding size should be less than the corresponding input dimension"
    for place, pad in enumerate(padding):
        at_least(recorder, inputs.shape[-1 - place // 2], expression(pad) + 1, "RuntimeError", message)


def _padded(recorder: Records, inputs: Tensor, padding: Sequence[Any], *_: Any, **__: Any) -> None:
    for place in range(len(padding) // 2):
        before, after = map(expression, padding[2 * place : 2 * place + 2])
        message = "The input size plus its negative padding resulted in a negative output size"
        size, lost = expression(inputs.shape[-1 - place]), sympy.Max(-before, 0) + sympy.Max(-after, 0)
        at_least(recorder, size - lost, 0, "RuntimeError", message)


def _padded_by_mode(
    recorder: Records, inputs: Tensor, padding: Sequence[Any], mode: str = "constant", *rest: Any, **options: Any
) -> None:
    if options.get("mode", mode) == "constant":
        _padded(recorder, inputs, padding)


WINDOWS: dict[str, Callable[..., None]] = {
    **{f"aten.conv{rank}d.{form}": _convolved for rank in (1, 2, 3) for form in ("default", "padding")},
    "aten.conv_transpose1d.default": _spread,
    **{f"aten.conv_transpose{rank}d.input": _spread for rank in (2, 3)},
    "aten.convolution.default": _general,
    **{f"aten.avg_pool{rank}d.default": _pooled(rank, False) for rank in (1, 2, 3)},
    **{
        f"aten.max_pool{rank}d{form}.default": _pooled(rank, True)
        for rank in (1, 2, 3)
        for form in ("", "_with_indices")
    },
    **{f"aten.adaptive_avg_pool{rank}d.default": _filled(rank) for rank in (1, 2, 3)},
    # Of these, the channels count too.
    **{f"aten.adaptive_max_pool{rank}d.default": _filled(rank + 1) for rank in (1, 2, 3)},
    **{f"aten._adaptive_avg_pool{rank}d.default": _filled(rank) for rank in (2, 3)},
    **{f"aten.replication_pad{rank}d.default": _filled(rank) for rank in (1, 2, 3)},
    **{f"aten.reflection_pad{rank}d.default": _mirrored for rank in (1, 2, 3)},
    "aten.constant_pad_nd.default": _padded,
    "aten.pad.default": _padded_by_mode,
    **{
        f"aten.{kind}{rank}d{form}": _resized(rank)
        for kind, ranks in (
            ("upsample_nearest", (1, 2, 3)),
            ("_upsample_nearest_exact", (1, 2, 3)),
            ("upsample_linear", (1,)),
            ("upsample_bilinear", (2,)),
            ("upsample_bicubic", (2,)),
            ("upsample_trilinear", (3,)),
        )
        for rank in ranks
        for form in (".default", ".vec")
    },
}
