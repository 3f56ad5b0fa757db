"""What PyTorch refuses because of how many dimensions an argument has, or which one is named.

Its rules for fake tensors do not look at all of it. So an operation that names dimensions is asked once on small real
tensors of as many dimensions; what it says against those holds for tensors of every size.
"""

import functools
import re
from collections.abc import Hashable, Sequence
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._pytree import tree_leaves

from dycl.rewrite.record.errors.element_types import ask, needs_small
from dycl.rewrite.record.operations import tensors_in
from dycl.rewrite.record.schemas import name_of
from dycl.rewrite.signals import DecisionMet

_NAMES = frozenset(
    ("dim", "dims", "dim0", "dim1", "start_dim", "end_dim", "axis", "axis0", "axis1", "source", "destination", "index")
    + ("indices", "boundaries", "sorted_sequence", "sections", "split_size", "size", "mask", "imag", "angle")
)
_OF_RANKS = re.compile(
    r"Dimension out of range|appears multiple times|repeated dim|to be a vector|be a vector|should have dimension|"
    r"must be 1 dimension|positive dimension|only one dimension can be inferred|Index to scalar|can be a scalar only|"
    r"number of sections must be|split_size can only be 0|zero-dimensional tensor|Expected object of scalar type",
    re.IGNORECASE,
)
_OF_MASKS = r"must match|Number of indices|same number of dimensions|shape of the mask"
_OF_SIZES = rf"shape mismatch|{_OF_MASKS}"
_MASKS = (torch.bool, torch.uint8)
_OPEN_NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)
_REFUSED: dict[Hashable, bool] = {}


def require_ranks(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise PyTorch's error if it does not take tensors of so many dimensions."""
    _require_known_front(name_of(func), args)
    if func.namespace != "aten" or not _names_dimensions(func) or _may_leave_out(func, args):
        return
    try:
        key = (func, _kind(args), _kind(kwargs))
        known = _REFUSED.get(key)
    except TypeError:  # an argument that is no tensor, number or list of them
        return
    if known is None:
        known = _REFUSED[key] = _is_refused(func, args, kwargs)
    if known:
        ask(func, args, kwargs)


def _may_leave_out(func: OpOverload[Any, Any], args: tuple[Any, ...]) -> bool:
    """Whether tensors are joined of which one may be empty, and so of any rank."""
    if name_of(func) != "aten.cat.default" or len({tensor.dim() for tensor in args[0]}) == 1:
        return False
    return any(tensor.dim() == 1 and isinstance(tensor.shape[0], torch.SymInt) for tensor in args[0])


def _require_known_front(name: str, args: tuple[Any, ...]) -> None:
    """Have code stepped into that stores a value of more dimensions than its place, where the first are of open size.

    PyTorch drops those of size 1 before it expands the value.
    """
    if name == "aten.expand.default":
        shape, rank = args[0].shape, len(args[1])
    elif name in ("aten.index_put.default", "aten.index_put_.default"):
        shape, rank = args[2].shape, _rank_at(args[0], args[1])
    else:
        return
    if any(isinstance(size, torch.SymInt) for size in shape[: max(len(shape) - rank, 0)]):
        raise DecisionMet("whether the first dimension of what is stored has size 1")


def _rank_at(tensor: torch.Tensor, indices: Sequence[torch.Tensor | None]) -> int:
    """How many dimensions the elements of a tensor have that these indices name."""
    given = [index for index in indices if index is not None]
    about = sum(index.dim() if index.dtype in _MASKS else 1 for index in given)
    return tensor.dim() - about + max((1 if index.dtype in _MASKS else index.dim() for index in given), default=0)


@functools.cache
def _names_dimensions(func: OpOverload[Any, Any]) -> bool:
    return any(argument.name in _NAMES for argument in func._schema.arguments)


def _kind(tree: Any) -> Hashable:
    match tree:
        case torch.Tensor():
            return tree.dtype, tuple([size if isinstance(size, int) else None for size in tree.shape])
        case list() | tuple():
            return tuple(map(_kind, tree))
        case dict():
            return tuple((name, _kind(value)) for name, value in tree.items())
        case torch.SymInt() | torch.SymFloat() | torch.SymBool():
            return str(type(tree))
        case _:
            return type(tree), tree


def _is_refused(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        ask(func, args, kwargs)
    except Exception as error:
        given = tensors_in((args, kwargs))
        if any(isinstance(leaf, _OPEN_NUMBERS) for leaf in tree_leaves((args, kwargs))):
            return False  # said of another number
        is_exact = all(isinstance(size, int) for tensor in given for size in tensor.shape) and not needs_small(given)
        # How much a mask chooses is another matter.
        of_sizes = _OF_MASKS if any(tensor.dtype in _MASKS for tensor in given) else _OF_SIZES
        return _OF_RANKS.search(str(error)) is not None or (is_exact and re.search(of_sizes, str(error)) is not None)
    return False
