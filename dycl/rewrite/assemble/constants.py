"""The tensors that a program holds, each under one name: equal ones are one constant."""

import hashlib
from collections.abc import Mapping

import numpy as np
import torch

from dycl.hcfg.nodes import WeightId
from dycl.hcfg.types import TensorType
from dycl.rewrite.tensor_types import tensor_type


class Constants:
    """Names for tensors: the model's own for what it holds, numbers for the rest."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self._names = names
        # With the tensor, so that it stays alive and nothing else gets its identity.
        self._by_tensor: dict[int, tuple[WeightId, torch.Tensor]] = {}
        self._by_content: dict[tuple[TensorType, bytes], WeightId] = {}
        self.tensors: dict[WeightId, torch.Tensor] = {}

    @property
    def types(self) -> dict[WeightId, TensorType]:
        """The type of each constant."""
        return {name: tensor_type(tensor) for name, tensor in self.tensors.items()}

    def name(self, tensor: torch.Tensor) -> WeightId:
        """The name of a tensor, which it gets when first asked for."""
        if id(tensor) not in self._by_tensor:
            self._by_tensor[id(tensor)] = (self._named(tensor), tensor)
        return self._by_tensor[id(tensor)][0]

    def _named(self, tensor: torch.Tensor) -> WeightId:
        key = (tensor_type(tensor), hashlib.sha256(to_array(tensor).data).digest())
        if key not in self._by_content:
            self._by_content[key] = self._names.get(id(tensor), f"constant{len(self._by_content)}")
        self.tensors.setdefault(self._by_content[key], tensor)
        return self._by_content[key]


def to_array(tensor: torch.Tensor) -> "np.ndarray[tuple[int, ...], np.dtype[np.generic]]":
    """The elements of a tensor, in order and perhaps in its own memory; bfloat16, which numpy lacks, as its bits."""
    plain = tensor.detach().cpu().contiguous()
    bits = plain.view(torch.uint16) if plain.dtype == torch.bfloat16 else plain
    array: np.ndarray[tuple[int, ...], np.dtype[np.generic]] = bits.numpy()
    return array
