"""A whole state as an immutable key: the skeletons of its frames and of what the program has changed in the model.

Two states with equal keys are one block. Beside the nodes stands what everybody needs who goes through all of a state
and looks at some kinds of node only; the others, and the plain tuples in their fields, are gone through alike.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard, TypeVar

from dycl.rewrite.state.skeleton import AtomNode, FrameNode, PinnedNode, SeenNode, Skeleton, TokenNode


@dataclass(frozen=True, slots=True)
class Hidden:
    """The skeleton of what must stay known, such as keys: no tuple, so whoever goes through a state passes it by."""

    skeleton: Skeleton


class Home(NamedTuple):
    """Where a module has an attribute: in its `__dict__` or a table of its own, at its first place there or behind."""

    table: str
    is_new: bool = False


class AttributeNode(NamedTuple):
    """An attribute that the program has set on a module; both are None if it has deleted it."""

    place: tuple[int, str]
    value: Skeleton | None
    home: Home | None
    tag: str = "attribute"


class ContainerNode(NamedTuple):
    """What a container of the model holds now: a set has keys alone, a list values alone, a dict and an object both."""

    place: tuple[int, str]
    keys: Hidden | None
    values: Skeleton | None
    tag: str = "container"


class HeapNode(NamedTuple):
    """What the program has changed in the model, and the variables of the context that it has set."""

    attributes: tuple[AttributeNode, ...]
    containers: tuple[ContainerNode, ...]
    variables: tuple[tuple[Skeleton, Skeleton], ...]
    tag: str = "heap"


class StateNode(NamedTuple):
    """A whole state; `entangled` are the numbers of those tensors that share memory, -1 stands for one without."""

    frames: tuple[FrameNode | SeenNode, ...]
    heap: HeapNode
    entangled: tuple[tuple[int, ...], ...]
    tag: str = "state"


BEGINNING = StateNode((), HeapNode((), (), ()), (), "beginning")
"""Before the first call; its tag tells it from the state in which a next call finds nothing changed."""

_FLAT = frozenset({AtomNode, PinnedNode, SeenNode, TokenNode})
_Node = TypeVar("_Node", bound=tuple[Any, ...])


def has_parts(part: object) -> TypeGuard[tuple[object, ...]]:
    """Whether a frame, a container or a leaf may stand inside, or is this: most of a state is passed by."""
    return isinstance(part, tuple) and type(part) not in _FLAT


def rebuilt(node: _Node, parts: Iterable[object]) -> _Node:
    """A node of the same kind, or a plain tuple, of other parts; a node's tag is the last of them."""
    return tuple.__new__(type(node), parts)
