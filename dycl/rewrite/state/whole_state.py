"""A whole state as an immutable key: the skeletons of its frames and of what the program has changed in the model.

Two states with equal keys are one block. Beside the nodes stands what everybody needs who goes through all of a state
and looks at some kinds of node only; the others, and the plain tuples in their fields, are gone through alike.
"""

import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard, TypeVar

from dycl.rewrite.normalise.instructions import FlatFunction
from dycl.rewrite.state import skeleton
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


def parts_of(node: tuple[object, ...]) -> Iterable[object]:
    """What a node or a plain tuple is made of, without those fields of a node that never hold another one."""
    places = _PLACES.get(type(node))
    return node if places is None else [node[place] for place in places]


def with_parts(node: _Node, change: Callable[[Any], object]) -> _Node:
    """A node or a plain tuple in which each part has been changed, without those that never hold a node."""
    places = _PLACES.get(type(node))
    if places is None:
        return rebuilt(node, [change(part) for part in node])
    fields = list(node)
    for place in places:
        fields[place] = change(fields[place])
    return rebuilt(node, fields)


def _is_plain(hint: Any) -> bool:
    """Whether what is of this type neither is a node nor holds one."""
    if typing.get_origin(hint) is typing.Literal:
        return True
    inner = [part for part in typing.get_args(hint) if part is not ...]
    return all(map(_is_plain, inner)) if inner else hint in _PLAIN


def _places(node: Any) -> tuple[int, ...]:
    hints = typing.get_type_hints(node)
    return tuple(place for place, field in enumerate(node._fields) if not _is_plain(hints[field]))


_PLAIN = frozenset({bool, int, str, bytes, type, types.NoneType, types.CodeType, FlatFunction})
_KINDS = (*vars(skeleton).values(), AttributeNode, ContainerNode, HeapNode, StateNode)
_PLACES = {kind: _places(kind) for kind in _KINDS if isinstance(kind, type) and issubclass(kind, tuple)}
"""The fields of each kind of node in which others may stand."""
