"""The machine's state as an immutable key: the words that freezing writes and thawing reads.

A *skeleton* is a nest of tuples that is equal for two states exactly if the same code will do the same with them; the
state's tensors and host values are its *leaves*, in the order in which the skeleton mentions them.
"""

from typing import Any

import torch

from dycl.rewrite.record.host_values import HostValue

Skeleton = tuple[Any, ...]
Leaf = torch.Tensor | HostValue


class _Tag:
    """The first item of a skeleton tuple; equal to nothing that a user's value could contain."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


class Tag:
    """What a skeleton tuple stands for."""

    ATOM = _Tag("atom")
    PINNED = _Tag("pinned")
    SEEN = _Tag("seen")
    HOST = _Tag("host")
    HOST_ARRAY = _Tag("host array")
    TENSOR = _Tag("tensor")
    CONSTANT = _Tag("constant")
    VIEW = _Tag("view")
    STATE = _Tag("state")
    TOKEN = _Tag("token")
    ROWS = _Tag("rows")
    ITEMS = _Tag("items")
    SHARED = _Tag("shared")
    GROWN = _Tag("grown")
    SLICE = _Tag("slice")
    TUPLE = _Tag("tuple")
    LIST = _Tag("list")
    DEQUE = _Tag("deque")
    DICT = _Tag("dict")
    SET = _Tag("set")
    CELL = _Tag("cell")
    FUNCTION = _Tag("function")
    METHOD = _Tag("method")
    PARTIAL = _Tag("partial")
    BOUND = _Tag("bound")
    SUPER = _Tag("super")
    ITERATOR = _Tag("iterator")
    GENERATOR = _Tag("generator")
    ARRAY = _Tag("array")
    EXCEPTION = _Tag("exception")
    OBJECT = _Tag("object")
    FRAME = _Tag("frame")
    PARALLEL = _Tag("parallel")
    RANGE = _Tag("range")
    HOST_RANGE = _Tag("host range")


def is_flat(skeleton: Any) -> bool:
    """Whether no frame, container or leaf stands inside: the short way past most of a state."""
    if type(skeleton) is not tuple or not skeleton:
        return True
    tag = skeleton[0]
    return tag is Tag.ATOM or tag is Tag.PINNED or tag is Tag.SEEN or tag is Tag.TOKEN


class Pinned:
    """Objects that existed before the call or never change: a state refers to them, it does not copy them."""

    def __init__(self) -> None:
        self._objects: dict[int, Any] = {}

    def add(self, value: Any) -> None:
        self._objects[id(value)] = value

    def __contains__(self, value: Any) -> bool:
        return id(value) in self._objects

    def __getitem__(self, key: int) -> Any:
        return self._objects[key]
