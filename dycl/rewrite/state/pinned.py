"""What a state refers to instead of copying it."""

import types
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

# A call makes one each time, and none of them can be told from another.
_MADE_ANEW = (types.GenericAlias, types.UnionType, np.dtype, torch.finfo, torch.iinfo)


class Pinned:
    """Objects that existed before the call or never change: a state refers to them, it does not copy them."""

    def __init__(self) -> None:
        self._objects: dict[int, Any] = {}
        self._made: dict[int, type] = {}
        self._alike: dict[tuple[type, str], Any] = {}

    def note_class(self, cls: Any) -> None:
        """Take note of a class that the program makes during its call; those of a module that it imports stay."""
        if isinstance(cls, type) and "<locals>" in cls.__qualname__:
            self.note_copy(cls)

    def note_copy(self, cls: type) -> None:
        """Take note of a class that was made anew for a state."""
        self._made[id(cls)] = cls

    def was_made(self, cls: type) -> bool:
        """Whether the program made this class, or one that it is made from, during its call."""
        return any(id(base) in self._made for base in cls.__mro__) if self._made else False

    def add(self, value: Any) -> None:
        self._objects[id(value)] = value

    def add_all(self, by_number: Mapping[int, Any]) -> None:
        self._objects.update(by_number)

    def number(self, value: Any) -> int:
        """By what number the value is referred to from now on: one for all that nothing but identity tells apart."""
        if isinstance(value, _MADE_ANEW):
            value = self._alike.setdefault((type(value), repr(value)), value)
        self.add(value)
        return id(value)

    def __contains__(self, value: Any) -> bool:
        return id(value) in self._objects

    def __getitem__(self, key: int) -> Any:
        return self._objects[key]
