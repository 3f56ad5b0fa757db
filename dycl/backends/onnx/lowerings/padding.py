"""Lowerings that pad tensors."""

from collections.abc import Sequence

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import END, gather, slice_axis
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import UNKNOWN, Number, Size, Value


def _pads(x: Value, given: Sequence[Size]) -> tuple[list[Size], list[Size]]:
    """Padding before and after every axis, from PyTorch's list that starts at the last axis."""
    before: list[Size] = [0] * x.rank
    after: list[Size] = [0] * x.rank
    for pair in range(len(given) // 2):
        before[-1 - pair], after[-1 - pair] = given[2 * pair], given[2 * pair + 1]
    return before, after


def _padded(b: Builder, a: Arguments, given: Sequence[Size], mode: str, value: Number) -> Value:
    x = a.tensor("self")
    if not any(isinstance(size, Value) or size for size in given):
        return x
    before, after = _pads(x, given)
    pads = b.vector([*before, *after])
    shape = a.result.shape
    if mode == "constant":
        return b.node("Pad", x, pads, b.number(value, x.dtype), shape=shape)
    negative = [size if isinstance(size, int) and size < 0 else 0 for size in (*before, *after)]
    if mode == "circular":
        x = _cut(b, x, negative)
        return _wrapped(b, x, *([max(s, 0) if isinstance(s, int) else s for s in side] for side in (before, after)))
    if not any(negative):
        return b.node("Pad", x, pads, shape=shape, mode=_MODES[mode])
    grown = b.vector([max(size, 0) if isinstance(size, int) else size for size in (*before, *after)])
    return _cut(b, b.node("Pad", x, grown, shape=(UNKNOWN,) * x.rank, mode=_MODES[mode]), negative)


_MODES = {"reflect": "reflect", "replicate": "edge"}


def _cut(b: Builder, x: Value, pads: Sequence[int]) -> Value:
    """The value without what negative padding takes away at either end of its axes."""
    for axis, (low, high) in enumerate(zip(pads[: x.rank], pads[x.rank :], strict=True)):
        if low or high:
            x = slice_axis(b, x, axis, -low, high if high else END)
    return x


def _wrapped(b: Builder, x: Value, before: Sequence[Size], after: Sequence[Size]) -> Value:
    for axis in range(x.rank):
        low, high = before[axis], after[axis]
        size = x.shape[axis]
        if not (isinstance(low, int) and isinstance(high, int) and isinstance(size, int)) or min(low, high) < 0:
            b.refuse("circular padding that is negative or only known at run time")
        if low or high:
            x = gather(b, x, b.constant([place % size for place in range(-low, size + high)]), axis)
    return x


@lowers("aten.constant_pad_nd.default")
def constant_pad(b: Builder, a: Arguments) -> Value:
    return _padded(b, a, a.sizes("pad"), "constant", a.number("value"))


@lowers("aten.pad.default")
def pad(b: Builder, a: Arguments) -> Value:
    value = a.number("value") if a.has("value") else 0
    return _padded(b, a, a.sizes("pad"), a.text("mode"), value)


@lowers(
    "aten.reflection_pad1d.default",
    "aten.reflection_pad2d.default",
    "aten.reflection_pad3d.default",
    "aten.replication_pad1d.default",
    "aten.replication_pad2d.default",
    "aten.replication_pad3d.default",
)
def edge_pad(b: Builder, a: Arguments) -> Value:
    return _padded(b, a, a.sizes("padding"), "reflect" if "reflection" in a.target else "replicate", 0)
