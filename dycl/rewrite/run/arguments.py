"""Arguments of a call, looked through for values that only the input determines, and as PyTorch takes those."""

from typing import Any

import torch

from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.semantics.dynamic import item, mentions
from dycl.rewrite.state.tables import GrownList


def with_symbols(tree: Any) -> Any:
    """Arguments with symbols in the place of host values, as PyTorch takes those."""
    match tree:
        case HostValue():
            return tree.symbol()
        case tuple() if type(tree) is tuple:
            return tuple(with_symbols(part) for part in tree)
        case GrownList():
            return tree
        case list():
            return [with_symbols(part) for part in tree] if mentions(tree, (HostValue,)) else tree
        case dict() if type(tree) is dict:
            return {name: with_symbols(part) for name, part in tree.items()}
        case slice():
            return slice(*map(with_symbols, (tree.start, tree.stop, tree.step)))
        case _:
            return tree


def has_number_tensor(tree: Any, machine: Interprets) -> bool:
    """Whether a 0-d tensor that only the input determines stands in these arguments."""
    if isinstance(tree, tuple | dict):
        return any(has_number_tensor(part, machine) for part in (tree.values() if isinstance(tree, dict) else tree))
    return isinstance(tree, torch.Tensor) and tree.dim() == 0 and machine.recorder.is_dynamic(tree)


def with_numbers(tree: Any, machine: Interprets) -> Any:
    """Arguments with the numbers in the place of 0-d tensors that hold them, as PyTorch itself reads them."""
    match tree:
        case torch.Tensor() if tree.dim() == 0 and machine.recorder.is_dynamic(tree):
            return item(tree, machine)
        case tuple() if type(tree) is tuple:
            return tuple(with_numbers(part, machine) for part in tree)
        case dict() if type(tree) is dict:
            return {name: with_numbers(part, machine) for name, part in tree.items()}
        case _:
            return tree


def has_unknown_length(value: Any) -> bool:
    """Whether this is a tensor of which only the input determines how many rows it has."""
    return isinstance(value, torch.Tensor) and value.dim() > 0 and not isinstance(value.shape[0], int)
