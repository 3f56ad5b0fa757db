"""How results compare with those of eager PyTorch."""

from typing import Any

import torch
from torch.utils._pytree import tree_flatten


def prediction(result: Any) -> torch.Tensor:
    """What the network says: its first result, or, of scores, the place of the largest."""
    first = torch.as_tensor(tree_flatten(result)[0][0])
    return first.argmax(-1) if first.is_floating_point() else first


def relative_error(eager: Any, other: Any) -> float:
    """The largest difference between numbers, relative to the tensor's largest number.

    It is inf for other shapes or types, and where one is finite and the other is not.
    """
    left, right = tree_flatten(eager)[0], tree_flatten(other)[0]
    if len(left) != len(right):
        return float("inf")
    return max((_error(torch.as_tensor(a), torch.as_tensor(b)) for a, b in zip(left, right, strict=True)), default=0.0)


def _error(eager: torch.Tensor, other: torch.Tensor) -> float:
    if eager.shape != other.shape or eager.dtype != other.dtype:
        return float("inf")
    if not eager.numel():
        return 0.0
    if not eager.is_floating_point():
        return 0.0 if torch.equal(eager, other) else float("inf")
    finite = eager.isfinite()
    same = (eager == other) | (eager.isnan() & other.isnan())
    if not torch.equal(finite, other.isfinite()) or not bool((same | finite).all()):
        return float("inf")
    if not bool(finite.any()):
        return 0.0
    scale = float(eager[finite].abs().max()) or 1.0
    return float((eager.double() - other.double())[finite].abs().max()) / scale
