"""Values as an immutable key: the nodes that freezing writes and thawing reads.

A *skeleton* is a nest of nodes that is equal for two values exactly if the same code will do the same with them; the
tensors and host values in it are its *leaves*, in the order in which the skeleton mentions them. So a node's fields
stand in the order in which freezing walks through what they hold.

Nodes are built, hashed and compared in large numbers: they are tuples, which do that fastest. Tuples of different
classes are equal if their fields are, so the last field of a node is a tag that no other class has.
"""

import types
from typing import Any, NamedTuple, Protocol

import torch

from dycl.hcfg.types import Dimension, DType, HostKind
from dycl.rewrite.knowledge import StepThrough
from dycl.rewrite.normalise.instructions import FlatFunction, Label, Register
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.record.layouts import Layout
from dycl.rewrite.state.frames import Part, Purpose
from dycl.rewrite.state.items import Template
from dycl.rewrite.state.lazy_iterators import Kind

Leaf = torch.Tensor | HostValue


class Skeleton(Protocol):
    """Any node: what a frozen value is."""

    @property
    def tag(self) -> str:
        """What tells this class of nodes from all others."""
        ...


# What is known and stays as it is.


class AtomNode(NamedTuple):
    """A value that cannot change, told by its class and exact form too: `True`, `1` and `1.0` are equal in Python."""

    cls: type
    exact: Any
    value: Any
    tag: str = "atom"


class PinnedNode(NamedTuple):
    """An object that existed before the call or never changes: `Pinned` has it under this key."""

    key: int
    tag: str = "pinned"


class ReferenceNode(NamedTuple):
    """A weak reference to an object that existed before the call, which therefore stays."""

    to: PinnedNode
    tag: str = "reference"


class SeenNode(NamedTuple):
    """An object that was frozen already: they are numbered in the order in which they are met."""

    number: int
    tag: str = "seen"


class TokenNode(NamedTuple):
    """What setting a variable of the context gave, to set it back; `Pinned` has the variable under this key."""

    variable: int
    tag: str = "token"


class AddressNode(NamedTuple):
    """The number that `id` or `hash` gives of an object."""

    told_by: Any
    owner: Skeleton
    tag: str = "address"


# Tensors and numbers.


class HostNode(NamedTuple):
    """A leaf: a host value of this kind."""

    kind: HostKind
    tag: str = "host"


class TensorNode(NamedTuple):
    """A leaf: a tensor of this type and layout."""

    dtype: DType
    shape: tuple[Dimension, ...]
    layout: Layout
    tag: str = "tensor"


class ConstantNode(NamedTuple):
    """A tensor whose elements are known, and how they lie."""

    dtype: DType
    shape: tuple[int, ...]
    data: bytes
    strides: tuple[int, ...]
    tag: str = "constant"


class SharedNode(NamedTuple):
    """A tensor in a list's item that shares its memory with another tensor: it cannot be written."""

    tensor: TensorNode | ConstantNode
    tag: str = "shared"


class ViewNode(NamedTuple):
    """A tensor that is a view of another one, as the call that takes it, and which of its results it is."""

    func: Any
    args: Skeleton
    kwargs: tuple[Skeleton, ...]
    position: int | None
    tag: str = "view"


class HostArrayNode(NamedTuple):
    """A NumPy array or scalar that wraps a tensor."""

    scalar: bool
    tensor: Skeleton
    tag: str = "host array"


