"""Thaw a state: rebuild fresh objects from a skeleton, with new leaves, so that it can be continued."""

import collections
import types
import weakref
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import torch

from dycl.rewrite.knowledge import Place
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.addresses import Address
from dycl.rewrite.state.class_nodes import ClassNode, DressedNode, MadeNode, PlainNode, WrapperNode
from dycl.rewrite.state.classes import builtin_maker, empty_class, fill_class, thawed_wrapper
from dycl.rewrite.state.copied import made_set
from dycl.rewrite.state.frames import Frame, Generator, HostRange, ItemIterator, ParallelIterator, RangeIterator
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
    ReferenceNode,
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
from dycl.rewrite.state.written_in_c import CopiedNode, thawed_copy
from dycl.rewrite.tensor_types import dress

_UNFINISHED = object()


class Thawer:
    """Rebuilds the values of one state with fresh leaves from `next_leaf`."""

    def __init__(self, pinned: Pinned, next_leaf: Callable[[], Leaf], recorder: Recorder) -> None:
        self.pinned = pinned
        self.recorder = recorder
        self.next_leaf = next_leaf
        self.seen: list[Any] = []
        self._waiting: dict[int, list[types.CellType]] = {}
        """Variables that hold what is not finished yet, by its number."""
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
                if self.seen[number] is _UNFINISHED:
                    raise Refused("DY009", "an object that holds itself is alive across a decision")
                return self.seen[number]
            case MadeNode(cls, value):
                made = self.thaw(cls)
                return self.thaw(value if isinstance(value, SeenNode) else cast(Any, value)._replace(cls=made))
            case ClassNode():
                number = self._reserve()
                made = self.seen[number] = empty_class(skeleton, self.thaw)
                self.pinned.note_copy(made)
                fill_class(made, skeleton, self.thaw)
                return made
            case AddressNode(told_by, owner):
                return Address(told_by, self.thaw(owner))
            case HostNode():
                return self.next_leaf()
            case HostArrayNode(scalar, tensor):
                return HostArray(self.thaw(tensor), scalar)
            case TensorNode():
                return self._placed(self._new(self.next_leaf()))
            case ConstantNode():
                constant = self._new(constant_tensor(skeleton))
                self.recorder.own(constant)
                return self._placed(constant)
            case DressedNode(tensor, is_parameter, is_buffer, requires_grad):
                return dress(self.thaw(tensor), is_parameter, is_buffer, requires_grad)
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
        self.seen.append(_UNFINISHED)
        return len(self.seen) - 1

    def _container(self, skeleton: Skeleton) -> Any:
        match skeleton:
            case ListNode(cls, items, attributes):
                result = self._new(_allocated(cls))
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
                result = self._new(_allocated(cls))
                collections.deque.__init__(result, (), maxlen)
                collections.deque.extend(result, [self.thaw(item) for item in items])
                return self._with_attributes(result, attributes)
            case DictNode(cls, pairs, factory, attributes):
                result = self._new(_allocated(cls))
                # An ordered dict keeps its order in a list of its own, which `dict` does not know.
                ordered = issubclass(cls, collections.OrderedDict)
                store = collections.OrderedDict.__setitem__ if ordered else dict.__setitem__
                for key, item in pairs:
                    store(result, _hashed(self.thaw(key)), self.thaw(item))
                made = self.thaw(factory)
                if isinstance(result, collections.defaultdict):
                    result.default_factory = made
                return self._with_attributes(result, attributes)
            case TupleObjectNode(cls, items, attributes):
                number = self._reserve()
                result = self.seen[number] = _tuple(cls, [self.thaw(item) for item in items])
                return self._with_attributes(result, attributes)
            case SetNode(cls, items, room, attributes):
                number = self._reserve()
                result = self.seen[number] = made_set(cls, [self.thaw(item) for item in items], room)
                return self._with_attributes(result, attributes)
            case CellNode(contents):
                cell = self._new(types.CellType())
                if isinstance(contents, SeenNode) and self.seen[contents.number] is _UNFINISHED:
                    self._waiting.setdefault(contents.number, []).append(cell)
                elif contents is not None:
                    cell.cell_contents = self.thaw(contents)
                return cell
            case PlainNode(cls, base, _, value, attributes):
                return self._with_attributes(self._new(cast(Any, base).__new__(cls, value)), attributes)
            case ExceptionNode(cls, args, fields, attributes):
                number = self._reserve() if issubclass(cls, BaseExceptionGroup) else -1
                error = _allocated(cls, *self.thaw(args)) if number >= 0 else self._new(_allocated(cls))
                if number >= 0:
                    self.seen[number] = error
                else:
                    error.args = self.thaw(args)
                for name, field in fields:
                    setattr(error, name, self.thaw(field))
                return self._with_attributes(error, attributes)
            case ObjectNode(cls, attributes):
                plain = not issubclass(cls, types.SimpleNamespace)
                result = self._new(object.__new__(cls) if plain else _allocated(cls))
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
            case HostArrayNode(scalar, tensor):
                return HostArray(self._row(tensor), scalar)
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
                for cell in self._waiting.pop(number, ()):
                    cell.cell_contents = made
                made.__kwdefaults__ = self.thaw(keyword_defaults)
                made.__name__, made.__qualname__, made.__module__, made.__doc__ = names
                made.__annotations__ = self.thaw(annotations)
                self._with_attributes(made, attributes)
            case PartialNode(cls, function, args, keywords, attributes):
                given = (self.thaw(function), self.thaw(args), self.thaw(keywords))
                self.seen[number] = builtin_maker(cls)(cls, given[0], *given[1], **given[2])
                self._with_attributes(self.seen[number], attributes)
            case WrapperNode(cls, parts, names, values):
                made_of = [self.thaw(part) for part in parts]
                held = {name: self.thaw(value) for name, value in zip(names, values, strict=True)}
                self.seen[number] = thawed_wrapper(cls, made_of, held)
            case CopiedNode():
                self.seen[number] = thawed_copy(skeleton, self.thaw)
            case BoundNode(name, owner, cls):
                bound_to = self.thaw(owner)
                own = cls is None or not issubclass(type(bound_to), cls)  # a list may have become one of unknown length
                self.seen[number] = getattr(bound_to, name) if own else vars(cls)[name].__get__(bound_to)
            case SuperNode(after, owner):
                self.seen[number] = super(self.thaw(after), self.thaw(owner))
            case IteratorNode(items, position, known, source, part, kind):
                gone_through = self.thaw(items)
                # The list may have grown while the loop goes over it.
                self.seen[number] = (
                    RangeIterator(position, None, 1, gone_through)
                    if type(gone_through) is GrownList
                    else ItemIterator(gone_through, position, known, self.thaw(source), part, kind)
                )
            case ParallelNode(parts, strict, kind):
                side_by_side = tuple([self.thaw(part) for part in parts])
                if any(isinstance(part, RangeIterator) for part in side_by_side):
                    raise Refused("DY011", "a loop goes over a list of unknown length and something else side by side")
                self.seen[number] = ParallelIterator(side_by_side, strict, kind)
            case LazyNode(kind, made_at, parts, value, numbers, position):
                made_of = [self.thaw(part) for part in parts]
                self.seen[number] = LazyIterator(kind, made_at, made_of, self.thaw(value), numbers, position)
            case RangeNode(start, stop, step, rows):
                self.seen[number] = RangeIterator(*map(self.thaw, (start, stop, step, rows)))
            case HostRangeNode(start, stop, step):
                self.seen[number] = HostRange(*map(self.thaw, (start, stop, step)))
            case GeneratorNode(stage, names, frame, value):
                generator = Generator.__new__(Generator)
                self.seen[number] = generator
                generator.started, generator.finished, generator.gi_running = stage
                generator.names = names
                generator.frame, generator.value = self.thaw(frame), self.thaw(value)
            case ReferenceNode(PinnedNode(key)):
                self.seen[number] = weakref.ref(self.pinned[key])
            case ArrayNode(dtype, shape, data, writeable):
                array = np.frombuffer(data, dtype=dtype).reshape(shape).copy()
                array.flags.writeable = writeable
                self.seen[number] = array
            case _:
                raise AssertionError(f"unknown skeleton {skeleton}")
        return self.seen[number]

    def _with_attributes(self, value: Any, attributes: AttributesNode | SeenNode | PinnedNode | None) -> Any:
        if isinstance(attributes, SeenNode | PinnedNode):
            object.__setattr__(value, "__dict__", self.thaw(attributes))
        elif attributes is not None:
            # By its class's own way: the program's may decide something.
            for name, part in attributes.slots:
                object.__setattr__(value, name, self.thaw(part))
            own = _dict_of(value)
            if own is not None:
                self._new(own)
                held = [self.thaw(part) for part in attributes.values]
                own.update(zip(attributes.names, held, strict=True))
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


