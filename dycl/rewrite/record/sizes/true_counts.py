"""How many elements of a mask are true: one symbol for each mask, however often it chooses.

x[mask] * w[mask]      both have as many rows as the mask has true elements
h[mask] = y[mask]      what is stored is as large as what it replaces
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch._ops import OpOverload

from dycl.rewrite.record.schemas import name_of


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a mask chooses: the elements of a tensor, or, without one, their places."""

    mask: torch.Tensor
    tensor: torch.Tensor | None
    dimension: int
    """The dimension of the result that is as long as the mask has true elements."""

    @property
    def dtype(self) -> torch.dtype:
        """The result's element type."""
        return torch.int64 if self.tensor is None else self.tensor.dtype

    def shape(self, count: Any) -> list[Any]:
        """The result's shape if so many elements of the mask are true."""
        if self.tensor is None:
            return [count, self.mask.dim()]
        sizes = self.tensor.shape
        return [*sizes[: self.dimension], count, *sizes[self.dimension + self.mask.dim() :]]


def chosen_by(func: OpOverload[Any, Any], args: tuple[Any, ...]) -> Chosen | None:
    """What the only mask among a call's arguments chooses; None if it has none, or other indices beside it."""
    name = name_of(func)
    if name == "aten.nonzero.default":
        return Chosen(args[0], None, 0) if args[0].dtype == torch.bool else None
    if name != "aten.index.Tensor":
        return None
    given = [index for index in args[1] if index is not None]
    if len(given) != 1 or given[0].dtype != torch.bool or args[1][-1] is None:
        return None
    return Chosen(given[0], args[0], len(args[1]) - 1)
