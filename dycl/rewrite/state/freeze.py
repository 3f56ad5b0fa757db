"""Freeze a state: walk everything that is still live and write it down as a skeleton and its leaves."""

import collections
import contextvars
import types
import weakref
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import torch

from dycl.rewrite.knowledge import KeepViews, Knowledge, Loose, Place, Table
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue, import_symbol
from dycl.rewrite.record.layouts import layout_of
from dycl.rewrite.record.memory.aliases import memory
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.addresses import Address
from dycl.rewrite.state.class_nodes import DressedNode, MadeNode, PlainNode
from dycl.rewrite.state.classes import defined_by, frozen_class, frozen_wrapper, is_partial, own_dict, plain_value
from dycl.rewrite.state.copied import (
    error_fields,
    exact,
    filled_slots,
    has_number,
    holds_more,
    in_order,
    require_plain_array,
    require_plain_object,
    require_quiet_keys,
)
from dycl.rewrite.state.extents import require_own_memory
from dycl.rewrite.state.frames import Frame, Generator, HostRange, ItemIterator, ParallelIterator, RangeIterator
from dycl.rewrite.state.items import template_of
from dycl.rewrite.state.lazy_iterators import LazyIterator
from dycl.rewrite.state.pinned import Pinned
from dycl.rewrite.state.skeleton import (
    AddressNode,
    ArrayNode,
    AtomNode,
    AttributesNode,
    BoundNode,
    CellNode,
    ClosureNode,
    ConstantNode,
    DequeNode,
    DictNode,
    ExceptionNode,
    FrameNode,
    GeneratorNode,
    GrownNode,
    HostArrayNode,
    HostNode,
    HostRangeNode,
    ItemsNode,
    IteratorNode,
    LazyNode,
    Leaf,
    ListNode,
    MethodNode,
    ObjectNode,
    ParallelNode,
    PartialNode,
    PinnedNode,
    RangeNode,
    RowsNode,
    SeenNode,
    SetNode,
    SharedNode,
    Skeleton,
    SliceNode,
    SuperNode,
    TensorNode,
    TokenNode,
    TupleNode,
    TupleObjectNode,
    ViewNode,
)
from dycl.rewrite.state.tables import GrownList
from dycl.rewrite.state.unchanging import is_atom, is_shared
from dycl.rewrite.state.written_in_c import frozen_copy, frozen_reference, require_no_proxy
from dycl.rewrite.tensor_types import dress_of, dtype_name


