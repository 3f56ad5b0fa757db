"""What normalisation, attention and what is like them need of the sizes of their arguments."""

import math
from collections.abc import Sequence
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch import Tensor

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.operations import is_refused
from dycl.rewrite.record.sizes.needs import (
    at_least,
    equal,
    expression,
    same_sizes,
    spreads,
    spreads_to_one_of,
    together,
)
from dycl.rewrite.signals import Refused


def normalised(recorder: Records, tensor: Tensor, shape: Sequence[Any], *values: Any, **_: Any) -> None:
    """Layers that normalise the last dimensions, with weights of just these."""
    for given in (tensor.shape, *(value.shape for value in values[:2] if isinstance(value, Tensor))):
        for pair in zip(reversed(given), reversed(shape), strict=False):
            equal(recorder, *pair, f"Given normalized_shape={list(shape)}, expected other sizes")


def by_channel(recorder: Records, tensor: Tensor, *values: Any, **_: Any) -> None:
    """Layers with a number for each channel."""
    for value in values[:4]:
        if isinstance(value, Tensor) and tensor.dim() > 1:
            equal(recorder, tensor.shape[1], value.shape[0], "there must be one element for each channel of the input")


def in_groups(recorder: Records, tensor: Tensor, groups: Any, *values: Any, **_: Any) -> None:
    """`group_norm`, which looks at its image from PyTorch 2.15 on."""
    by_channel(recorder, tensor, *values[:2])
    if is_refused(_normalise_nothing):
        count = math.prod([expression(size) for size in tensor.shape[2:]], start=sympy.Integer(1))
        at_least(recorder, count, 1, "RuntimeError", "Expected HxW to be greater than 0")


def _normalise_nothing() -> Tensor:
    return torch.group_norm(torch.zeros(1, 1, 0), 1)


def compared(recorder: Records, first: Tensor, second: Tensor, dim: int = 1, eps: float = 1e-8) -> None:
    """`cosine_similarity`, which spreads its tensors first: along `dim` they must be known to be alike."""
    rank = max(first.dim(), second.dim(), 1)
    axis = dim % rank - rank
    sizes = [tensor.shape[axis] if tensor.dim() >= -axis else 1 for tensor in (first, second)]
    if not all(isinstance(size, int) for size in sizes) and not same_sizes(sizes[:1], sizes[1:]):
        raise Refused("DY008", "whether a tensor is spread along the compared dimension depends on a size of the input")


def told_apart(recorder: Records, scores: Tensor, target: Tensor, *_: Any, **__: Any) -> None:
    """`cross_entropy`, whose target is of probabilities if it has the shape of the scores, and else of classes."""
    if target.is_floating_point() and scores.dim() == target.dim() and not same_sizes(scores.shape, target.shape):
        raise Refused("DY008", "whether these are probabilities or classes depends on a size of the input")


def attention(
    recorder: Records, query: Tensor, key: Tensor, value: Tensor, mask: Any = None, *_: Any, **options: Any
) -> None:
    """Attention: all of it spreads over batches and heads, the mask over no more than queries and keys have."""
    some: Any = _UnlessEmpty(recorder, (query.shape[-2], *value.shape))
    equal(some, query.shape[-1], key.shape[-1], "query and key must have the same size of features")
    equal(some, key.shape[-2], value.shape[-2], "key and value must have the same length")
    if not options.get("enable_gqa"):
        together(some, [given.shape[:-2] for given in (query, key, value)])
    if isinstance(mask, Tensor):
        spreads(some, mask.shape[-2:], (query.shape[-2], key.shape[-2]))
        for sizes in zip(*(reversed(given.shape[:-2]) for given in (mask, query, key)), strict=False):
            spreads_to_one_of(some, sizes[0], sizes[1:])


class _UnlessEmpty:
    """A recorder for an operation that looks at nothing where one of these sizes is 0."""

    def __init__(self, recorder: Records, sizes: Sequence[Any]) -> None:
        self._recorder = recorder
        opened = dict.fromkeys(size for size in map(expression, sizes) if size.free_symbols)
        self._empty = [sympy.Eq(size, 0) for size in opened]

    def require_size(self, condition: Any, error: str, message: str, guards: bool = True) -> None:
        """Check `condition` unless nothing is looked at."""
        self._recorder.require_size(sympy.Or(condition, *self._empty), error, message, guards)
