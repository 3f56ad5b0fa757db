"""The nodes of frozen states: kinds are never confused, freezing and thawing fit, walks keep what a node is."""

import collections
import contextvars
import functools
import itertools
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from dycl.hcfg.types import HostType, Span, TensorType
from dycl.rewrite.knowledge import Fact, KeepViews, Knowledge, Loose, Place, StepThrough, Table
from dycl.rewrite.normalise.statements import normalise
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.semantics.numpy.calls import ARRAY_OPERATIONS
from dycl.rewrite.state import skeleton, whole_state, widening
from dycl.rewrite.state.addresses import Address
from dycl.rewrite.state.frames import Frame, Generator, HostRange, ItemIterator, ParallelIterator, RangeIterator
from dycl.rewrite.state.freeze import Freezer
from dycl.rewrite.state.lazy_iterators import LazyIterator
from dycl.rewrite.state.pinned import Pinned
from dycl.rewrite.state.reading import leaf_types
from dycl.rewrite.state.skeleton import AtomNode, HostNode, Leaf, Skeleton, TensorNode, TupleNode
from dycl.rewrite.state.tables import grown
from dycl.rewrite.state.thaw import Thawer
from dycl.rewrite.state.whole_state import BEGINNING, AttributeNode, HeapNode, Home, StateNode
from dycl.rewrite.state.widening import merged, numbers_widened, renamed_dimensions, without_numbers

# What must be known of a place for values there to be frozen as these nodes.
_FACTS: dict[str, Callable[[Place], Fact]] = {
    "RowsNode": Table,
    "SharedNode": Table,
    "ItemsNode": Loose,
    "ViewNode": KeepViews,
}
_VARIABLE = contextvars.ContextVar("_VARIABLE", default=0)


def _kinds(*modules: types.ModuleType) -> list[Any]:
    """The classes of nodes, and of what stands for them in keys, that these modules have."""
    classes = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    return [kind for kind in classes if issubclass(kind, tuple) and kind.__name__.endswith(("Node", "Key"))]


def _inside(part: object) -> Iterator[object]:
    """A part of a state and everything in it."""
    yield part
    if isinstance(part, tuple):
        for inner in part:
            yield from _inside(inner)


class _Plain:
    def __init__(self) -> None:
        self.count = 1

    def twice(self) -> int:
        return 2 * self.count


class _Tuple(tuple[Any, ...]):
    pass


_KEPT = _Plain()
_MADE_AT = StepThrough(_Plain.twice.__code__, 0)


class _World:
    """All that a state can be frozen from and thawed into."""

    def __init__(self) -> None:
        self.pinned, self.knowledge = Pinned(), Knowledge()
        self.recorder = Recorder(lambda target: True, lambda: Span("?", 1, 1, 1, 1, "?"), ARRAY_OPERATIONS)
        self.recorder.start()

    def tensor(self) -> torch.Tensor:
        return self.recorder.parameter(TensorType("float32", (2, 3)))

    def number(self) -> HostValue:
        return HostValue("int", self.recorder.parameter(TensorType("int64", ())), self.recorder)

    def frozen(self, value: object, kind: str) -> Skeleton:
        """The skeleton of a value where values are frozen as this kind of node if they can be."""
        if kind in _FACTS:
            self.knowledge.learn(_FACTS[kind]((kind,)))
        scout = Freezer(self.pinned, self.recorder, self.knowledge, None)
        scout.freeze_at((kind,), value)
        freezer = Freezer(self.pinned, self.recorder, self.knowledge, None, scout.shared_memories())
        return freezer.freeze_at((kind,), value)

    def thawed(self, frozen: Skeleton) -> Any:
        leaves = iter(leaf_types(frozen))

        def next_leaf() -> Leaf:
            value_type, strides = next(leaves)
            if isinstance(value_type, HostType):
                return HostValue(value_type.kind, self.recorder.parameter(value_type.tensor), self.recorder)
            return self.recorder.parameter(value_type, strides)

        self.recorder.start()
        return Thawer(self.pinned, next_leaf, self.recorder).thaw(frozen)


def _viewed(world: _World) -> list[torch.Tensor]:
    tensor = world.tensor()
    with world.recorder:
        return [tensor, tensor[0]]


def _referenced(world: _World) -> weakref.ref[_Plain]:
    world.pinned.add(_KEPT)
    return weakref.ref(_KEPT)


def _frame(world: _World) -> Frame:
    function = normalise(_Plain.twice.__code__)
    (self_register,) = function.live[0]
    return Frame(function, globals(), {self_register: _Plain()}, 0, [(1, "error")])


def _closure() -> types.FunctionType:
    count = [1]

    def counted(step: int = 1, *, most: int = 9) -> int:
        return min(count[0] + step, most)

    assert isinstance(counted, types.FunctionType)
    return counted


