"""Lowerings of normalisation layers."""

from collections.abc import Sequence

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import filled, reduce, reshape, reshape_like, unless_empty
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Size, Value, wider

_EPSILON = {"float32": 1.1920928955078125e-07, "float64": 2.220446049250313e-16}


def _moments(b: Builder, x: Value, axes: Sequence[int], eps: float) -> tuple[Value, Value, Value]:
    """The mean, the centred value, and the reciprocal standard deviation over these axes."""
    mean = reduce(b, "ReduceMean", x, axes, keepdim=True)
    centred = b.node("Sub", x, mean)
    variance = reduce(b, "ReduceMean", b.node("Mul", centred, centred), axes, keepdim=True)
    deviation = b.node("Sqrt", b.node("Add", variance, b.number(eps, x.dtype)))
    return mean, centred, b.node("Reciprocal", deviation)


def _per_channel(b: Builder, value: Value, rank: int) -> Value:
    """A tensor of one number a channel, shaped to multiply a tensor of this rank."""
    return reshape(b, value, [-1] + [1] * (rank - 2), (value.shape[0],) + (1,) * (rank - 2))


def _affine(b: Builder, x: Value, weight: Value | None, bias: Value | None, rank: int) -> Value:
    if weight is not None:
        x = b.node("Mul", x, b.cast(_per_channel(b, weight, rank), x.dtype))
    if bias is not None:
        x = b.node("Add", x, b.cast(_per_channel(b, bias, rank), x.dtype))
    return x


@lowers("aten.batch_norm.default", "aten._native_batch_norm_legit_no_training.default")
def batch_norm(b: Builder, a: Arguments) -> Value | list[Value]:
    x = a.tensor("input")
    alone = a.target == "aten.batch_norm.default"
    if alone and a.flag("training"):
        return _batch_norm_of_batch(b, a, x)
    mean, variance = a.tensor("running_mean"), a.tensor("running_var")
    channels: list[Size] = [b.size_of(mean, 0)]
    dtype = x.dtype
    weight, bias = a.optional("weight"), a.optional("bias")
    scale = filled(b, 1, dtype, channels) if weight is None else b.cast(weight, dtype)
    shift = filled(b, 0, dtype, channels) if bias is None else b.cast(bias, dtype)
    statistics = (b.cast(mean, dtype), b.cast(variance, dtype))
    if dtype == "float64":
        result = _standardised(b, x, *statistics, a.real("eps"))
        result = _affine(b, result, weight, bias, x.rank)
    else:
        result = b.node(
            "BatchNormalization", x, scale, shift, *statistics, shape=x.shape, epsilon=a.real("eps"), training_mode=0
        )
    if alone:
        return result
    return [result, a.unread(1), a.unread(2)]


def _standardised(b: Builder, x: Value, mean: Value, variance: Value, eps: float) -> Value:
    """The value by given statistics of its channels; ONNX's own operators round epsilon to single precision."""
    mean, variance = _per_channel(b, mean, x.rank), _per_channel(b, variance, x.rank)
    deviation = b.node("Sqrt", b.node("Add", variance, b.number(eps, x.dtype)))
    return b.node("Div", b.node("Sub", x, mean), deviation)


def _batch_norm_of_batch(b: Builder, a: Arguments, x: Value) -> Value:
    if a.has("running_mean") or a.has("running_var"):
        b.refuse("batch normalisation updates its running statistics: the model is in training mode")
    axes = [axis for axis in range(x.rank) if axis != 1]
    _, centred, inverse = _moments(b, x, axes, a.real("eps"))
    return _affine(b, b.node("Mul", centred, inverse), a.optional("weight"), a.optional("bias"), x.rank)


