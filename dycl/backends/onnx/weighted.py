"""Weighted sums of a few places along one axis, in which nothing counts but these places.

As a product with a matrix that is mostly zeros, one NaN or infinity would spoil every result: zero times it is NaN.
"""

from collections.abc import Sequence

import numpy as np

from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import gather, reduce, unsqueeze
from dycl.backends.onnx.values import Value

Taps = Sequence[Sequence[tuple[int, float]]]
"""For each result the places that count, and how much each of them does."""


def weighted_sums(b: Builder, x: Value, axis: int, taps: Taps) -> Value:
    """One sum a result along an axis."""
    longest = max(len(row) for row in taps)
    places = [[place for place, _ in row] + [0] * (longest - len(row)) for row in taps]
    weights = [[weight for _, weight in row] + [0.0] * (longest - len(row)) for row in taps]
    spread = gather(b, x, b.constant(places), axis)
    after = range(2, spread.rank - axis)
    parts = b.node("Mul", spread, unsqueeze(b, b.constant(weights, x.dtype), after), shape=spread.shape)
    if any(len(row) < longest for row in taps):
        counts = np.arange(longest) < np.array([[len(row)] for row in taps])
        inside = unsqueeze(b, b.constant(counts, "bool"), after)
        parts = b.node("Where", inside, parts, b.number(0, x.dtype), shape=spread.shape)
    return reduce(b, "ReduceSum", parts, [axis + 1], keepdim=False)
