"""What the machine keeps while it runs the user's program: frames, and iterators that can be copied."""

import collections
import gc
import itertools
import operator
import types
from dataclasses import dataclass, field
from typing import Any, Literal

import torch

from dycl.rewrite.normalise.instructions import (
    BranchOn,
    Call,
    FlatFunction,
    Instruction,
    Label,
    NextItem,
    Register,
    Yield,
)
from dycl.rewrite.record.errors.checked_before import checked_before
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.signals import DecisionMet, Refused
from dycl.rewrite.state.tables import GrownList, grown

Part = Literal["key", "value", "pair"]
"""What going through a dict gives of each of its items."""
Purpose = Literal["call", "construct", "next", "item"]


@dataclass(slots=True, eq=False)
class Frame:
    """A function being interpreted. `purpose` says what the caller does with what it returns."""

    function: FlatFunction
    globals: dict[str, Any]
    registers: dict[Register, Any]
    position: int = 0
    handlers: list[tuple[Label, Register]] = field(default_factory=list)
    purpose: Purpose = "call"
    constructed: Any = None

    @property
    def instruction(self) -> Instruction:
        return self.function.instructions[self.position]

    def may_be_endless(self, is_top: bool) -> bool:
        """Whether this frame is inside a loop that only the input ends."""
        live = [self.registers.get(register) for register in self.function.loops if register in self.live(is_top)]
        return self.position in self.function.endless or any(
            isinstance(value, RangeIterator | Generator | itertools.count) for value in live
        )

    def program_order(self, is_top: bool) -> tuple[tuple[int, int], ...]:
        """Where this frame is, comparable: the loops around it with their positions, then the instruction."""
        live = self.live(is_top)
        loops = sorted(
            (at, position)
            for register, at in self.function.loops.items()
            if register in live and (position := _static_position(self.registers.get(register))) is not None
        )
        return (*loops, (self.position, 0))

    def live(self, is_top: bool) -> frozenset[Register]:
        """The registers that matter from here on; a frame below the top waits for a call to return."""
        iterators = [(name, self.registers.get(name)) for name in self.function.dropped[self.position]]
        waiting = [name for name, held in iterators if type(held) is Generator and held.waits_to_clean_up]
        handled = self.function.handled[self.position]
        unstarted = self.purpose == "next" and self.constructed is None
        return self._read_later(is_top or unstarted).union(waiting, () if handled is None else (handled,))

    def _read_later(self, is_top: bool) -> frozenset[Register]:
        live = self.function.live
        if is_top:
            return live[self.position]
        match self.instruction:
            case Call(dest=dest) | Yield(dest=dest):
                after = live[self.position + 1] - {dest}
            case NextItem(dest=dest, exhausted=exhausted):
                after = (live[self.position + 1] - {dest}) | live[exhausted]
            case BranchOn(then=then, orelse=orelse):
                after = live[then] | live[orelse]
            case _:
                after = live[self.position]
        handler = self.function.handlers[self.position]
        return after | live[handler] if handler is not None else after


def _static_position(iterator: Any) -> int | None:
    """How far an iterator over known items has come."""
    is_own = type(iterator).__module__.startswith("dycl.") and not isinstance(iterator, RangeIterator | Generator)
    return getattr(iterator, "position", None) if is_own else None


def no_text() -> Refused:
    """The refusal of an iterator's text: which kind of iterator it is for Python is not known."""
    return Refused("DY002", "the text of an iterator is asked for")


