"""Lowerings of convolutions."""

from collections.abc import Sequence

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.kernels import carrier
from dycl.backends.onnx.pieces import batched, squeeze, unsqueeze
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import UNKNOWN, Value
from dycl.backends.onnx.windows import bordered, convolve, mirrored, spread


def _convolve(
    b: Builder,
    a: Arguments,
    pads: Sequence[int],
    transposed: bool = False,
    output_padding: Sequence[int] = (),
) -> Value:
    weight = a.tensor("weight")
    spatial = weight.rank - 2
    x, missing = batched(b, a.tensor("input"), spatial)
    kernel = [size for size in weight.shape[2:] if isinstance(size, int)]
    if len(kernel) != spatial:
        b.refuse("the kernel's size is only known at run time")
    groups = a.integer("groups")
    channels = weight.shape[1] if transposed else weight.shape[0]
    if transposed and isinstance(channels, int):
        channels *= groups
    shape = (x.shape[0], channels) + (UNKNOWN,) * spatial
    stride, dilation = a.spatial("stride", spatial), a.spatial("dilation", spatial)
    inputs = (x, weight, a.optional("bias"))
    if carrier("Conv", x.dtype) is None or not _is_taken(pads, output_padding, stride):
        result = _by_windows(b, inputs, pads, stride, dilation, groups, output_padding if transposed else None)
    elif transposed:
        pads, output_padding = _extended(pads, output_padding, stride)
        result = b.node(
            "ConvTranspose",
            *inputs,
            shape=shape,
            kernel_shape=kernel,
            strides=stride,
            dilations=dilation,
            group=groups,
            pads=list(pads),
            output_padding=list(output_padding),
        )
    else:
        result = b.node(
            "Conv",
            *inputs,
            shape=shape,
            kernel_shape=kernel,
            strides=stride,
            dilations=dilation,
            group=groups,
            pads=list(pads),
        )
    return squeeze(b, result, [0]) if missing else result


def _by_windows(
    b: Builder,
    inputs: tuple[Value, Value, Value | None],
    pads: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    output_padding: Sequence[int] | None,
) -> Value:
    """The convolution, or with `output_padding` the transposed one, in double precision or of whole numbers."""
    x, weight, bias = inputs
    spatial = weight.rank - 2
    begin, end = list(pads[:spatial]), list(pads[spatial:])
    if output_padding is not None:
        x, weight = spread(b, x, stride), mirrored(b, weight, groups)
        reach = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:], strict=True) if isinstance(k, int)]
        begin = [far - pad for far, pad in zip(reach, begin, strict=True)]
        end = [far - pad + more for far, pad, more in zip(reach, end, output_padding, strict=True)]
        stride = [1] * spatial
    result = convolve(b, bordered(b, x, begin, end), weight, stride, dilation, groups)
    return result if bias is None else b.node("Add", result, unsqueeze(b, bias, range(1, 1 + spatial)))


def _is_taken(pads: Sequence[int], extra: Sequence[int], stride: Sequence[int]) -> bool:
    """Whether ONNX Runtime can be given extra output that is as large as a stride in the place of padding."""
    return all(more < step or more <= end for more, step, end in zip(extra, stride, pads[len(extra) :], strict=False))


def _extended(pads: Sequence[int], extra: Sequence[int], stride: Sequence[int]) -> tuple[list[int], list[int]]:
    """Padding and extra output as ONNX Runtime takes them: extra output less than a stride."""
    begin, end = list(pads[: len(extra)]), list(pads[len(extra) :])
    extra = list(extra)
    for axis, step in enumerate(stride):
        if extra[axis] >= step:
            end[axis] -= extra[axis]
            extra[axis] = 0
    return begin + end, extra


@lowers("aten.conv1d.default", "aten.conv2d.default", "aten.conv3d.default")
def convolution(b: Builder, a: Arguments) -> Value:
    return _convolve(b, a, 2 * a.spatial("padding", a.tensor("weight").rank - 2))


@lowers("aten.conv1d.padding", "aten.conv2d.padding", "aten.conv3d.padding")
def padded_convolution(b: Builder, a: Arguments) -> Value:
    weight = a.tensor("weight")
    spatial = weight.rank - 2
    if a.text("padding") == "valid":
        return _convolve(b, a, [0] * 2 * spatial)
    dilation = a.spatial("dilation", spatial)
    totals = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:], strict=True) if isinstance(k, int)]
    # An odd total gives the extra element to the end, as in PyTorch.
    return _convolve(b, a, [total // 2 for total in totals] + [total - total // 2 for total in totals])


@lowers("aten.conv_transpose1d.default", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input")
def transposed_convolution(b: Builder, a: Arguments) -> Value:
    spatial = a.tensor("weight").rank - 2
    extra = a.spatial("output_padding", spatial)
    return _convolve(b, a, 2 * a.spatial("padding", spatial), transposed=True, output_padding=extra)


@lowers("aten.convolution.default")
def any_convolution(b: Builder, a: Arguments) -> Value:
    spatial = a.tensor("weight").rank - 2
    pads = 2 * a.spatial("padding", spatial)
    if not a.flag("transposed"):
        return _convolve(b, a, pads)
    return _convolve(b, a, pads, transposed=True, output_padding=a.spatial("output_padding", spatial))
