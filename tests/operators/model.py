"""An operator as a model: what is tensors among its arguments are the inputs, the rest is known while compiling."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_unflatten


class Calls(nn.Module):
    """One call of an operator. Complex numbers come and go as pairs of real ones, tuples of PyTorch's own as tuples.

    With `writes`, the first result is changed in place after, and the arguments are results too.
    """

    def __init__(self, operator: Callable[..., Any], sample: Any, writes: bool = False) -> None:
        super().__init__()
        flat, self.form = tree_flatten(((sample.input, *sample.args), dict(sample.kwargs)))
        self.operator, self.writes = operator, writes
        self.places = [place for place, leaf in enumerate(flat) if isinstance(leaf, Tensor)]
        self.complex_places = [place for place in self.places if flat[place].is_complex()]
        self.known = [None if place in self.places else leaf for place, leaf in enumerate(flat)]

    def forward(self, *inputs: Tensor) -> Any:
        """The operator's result."""
        flat = list(self.known)
        for place, tensor in zip(self.places, inputs, strict=True):
            flat[place] = torch.view_as_complex(tensor) if place in self.complex_places else tensor
        args, kwargs = tree_unflatten(flat, self.form)
        result = self.operator(*args, **kwargs)
        if not self.writes:
            return _plain(result)
        first = result[0] if isinstance(result, tuple | list) else result
        first.fill_(1)
        return _plain(result), inputs


def _plain(result: Any) -> Any:
    if isinstance(result, Tensor):
        return torch.view_as_real(result) if result.is_complex() else result
    if isinstance(result, tuple | list):
        return tuple([_plain(part) for part in result])
    return result


def inputs_of(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """A sample's tensors as inputs of its model."""
    real = (torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor for tensor in tensors)
    return tuple(copied(tensor.detach().resolve_neg()) for tensor in real)


def copied(tensor: Tensor) -> Tensor:
    """The same values with the same strides, in memory of its own."""
    if not tensor.numel() or any(
        step == 0 and size > 1 for size, step in zip(tensor.shape, tensor.stride(), strict=True)
    ):
        return tensor.clone()
    length = sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True)) + 1
    return torch.zeros(length, dtype=tensor.dtype).as_strided(tensor.shape, tensor.stride()).copy_(tensor)
