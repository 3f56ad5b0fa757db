"""Freeze a state: walk everything that is still live and write it down as a skeleton and its leaves."""

import collections
import contextvars
import functools
import types
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import torch

from dycl.rewrite.knowledge import KeepViews, Knowledge, Loose, Place, Table
from dycl.rewrite.normalise.private_names import mangled
from dycl.rewrite.record.aliases import memory
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue, import_symbol
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.addresses import Address
from dycl.rewrite.state.copied import error_fields, in_order, require_plain_array
from dycl.rewrite.state.frames import Frame, Generator, HostRange, ItemIterator, ParallelIterator, RangeIterator
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
    Leaf,
    ListNode,
    MethodNode,
    ObjectNode,
    ParallelNode,
    PartialNode,
    Pinned,
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
    ViewNode,
)
from dycl.rewrite.state.tables import GrownList, template_of
from dycl.rewrite.state.unchanging import ATOMS, TOLD_BY_TEXT, is_shared
from dycl.rewrite.tensor_types import dtype_name


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
        if isinstance(value, ATOMS):
            exact = repr(value) if isinstance(value, TOLD_BY_TEXT) else value
            return AtomNode(type(value), exact, value)
        if self.pinned.was_made(value if isinstance(value, type) else type(value)):
            raise Refused("DY009", "a class made during the call, or an object of one, is alive across a decision")
        if value in self.pinned or is_shared(value):
            self.pinned.add(value)
            return PinnedNode(id(value))
        if id(value) in self._seen:
            return SeenNode(self._seen[id(value)][0])
        if not isinstance(value, tuple | types.MethodType):
            self._seen[id(value)] = (len(self._seen), value)
        return self._object(value)

    def shared_memories(self) -> set[int]:
        """The memory that items of the frozen tables share with other tensors."""
        return {key for key in self._row_memories if self._memories[key] > 1}

    def entangled(self) -> tuple[tuple[int, ...], ...]:
        """Which of the seen tensors share memory with another one."""
        groups = (sorted(set(group)) for group in self._groups.values())
        return tuple(sorted(tuple(group) for group in groups if len(group) > 1))

    def _object(self, value: Any) -> Skeleton:
        match value:
            case torch.Tensor():
                return self._tensor(value)
            case slice():
                return SliceNode(self.freeze(value.start), self.freeze(value.stop), self.freeze(value.step))
            case tuple():
                return TupleNode(type(value), self._all(value))
            case GrownList():
                return GrownNode(value.template, tuple([self._column(column) for column in value.columns]))
            case list() if self.knowledge.knows(Table(self.place)) and (rows := self._rows(value)) is not None:
                return RowsNode(rows)
            case list() if self.knowledge.knows(Loose(self.place)) and (items := self._items(value)) is not None:
                return ItemsNode(items)
            case list():
                return ListNode(type(value), self._all(value), self._attributes(value))
            case collections.deque():
                return DequeNode(type(value), self._all(value), value.maxlen, self._attributes(value))
            case dict():
                factory = value.default_factory if isinstance(value, collections.defaultdict) else None
                pairs = tuple((self.freeze(key), self.freeze(item)) for key, item in value.items())
                return DictNode(type(value), pairs, self.freeze(factory), self._attributes(value))
            case set() | frozenset():
                return SetNode(type(value), self._all(in_order(value)), self._attributes(value))
            case types.CellType():
                return CellNode(self._cell(value))
            case types.FunctionType():
                return self._function(value)
            case types.MethodType():
                return MethodNode(self.freeze(value.__func__), self.freeze(value.__self__))
            case functools.partial():
                return PartialNode(self.freeze(value.func), self.freeze(value.args), self.freeze(value.keywords))
            case types.MethodWrapperType() | types.BuiltinMethodType():
                return BoundNode(value.__name__, self.freeze(value.__self__))
            case super():
                owner: Any = value
                return SuperNode(owner.__thisclass__, self.freeze(owner.__self__))
            case Frame():
                return self.frame(value)
            case ItemIterator():
                gone_through = self.freeze(value.items)
                return IteratorNode(gone_through, value.position, value.known, self.freeze(value.source), value.part)
            case ParallelIterator():
                return ParallelNode(self._all(value.parts))
            case RangeIterator():
                return self._range(value)
            case HostRange():
                return HostRangeNode(self.freeze(value.start), self.freeze(value.stop), self.freeze(value.step))
            case Generator():
                return GeneratorNode(value.started, value.finished, self.freeze(value.frame), self.freeze(value.value))
            case np.ndarray():
                require_plain_array(value, [seen for _, seen in self._seen.values()])
                return ArrayNode(value.dtype.str, value.shape, value.tobytes(), value.flags.writeable)
            case BaseException():
                args = self.freeze(value.args)
                fields = tuple((name, self.freeze(field)) for name, field in error_fields(value))
                return ExceptionNode(type(value), args, fields, self._attributes(value))
            case _:
                return self._instance(value)

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
        self.pinned.add(namespace)
        return id(namespace)

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
        if in_list:
            self._join_group(value, -1)
        if not self.recorder.is_dynamic(value) and memory(value) in self.recorder.model_memory:
            self._join_group(value, -1)
        return self._leaf(value)

    def _leaf(self, value: torch.Tensor) -> TensorNode | ConstantNode:
        if self.recorder.is_dynamic(value):
            self.leaves.append(value)
            shape = self.recorder.type_of(value).shape
            strides = tuple(value.stride()) if all(isinstance(size, int) for size in shape) else None
            return TensorNode(dtype_name(value.dtype), shape, strides)
        content = value.detach().contiguous()
        data = content.flatten().view(torch.uint8).numpy().tobytes() if content.numel() else b""
        return ConstantNode(dtype_name(value.dtype), tuple(value.shape), data)

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
        known = aliases.entangled.get(id(value)) or aliases.entangled.get(id(aliases.owner(value)))
        key = self._memory(value) if known is None else known[1]
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

    def _attributes(self, value: Any) -> AttributesNode | None:
        held = getattr(value, "__dict__", None)
        if not held:
            return None
        return AttributesNode(tuple(held), self._all(held.values()))

    def _instance(self, value: Any) -> ObjectNode:
        cls: Any = type(value)
        slots = [name for base in cls.__mro__ for name in _slots(base) if hasattr(value, name)]
        made_in_python = cls.__new__ is object.__new__ or isinstance(cls.__new__, types.FunctionType)
        made_in_python = made_in_python or cls.__new__ is types.SimpleNamespace.__new__
        plain = cls.__reduce_ex__ is object.__reduce_ex__ and made_in_python
        if not plain or not (hasattr(value, "__dict__") or slots):
            reason = f"an object of type `{cls.__name__}` is alive across a decision and cannot be copied"
            raise Refused("DY009", reason)
        parts = tuple((name, self.freeze(getattr(value, name))) for name in slots)
        return ObjectNode(cls, parts, self._attributes(value))


def _slots(cls: type) -> list[str]:
    """The attributes that a class has places for, by the names under which they are found."""
    named = vars(cls).get("__slots__", ())
    names = (named,) if isinstance(named, str) else tuple(named)
    return [mangled(name, cls.__name__) for name in names if name not in ("__dict__", "__weakref__")]