@dataclass(slots=True, eq=False, repr=False)
class ItemIterator:
    """An iterator over known items; its position is part of the static state."""

    items: tuple[Any, ...] | list[Any] | range | HostArray
    position: int = 0
    known: int | None = None
    """How many items a list or other container had when the loop over it began: a list may grow meanwhile."""
    source: Any = None
    """The dict, set or deque that is gone through by `items`, its keys: it must not change its size meanwhile."""
    part: Part = "key"
    kind: type | None = None
    """The class of Python's own iterator that this one stands for, where it is known."""
    native: Any = None
    """Python's own iterator over `source`, until the next decision: it alone notices every change."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class that natively run code finds this to be an instance of."""
        return self.kind or ItemIterator

    @property
    def in_growth(self) -> int:
        """How many items have been gone through that were not there when the loop began."""
        return 0 if self.known is None else max(0, self.position - self.known)

    def __iter__(self) -> "ItemIterator":
        return self

    def __next__(self) -> Any:
        if self.source is not None:
            return self._next_of_container()
        size = list.__len__(self.items) if isinstance(self.items, list) else len(self.items)
        if self.position >= size:
            # What has come to its end stays there, whatever happens to the list.
            self.items, self.position, self.source = (), 0, None
            raise StopIteration
        self.position += 1
        return self._item(self.position - 1)

    def _next_of_container(self) -> Any:
        if self.known is not None and self.known < 0 and len(self.source) == ~self.known:
            raise Refused("DY009", "a container is gone through that had another size meanwhile")
        if len(self.source) != self.known:
            raise RuntimeError(_CHANGED[type(self.source)])
        self.begin()
        try:
            item = next(self.native)
        except StopIteration:
            # What has come to its end stays there, whatever happens to the container.
            self.items, self.position, self.source, self.native = (), 0, None, None
            raise
        self.position += 1
        return item

    def begin(self) -> None:
        """Let Python's own iterator stand where this one does, from where it notices every change."""
        if self.native is not None or self.source is None or len(self.source) != self.known:
            return
        self.native = iter(self._view())
        collections.deque(itertools.islice(self.native, self.position), maxlen=0)

    def _view(self) -> Any:
        """What Python's own iterator goes through."""
        views = {"key": "keys", "value": "values", "pair": "items"}
        return getattr(self.source, views[self.part])() if isinstance(self.source, dict) else self.source

    def size_when_begun(self) -> int | None:
        """How many items there were when the loop began; the complement if there is another number now."""
        if self.source is None or self.known is None or self.known < 0:
            return self.known
        if self.native is not None and isinstance(self.source, dict) and len(self.source) == self.known:
            self._require_undisturbed()
        return self.known if len(self.source) == self.known else ~self.known

    def _require_undisturbed(self) -> None:
        """Refuse to go on by position if Python's own iterator would not: keys went, and as many others came."""
        here, same = list(self._view())[self.position :], operator.eq if self.part == "pair" else operator.is_
        try:
            left = self.native.__reduce__()[1][0]
        except RuntimeError:
            left = [self]  # it notices, and will say so
        if len(left) != len(here) or not all(map(same, left, here)):
            raise Refused("DY009", "a dict is gone through some of whose keys were replaced", "go through a copy of it")

    def __length_hint__(self) -> int:
        if self.source is not None and len(self.source) != self.known:
            return 0
        return max(0, len(self.items) - self.position)

    def __repr__(self) -> str:
        raise no_text()

    def _item(self, place: int) -> Any:
        if isinstance(self.items, list):
            return list.__getitem__(self.items, place)
        return self.items[place]


def over_container(source: Any) -> ItemIterator | None:
    """An iterator that goes through a dict, one of its views, a set or a deque, and sees what is done to it meanwhile.

    None for those of other classes, and for those of modules, which do not change.
    """
    container, part = source, _PARTS.get(type(source), "key")
    if type(source) in _PARTS:
        (container,) = gc.get_referents(source)
    if type(container) not in _CHANGED:
        return None
    if isinstance(container, dict) and any(isinstance(value, torch.nn.Module) for value in container.values()):
        return None
    kind = type(iter(source))
    return ItemIterator(tuple(container), known=len(container), source=container, part=part, kind=kind)


_ORDERED: Any = collections.OrderedDict()
_PARTS: dict[type, Part] = {
    type({}.keys()): "key",
    type({}.values()): "value",
    type({}.items()): "pair",
    type(_ORDERED.keys()): "key",
    type(_ORDERED.values()): "value",
    type(_ORDERED.items()): "pair",
}
_CHANGED: dict[type, str] = {
    dict: "dictionary changed size during iteration",
    collections.defaultdict: "dictionary changed size during iteration",
    collections.OrderedDict: "OrderedDict mutated during iteration",
    set: "Set changed size during iteration",
    collections.deque: "deque mutated during iteration",
}


@dataclass(slots=True, eq=False, repr=False)
class ParallelIterator:
    """`zip(...)` or, with a first part that counts, `enumerate(...)` of known items."""

    parts: tuple[Any, ...]
    strict: bool = False
    """Whether all parts must end together."""
    kind: type = zip

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.kind

    @property
    def position(self) -> int:
        return int(self.parts[0].position) if self.parts else 0

    def __iter__(self) -> "ParallelIterator":
        return self

    def __next__(self) -> tuple[Any, ...]:
        return next(zip(*self.parts, strict=self.strict))

    def __repr__(self) -> str:
        raise no_text()


