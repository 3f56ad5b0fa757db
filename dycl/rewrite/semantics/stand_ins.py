"""Real values in the place of those that only the input determines, to ask Python or PyTorch what it makes of them."""

import types
from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.record.number_classes import PYTHON_TYPES
from dycl.rewrite.semantics.contract import Running


def stand_in(tree: Any, machine: Running, fill: int = 1) -> Any:
    """The same value with real tensors, arrays and numbers in the place of those that only the input determines."""
    return stand_ins((tree,), machine, fill)[0]


def stand_ins(trees: tuple[Any, ...], machine: Running, fill: int = 1) -> tuple[Any, ...]:
    """Several values with real ones in their place; what is the same in all of them stays the same."""
    seen: dict[int, Any] = {}
    return tuple(_real(tree, machine, seen, fill) for tree in trees)


def _real(tree: Any, machine: Running, seen: dict[int, Any], fill: int) -> Any:
    match tree:
        case torch.Tensor() if machine.recorder.is_dynamic(tree):
            return seen.setdefault(id(tree), torch.full(_known_sizes(tree), fill, dtype=tree.dtype))
        case HostValue():
            return PYTHON_TYPES[tree.kind](1)
        case _ if type(tree) is HostArray:
            return seen.setdefault(id(tree), tree.stand_in(fill))
        case torch.Tensor() | np.ndarray() if not isinstance(tree, FakeTensor):
            # Whoever is asked may write to it.
            return seen.setdefault(id(tree), tree.detach().clone() if isinstance(tree, torch.Tensor) else tree.copy())
        case list() | tuple() if type(tree) in (list, tuple):
            return type(tree)([_real(part, machine, seen, fill) for part in tree])
        case dict() if type(tree) is dict:
            return {key: _real(part, machine, seen, fill) for key, part in tree.items()}
        case slice():
            return slice(*(_real(part, machine, seen, fill) for part in (tree.start, tree.stop, tree.step)))
        case types.BuiltinMethodType() if isinstance(tree.__self__, torch.Tensor | list | dict):
            return getattr(_real(tree.__self__, machine, seen, fill), tree.__name__)
        case types.MethodType() if isinstance(tree.__self__, torch.Tensor):
            return types.MethodType(tree.__func__, _real(tree.__self__, machine, seen, fill))
        case types.MethodType() if type(tree.__self__) is HostArray:
            return getattr(tree.__self__.stand_in(fill), tree.__name__)
        case _:
            return tree


def _known_sizes(tensor: torch.Tensor) -> list[int]:
    return [size if isinstance(size, int) else 2 for size in tensor.shape]
