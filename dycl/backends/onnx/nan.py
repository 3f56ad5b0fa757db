"""Let NaN count where ONNX Runtime's order of numbers leaves it out.

PyTorch's greatest, least and middle values are NaN if any value is, and its orders put NaN last. ONNX Runtime compares
with `<`, which says nothing about NaN, so that its result depends on where the NaN stands. One number tells whether
there is any: absolute values add up to NaN only if one of them is NaN, infinities or not, and to at least the largest
of them otherwise. ONNX Runtime adds them up over a whole tensor in less time than it takes to find the greatest.

    ReduceMax(x)                        x.max(), wrong if there is NaN
    Min(ReduceMax(x), ReduceL1(x))      x.max()

What is not a single number is computed in one of two ways; to find out which takes about 2 us:

    If(IsNaN(ReduceL1(x)))              then: slowly, with a look at each NaN
                                        else: as if there were none
"""

from collections.abc import Callable, Sequence

from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import reduce
from dycl.backends.onnx.values import Value, is_float, wider


def or_nan(b: Builder, result: Value, x: Value) -> Value:
    """`result`, which is no greater than the greatest element of `x`, unless `x` has NaN."""
    return b.node("Min", result, _total(b, x), shape=result.shape) if is_float(x.dtype) else result


def unless_nan(
    b: Builder, operands: Sequence[Value], usual: Callable[[], Sequence[Value]], careful: Callable[[], Sequence[Value]]
) -> list[Value]:
    """The results of `usual`, or where an operand has NaN, of `careful`."""
    floats = [operand for operand in operands if is_float(operand.dtype)]
    if not floats:
        return list(usual())
    total = _total(b, floats[0])
    for operand in floats[1:]:
        total = b.node("Add", total, _total(b, operand))
    return b.choose(b.node("IsNaN", total), careful, usual)


def unless_special(
    b: Builder, x: Value, usual: Callable[[], Sequence[Value]], careful: Callable[[], Sequence[Value]]
) -> list[Value]:
    """The results of `usual`, or where `x` has NaN or infinity, of `careful`."""
    total = _total(b, x)
    return b.choose(b.node("IsNaN", b.node("Sub", total, total)), careful, usual)


def nan_along(b: Builder, x: Value, axis: int, keepdim: bool, last: bool = False) -> tuple[Value, Value]:
    """Whether there is NaN along one axis, and the place of the first one, or the last."""
    found = b.node("IsNaN", x)
    some = reduce(b, "ReduceMax", found, [axis], keepdim)
    place = b.node(
        "ArgMax",
        b.cast(found, "uint8"),
        dtype="int64",
        shape=some.shape,
        axis=axis,
        keepdims=int(keepdim),
        select_last_index=int(last),
    )
    return some, place


def _total(b: Builder, x: Value) -> Value:
    return reduce(b, "ReduceL1", b.cast(x, wider(x.dtype)), range(x.rank), keepdim=False)
