"""Lowerings that put tensors together or repeat them."""

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import (
    concat,
    expand,
    flatten,
    gather,
    reshape,
    unsqueeze,
)
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import UNKNOWN, Size, Value


@lowers("aten.cat.default", "aten.concat.default", "aten.concatenate.default")
def cat(b: Builder, a: Arguments) -> Value:
    # A 1-d empty tensor joins anything, by an old rule of PyTorch.
    rank = len(a.result.shape)
    values = [b.cast(value, a.result.dtype) for value in a.tensors("tensors")]
    fitting = [value for value in values if value.rank == rank and not (value.shape == (0,) and rank == 1)]
    if not fitting:
        return values[0]
    return concat(b, fitting, a.axis("dim", rank))


@lowers("aten.stack.default")
def stack(b: Builder, a: Arguments) -> Value:
    axis = a.axis("dim", len(a.result.shape))
    return concat(b, [unsqueeze(b, b.cast(value, a.result.dtype), [axis]) for value in a.tensors("tensors")], axis)


@lowers("aten.hstack.default", "aten.vstack.default")
def stack_rows(b: Builder, a: Arguments) -> Value:
    values = [b.cast(value, a.result.dtype) for value in a.tensors("tensors")]
    if "hstack" in a.target:
        values = [value if value.rank else reshape(b, value, [1]) for value in values]
        return concat(b, values, 0 if values[0].rank == 1 else 1)
    values = [unsqueeze(b, value, [0]) if value.rank == 1 else value for value in values]
    return concat(b, [value if value.rank else reshape(b, value, [1, 1]) for value in values], 0)


@lowers("aten.repeat.default", "aten.tile.default")
def repeat(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    times: list[Size] = list(a.sizes("repeats" if a.target == "aten.repeat.default" else "dims"))
    while len(times) < x.rank:
        times.insert(0, 1)
    x = unsqueeze(b, x, range(len(times) - x.rank))
    if all(number == 1 for number in times):
        return x
    return b.node("Tile", x, b.vector(times), shape=a.result.shape)


@lowers("aten.repeat_interleave.self_int")
def repeat_each(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    x = x if a.has("dim") and x.rank else flatten(b, x)
    axis = a.axis("dim", x.rank) if a.has("dim") else 0
    times = a.size("repeats")
    pairs = unsqueeze(b, x, [axis + 1])
    sizes: list[Size] = [1] * pairs.rank
    sizes[axis + 1] = times
    shape = pairs.shape[: axis + 1] + (UNKNOWN,) + pairs.shape[axis + 2 :]
    often = isinstance(times, int) and times > 0  # ONNX Runtime does not expand to nothing
    spread = expand(b, pairs, sizes, shape) if often else b.node("Tile", pairs, b.vector(sizes), shape=shape)
    before = [b.size_of(x, place) for place in range(axis)]
    after = [b.size_of(x, place) for place in range(axis + 1, x.rank)]
    joined = b.size("Mul", b.size_of(x, axis), times)
    return reshape(b, spread, [*before, joined, *after], a.result.shape)


@lowers("aten.repeat_interleave.Tensor", "aten.repeat_interleave.self_Tensor")
def repeat_each_by_tensor(b: Builder, a: Arguments) -> Value:
    repeats = b.cast(a.tensor("repeats"), "int64")
    if a.target == "aten.repeat_interleave.Tensor":
        return _places(b, repeats)
    x = a.tensor("self")
    x = x if a.has("dim") and x.rank else flatten(b, x)
    axis = a.axis("dim", x.rank) if a.has("dim") else 0
    if not repeats.rank or repeats.shape == (1,):
        repeats = expand(b, reshape(b, repeats, [1]), [b.size_of(x, axis)])
    return gather(b, x, _places(b, repeats), axis)


def _places(b: Builder, repeats: Value) -> Value:
    """Each position as often as `repeats` says: result i is how many running totals are at most i."""
    totals = b.node("CumSum", repeats, b.constant(0), shape=repeats.shape)
    whole = b.node("ReduceSum", repeats, shape=(), keepdims=0)
    numbers = b.node("Range", b.constant(0), whole, b.constant(1), shape=(UNKNOWN,))
    passed = b.node("GreaterOrEqual", unsqueeze(b, numbers, [1]), unsqueeze(b, totals, [0]))
    return b.node("ReduceSum", b.cast(passed, "int64"), b.constant([1]), shape=(UNKNOWN,), keepdims=0)
