"""What is made of weights before they are packed: normalisations folded into them, in double precision."""

from collections.abc import Sequence

import numpy as np

from dycl.runtime.tvm.code import Net, Step
from dycl.runtime.weight_store import Array

Doubles = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def _doubles(net: Net, step: Step, weights: Sequence[Array]) -> list[Doubles]:
    return [weights[operand - net.inputs].astype(np.float64) for operand in step.operands[1:]]


def scale_of(net: Net, step: Step, weights: Sequence[Array]) -> Doubles:
    """What a normalisation multiplies each channel with."""
    _, variance, *affine = _doubles(net, step, weights)
    scale: Doubles = (affine[0] if affine else 1.0) / np.sqrt(variance + step.attributes["eps"])
    return scale


def shift_of(net: Net, step: Step, weights: Sequence[Array]) -> Doubles:
    """What a normalisation adds to each channel, after it has multiplied it."""
    mean, _, *affine = _doubles(net, step, weights)
    shift: Doubles = (affine[1] if affine else 0.0) - mean * scale_of(net, step, weights)
    return shift


def weight_of(net: Net, step: Step, norm: Step | None, weights: Sequence[Array]) -> Array:
    """The weights of a convolution, with the normalisation behind it."""
    weight = weights[step.operands[1] - net.inputs]
    if norm is None:
        return weight
    folded = weight.astype(np.float64) * scale_of(net, norm, weights).reshape(-1, 1, 1, 1)
    return folded.astype(np.float32)


def bias_of(net: Net, step: Step, norm: Step | None, weights: Sequence[Array]) -> Array:
    """The bias of a convolution or a dense layer, with the normalisation behind it; zeros if it has none."""
    bias: Doubles
    if len(step.operands) > 2:
        bias = weights[step.operands[2] - net.inputs].astype(np.float64)
    else:
        bias = np.zeros(weights[step.operands[1] - net.inputs].shape[0])
    if norm is not None:
        bias = bias * scale_of(net, norm, weights) + shift_of(net, norm, weights)
    return bias.astype(np.float32)


def padded(numbers: Array, length: int) -> Array:
    """Single-precision numbers with zeros behind them, so many in all."""
    full = np.zeros(length, np.float32)
    full[: len(numbers)] = numbers
    return full