VALUES: dict[str, Callable[[_World], Any]] = {
    "AtomNode": lambda world: 1.5,
    "PinnedNode": lambda world: torch.float32,
    "ReferenceNode": lambda world: _referenced(world),
    "SeenNode": lambda world: [shared := [1], shared],
    "AddressNode": lambda world: [thing := [1], Address(id, thing)],
    "TokenNode": lambda world: _VARIABLE.set(1),
    "HostNode": lambda world: world.number(),
    "TensorNode": lambda world: world.tensor(),
    "ConstantNode": lambda world: torch.arange(6).reshape(2, 3),
    "SharedNode": lambda world: [tensor := world.tensor(), [tensor]],
    "ViewNode": _viewed,
    "HostArrayNode": lambda world: HostArray(world.tensor(), False),
    "ArrayNode": lambda world: np.arange(6).reshape(2, 3),
    "AttributesNode": lambda world: _Plain(),
    "TupleNode": lambda world: (1, (world.tensor(), None)),
    "TupleObjectNode": lambda world: _Tuple((1, world.tensor())),
    "ListNode": lambda world: [1, world.tensor()],
    "RowsNode": lambda world: [(1, world.tensor()), (2, world.tensor())],
    "ItemsNode": lambda world: [None, (world.tensor(), "text")],
    "GrownNode": lambda world: grown([(1, torch.ones(2), None)] * 2, world.recorder),
    "DequeNode": lambda world: collections.deque([1, 2], maxlen=3),
    "DictNode": lambda world: collections.defaultdict(list, {"one": 1, "two": [world.number()]}),
    "SetNode": lambda world: {1, "two"},
    "SliceNode": lambda world: slice(world.number(), 2),
    "CellNode": lambda world: types.CellType(world.tensor()),
    "ExceptionNode": lambda world: ValueError("wrong", 1),
    "ObjectNode": lambda world: _Plain(),
    "ClosureNode": lambda world: _closure(),
    "MethodNode": lambda world: _Plain().twice,
    "BoundNode": lambda world: [1].append,
    "PartialNode": lambda world: functools.partial(_closure(), 2, most=3),
    "SuperNode": lambda world: super(_Plain, _Plain()),
    "IteratorNode": lambda world: ItemIterator([1, 2], 1, 2),
    "ParallelNode": lambda world: ParallelIterator((ItemIterator((1, 2), 1), ItemIterator(range(3), 1))),
    "LazyNode": lambda world: LazyIterator("map", _MADE_AT, [ItemIterator((1, 2), 1)], abs, (), 1),
    "RangeNode": lambda world: RangeIterator(world.number(), 9, 1, world.tensor()),
    "HostRangeNode": lambda world: HostRange(0, world.number(), 1),
    "GeneratorNode": lambda world: Generator(_frame(world), True),
    "FrameNode": _frame,
}


@pytest.mark.parametrize("kind", VALUES)
def test_what_is_frozen_can_be_thawed(kind: str) -> None:
    world = _World()
    before = world.frozen(VALUES[kind](world), kind)
    assert kind in {type(part).__name__ for part in _inside(before)}
    thawed = world.thawed(before)
    if kind == "SharedNode":
        # Its memory is its own now; what it shared is kept by refusing to write it.
        assert world.recorder.recording.aliases.is_shared_outside(thawed[1][0])
        return
    after = world.frozen(thawed, kind)
    assert after == before
    assert [type(part) for part in _inside(after)] == [type(part) for part in _inside(before)]


def test_every_kind_of_node_has_a_value() -> None:
    assert set(VALUES) == {kind.__name__ for kind in _kinds(skeleton)}


def test_nodes_of_different_kinds_are_never_equal() -> None:
    kinds = _kinds(skeleton, whole_state, widening)
    for fields in range(1, 1 + max(len(kind._fields) for kind in kinds)):
        alike = [kind(*itertools.repeat(0, fields - 1)) for kind in kinds if len(kind._fields) == fields]
        assert len(set(alike)) == len(alike)
        assert all(left != right for left, right in itertools.combinations(alike, 2))
    assert StateNode((), HeapNode((), (), ()), ()) != BEGINNING


def test_every_kind_of_node_has_a_tag_of_its_own_behind_its_fields() -> None:
    kinds = _kinds(skeleton, whole_state, widening)
    assert len({kind._field_defaults["tag"] for kind in kinds}) == len(kinds)
    assert {kind._fields.index("tag") - len(kind._fields) for kind in kinds} == {-1}


def test_values_that_python_finds_equal_are_told_apart() -> None:
    values = (True, 1, 1.0, np.int64(1), 0.0, -0.0, False, 0)
    assert len({_World().frozen(value, "AtomNode") for value in values}) == len(values)


def _state(values: list[Skeleton], number: int, size: int | str) -> StateNode:
    """A state in which a module holds these values, a number, and a tensor of this size."""
    last = AtomNode(int, number, number), TensorNode("float32", (size, 3), None)
    held = TupleNode(tuple, (*values, *last))
    return StateNode((), HeapNode((AttributeNode((1, "held"), held, Home("__dict__")),), (), ()), ())


def _last(state: StateNode) -> tuple[object, ...]:
    """The number and the tensor."""
    held = state.heap.attributes[0].value
    assert isinstance(held, TupleNode)
    return held.items[-2:]


def test_walks_keep_the_kinds_of_nodes() -> None:
    world = _World()
    values = [world.frozen(make(world), kind) for kind, make in VALUES.items()]
    one, other = _state(values, 1, "batch"), _state(values, 2, 7)
    renamed, opened, both = renamed_dimensions(one), numbers_widened(one, other), merged(one, other)
    assert _last(renamed) == (AtomNode(int, 1, 1), TensorNode("float32", ("d0", 3), None))
    assert _last(opened) == (HostNode("int"), TensorNode("float32", (7, 3), None))
    assert _last(both) == (HostNode("int"), TensorNode("float32", ("d0", 3), None))
    kinds = collections.Counter(type(part) for part in _inside(one) if hasattr(part, "tag"))
    assert collections.Counter(type(part) for part in _inside(renamed) if hasattr(part, "tag")) == kinds
    for widened in (opened, both):
        found = collections.Counter(type(part) for part in _inside(widened) if hasattr(part, "tag"))
        assert found - kinds == {HostNode: 1}
        assert kinds - found == {AtomNode: 1}


def test_a_key_without_numbers_and_dimensions_is_the_same_for_states_that_differ_in_them() -> None:
    one, other = _state([], 1, "batch"), _state([], 2, 7)
    assert without_numbers(one, dimensions=True) == without_numbers(other, dimensions=True)
    assert without_numbers(one, dimensions=False) != without_numbers(other, dimensions=False)
