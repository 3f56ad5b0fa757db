"""Lowerings of losses that are no sum of simpler operations."""

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import arange, reduce, reshape, squeeze, unsqueeze
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Value, wider

_NONE, _MEAN = 0, 1


@lowers("aten.multilabel_margin_loss_forward.default")
def multilabel_margin_loss(b: Builder, a: Arguments) -> list[Value]:
    """How far the scores of classes that are none of the labels come up to those that are."""
    x, labels = a.tensor("self"), a.tensor("target")
    if 0 in x.shape:
        b.refuse("a loss of no elements")
    single, reduction = x.rank < 2, a.integer("reduction")
    if single and reduction == _NONE and a.result.shape:
        b.refuse("a loss of one sample, of whose shape PyTorch's rule says something else")
    scores = b.cast(reshape(b, x, [1, -1], (1, x.shape[0] if x.rank else 1)) if single else x, wider(x.dtype))
    rows = reshape(b, labels, [1, -1], scores.shape) if single else labels
    # Labels end before the first that is negative.
    ended = b.node("CumSum", b.cast(b.node("Less", rows, b.constant(0)), "int64"), b.constant(1), shape=rows.shape)
    counted = b.node("Equal", ended, b.constant(0))
    rows = b.node("Where", counted, rows, b.constant(-1))
    classes = arange(b, b.size_of(scores, 1))
    named = b.node("Equal", unsqueeze(b, rows, [2]), classes)
    wanted = reduce(b, "ReduceMax", b.cast(named, "uint8"), [1], keepdim=False)
    place = b.node("Max", rows, b.constant(0))
    right = b.node("GatherElements", scores, place, shape=rows.shape, axis=1)
    zero, one = b.number(0, scores.dtype), b.number(1, scores.dtype)
    short = b.node("Add", b.node("Sub", one, unsqueeze(b, right, [2])), unsqueeze(b, scores, [1]))
    other = b.node("Equal", unsqueeze(b, wanted, [1]), b.constant(0, "uint8"))
    counts = b.node("And", b.node("And", unsqueeze(b, counted, [2]), other), b.node("Greater", short, zero))
    total = reduce(b, "ReduceSum", b.node("Where", counts, short, zero), [1, 2], keepdim=False)
    loss = b.node("Div", total, b.cast(b.number(b.size_of(scores, 1), "int64"), scores.dtype))
    if reduction != _NONE:
        loss = reduce(b, "ReduceMean" if reduction == _MEAN else "ReduceSum", loss, [0], keepdim=False)
    elif single:
        loss = squeeze(b, loss, [0])
    marks = b.cast(wanted, x.dtype)
    marks = reshape(b, marks, [] if not x.rank else [-1], x.shape) if single else marks
    return [b.cast(loss, x.dtype), marks]