class ArrayNode(NamedTuple):
    """A NumPy array whose elements are known."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes
    writeable: bool
    tag: str = "array"


# Containers and other objects.


class AttributesNode(NamedTuple):
    """What an object has in its `__dict__`: the names, in order, and their values; and in places of its class."""

    names: tuple[str, ...]
    values: tuple[Skeleton, ...]
    slots: tuple[tuple[str, Skeleton], ...] = ()
    tag: str = "attributes"


class TupleNode(NamedTuple):
    """A tuple or named tuple; it has no number."""

    cls: type
    items: tuple[Skeleton, ...]
    tag: str = "tuple"


class TupleObjectNode(NamedTuple):
    """A tuple of a class whose objects can have attributes: it has a number, as others may hold it, too."""

    cls: Any
    items: tuple[Skeleton, ...]
    attributes: AttributesNode | SeenNode | None
    tag: str = "tuple object"


class ListNode(NamedTuple):
    """A list whose items all are part of the structure."""

    cls: Any
    items: tuple[Skeleton, ...]
    attributes: AttributesNode | SeenNode | None
    tag: str = "list"


class RowsNode(NamedTuple):
    """A list that has different lengths where a loop comes by, and items of one kind; they have no numbers."""

    items: tuple[Skeleton, ...]
    tag: str = "rows"


class ItemsNode(NamedTuple):
    """A list of known length of which only the tensors in its items can change; they have no numbers."""

    items: tuple[Skeleton, ...]
    tag: str = "items"


class GrownNode(NamedTuple):
    """A list of unknown length, as a table with a column for each value in an item."""

    template: Template
    columns: tuple[TensorNode | ConstantNode, ...]
    tag: str = "grown"


class DequeNode(NamedTuple):
    """A deque."""

    cls: Any
    items: tuple[Skeleton, ...]
    maxlen: int | None
    attributes: AttributesNode | SeenNode | None
    tag: str = "deque"


class DictNode(NamedTuple):
    """A dict, its items in order; `factory` is what a default dict calls for a new one."""

    cls: Any
    items: tuple[tuple[Skeleton, Skeleton], ...]
    factory: Skeleton
    attributes: AttributesNode | SeenNode | None
    tag: str = "dict"


class SetNode(NamedTuple):
    """A set, its items in the order in which they make one that Python goes through alike, if it has so much room."""

    cls: Any
    items: tuple[Skeleton, ...]
    room: int
    attributes: AttributesNode | SeenNode | None
    tag: str = "set"


class SliceNode(NamedTuple):
    """A slice."""

    start: Skeleton
    stop: Skeleton
    step: Skeleton
    tag: str = "slice"


class CellNode(NamedTuple):
    """A variable that functions share; None if it has no value yet."""

    contents: Skeleton | None
    tag: str = "cell"


class ExceptionNode(NamedTuple):
    """An exception; `fields` are those that Python's own classes have beside the arguments."""

    cls: Any
    args: Skeleton
    fields: tuple[tuple[str, Skeleton], ...]
    attributes: AttributesNode | SeenNode | None
    tag: str = "exception"


class ObjectNode(NamedTuple):
    """Any other object of a class that is written in Python."""

    cls: Any
    attributes: AttributesNode | SeenNode | None
    tag: str = "object"


# Functions, iterators and frames. `namespace` is the key under which `Pinned` has a module's globals.


class ClosureNode(NamedTuple):
    """A function that was made during the call; `names` are what it goes by: name, qualified name, module, text."""

    code: types.CodeType
    namespace: int
    names: tuple[Any, ...]
    cells: Skeleton
    defaults: Skeleton
    keyword_defaults: Skeleton
    annotations: Skeleton
    attributes: AttributesNode | SeenNode | None
    tag: str = "closure"


class MethodNode(NamedTuple):
    """A function bound to an object; it has no number."""

    function: Skeleton
    owner: Skeleton
    tag: str = "method"


class BoundNode(NamedTuple):
    """A method of this name that is written in C, bound to an object."""

    name: str
    owner: Skeleton
    cls: type | None
    """The class that has it, where the object's own class may have another one of this name."""
    tag: str = "bound"


class PartialNode(NamedTuple):
    """A `functools.partial`, or an object of a class made from it."""

    cls: Any
    function: Skeleton
    args: Skeleton
    keywords: Skeleton
    attributes: AttributesNode | SeenNode | None
    tag: str = "partial"


class SuperNode(NamedTuple):
    """What `super()` gives."""

    after: Skeleton
    owner: Skeleton
    tag: str = "super"


class IteratorNode(NamedTuple):
    """An iterator over known items; `known` is how many a list had when the loop began."""

    items: Skeleton
    position: int
    known: int | None
    source: Skeleton
    part: Part
    kind: type | None
    tag: str = "iterator"


class ParallelNode(NamedTuple):
    """Iterators over known items, side by side."""

    parts: tuple[Skeleton, ...]
    strict: bool
    kind: type
    tag: str = "parallel"


class LazyNode(NamedTuple):
    """An iterator made of others: its kind, the call that made it, and where it stands."""

    kind: Kind
    made_at: StepThrough
    parts: tuple[Skeleton, ...]
    value: Skeleton
    numbers: tuple[Any, ...]
    position: int
    tag: str = "lazy"


class RangeNode(NamedTuple):
    """An iterator over positions of which only the input knows where it stands or ends."""

    position: Skeleton
    stop: Skeleton
    step: Skeleton
    rows: Skeleton
    tag: str = "range"


class HostRangeNode(NamedTuple):
    """A `range` with a bound that only the input determines."""

    start: Skeleton
    stop: Skeleton
    step: Skeleton
    tag: str = "host range"


class GeneratorNode(NamedTuple):
    """A generator whose body the machine interprets: whether it is started, finished, running; and its names."""

    stage: tuple[bool, bool, bool]
    names: tuple[str, str]
    frame: Skeleton
    value: Skeleton
    tag: str = "generator"


class FrameNode(NamedTuple):
    """A function being interpreted: its program point, and the names and values of its live registers."""

    function: FlatFunction
    position: int
    names: tuple[Register, ...]
    values: tuple[Skeleton, ...]
    handlers: tuple[tuple[Label, Register], ...]
    purpose: Purpose
    constructed: Skeleton
    namespace: int
    tag: str = "frame"