def _allocated(cls: Any, *args: Any) -> Any:
    """An object of a class made from one of Python's own, without anything in it; no method of the class is run."""
    return builtin_maker(cls)(cls, *args)


def _tuple(cls: type, items: list[Any]) -> Any:
    if cls is torch.Size:
        return torch.Size(_as_pytorch_takes(items))
    if hasattr(cls, "n_sequence_fields"):
        # What `max`, `sort` and others return is a tuple made in C, which takes its items as one argument.
        return cls(items)
    return tuple(items) if cls is tuple else tuple.__new__(cls, items)


def constant_tensor(node: ConstantNode) -> torch.Tensor:
    """The tensor that a skeleton's constant stands for."""
    element = getattr(torch, node.dtype)
    if not node.data:
        return torch.empty_strided(node.shape, node.strides, dtype=element)
    in_order = torch.frombuffer(bytearray(node.data), dtype=element).reshape(node.shape).clone()
    if in_order.stride() == node.strides:
        return in_order
    reach = sum((size - 1) * stride for size, stride in zip(node.shape, node.strides, strict=True)) + 1
    memory = torch.zeros(reach, dtype=element)
    places = torch.arange(reach).as_strided(node.shape, node.strides).reshape(-1)
    return memory.index_put_((places,), in_order.reshape(-1)).as_strided(node.shape, node.strides)


def _dict_of(value: Any) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None  # a class with places alone
    return found


def _hashed(key: Any) -> Any:
    """A key of a dict; refused if what it is found by has become a number that only the input determines."""
    try:
        hash(key)
    except TypeError:
        raise Refused("DY009", f"a `{type(key).__name__}` alive across a decision is a key, and has no hash") from None
    return key
