"""Contents of the containers and plain objects that a model holds: to copy, to compare, to put back."""

import array
import collections
import operator
import types
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.signals import Refused
from dycl.rewrite.state.copied import fill_set, in_order, items_held, require_quiet_keys
from dycl.rewrite.state.freeze import Freezer
from dycl.rewrite.state.thaw import Thawer
from dycl.rewrite.state.whole_state import ContainerNode, Hidden


class Slots:
    """The fields of an object whose class names them beforehand."""

    def __init__(self, owner: Any, fields: dict[str, types.MemberDescriptorType]) -> None:
        self.owner = owner
        self.fields = fields

    def read(self) -> dict[str, Any]:
        """The fields that are set."""
        missing = object()
        values = {name: _field(field, self.owner, missing) for name, field in self.fields.items()}
        return {name: value for name, value in values.items() if value is not missing}

    def write(self, contents: dict[str, Any]) -> None:
        """Let exactly these fields be set."""
        for name in self.read().keys() - contents.keys():
            self.fields[name].__delete__(self.owner)
        for name, value in contents.items():
            self.fields[name].__set__(self.owner, value)


class ClassData:
    """The attributes of a class that are plain values: a setting, a counter."""

    def __init__(self, owner: type) -> None:
        self.owner = owner

    def read(self) -> dict[str, Any]:
        """The attributes that are plain values."""
        return {name: value for name, value in vars(self.owner).items() if is_class_data(name, value)}

    def write(self, contents: dict[str, Any]) -> None:
        """Let exactly these attributes be set."""
        for name in self.read().keys() - contents.keys():
            type.__delattr__(self.owner, name)
        for name, value in contents.items():
            if vars(self.owner).get(name, self) is not value:
                type.__setattr__(self.owner, name, value)


def is_class_data(name: str, value: Any) -> bool:
    """Whether an attribute of a class is a plain value, not a method, a property or something of Python's own."""
    return not name.startswith("__") and not hasattr(type(value), "__get__") and not isinstance(value, type)


def _field(field: types.MemberDescriptorType, owner: Any, otherwise: Any) -> Any:
    try:
        return field.__get__(owner)
    except AttributeError:
        return otherwise


def slots_of(value: Any) -> Slots | None:
    """The fields of an object that stand in no dictionary."""
    fields = {
        name: found
        for cls in reversed(type(value).__mro__)
        if "__slots__" in vars(cls)
        for name, found in vars(cls).items()
        if isinstance(found, types.MemberDescriptorType)
    }
    return Slots(value, fields) if fields else None


BUFFERS = (np.ndarray, bytearray, array.array, memoryview)
"""What holds plain numbers."""
CONTAINERS = (dict, list, collections.deque, set, *BUFFERS, types.CellType, Slots, ClassData)
"""What holds other things otherwise than in attributes."""


def contents_of(value: Any) -> Any:
    """A copy of what a container or plain object holds."""
    match value:
        case dict():
            return _plain_dict(value)
        case list() | collections.deque():
            return items_held(value)
        case set():
            return set(set.__iter__(value))
        case np.ndarray():
            return value.copy()
        case bytearray():
            return bytes(value)
        case array.array() | memoryview():
            return value.tobytes()
        case types.CellType():
            return cell_contents(value)
        case Slots() | ClassData():
            return value.read()
        case _:
            return dict(vars(value))


def _plain_dict(value: dict[Any, Any]) -> dict[Any, Any]:
    """A dict with the entries of another, in their order; the code of its keys is not run if that may change things."""
    cls: Any = type(value)
    if cls.__iter__ is dict.__iter__:
        return dict.copy(value)
    require_quiet_keys(dict.keys(value))
    return dict(_entries(value))


def _entries(value: dict[Any, Any]) -> Any:
    """The entries of a dict in their order, by the builtin's own method: a subclass may have another in its place."""
    return (collections.OrderedDict if isinstance(value, collections.OrderedDict) else dict).items(value)


def cell_contents(cell: types.CellType) -> list[Any]:
    """What a variable that functions share holds: one value, or none yet."""
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


def items_of(contents: Any) -> list[Any]:
    """Everything that stands in contents, keys too; numbers are nothing by themselves."""
    match contents:
        case np.ndarray():
            return list(contents.flat) if contents.dtype.hasobject else []
        case bytes():
            return []
        case dict():
            return [*contents, *contents.values()]
        case _:
            return list(contents)


def values_of(contents: Any) -> list[Any]:
    """The items of contents, for a dict its values; numbers have none."""
    if isinstance(contents, np.ndarray | bytes):
        return []
    return list(contents.values() if isinstance(contents, dict) else contents)


def holds_one_of(contents: Any, tensors: Collection[int]) -> bool:
    """Whether one of these tensors stands in contents."""
    return any(id(value) in tensors for value in values_of(contents))