_NAMES = ("__name__", "__qualname__")


@dataclass(slots=True, eq=False)
class Generator:
    """A generator whose body the machine interprets.

    Its methods are there to be found; calling them is the machine's work (`calls`), and nothing else can.
    """

    frame: Frame
    started: bool = False
    finished: bool = False
    value: Any = None
    names: tuple[str, str] = ("", "")
    """The name and the qualified name of the function that made it."""
    gi_running: bool = False

    @property
    def gi_suspended(self) -> bool:
        return self.started and not self.finished and not self.gi_running

    @property
    def gi_code(self) -> types.CodeType:
        return self.frame.function.code

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _NAMES:
            object.__setattr__(self, name, value)
            return
        if not isinstance(value, str):
            raise TypeError(f"{name} must be set to a string object")
        own, qualified = self.names
        self.names = (value, qualified) if name == _NAMES[0] else (own, value)

    def __getattr__(self, name: str) -> Any:
        if name in _NAMES:
            return self.names[_NAMES.index(name)]
        if name in ("gi_frame", "gi_yieldfrom"):
            raise Refused("DY002", f"`{name}` of a generator is not kept track of")
        raise AttributeError(f"'generator' object has no attribute '{name}'")

    @property
    def waits_to_clean_up(self) -> bool:
        """Whether it waits inside a `try` or `with`."""
        return self.started and not self.finished and bool(self.frame.handlers)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The type that this stands for, so that `isinstance` says what it would say of the generator."""
        return types.GeneratorType

    def send(self, value: Any) -> Any:
        raise Refused("DY002", "a generator is driven by code that DyCL does not follow")

    def throw(self, error: Any) -> Any:
        raise Refused("DY002", "a generator is driven by code that DyCL does not follow")

    def close(self) -> None:
        raise Refused("DY002", "a generator is driven by code that DyCL does not follow")


# What Python says of operands that do not go together names this type.
Generator.__name__ = types.GeneratorType.__name__


@dataclass(slots=True, eq=False)
class RangeIterator:
    """An iterator over a range whose bounds or position only the input determines: whether it goes on is a decision.

    With `rows` it is an iterator over a tensor's rows or a list's items, or over several such things side by side, and
    its positions are theirs. Without `stop` it never ends, or when the list does.
    """

    position: Any
    stop: Any
    step: Any
    rows: Any = None

    def unfinished(self) -> Any:
        if type(self.rows) is GrownList:
            return self.position < self.rows.size()
        if type(self.rows) is list:
            return self.position < len(self.rows)
        if self.stop is None:
            return True
        if isinstance(self.step, HostValue):
            return (self.stop - self.position) * self.step > 0
        return self.position < self.stop if self.step > 0 else self.position > self.stop

    def following(self) -> Any:
        if self.rows is None and not (type(self.step) is int and abs(self.step) == 1):
            return self.position + self.step
        with checked_before():  # it goes no further than its end
            return self.position + self.step

    def item(self, position: Any) -> Any:
        """What the loop's variable gets at a position."""
        return position if self.rows is None else _item(self.rows, position)


def _item(rows: Any, position: Any) -> Any:
    if isinstance(rows, tuple):
        return tuple([_item(part, position) for part in rows])
    if isinstance(rows, range):
        with checked_before():
            return rows.start + position * rows.step
    if type(rows) is list and isinstance(position, int):
        return rows[position]
    if type(rows) is list:
        table = grown(rows, position.recorder)
        if table is None:
            raise Refused("DY011", "a loop goes over a list that grows, and its items are not of one kind")
        return table.item(position)
    if type(rows) is GrownList:
        return rows.item(position)
    with checked_before():
        return torch.select(rows, 0, position.symbol() if isinstance(position, HostValue) else position)


@dataclass(frozen=True, slots=True, eq=False)
class HostRange:
    """A `range` with a bound that only the input determines."""

    start: Any
    stop: Any
    step: Any

    def __bool__(self) -> bool:
        raise DecisionMet("the length of a range that only the input determines")

    def __eq__(self, other: object) -> bool:
        raise DecisionMet("whether two ranges are equal, which only the input determines")

    def __hash__(self) -> int:
        raise DecisionMet("a range that only the input determines is used as a key")
