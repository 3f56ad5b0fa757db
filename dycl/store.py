"""Store a program's constants: its tensors as arrays, each of them once."""

from collections.abc import Iterable, Mapping

import numpy as np
import torch

from dycl.hcfg.nodes import WeightId
from dycl.rewrite.assemble.constants import to_array
from dycl.runtime.weight_store import Array


def store(tensors: Mapping[WeightId, torch.Tensor], used: Iterable[WeightId]) -> dict[WeightId, Array]:
    """Copies of the tensors that are used, so that what happens to the model later does not reach the program."""
    return {name: np.array(to_array(tensors[name]), copy=True) for name in used}
