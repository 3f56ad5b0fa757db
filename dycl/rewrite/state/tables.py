"""Lists whose length only the input determines.

A list that grows in a loop which the input ends has no place in a finite number of structures. So where its items are
of one kind, it is kept as a table: for each tensor or number in an item, one tensor in which the values of all items
are stacked. Appending is `cat`, indexing is `select`, and the length is a dimension.

    words = [(3, h0), (7, h1)]      becomes    columns int64[n], float32[n, 1, 16]      of items (int, tensor)
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, assert_never

import torch

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.errors.checked_before import checked_before
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue, kind_of
from dycl.rewrite.signals import DecisionMet, Refused
from dycl.rewrite.state.items import (
    ArrayItem,
    KnownItem,
    NumberItem,
    Template,
    TensorItem,
    TupleItem,
    equal_to,
    template_of,
)


@dataclass(frozen=True, slots=True)
class Spread:
    """A list of unknown length where a call has `*items`."""

    items: Any


def grown(items: Any, recorder: Records) -> "GrownList | None":
    """Known items as a list of unknown length; None if they are not of one kind and shape."""
    found = [template_of(item, recorder) for item in items]
    kinds = {None if kind is None else (kind[0], tuple(tuple(value.shape) for value in kind[1])) for kind in found}
    if not found or len(kinds) > 1 or None in kinds:
        return None
    rows = [kind for kind in found if kind is not None]
    columns = [torch.stack(list(values)) for values in zip(*(values for _, values in rows), strict=True)]
    return GrownList(rows[0][0], columns, recorder)


class GrownList:
    """A list of items of one kind, and of a length that only the input determines."""

    __slots__ = ("columns", "recorder", "template")

    def __init__(self, template: Template, columns: list[torch.Tensor], recorder: Records) -> None:
        self.template = template
        self.columns = columns
        self.recorder = recorder

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The type that this stands for, so that `isinstance` says what it would say of the list."""
        return list

    def __getattr__(self, name: str) -> Any:
        if not hasattr(list, name):
            raise AttributeError(f"'list' object has no attribute '{name}'")
        _refuse(f"`{name}` of a list of unknown length has no translation")

    def __len__(self) -> int:
        raise DecisionMet("the length of a list that only the input determines")

    def __bool__(self) -> bool:
        raise DecisionMet("the length of a list that only the input determines")

    def __iter__(self) -> Iterator[Any]:
        raise DecisionMet("the length of a list that only the input determines")

    def __contains__(self, item: Any) -> bool:
        raise DecisionMet("whether an item is in a list of unknown length")

    def places(self, value: Any) -> torch.Tensor:
        """For each item whether it is equal to a value."""
        same = equal_to(self.template, iter(self.columns), value, self.recorder)
        if isinstance(same, torch.Tensor):
            return same
        return torch.full((self.columns[0].shape[0],), same, dtype=torch.bool)

    def count(self, value: Any) -> HostValue:
        return HostValue("int", torch.sum(self.places(value)), self.recorder)

    def index(self, value: Any, start: Any = 0, stop: Any = None) -> HostValue:
        here = self.places(value)
        if stop is not None or not (type(start) is int and start == 0):
            place, size = torch.arange(here.shape[0]), self.size()
            first, last = (_from_start(bound, size) for bound in (start, size if stop is None else stop))
            here = torch.logical_and(here, torch.logical_and(torch.ge(place, first), torch.lt(place, last)))
        self.recorder.check(torch.any(here), "ValueError", "the value is not in list")
        # One place more, for a list without items: a sub-DNN computes before the host looks at a check.
        return HostValue("int", torch.argmax(torch.cat([here, torch.ones(1, dtype=torch.bool)]).int()), self.recorder)

    def remove(self, value: Any) -> None:
        here = self.places(value)
        self.recorder.check(torch.any(here), "ValueError", "list.remove(x): x not in list")
        first = torch.logical_and(here, torch.eq(torch.cumsum(here.int(), 0), 1))
        kept = torch.logical_not(first)
        self.columns = [column[kept] for column in self.columns]

    def __eq__(self, other: object) -> bool:
        raise DecisionMet("whether two lists of unknown length are equal")

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise DecisionMet("the text of a list of unknown length")

    def size(self) -> Any:
        """The number of items: a host value, or a number where it is known after all."""
        size = self.columns[0].shape[0]
        if isinstance(size, int):
            return size
        return HostValue("int", self.recorder.materialise(size), self.recorder)

    def item(self, place: Any) -> Any:
        """The item at a place that is known to exist."""
        return self._item(place, self.columns)

    def _padded(self, rows: int) -> list[torch.Tensor]:
        """The columns with rows that are there in any case: a sub-DNN computes before the host looks at a check."""
        return [torch.cat([column, column.new_zeros((rows, *column.shape[1:]))]) for column in self.columns]

    def _item(self, place: Any, columns: list[torch.Tensor]) -> Any:
        number = place.symbol() if isinstance(place, HostValue) else place
        with checked_before():
            values = [torch.select(column, 0, number) for column in columns]
        for value in values:
            # The same tensor may stand in the list twice, or elsewhere too: it cannot be changed in place.
            self.recorder.share_outside(value)
        return self._filled(self.template, iter(values))

    def _filled(self, template: Template, values: Iterator[torch.Tensor]) -> Any:
        match template:
            case NumberItem(kind):
                return HostValue(kind, next(values), self.recorder, "chosen")
            case TensorItem():
                return next(values)
            case ArrayItem(scalar=scalar):
                return HostArray(next(values), scalar)
            case KnownItem(value=value):
                return value
            case TupleItem(cls, parts):
                items = [self._filled(part, values) for part in parts]
                return tuple(items) if cls is tuple else tuple.__new__(cls, items)
            case _:
                assert_never(template)

    def _place(self, index: Any, what: str = "list index out of range") -> Any:
        """The place that an index means, checked when the program runs."""
        if isinstance(index, torch.Tensor):
            index = HostValue("int", torch.reshape(index, ()).to(torch.int64), self.recorder)
        if kind_of(index) not in ("bool", "int"):
            raise TypeError(f"list indices must be integers or slices, not {type(index).__name__}")
        size, number = _tensor(self.size()), _tensor(index)
        inside = torch.logical_and(torch.ge(number, -size), torch.lt(number, size))
        self.recorder.check(inside, "IndexError", what)
        wrapped = torch.where(torch.lt(number, 0), number + size, number)
        return HostValue("int", torch.where(inside, wrapped, torch.zeros_like(wrapped)), self.recorder)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._with(lambda column: _sliced(column, index))
        return self._item(self._place(index), self._padded(1))

    def unpacked(self, count: int, star: int | None) -> list[Any]:
        """What `count` variables get, of which the one at `star`, if any, gets a list."""
        size, wanted = _tensor(self.size()), count - (star is not None)
        fits = torch.eq(size, wanted) if star is None else torch.ge(size, wanted)
        self.recorder.check(fits, "ValueError", f"not enough or too many values to unpack (expected {wanted})")
        if star is None:
            return [self._item(place, self._padded(count)) for place in range(count)]
        after = count - star - 1
        last = [self[place] for place in range(-after, 0)]
        first = [self._item(place, self._padded(count)) for place in range(star)]
        return [*first, self[star : -after if after else None], *last]

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            _refuse("a slice of a list of unknown length is set")
        place = self._place(index)
        row = torch.eq(torch.arange(_number(self.size())), place.tensor)
        for number, (column, new) in enumerate(zip(self.columns, self._row(value), strict=True)):
            mask = torch.reshape(row, (row.shape[0], *(1 for _ in range(column.dim() - 1))))
            self.columns[number] = torch.where(mask, new.unsqueeze(0), column)

    def __delitem__(self, index: Any) -> None:
        if isinstance(index, slice):
            _refuse("a slice of a list of unknown length is deleted")
        self.pop(index)

    def __add__(self, other: Any) -> "GrownList":
        if not isinstance(other, list):
            raise TypeError(f'can only concatenate list (not "{type(other).__name__}") to list')
        result = self.copy()
        result.extend(other)
        return result

    def __radd__(self, other: Any) -> "GrownList":
        if not isinstance(other, list):
            return NotImplemented
        result = self.copy()
        for item in reversed(other):
            result.insert(0, item)
        return result

    def __iadd__(self, other: Any) -> "GrownList":
        self.extend(other)
        return self

    def __mul__(self, count: Any) -> "GrownList":
        if kind_of(count) not in ("bool", "int"):
            raise TypeError(f"can't multiply sequence by non-int of type '{type(count).__name__}'")
        if isinstance(count, HostValue):
            _refuse("a list of unknown length is repeated as often as the input says")
        return self._with(lambda column: torch.cat([column[:0], *[column] * count]))

    __rmul__ = __mul__

    def __imul__(self, count: Any) -> "GrownList":
        self.columns = (self * count).columns
        return self

    def __lt__(self, other: object) -> bool:
        raise DecisionMet("which of two lists of unknown length comes first")

    __le__ = __gt__ = __ge__ = __lt__

    def append(self, item: Any) -> None:
        self._join([], [self._row(item)])

    def insert(self, index: Any, item: Any) -> None:
        if not (type(index) is int and index == 0):
            _refuse("an item is put into the middle of a list of unknown length")
        self._join([self._row(item)], [])

    def extend(self, items: Any) -> None:
        if type(items) in (list, tuple):
            self._join([], [self._row(item) for item in items])
            return
        if type(items) is not GrownList:
            # What gives them one by one may look at the list meanwhile, or stop with an error.
            for item in items:
                self.append(item)
            return
        if items.template != self.template:
            _refuse("lists of unknown length whose items are of different kinds are joined")
        pairs = zip(self.columns, items.columns, strict=True)
        self.columns = [torch.cat([column, other]) for column, other in pairs]

    def pop(self, index: Any = -1) -> Any:
        place = self._place(index, "pop from empty list" if index == -1 else "pop index out of range")
        result = self._item(place, self._padded(1))
        before, after = _number(place), _number(place + 1)
        self.columns = [torch.cat([column[:before], column[after:]]) for column in self.columns]
        return result

    def clear(self) -> None:
        self.columns = [column[:0] for column in self.columns]

    def copy(self) -> "GrownList":
        return GrownList(self.template, list(self.columns), self.recorder)

    def reverse(self) -> None:
        self.columns = [torch.flip(column, (0,)) for column in self.columns]

    def sort(self, **options: Any) -> None:
        raise DecisionMet("the order of a list of unknown length")

    def _with(self, change: Callable[[torch.Tensor], torch.Tensor]) -> "GrownList":
        return GrownList(self.template, [change(column) for column in self.columns], self.recorder)

    def _row(self, item: Any) -> list[torch.Tensor]:
        """An item's values, if it is of the same kind as the others."""
        found = template_of(item, self.recorder)
        if found is None or found[0] != self.template:
            _refuse("a list of unknown length gets an item of another kind than those before")
        for value, column in zip(found[1], self.columns, strict=True):
            if self.recorder.type_of(value).shape != self.recorder.type_of(column).shape[1:]:
                _refuse("a list of unknown length gets a tensor of another shape than those before")
            self.recorder.share_outside(value)
        return found[1]

    def _join(self, before: list[list[torch.Tensor]], after: list[list[torch.Tensor]]) -> None:
        for number, column in enumerate(self.columns):
            parts = [row[number].unsqueeze(0) for row in before], [row[number].unsqueeze(0) for row in after]
            self.columns[number] = torch.cat([*parts[0], column, *parts[1]])


def _tensor(number: Any) -> torch.Tensor:
    return number.as_kind("int").tensor if isinstance(number, HostValue) else torch.tensor(int(number))


def _number(number: Any) -> Any:
    return number.symbol() if isinstance(number, HostValue) else number


def _from_start(bound: Any, size: Any) -> torch.Tensor:
    """Where a bound of `index` lies, which counts from the end if it is negative."""
    number = _tensor(bound)
    return torch.where(torch.lt(number, 0), number + _tensor(size), number)


def _sliced(column: torch.Tensor, index: slice) -> torch.Tensor:
    step = index.step if index.step is not None else 1
    if isinstance(step, HostValue):
        _refuse("a list is sliced with a step that only the input determines")
    if step > 0:
        return column[slice(_number(index.start), _number(index.stop), step)]
    if index.start is not None or index.stop is not None:
        _refuse("a list of unknown length is sliced backwards from one place to another")
    return torch.flip(column, (0,))[::-step]


def _refuse(reason: str) -> NoReturn:
    raise Refused("DY011", reason)
