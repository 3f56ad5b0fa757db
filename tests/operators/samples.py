"""The arguments that an operator is tried with: some of the database's own, and other values in their place."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

_LOOKED_AT = 200
_SPECIAL = (float("nan"), float("inf"), float("-inf"), 0.0, -0.0)
_SHARE_OF_SPECIAL = 0.1


def samples(operator: Any, dtype: torch.dtype, most: int) -> list[Any]:
    """A spread of an operator's samples; an empty and a strided one are among them if there are any."""
    found = []
    for sample in operator.sample_inputs("cpu", dtype, requires_grad=False):
        if all(_is_plain(tensor) for tensor in tensors(sample)):
            found.append(sample)
        if len(found) == _LOOKED_AT:
            break
    picked = dict.fromkeys(range(0, len(found), max(1, -(-len(found) // most))))
    for wanted in _WANTED:
        first = next((place for place, sample in enumerate(found) if wanted(tensors(sample))), None)
        if first is not None:
            picked[first] = None
    return [found[place] for place in picked]


def tensors(sample: Any) -> list[Tensor]:
    """Every tensor among a sample's arguments."""
    return [leaf for leaf in tree_leaves((sample.input, sample.args, sample.kwargs)) if isinstance(leaf, Tensor)]


def _is_plain(tensor: Tensor) -> bool:
    return tensor.layout == torch.strided and type(tensor) in (Tensor, torch.nn.Parameter)


_WANTED: tuple[Callable[[Sequence[Tensor]], bool], ...] = (
    lambda given: any(tensor.numel() == 0 for tensor in given),
    lambda given: any(not tensor.is_contiguous() for tensor in given),
)


def noisy(tensor: Tensor, generator: torch.Generator) -> Tensor:
    """Other values of the same kind: floats moved a little, all others at other places."""
    if not tensor.numel():
        return tensor.clone()
    if not tensor.is_floating_point():
        order = torch.randperm(tensor.numel(), generator=generator)
        return tensor.reshape(-1)[order].reshape(tensor.shape)
    noise = torch.randn(tensor.shape, generator=generator, dtype=torch.float64)
    return (tensor.double() * (1 + 0.05 * noise)).to(tensor.dtype)


def special(tensor: Tensor, generator: torch.Generator, without: Sequence[str] = ()) -> Tensor:
    """The same values, but for NaN, infinities and zeros here and there, though none of `without`."""
    if not tensor.is_floating_point():
        return tensor.clone()
    values = torch.tensor([value for value in _SPECIAL if str(value) not in without], dtype=tensor.dtype)
    chosen = values[torch.randint(len(values), tensor.shape, generator=generator)]
    hit = torch.rand(tensor.shape, generator=generator) < _SHARE_OF_SPECIAL
    return torch.where(hit, chosen, tensor)
