"""Thaw a state: rebuild fresh objects from a skeleton, with new leaves, so that it can be continued."""

import collections
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from dycl.rewrite.knowledge import Place
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.addresses import Address
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
from dycl.rewrite.state.tables import GrownList


class Thawer:
    """Rebuilds the values of one state with fresh leaves from `next_leaf`."""

    def __init__(self, pinned: Pinned, next_leaf: Callable[[], Leaf], recorder: Recorder) -> None:
        self.pinned = pinned
        self.recorder = recorder
        self.next_leaf = next_leaf
        self.seen: list[Any] = []
        self.place: Place = ("?",)
        """Where the value that is being thawed hangs."""

    def thaw(self, skeleton: Skeleton) -> Any:
        """A fresh value with this skeleton."""
        match skeleton:
            case AtomNode(value=value):
                return value
            case PinnedNode(key):
                return self.pinned[key]
            case SeenNode(number):
                return self.seen[number]
            case AddressNode(told_by, owner):
                return Address(told_by, self.thaw(owner))
            case HostNode():
                return self.next_leaf()
            case HostArrayNode(scalar, tensor):
                return HostArray(self.thaw(tensor), scalar)
            case TensorNode():
                return self._placed(self._new(self.next_leaf()))
            case ConstantNode(dtype, shape, data):
                constant = self._new(constant_tensor(dtype, shape, data))
                self.recorder.own(constant)
                return self._placed(constant)
            case ViewNode(func, args, kwargs, position):
                number = self._reserve()
                arguments, options = self.thaw(args), dict([self.thaw(item) for item in kwargs])
                with self.recorder.on():
                    result = func(*_as_pytorch_takes(arguments), **_as_pytorch_takes(options))
                self.seen[number] = result if position is None else result[position]
                return self.seen[number]
            case TupleNode(cls, items):
                return _tuple(cls, [self.thaw(item) for item in items])
            case SliceNode(start, stop, step):
                number = self._reserve()
                self.seen[number] = slice(self.thaw(start), self.thaw(stop), self.thaw(step))
                return self.seen[number]
            case TokenNode(key):
                variable = self.pinned[key]
                return variable.set(variable.get(None))
            case MethodNode(function, owner):
                return types.MethodType(self.thaw(function), self.thaw(owner))
            case FrameNode():
                return self.frame(skeleton)
            case _:
                return self._container(skeleton)

    def _placed(self, tensor: Any) -> Any:
        self.recorder.recording.places[id(tensor)] = self.place
        return tensor

    def thaw_at(self, place: Place, skeleton: Skeleton) -> Any:
        """A fresh value with this skeleton, which hangs at this place."""
        self.place = place
        return self.thaw(skeleton)

    def _new(self, value: Any) -> Any:
        self.seen.append(value)
        return value

    def _reserve(self) -> int:
        self.seen.append(None)
        return len(self.seen) - 1

    def _container(self, skeleton: Skeleton) -> Any:
        match skeleton:
            case ListNode(cls, items, attributes):
                result = self._new(cls.__new__(cls))
                list.extend(result, [self.thaw(item) for item in items])
                return self._with_attributes(result, attributes)
            case RowsNode(items) | ItemsNode(items):
                result = self._new([])
                result.extend([self._row(item) for item in items])
                return result
            case GrownNode(template, columns):
                number = self._reserve()
                self.seen[number] = GrownList(template, [self._row(column) for column in columns], self.recorder)
                return self.seen[number]
            case DequeNode(cls, items, maxlen, attributes):
                result = self._new(cls.__new__(cls))
                collections.deque.__init__(result, (), maxlen)
                collections.deque.extend(result, [self.thaw(item) for item in items])
                return self._with_attributes(result, attributes)
            case DictNode(cls, pairs, factory, attributes):
                result = self._new(cls.__new__(cls))
                # An ordered dict keeps its order in a list of its own, which `dict` does not know.
                ordered = issubclass(cls, collections.OrderedDict)
                store = collections.OrderedDict.__setitem__ if ordered else dict.__setitem__
                for key, item in pairs:
                    store(result, self.thaw(key), self.thaw(item))
                made = self.thaw(factory)
                if isinstance(result, collections.defaultdict):
                    result.default_factory = made
                return self._with_attributes(result, attributes)
            case SetNode(cls, items, attributes):
                number = self._reserve()
                parts = [self.thaw(item) for item in items]
                frozen = issubclass(cls, frozenset)
                result = self.seen[number] = cls.__new__(cls, parts) if frozen else cls.__new__(cls)
                if not frozen:
                    set.update(result, parts)
                return self._with_attributes(result, attributes)
            case CellNode(contents):
                cell = self._new(types.CellType())
                if contents is not None:
                    cell.cell_contents = self.thaw(contents)
                return cell
            case ExceptionNode(cls, args, fields, attributes):
                error = self._new(cls.__new__(cls))
                error.args = self.thaw(args)
                for name, field in fields:
                    setattr(error, name, self.thaw(field))
                return self._with_attributes(error, attributes)
            case ObjectNode(cls, slots, attributes):
                plain = not issubclass(cls, types.SimpleNamespace)
                result = self._new(object.__new__(cls) if plain else cls.__new__(cls))
                for name, value in slots:
                    object.__setattr__(result, name, self.thaw(value))
                return self._with_attributes(result, attributes)
            case _:
                return self._callable_or_iterator(skeleton)

    def _row(self, skeleton: Skeleton) -> Any:
        """An item of a list, which has no number."""
        match skeleton:
            case SharedNode(tensor):
                value = self._row(tensor)
                self.recorder.share_outside(value)
                return value
            case TupleNode(cls, items):
                return _tuple(cls, [self._row(item) for item in items])
            case _:
                return Thawer(self.pinned, self.next_leaf, self.recorder).thaw(skeleton)

    def _callable_or_iterator(self, skeleton: Skeleton) -> Any:
        number = self._reserve()
        match skeleton:
            case ClosureNode(code, namespace, names, closure, defaults, keyword_defaults, annotations, attributes):
                cells = self.thaw(closure)
                made = types.FunctionType(code, self.pinned[namespace], code.co_name, self.thaw(defaults), cells)
                self.seen[number] = made
                made.__kwdefaults__ = self.thaw(keyword_defaults)
                made.__name__, made.__qualname__, made.__module__, made.__doc__ = names
                made.__annotations__ = self.thaw(annotations)
                self._with_attributes(made, attributes)
            case PartialNode(function, args, keywords):
                self.seen[number] = functools.partial(self.thaw(function), *self.thaw(args), **self.thaw(keywords))
            case BoundNode(name, owner):
                self.seen[number] = getattr(self.thaw(owner), name)
            case SuperNode(cls, owner):
                self.seen[number] = super(cls, self.thaw(owner))
            case IteratorNode(items, position, known, source, part):
                gone_through = self.thaw(items)
                # The list may have grown while the loop goes over it.
                self.seen[number] = (
                    RangeIterator(position, None, 1, gone_through)
                    if type(gone_through) is GrownList
                    else ItemIterator(gone_through, position, known, self.thaw(source), part)
                )
            case ParallelNode(parts):
                side_by_side = tuple([self.thaw(part) for part in parts])
                if any(isinstance(part, RangeIterator) for part in side_by_side):
                    raise Refused("DY011", "a loop goes over a list of unknown length and something else side by side")
                self.seen[number] = ParallelIterator(side_by_side)
            case RangeNode(start, stop, step, rows):
                self.seen[number] = RangeIterator(*map(self.thaw, (start, stop, step, rows)))
            case HostRangeNode(start, stop, step):
                self.seen[number] = HostRange(*map(self.thaw, (start, stop, step)))
            case GeneratorNode(started, finished, frame, value):
                generator = Generator.__new__(Generator)
                self.seen[number] = generator
                generator.started, generator.finished = started, finished
                generator.frame, generator.value = self.thaw(frame), self.thaw(value)
            case ArrayNode(dtype, shape, data, writeable):
                array = np.frombuffer(data, dtype=dtype).reshape(shape).copy()
                array.flags.writeable = writeable
                self.seen[number] = array
            case _:
                raise AssertionError(f"unknown skeleton {skeleton}")
        return self.seen[number]

    def _with_attributes(self, value: Any, attributes: AttributesNode | None) -> Any:
        if attributes is not None:
            held = [self.thaw(part) for part in attributes.values]
            vars(value).update(zip(attributes.names, held, strict=True))
        return value

    def frame_or_seen(self, skeleton: FrameNode | SeenNode) -> Frame:
        """A frame of the stack."""
        frame = self.thaw(skeleton)
        assert isinstance(frame, Frame)
        return frame

    def frame(self, node: FrameNode) -> Frame:
        """A fresh frame at the same program point."""
        namespace = self.pinned[node.namespace]
        frame = Frame(node.function, namespace, {}, node.position, list(node.handlers), node.purpose)
        self._new(frame)
        code, around = node.function.code, self.place
        frame.registers.update(
            {name: self.thaw_at((code, name), value) for name, value in zip(node.names, node.values, strict=True)}
        )
        frame.constructed = self.thaw_at((code, "self"), node.constructed)
        self.place = around
        return frame


def _as_pytorch_takes(tree: Any) -> Any:
    """Arguments with symbols in the place of host values."""
    match tree:
        case HostValue():
            return tree.symbol()
        case tuple() | list():
            return type(tree)([_as_pytorch_takes(part) for part in tree])
        case dict():
            return {name: _as_pytorch_takes(part) for name, part in tree.items()}
        case _:
            return tree


def _tuple(cls: type, items: list[Any]) -> Any:
    if cls is torch.Size:
        return torch.Size(_as_pytorch_takes(items))
    if hasattr(cls, "n_sequence_fields"):
        # What `max`, `sort` and others return is a tuple made in C, which takes its items as one argument.
        return cls(items)
    return tuple(items) if cls is tuple else tuple.__new__(cls, items)


def constant_tensor(dtype: str, shape: tuple[int, ...], data: bytes) -> torch.Tensor:
    """The tensor that a skeleton's constant stands for."""
    element = getattr(torch, dtype)
    if not data:
        return torch.empty(shape, dtype=element)
    return torch.frombuffer(bytearray(data), dtype=element).reshape(shape)
