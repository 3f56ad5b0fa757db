"""Lowerings of attention."""

import math

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.lowerings.linear import matmul
from dycl.backends.onnx.pieces import arange, expand, move_axis, reduce, reshape, unsqueeze
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Number, Size, Value


@lowers("aten.scaled_dot_product_attention.default")
def attention(b: Builder, a: Arguments) -> Value:
    query, key, value = (a.tensor(name) for name in ("query", "key", "value"))
    if a.real("dropout_p") != 0:
        b.refuse("dropout is active: the model is in training mode")
    if a.flag("enable_gqa"):
        key, value = (_shared_heads(b, item, query) for item in (key, value))
    mask = a.optional("attn_mask")
    if mask is not None and a.flag("is_causal"):
        b.refuse("both a mask and `is_causal`")
    return attend(b, query, key, value, a.optional_number("scale"), mask, a.flag("is_causal"))


def attend(
    b: Builder,
    query: Value,
    key: Value,
    value: Value,
    scale: Number | None,
    mask: Value | None,
    causal: bool,
) -> Value:
    """Each query's mean of the values, weighted by how well their keys match it."""
    dtype = query.dtype
    if dtype in ("float16", "bfloat16"):
        query, key, value = (b.cast(item, "float32") for item in (query, key, value))
        mask = mask if mask is None or mask.dtype == "bool" else b.cast(mask, "float32")
    factor = _default_scale(b, query) if scale is None else b.number(scale, query.dtype)
    scores = b.node("Mul", matmul(b, query, move_axis(b, key, -1, -2)), factor)
    if causal:
        scores = b.node("Where", _causal_mask(b, query, key), scores, b.number(-math.inf, scores.dtype))
    if mask is not None and mask.dtype == "bool":
        # Added, so that a score that is not a number stays none, as in PyTorch.
        hidden = b.node("Where", mask, b.number(0, scores.dtype), b.number(-math.inf, scores.dtype))
        scores = b.node("Add", scores, hidden)
    elif mask is not None:
        scores = b.node("Add", scores, b.cast(mask, scores.dtype))
    weights = b.node("Softmax", scores, axis=-1)
    if mask is not None:
        # A query that may look at nothing gives each value a weight of 0, where softmax has NaN.
        weights = b.node("Where", _sees_nothing(b, scores), b.number(0, weights.dtype), weights)
    return b.cast(matmul(b, weights, value), dtype)


def _default_scale(b: Builder, query: Value) -> Value:
    features = b.size_of(query, query.rank - 1)
    if isinstance(features, int):
        return b.number(1 / math.sqrt(features), query.dtype)
    return b.node("Reciprocal", b.node("Sqrt", b.number(features, query.dtype)))


def _causal_mask(b: Builder, query: Value, key: Value) -> Value:
    """Whether a query, by its place, may look at a key: true at and before its own place."""
    rows = unsqueeze(b, arange(b, b.size_of(query, query.rank - 2)), [1])
    return b.node("GreaterOrEqual", rows, arange(b, b.size_of(key, key.rank - 2)))


def _sees_nothing(b: Builder, scores: Value) -> Value:
    """Whether a query may look at no key at all; one whose scores are not numbers may."""
    # The sum is asked, too, since ONNX Runtime's maximum may pass over what is not a number.
    ways = [reduce(b, way, scores, [scores.rank - 1], keepdim=True) for way in ("ReduceMax", "ReduceSum")]
    return b.node("And", *(b.node("Equal", found, b.number(-math.inf, scores.dtype)) for found in ways))


def _shared_heads(b: Builder, x: Value, query: Value) -> Value:
    """Keys or values with each head repeated for the query heads that share it."""
    heads, wanted = x.shape[-3], query.shape[-3]
    if not isinstance(heads, int) or not isinstance(wanted, int):
        b.refuse("the number of heads is only known at run time")
    if heads == wanted:
        return x
    axis = x.rank - 2
    apart = unsqueeze(b, x, [axis])
    sizes: list[Size] = [1] * apart.rank
    sizes[axis] = wanted // heads
    shape = apart.shape[:axis] + (wanted // heads,) + apart.shape[axis + 1 :]
    repeated = expand(b, apart, sizes, shape)
    outer = b.sizes_of(x)
    return reshape(b, repeated, [*outer[:-3], wanted, *outer[-2:]], (*x.shape[:-3], wanted, *x.shape[-2:]))