class Freezer:
    """Freezes the values of one state; shared objects stay shared."""

    def __init__(
        self, pinned: Pinned, recorder: Recorder, knowledge: Knowledge, top: Frame | None, shared: Collection[int] = ()
    ) -> None:
        self.pinned = pinned
        self.recorder = recorder
        self.knowledge = knowledge
        self.top = top
        self.place: Place = ("?",)
        """Where the value that is being frozen hangs."""
        self._shared = shared
        """The memory that items of tables share with other tensors."""
        self._memories: collections.Counter[int] = collections.Counter()
        self._row_memories: set[int] = set()
        self.leaves: list[Leaf] = []
        self._seen: dict[int, tuple[int, Any]] = {}
        self._groups: dict[int, list[int]] = {}

    def has(self, value: Any) -> bool:
        """Whether this very object was frozen."""
        return id(value) in self._seen

    def freeze(self, value: Any) -> Skeleton:
        """The skeleton of a value; its tensors and host values join `leaves`."""
        if isinstance(value, HostValue):
            self.leaves.append(value)
            return HostNode(value.kind)
        if type(value) is HostArray:
            return HostArrayNode(value.scalar, self.freeze(value.tensor))
        if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            return self.freeze(import_symbol(value, self.recorder))
        if isinstance(value, contextvars.Token):
            self.pinned.add(value.var)
            return TokenNode(id(value.var))
        if isinstance(value, Address):
            return AddressNode(value.told_by, self.freeze(value.owner))
        if self.pinned.was_made(value if isinstance(value, type) else type(value)):
            return self._made(value)
        if is_atom(value) and not holds_more(value):
            return AtomNode(type(value), exact(value), value)
        if value in self.pinned or is_shared(value):
            return PinnedNode(self.pinned.number(value))
        if id(value) in self._seen:
            return SeenNode(self._seen[id(value)][0])
        if has_number(value):
            self._seen[id(value)] = (len(self._seen), value)
        return self._object(value)

    def _made(self, value: Any) -> Skeleton:
        """A class that was made during the call, or an object of one: the class comes first."""
        cls = None if isinstance(value, type) else self.freeze(type(value))
        if id(value) in self._seen:
            seen = SeenNode(self._seen[id(value)][0])
            return seen if cls is None else MadeNode(cls, seen)
        if has_number(value):
            self._seen[id(value)] = (len(self._seen), value)
        if cls is None:
            return frozen_class(value, self.freeze)
        node: Any = self._object(value)
        if not hasattr(node, "cls"):
            raise Refused("DY009", f"an object of type `{type(value).__name__}` is alive across a decision")
        return MadeNode(cls, node._replace(cls=None))

    def shared_memories(self) -> set[int]:
        """The memory that items of the frozen tables share with other tensors."""
        return {key for key in self._row_memories if self._memories[key] > 1}

    def entangled(self) -> tuple[tuple[int, ...], ...]:
        """Which of the seen tensors share memory with another one."""
        groups = (sorted(set(group)) for group in self._groups.values())
        return tuple(sorted(tuple(group) for group in groups if len(group) > 1))

    def _object(self, value: Any) -> Skeleton:
        require_no_proxy(value)
        require_own_memory(value, self._seen.values())
        match value:
            case torch.Tensor():
                return self._tensor(value)
            case slice():
                return SliceNode(self.freeze(value.start), self.freeze(value.stop), self.freeze(value.step))
            case tuple() if has_number(value):
                return TupleObjectNode(type(value), self._all(tuple.__iter__(value)), self._attributes(value))
            case tuple():
                return TupleNode(type(value), self._all(tuple.__iter__(value)))
            case GrownList():
                return GrownNode(value.template, tuple([self._column(column) for column in value.columns]))
            case list() if self.knowledge.knows(Table(self.place)) and (rows := self._rows(value)) is not None:
                return RowsNode(rows)
            case list() if self.knowledge.knows(Loose(self.place)) and (items := self._items(value)) is not None:
                return ItemsNode(items)
            case list():
                return ListNode(type(value), self._all(list.__iter__(value)), self._attributes(value))
            case collections.deque():
                items = self._all(collections.deque.__iter__(value))
                return DequeNode(type(value), items, value.maxlen, self._attributes(value))
            case dict():
                factory = value.default_factory if isinstance(value, collections.defaultdict) else None
                # In the order of the dict itself, whatever a class makes of its methods.
                own: Any = collections.OrderedDict if isinstance(value, collections.OrderedDict) else dict
                require_quiet_keys(own.__iter__(value))
                pairs = tuple((self.freeze(key), self.freeze(item)) for key, item in own.items(value))
                return DictNode(type(value), pairs, self.freeze(factory), self._attributes(value))
            case set() | frozenset():
                ordered, room = in_order(value)
                return SetNode(type(value), self._all(ordered), room, self._attributes(value))
            case types.CellType():
                return CellNode(self._cell(value))
            case types.FunctionType():
                return self._function(value)
            case types.MethodType() if callable(value.__func__):
                return MethodNode(self.freeze(value.__func__), self.freeze(value.__self__))
            case _ if is_partial(type(value)):
                parts = (self.freeze(value.func), self.freeze(value.args), self.freeze(value.keywords))
                return PartialNode(type(value), *parts, self._attributes(value))
            case staticmethod() | classmethod() | property():
                return frozen_wrapper(value, self.freeze)
            case int() | float() | complex() | str() | bytes():
                plain = plain_value(value)
                return PlainNode(type(value), type(plain), exact(plain), plain, self._attributes(value))
            case types.MethodWrapperType() | types.BuiltinMethodType():
                return BoundNode(value.__name__, self.freeze(value.__self__), defined_by(value))
            case super():
                owner: Any = value
                return SuperNode(self.freeze(owner.__thisclass__), self.freeze(owner.__self__))
            case Frame():
                return self.frame(value)
            case ItemIterator():
                over, known = self.freeze(value.items), value.size_when_begun()
                source = self.freeze(value.source)
                return IteratorNode(over, value.position, known, source, value.part, value.kind)
            case ParallelIterator():
                return ParallelNode(self._all(value.parts), value.strict, value.kind)
            case LazyIterator():
                parts_of, held = self._all(value.parts), self.freeze(value.value)
                return LazyNode(value.kind, value.made_at, parts_of, held, value.numbers, value.position)
            case RangeIterator():
                return self._range(value)
            case HostRange():
                return HostRangeNode(self.freeze(value.start), self.freeze(value.stop), self.freeze(value.step))
            case Generator():
                stage = (value.started, value.finished, value.gi_running)
                return GeneratorNode(stage, value.names, self.freeze(value.frame), self.freeze(value.value))
            case np.ndarray():
                require_plain_array(value, self.recorder.lies_outside(value))
                return ArrayNode(value.dtype.str, value.shape, value.tobytes(), value.flags.writeable)
            case weakref.ReferenceType():
                return frozen_reference(value, self.pinned)
            case BaseException():
                args = self.freeze(value.args)
                fields = tuple((name, self.freeze(field)) for name, field in error_fields(value))
                return ExceptionNode(type(value), args, fields, self._attributes(value))
            case _:
                return frozen_copy(value, self.freeze, self.pinned) or self._instance(value)

    def _all(self, values: Iterable[Any]) -> tuple[Skeleton, ...]:
        return tuple([self.freeze(value) for value in values])

    def frame_or_seen(self, frame: Frame) -> FrameNode | SeenNode:
        """The skeleton of a frame on the stack; a generator's frame may have been seen already."""
        if id(frame) in self._seen:
            return SeenNode(self._seen[id(frame)][0])
        return self.frame(frame)

    def frame(self, frame: Frame) -> FrameNode:
        """The skeleton of a frame: its program point and its live registers."""
        live = sorted(name for name in frame.registers if name in frame.live(frame is self.top) or name[0] == "!")
        self._seen.setdefault(id(frame), (len(self._seen), frame))
        code, around = frame.function.code, self.place
        values = tuple([self.freeze_at((code, name), frame.registers[name]) for name in live])
        constructed = self.freeze_at((code, "self"), frame.constructed)
        self.place = around
        return FrameNode(
            frame.function,
            frame.position,
            tuple(live),
            values,
            tuple(frame.handlers),
            frame.purpose,
            constructed,
            self._globals(frame.globals),
        )

    def freeze_at(self, place: Place, value: Any) -> Skeleton:
        """The skeleton of a value that hangs at this place."""
        self.place = place
        return self.freeze(value)

    def _globals(self, namespace: dict[str, Any]) -> int:
        return self.pinned.number(namespace)

    def _tensor(self, value: torch.Tensor) -> Skeleton:
        self._memories[self._memory(value)] += 1
        in_list = self._memory(value) in self._shared
        aliases = self.recorder.recording.aliases
        sharing = aliases.sharing(value)
        if (id(value) in aliases.views or sharing) and not in_list and self.knowledge.knows(KeepViews(self.place)):
            if id(value) in aliases.views:
                return self._view(value)
            self.recorder.views_written(sharing)
        self._join_group(value, self._seen[id(value)][0])
        owner = aliases.owner(value)
        if in_list or (not self.recorder.is_dynamic(owner) and self.recorder.lies_outside(owner)):
            self._join_group(value, -1)
        dress = dress_of(value)
        return DressedNode(self._leaf(value), *dress) if any(dress) else self._leaf(value)

    def _leaf(self, value: torch.Tensor) -> TensorNode | ConstantNode:
        if self.recorder.is_dynamic(value):
            self.leaves.append(value)
            return TensorNode(dtype_name(value.dtype), self.recorder.type_of(value).shape, layout_of(value))
        # One element counts as contiguous whatever its stride is, which `view` does not take.
        content = value.detach().flatten().clone(memory_format=torch.contiguous_format)
        data = content.view(torch.uint8).numpy().tobytes() if content.numel() else b""
        return ConstantNode(dtype_name(value.dtype), tuple(value.shape), data, value.stride())

    def _rows(self, value: list[Any]) -> tuple[Skeleton, ...] | None:
        """The items of a list if all are of one kind that can be stacked; they get no number."""
        kinds = [template_of(item, self.recorder) for item in value]
        if not kinds or any(kind is None or kind[0] != kinds[0][0] for kind in kinds):  # type: ignore[index]
            return None
        return self._items(value)

    def _items(self, value: list[Any]) -> tuple[Skeleton, ...] | None:
        """The items of a list if none can be changed but the tensors in them; they get no number."""
        if type(value) is not list or any(template_of(item, self.recorder) is None for item in value):
            return None
        return tuple([self._row(item) for item in value])

    def _column(self, column: torch.Tensor) -> TensorNode | ConstantNode:
        self._count_row(column)
        return self._leaf(column)

    def _count_row(self, value: torch.Tensor) -> None:
        self._memories[self._memory(value)] += 1
        self._row_memories.add(self._memory(value))

    def _row(self, value: Any) -> Skeleton:
        """The skeleton of an item, or of a part of it, without a number."""
        if isinstance(value, torch.Tensor):
            self._count_row(value)
            leaf = self._leaf(value)
            return SharedNode(leaf) if self._memory(value) in self._shared else leaf
        if type(value) is HostArray:
            return HostArrayNode(value.scalar, self._row(value.tensor))
        if isinstance(value, tuple):
            return TupleNode(type(value), tuple([self._row(part) for part in value]))
        return self.freeze(value)

    def _view(self, value: torch.Tensor) -> ViewNode:
        """A view as the call that takes it, so that it stays one."""
        view = self.recorder.recording.aliases.views[id(value)]
        return ViewNode(view.func, self.freeze(view.args), self._all(view.kwargs.items()), view.position)

    def _memory(self, value: torch.Tensor) -> int:
        """What two tensors have in common exactly if they share memory, also where one has a stand-in in this block."""
        owner = self.recorder.recording.aliases.owner(value)
        return memory(self.recorder.recording.twins.get(id(owner), owner))

    def _join_group(self, value: torch.Tensor, number: int) -> None:
        """Note that the tensor with this number shares the memory of `value`; -1 stands for one without a number."""
        aliases = self.recorder.recording.aliases
        linked = list(aliases.linked(value).values()) if aliases.uncertain else [aliases.owner(value)]
        groups = [aliases.entangled[id(tensor)][1] for tensor in (value, *linked) if id(tensor) in aliases.entangled]
        key = min(groups) if groups else min(map(self._memory, linked))
        group = self._groups.setdefault(key, [])
        group.append(number)
        if key in aliases.outside_groups:
            group.append(-1)

    def _cell(self, cell: types.CellType) -> Skeleton | None:
        try:
            contents = cell.cell_contents
        except ValueError:
            return None
        return self.freeze(contents)

    def _function(self, value: types.FunctionType) -> ClosureNode:
        return ClosureNode(
            value.__code__,
            self._globals(value.__globals__),
            (value.__name__, value.__qualname__, value.__module__, value.__doc__),
            self.freeze(value.__closure__),
            self.freeze(value.__defaults__),
            self.freeze(value.__kwdefaults__),
            self.freeze(value.__annotations__),
            self._attributes(value),
        )

    def _range(self, value: RangeIterator) -> RangeNode:
        position, stop, step = self.freeze(value.position), self.freeze(value.stop), self.freeze(value.step)
        return RangeNode(position, stop, step, self.freeze(value.rows))

    def _attributes(self, value: Any) -> Any:
        held = own_dict(value)
        slots = tuple((name, self.freeze(getattr(value, name))) for name in filled_slots(value))
        if slots and held is None:
            return AttributesNode((), (), slots)
        if (slots or isinstance(value, types.SimpleNamespace)) and (held in self.pinned or id(held) in self._seen):
            raise Refused("DY009", f"a `{type(value).__name__}` is alive across a decision, and its `__dict__` too")
        if held is not None and held in self.pinned:
            return self.freeze(held)
        if held is None or (not held and isinstance(value, types.FunctionType) and id(held) not in self._seen):
            return None
        # The program may have this dict by itself, too.
        if id(held) in self._seen:
            return SeenNode(self._seen[id(held)][0])
        self._seen[id(held)] = (len(self._seen), held)
        return AttributesNode(tuple(held), self._all(held.values()), slots)

    def _instance(self, value: Any) -> ObjectNode:
        require_plain_object(value)
        return ObjectNode(type(value), self._attributes(value))