@lowers("aten.layer_norm.default", "aten.native_layer_norm.default")
def layer_norm(b: Builder, a: Arguments) -> Value | list[Value]:
    x = a.tensor("input")
    normalized = a.sizes("normalized_shape")
    weight, bias = a.optional("weight"), a.optional("bias")
    eps = a.real("eps")
    axes = list(range(x.rank - len(normalized), x.rank))
    scale = filled(b, 1, x.dtype, normalized) if weight is None else b.cast(weight, x.dtype)
    shift = None if bias is None else b.cast(bias, x.dtype)
    if x.dtype == "float64":
        _, centred, inverse = _moments(b, x, axes, eps)
        result = b.node("Mul", b.node("Mul", centred, inverse), scale)
        result = result if shift is None else b.node("Add", result, shift)
    else:
        result = b.node("LayerNormalization", x, scale, shift, shape=x.shape, axis=-len(normalized), epsilon=eps)
    if a.target == "aten.layer_norm.default":
        return result
    mean, _, inverse = _moments(b, b.cast(x, a.results[1].dtype), axes, eps)
    return [result, mean, inverse]


@lowers("aten.rms_norm.default", "aten._fused_rms_norm.default")
def rms_norm(b: Builder, a: Arguments) -> Value | list[Value]:
    x = a.tensor("input")
    axes = list(range(x.rank - len(a.sizes("normalized_shape")), x.rank))
    wide = b.cast(x, wider(x.dtype))
    eps = a.real("eps") if a.has("eps") else _EPSILON[wide.dtype]
    mean_square = reduce(b, "ReduceMean", b.node("Mul", wide, wide), axes, keepdim=True)
    inverse = b.node("Reciprocal", b.node("Sqrt", b.node("Add", mean_square, b.number(eps, wide.dtype))))
    result = b.node("Mul", wide, inverse)
    weight = a.optional("weight")
    if weight is not None:
        result = b.node("Mul", result, b.cast(weight, wide.dtype))
    result = b.cast(result, a.result.dtype)
    return result if a.target == "aten.rms_norm.default" else [result, b.cast(inverse, a.results[1].dtype)]


@lowers("aten.group_norm.default", "aten.native_group_norm.default")
def group_norm(b: Builder, a: Arguments) -> Value | list[Value]:
    x = a.tensor("input")
    alone = a.target == "aten.group_norm.default"
    groups = a.integer("num_groups" if alone else "group")
    weight, bias = a.optional("weight"), a.optional("bias")
    row = b.size("Div", b.count(x, range(1, x.rank)), groups)
    grouped = reshape(b, x, [b.size_of(x, 0), groups, row])
    eps = a.real("eps")
    result = _affine(b, reshape_like(b, _normalised(b, grouped, eps), x), weight, bias, x.rank)
    if alone:
        return result
    mean, _, inverse = _moments(b, b.cast(grouped, a.results[1].dtype), [2], eps)
    rows = [b.size_of(x, 0), groups]
    return [result, reshape(b, mean, rows), reshape(b, inverse, rows)]


def _normalised(b: Builder, grouped: Value, eps: float) -> Value:
    """Each row of the last axis with mean 0 and variance 1."""
    channels = grouped.shape[1]
    if grouped.dtype == "float64" or not isinstance(channels, int):
        _, centred, inverse = _moments(b, grouped, [2], eps)
        return b.node("Mul", centred, inverse)
    one, zero = filled(b, 1, grouped.dtype, [channels]), filled(b, 0, grouped.dtype, [channels])

    def usual() -> list[Value]:
        return [b.node("InstanceNormalization", grouped, one, zero, shape=grouped.shape, epsilon=eps)]

    return unless_empty(b, [grouped], usual, lambda: [grouped])[0]


@lowers("aten.instance_norm.default")
def instance_norm(b: Builder, a: Arguments) -> Value:
    x = a.tensor("input")
    weight, bias = a.optional("weight"), a.optional("bias")
    eps = a.real("eps")
    if not a.flag("use_input_stats"):
        mean, variance = (b.cast(a.tensor(name), x.dtype) for name in ("running_mean", "running_var"))
        return _affine(b, _standardised(b, x, mean, variance, eps), weight, bias, x.rank)
    if a.has("running_mean") or a.has("running_var"):
        b.refuse("instance normalisation updates its running statistics: the model is in training mode")
    rows = reshape(b, x, [b.size_of(x, 0), b.size_of(x, 1), b.count(x, range(2, x.rank))])
    return _affine(b, reshape_like(b, _normalised(b, rows, eps), x), weight, bias, x.rank)
