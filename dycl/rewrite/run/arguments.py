"""Arguments of a call, looked through for values that only the input determines, and as PyTorch takes those."""

from typing import Any

import torch

from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.semantics.dynamic import item, mentions
from dycl.rewrite.state.copied import items_held
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
            return [with_symbols(part) for part in items_held(tree)] if mentions(tree, (HostValue,)) else tree
        case dict() if type(tree) is dict:
            return {name: with_symbols(part) for name, part in tree.items()}
        case slice():
            return slice(*map(with_symbols, (tree.start, tree.stop, tree.step)))
        case _:
            return tree


def has_number_tensor(tree: Any, machine: Interprets) -> bool:
    """Whether a 0-d tensor that only the input determines stands in these arguments."""
    if isinstance(tree, tuple | dict):
        return any(has_number_tensor(part, machine) for part in items_held(tree))
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


def spread_over(items: list[Any], count: int, star: int | None) -> list[Any]:
    """The items for so many variables; the one at `star` gets a list of all that is left."""
    if star is None:
        if len(items) != count:
            problem = "too many values" if len(items) > count else "not enough values"
            told = f"expected {count}" if len(items) > count else f"expected {count}, got {len(items)}"
            raise ValueError(f"{problem} to unpack ({told})")
        return items
    extra = len(items) - (count - 1)
    if extra < 0:
        raise ValueError(f"not enough values to unpack (expected at least {count - 1}, got {len(items)})")
    return [*items[:star], items[star : star + extra], *items[star + extra :]]


def identity(value: Any) -> Any:
    """What is equal for two values exactly if they are the same and can never change; None if they can."""
    if isinstance(value, tuple) and type(value) is tuple:
        parts = [identity(item) for item in value]
        return None if None in parts else tuple(parts)
    if isinstance(value, torch.nn.Module):
        return ("module", id(value))
    return (type(value), repr(value)) if type(value) in (bool, int, float, str, range) else None
