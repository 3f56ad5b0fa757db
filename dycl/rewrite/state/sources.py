"""Where a block's parameters come from: the leaves, numbers and constants of a state that enters it."""

from dataclasses import dataclass

import torch

from dycl.hcfg.types import Dimension, DType
from dycl.rewrite.state.skeleton import (
    AtomNode,
    ConstantNode,
    GrownNode,
    HostArrayNode,
    HostNode,
    RowsNode,
    SharedNode,
    Skeleton,
    TensorNode,
    TupleNode,
)
from dycl.rewrite.state.thaw import constant_tensor
from dycl.rewrite.state.whole_state import StateNode, has_parts, parts_of
from dycl.rewrite.state.widening import table_of


@dataclass(frozen=True, slots=True)
class Fixed:
    """A number or constant that one state fixes and the block it enters leaves open."""

    value: int | float | torch.Tensor


@dataclass(frozen=True, slots=True)
class Stacked:
    """Values that one state has one by one and the block it enters has as a table."""

    rows: tuple[int | Fixed, ...]
    dtype: DType
    shape: tuple[Dimension, ...]


Source = int | Fixed | Stacked


def leaf_sources(general: StateNode, special: StateNode) -> list[Source]:
    """For each leaf of `general`: where in `special` it comes from, by number if it is a leaf there too."""
    sources: list[Source] = []
    count = 0

    def single(right: object) -> int | Fixed:
        nonlocal count
        match right:
            case AtomNode(value=value):
                return Fixed(value)
            case ConstantNode():
                return Fixed(constant_tensor(right))
        count += 1
        return count - 1

    def values(item: Skeleton) -> list[int | Fixed]:
        match item:
            case SharedNode(tensor) | HostArrayNode(tensor=tensor):
                return values(tensor)
            case TupleNode(items=parts):
                return [value for part in parts for value in values(part)]
            case TensorNode() | ConstantNode() | HostNode():
                return [single(item)]
            case AtomNode(cls) if cls in (bool, int, float):
                return [single(item)]
            case _:
                return []

    def walk(left: object, right: object) -> None:
        if not has_parts(left):
            return
        match left, right:
            case ((HostNode() | TensorNode()), _):
                sources.append(single(right))
            case GrownNode(), RowsNode(items):
                rows = [values(item) or [Fixed(torch.zeros(0, dtype=torch.bool))] for item in items]
                for number, (dtype, shape) in enumerate(table_of(right)[1]):
                    sources.append(Stacked(tuple(row[number] for row in rows), dtype, shape))
            case SharedNode(tensor), (TensorNode() | ConstantNode()):
                walk(tensor, right)
            case _:
                assert isinstance(right, tuple)
                for one, other in zip(parts_of(left), parts_of(right), strict=True):
                    walk(one, other)

    walk(general, special)
    return sources
