"""What many containers held at one time, compared with what they hold now, all at once.

A program reaches thousands of containers and changes few of them in a block, or none. Asking each one after each block
would make the work of rewriting grow with the square of the model.
"""

import collections
import operator
import types
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import torch

Holding = tuple[Any, Any]
"""A container, and what it held."""
ToldTensor = tuple[torch.Tensor, bool, int]
"""A tensor, whether it required derivatives, and where its memory was."""


class Tally:
    """Containers and what they held, and tensors."""

    def __init__(self, holdings: Iterable[Holding], tensors: Sequence[ToldTensor] = ()) -> None:
        kinds: dict[type, list[Holding]] = collections.defaultdict(list)
        for container, contents in holdings:
            kinds[type(container)].append((container, contents))
        self._dicts = [_Dicts(kind, kinds[kind]) for kind in (dict, collections.OrderedDict)]
        self._lists = [container for container, _ in kinds[list]]
        self._sizes = [len(contents) for _, contents in kinds[list]]
        self._items = list(chain.from_iterable(contents for _, contents in kinds[list]))
        self._cells = [cell for cell, _ in kinds[types.CellType]]
        self._held = [contents[0] for _, contents in kinds[types.CellType]]
        self._tensors = [tensor for tensor, _, _ in tensors]
        self._told = [(requires_grad, place) for _, requires_grad, place in tensors]

    @staticmethod
    def takes(container: Any, contents: Any) -> bool:
        """Whether a container is of a kind that can be compared together with others."""
        kind = type(container)
        return kind in (dict, collections.OrderedDict, list) or (kind is types.CellType and bool(contents))

    def holds(self) -> bool:
        """Whether all of them hold what they held."""
        return (
            all(dicts.hold() for dicts in self._dicts)
            and list(map(len, self._lists)) == self._sizes
            and all(map(operator.is_, chain.from_iterable(self._lists), self._items))
            and self._cells_hold()
            and list(zip(map(_REQUIRES_GRAD, self._tensors), map(_PLACE, self._tensors), strict=True)) == self._told
        )

    def _cells_hold(self) -> bool:
        try:
            return all(map(operator.is_, map(_CELL_CONTENTS, self._cells), self._held))
        except ValueError:  # one is empty now
            return False


class _Dicts:
    """Dicts of one kind: each has a way of its own to tell its order."""

    def __init__(self, kind: Any, holdings: Iterable[Holding]) -> None:
        self._kind = kind
        self._dicts = [container for container, _ in holdings]
        before = [contents for _, contents in holdings]
        self._sizes = list(map(len, before))
        self._keys = list(chain.from_iterable(before))
        self._values = list(chain.from_iterable(map(dict.values, before)))

    def hold(self) -> bool:
        """Whether all of them hold what they held."""
        return (
            list(map(len, self._dicts)) == self._sizes
            and list(chain.from_iterable(map(self._kind.keys, self._dicts))) == self._keys
            and all(map(operator.is_, chain.from_iterable(map(self._kind.values, self._dicts)), self._values))
        )


_REQUIRES_GRAD = operator.attrgetter("requires_grad")
_PLACE = torch.Tensor.data_ptr
_CELL_CONTENTS = operator.attrgetter("cell_contents")
