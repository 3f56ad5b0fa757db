"""Lowerings of activation functions and of dropout, which does nothing in inference."""

import math

from dycl.backends.onnx import double
from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.lowerings.comparisons import bounded
from dycl.backends.onnx.lowerings.functions import logistic
from dycl.backends.onnx.pieces import reduce, reshape, slice_axis
from dycl.backends.onnx.table import in_single_precision, lowers
from dycl.backends.onnx.values import Number, Value, is_float


def _times(b: Builder, x: Value, number: Number) -> Value:
    return b.node("Mul", x, b.number(number, x.dtype))


def _plus(b: Builder, x: Value, number: Number) -> Value:
    return b.node("Add", x, b.number(number, x.dtype))


@lowers("aten.relu.default")
def relu(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    return b.node("Relu", x) if is_float(x.dtype) else b.node("Max", x, b.number(0, x.dtype))


@lowers("aten.gelu.default")
def gelu(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    approximate = a.text("approximate")
    if x.dtype != "float64":
        return b.node("Gelu", x, approximate=approximate)
    half = _times(b, x, 0.5)
    if approximate == "none":
        return b.node("Mul", half, _plus(b, double.erf(b, _times(b, x, math.sqrt(0.5))), 1))
    cube = b.node("Mul", b.node("Mul", x, x), x)
    inner = _times(b, b.node("Add", x, _times(b, cube, 0.044715)), math.sqrt(2 / math.pi))
    return b.node("Mul", half, _plus(b, b.node("Tanh", inner), 1))


@lowers("aten.silu.default")
@in_single_precision
def silu(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    return b.node("Mul", x, logistic(b, x))


@lowers("aten.hardsigmoid.default")
def hardsigmoid(b: Builder, a: Arguments) -> Value:
    return _hardsigmoid(b, a.tensor("self"))


def _hardsigmoid(b: Builder, x: Value) -> Value:
    if x.dtype != "float64":
        return b.node("HardSigmoid", x, alpha=1 / 6, beta=0.5)
    return b.node("Div", bounded(b, _plus(b, x, 3), 0, 6), b.number(6, x.dtype))


@lowers("aten.hardswish.default")
def hardswish(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    return b.node("Mul", x, _hardsigmoid(b, x))


@lowers("aten.leaky_relu.default", "aten.elu.default", "aten.celu.default", "aten.selu.default", "aten.rrelu.default")
@in_single_precision
def leaky(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    name = a.target.split(".")[1]
    if name in ("leaky_relu", "rrelu"):
        # In evaluation, a slope that is drawn in training is the one in the middle.
        slope = a.number("negative_slope") if name == "leaky_relu" else (a.real("lower") + a.real("upper")) / 2
        if x.dtype == "float32" and not isinstance(slope, Value):
            return b.node("LeakyRelu", x, alpha=float(slope))
        return b.node("Where", b.node("Greater", x, b.number(0, x.dtype)), x, _times(b, x, slope))
    if name == "selu":
        return _elu(b, x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1)
    if name == "celu":
        alpha = a.real("alpha")
        return _elu(b, x, alpha, 1, 1 / alpha)
    return _elu(b, x, a.real("alpha"), a.real("scale"), a.real("input_scale"))


def _elu(b: Builder, x: Value, alpha: float, scale: float, input_scale: float) -> Value:
    """`scale * x` above zero, `scale * alpha * (exp(input_scale * x) - 1)` below."""
    if x.dtype != "float64" and input_scale == 1:
        result = b.node("Elu", x, alpha=float(alpha))
        return result if scale == 1 else _times(b, result, scale)
    below = double.expm1(b, b.cast(_times(b, x, input_scale), "float64"))
    low = _times(b, b.cast(below, x.dtype), alpha * scale)
    return b.node("Where", b.node("Greater", x, b.number(0, x.dtype)), _times(b, x, scale), low)


@lowers("aten.prelu.default", "aten._prelu_kernel.default")
def prelu(b: Builder, a: Arguments) -> Value:
    x, weight = a.tensor("self"), a.tensor("weight")
    if weight.rank == 1 and not x.rank:
        weight = reshape(b, weight, [])
    if weight.rank == 1 and weight.shape[0] != 1 and x.rank > 2:
        weight = reshape(b, weight, [-1] + [1] * (x.rank - 2), (weight.shape[0],) + (1,) * (x.rank - 2))
    if x.dtype != "float64":
        return b.node("PRelu", x, weight, shape=x.shape)
    return b.node("Where", b.node("Greater", x, b.number(0, x.dtype)), x, b.node("Mul", x, weight))


@lowers("aten.softplus.default")
@in_single_precision
def softplus(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    beta, threshold = a.real("beta"), a.real("threshold")
    scaled = x if beta == 1 else _times(b, x, beta)
    if x.dtype == "float64":
        soft = _softplus64(b, scaled)
    else:
        soft = b.node("Softplus", scaled)
    soft = soft if beta == 1 else b.node("Div", soft, b.number(beta, x.dtype))
    return b.node("Where", b.node("Greater", scaled, b.number(threshold, x.dtype)), x, soft)


def _softplus64(b: Builder, x: Value) -> Value:
    tail = double.log1p(b, b.node("Exp", b.node("Neg", b.node("Abs", x))))
    return b.node("Add", b.node("Max", x, b.number(0, "float64")), tail)


@lowers("aten.mish.default")
def mish(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    soft = _softplus64(b, x) if x.dtype == "float64" else b.node("Softplus", x)
    return b.node("Mul", x, b.node("Tanh", soft))


@lowers("aten.log_sigmoid.default", "aten.log_sigmoid_forward.default")
def log_sigmoid(b: Builder, a: Arguments) -> Value | list[Value]:
    x = a.tensor("self")
    minus = b.node("Neg", x)
    soft = _softplus64(b, minus) if x.dtype == "float64" else b.node("Softplus", minus)
    result = b.node("Neg", soft)
    if a.target == "aten.log_sigmoid.default":
        return result
    return [result, a.unread(1)]


@lowers("aten.glu.default")
@in_single_precision
def glu(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    axis = a.axis("dim", x.rank)
    half = b.size("Div", b.size_of(x, axis), 2)
    gate = slice_axis(b, x, axis, half, b.size_of(x, axis))
    return b.node("Mul", slice_axis(b, x, axis, 0, half), logistic(b, gate))


@lowers("aten.threshold.default")
@in_single_precision
def threshold(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    low = b.node("LessOrEqual", x, b.number(a.number("threshold"), x.dtype))
    return b.node("Where", low, b.number(a.number("value"), x.dtype), x)


@lowers("aten.hardshrink.default")
def hard_shrink(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    return b.node("Where", _is_small(b, a, x), b.number(0, x.dtype), x)


@lowers("aten.softshrink.default")
@in_single_precision
def soft_shrink(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    less = b.node("Sub", x, b.node("Mul", b.node("Sign", x), b.number(a.number("lambd"), x.dtype)))
    return b.node("Where", _is_small(b, a, x), b.number(0, x.dtype), less)


def _is_small(b: Builder, a: Arguments, x: Value) -> Value:
    return b.node("LessOrEqual", b.node("Abs", x), b.number(a.number("lambd"), x.dtype))


@lowers(
    "aten.softmax.int",
    "aten._softmax.default",
    "aten.log_softmax.int",
    "aten._log_softmax.default",
)
def softmax(b: Builder, a: Arguments) -> Value:
    x = b.cast(a.tensor("self"), a.result.dtype)
    operator = "LogSoftmax" if "log_softmax" in a.target else "Softmax"
    if not x.rank:
        return reshape(b, b.node(operator, reshape(b, x, [1]), axis=0), [])
    axis = a.axis("dim", x.rank)
    return (
        _log_softmax64(b, x, axis)
        if operator == "LogSoftmax" and x.dtype == "float64"
        else b.node(operator, x, axis=axis)
    )


def _log_softmax64(b: Builder, x: Value, axis: int) -> Value:
    """The logarithm of softmax in double precision, where ONNX Runtime's own mistakes NaN and infinity."""
    shifted = b.node("Sub", x, reduce(b, "ReduceMax", x, [axis], keepdim=True))
    total = reduce(b, "ReduceSum", b.node("Exp", shifted), [axis], keepdim=True)
    return b.node("Sub", shifted, b.node("Log", total))


@lowers("aten.native_dropout.default")
def dropout(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("input")
    if a.flag("train") and a.real("p") != 0:
        b.refuse("dropout is active: the model is in training mode")
    return [x, b.node("Equal", b.node("Sub", x, x), b.node("Sub", x, x))]
