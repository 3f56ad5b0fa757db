"""Nodes for classes that the program makes during its call, for objects of such classes, and for kinds of others."""

from typing import Any, NamedTuple

from dycl.rewrite.state.skeleton import AttributesNode, ConstantNode, SeenNode, Skeleton, TensorNode


class ClassNode(NamedTuple):
    """A class that was made during the call, with all that stands in it."""

    kind: Skeleton
    name: str
    bases: tuple[Skeleton, ...]
    slots: Any
    names: tuple[str, ...]
    values: tuple[Skeleton, ...]
    tag: str = "class"


class MadeNode(NamedTuple):
    """An object of a class that was made during the call; `value` is its node with None in the place of the class."""

    cls: Skeleton
    value: Skeleton
    tag: str = "made"


class PlainNode(NamedTuple):
    """A number or text of a class made from Python's own; `exact` tells it apart, `value` is the plain one."""

    cls: Any
    base: type
    exact: Any
    value: Any
    attributes: AttributesNode | SeenNode | None
    tag: str = "plain"


class WrapperNode(NamedTuple):
    """A `staticmethod`, `classmethod` or `property`, by what it was made of, and the attributes that it got."""

    cls: Any
    parts: tuple[Skeleton, ...]
    names: tuple[str, ...]
    values: tuple[Skeleton, ...]
    tag: str = "wrapper"


class DressedNode(NamedTuple):
    """A tensor that is a parameter or a buffer, or requires derivatives."""

    tensor: TensorNode | ConstantNode
    is_parameter: bool
    is_buffer: bool
    requires_grad: bool
    tag: str = "dressed"
