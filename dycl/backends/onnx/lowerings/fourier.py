"""Lowerings of Fourier transforms. A complex tensor is a real one with a last axis of two: real and imaginary part."""

from collections.abc import Sequence

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import concat, move_axis, slice_axis, unsqueeze
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Value


def _length(b: Builder, x: Value, axis: int) -> int:
    size = x.shape[axis]
    if not isinstance(size, int):
        b.refuse("a Fourier transform of a length that is only known at run time")
    return size


def _transformed(b: Builder, x: Value, axis: int, inverse: bool, onesided: bool = False) -> Value:
    """The transform of complex (or, if onesided, of real) numbers along one axis, without any factor.

    ONNX Runtime loses half the digits of lengths that are no power of two, so all is done in double precision.
    """
    length = _length(b, x, axis)
    moved = move_axis(b, x, axis, x.rank - 2)
    # Backwards is forwards between conjugates: ONNX Runtime's own way back has single precision only.
    turn = b.constant([1.0, -1.0], x.dtype)
    moved = b.node("Mul", moved, turn, shape=moved.shape) if inverse else moved
    kept = length // 2 + 1 if onesided else length
    shape = (*moved.shape[:-2], kept, 2)
    # The operator wants exactly one batch axis in front.
    rows = b.node("Reshape", moved, b.constant([-1, length, x.shape[-1]]), shape=("?", length, x.shape[-1]))
    result = b.node(
        "DFT",
        rows,
        None,
        b.constant(1),
        dtype=x.dtype,
        shape=("?", kept, 2),
        onesided=int(onesided),
    )
    result = b.node("Reshape", result, b.vector([*b.sizes_of(moved)[:-2], kept, 2]), shape=shape)
    if inverse:
        result = b.node("Mul", result, turn, shape=shape)
    return move_axis(b, result, x.rank - 2, axis)


def _scaled(b: Builder, x: Value, lengths: Sequence[int], normalization: int) -> Value:
    count = 1
    for length in lengths:
        count *= length
    if not normalization:
        return x
    return b.node("Mul", x, b.number(count**-0.5 if normalization == 1 else 1 / count, x.dtype))


@lowers("aten._fft_r2c.default")
def real_to_complex(b: Builder, a: Arguments) -> Value:
    real = b.cast(a.tensor("self"), "float64")
    axes = [axis % real.rank for axis in a.integers("dim")]
    lengths = [_length(b, real, axis) for axis in axes]
    pair = unsqueeze(b, real, [real.rank])
    # The last axis alone may be cut to half its length; the others are complex by then.
    pair = _transformed(b, pair, axes[-1], inverse=False, onesided=a.flag("onesided"))
    for axis in axes[:-1]:
        pair = _transformed(b, pair, axis, inverse=False)
    return b.cast(_scaled(b, pair, lengths, a.integer("normalization")), a.result.dtype)


@lowers("aten._fft_c2c.default")
def complex_to_complex(b: Builder, a: Arguments) -> Value:
    pair = b.cast(a.tensor("self"), "float64")
    axes = [axis % (pair.rank - 1) for axis in a.integers("dim")]
    lengths = [_length(b, pair, axis) for axis in axes]
    for axis in axes:
        pair = _transformed(b, pair, axis, inverse=not a.flag("forward"))
    return b.cast(_scaled(b, pair, lengths, a.integer("normalization")), a.result.dtype)


@lowers("aten._fft_c2r.default")
def complex_to_real(b: Builder, a: Arguments) -> Value:
    pair = b.cast(a.tensor("self"), "float64")
    axes = [axis % (pair.rank - 1) for axis in a.integers("dim")]
    last, length = axes[-1], a.integer("last_dim_size")
    for axis in axes[:-1]:
        pair = _transformed(b, pair, axis, inverse=True)
    # The other half is the first one backwards and conjugate.
    pair = slice_axis(b, pair, last, 0, length // 2 + 1)
    mirror = slice_axis(b, pair, last, (length - 1) // 2, 0, -1)
    mirror = b.node("Mul", mirror, b.constant([1.0, -1.0], "float64"), shape=mirror.shape)
    whole = concat(b, [pair, mirror], last) if length > 2 else pair
    lengths = [*(_length(b, pair, axis) for axis in axes[:-1]), length]
    result = _transformed(b, whole, last, inverse=True)
    real = b.node("Gather", result, b.constant(0), shape=result.shape[:-1], axis=result.rank - 1)
    return b.cast(_scaled(b, real, lengths, a.integer("normalization")), a.result.dtype)