def mapped(contents: Any, change: Callable[[Any], Any]) -> Any:
    """Contents with each item changed."""
    if isinstance(contents, dict):
        require_quiet_keys(contents)
        return {key: change(value) for key, value in contents.items()}
    return contents if isinstance(contents, set | np.ndarray | bytes) else [change(value) for value in contents]


def _live_contents(container: Any) -> Any:
    """What a container holds, without copying where that can be helped."""
    if isinstance(container, dict | list | collections.deque | set | np.ndarray | bytearray):
        return container
    return contents_of(container) if isinstance(container, CONTAINERS) else vars(container)


_PLAIN = (dict, list, collections.deque, set, bytes, bytearray)


def is_same(container: Any, contents: Any) -> bool:
    """Whether a container still holds exactly these contents."""
    return same_contents(_live_contents(container), contents)


def same_contents(live: Any, contents: Any) -> bool:
    """Whether two contents are the same objects in the same places."""
    if isinstance(live, dict) and dict.__contains__(live, FakeTensor) and FakeTensor not in contents:
        # A table by type has learnt a type that exists only while compiling.
        live = _plain_dict(live)
        del live[FakeTensor]
    if isinstance(contents, np.ndarray):
        same_kind = bool(live.shape == contents.shape and live.dtype == contents.dtype)
        return same_kind and live.tobytes() == contents.tobytes()
    if type(live) not in _PLAIN:
        live = _plain_dict(live) if isinstance(live, dict) else contents_of(live)
    if len(live) != len(contents):
        return False
    if isinstance(contents, bytes | set):
        return bool(live == contents)
    if isinstance(contents, dict):
        return list(live) == list(contents) and all(map(operator.is_, live.values(), contents.values()))
    return all(map(operator.is_, live, contents))


def fill(container: Any, contents: Any) -> None:
    """Let a container hold exactly these contents."""
    if is_same(container, contents) and not _holds_others(container, contents):
        return
    match container:
        case np.ndarray():
            container[...] = contents
        case bytearray():
            container[:] = contents
        case array.array():
            del container[:]
            container.frombytes(contents)
        case memoryview():
            container.cast("B")[:] = contents
        case types.CellType() if contents:
            container.cell_contents = contents[0]
        case types.CellType():
            del container.cell_contents
        case Slots() | ClassData():
            container.write(contents)
        case dict() | list() | set() | collections.deque():
            _refill(container, contents)
        case _:
            _refill(vars(container), contents)


def _holds_others(container: Any, contents: Any) -> bool:
    """Whether a set holds equal items that are other objects: weak references, for instance, that tell nobody."""
    if not isinstance(container, set) or not isinstance(contents, set):
        return False
    return set(map(id, set.__iter__(container))) != set(map(id, contents))


def _refill(live: Any, contents: Any) -> None:
    # By the builtin's own methods: a subclass may have others in their place.
    kind = next(
        kind for kind in (collections.OrderedDict, dict, list, set, collections.deque) if isinstance(live, kind)
    )
    methods: Any = kind
    methods.clear(live)
    (methods.extend if kind in (list, collections.deque) else methods.update)(live, contents)


def freeze_contents(container: Any, place: tuple[int, str], freezer: Freezer) -> ContainerNode:
    """What a container at this place holds now; keys are hidden from widening, since only known ones can be keys."""
    freezer.place = place
    live = _live_contents(container)
    if isinstance(live, np.ndarray | bytearray | bytes):
        return ContainerNode(place, None, freezer.freeze(contents_of(live) if not isinstance(live, bytes) else live))
    if isinstance(live, set):
        items, room = in_order(live)
        return ContainerNode(place, _hidden(freezer, (room, *items)), None)
    if not isinstance(live, list | collections.deque):
        entries = _plain_dict(live)
        require_quiet_keys(entries)
        return ContainerNode(place, _hidden(freezer, tuple(entries)), freezer.freeze(tuple(entries.values())))
    return ContainerNode(place, None, freezer.freeze(tuple(items_held(live))))


def _hidden(freezer: Freezer, keys: tuple[Any, ...]) -> Hidden:
    before = len(freezer.leaves)
    hidden = Hidden(freezer.freeze(keys))
    if len(freezer.leaves) > before:
        reason = "a value that only the input determines is a key, or in a set, of what outlives the call"
        raise Refused("DY009", reason, "keep it in a list, or as the value of a key that is known")
    return hidden


def thaw_contents(container: Any, node: ContainerNode, thawer: Thawer) -> None:
    """Let a container hold what a node tells."""
    thawer.place = node.place
    known: Any = None if node.keys is None else thawer.thaw(node.keys.skeleton)
    items = () if node.values is None else thawer.thaw(node.values)
    if isinstance(container, set):
        set.clear(container)
        fill_set(container, list(known[1:]), known[0])
    elif known is not None:
        fill(container, dict(zip(known, items, strict=True)))
    else:
        fill(container, items)
