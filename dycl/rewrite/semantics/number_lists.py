"""Lists of numbers: indexed, stored into, ordered and searched without a decision, by tensor operations."""

import bisect
import itertools
import operator
from collections.abc import Callable
from typing import Any

import torch

from dycl.hcfg.types import HostKind
from dycl.rewrite.record.host_values import DTYPES, HostValue, kind_of, lift
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler


def common_kind(items: Any) -> HostKind | None:
    """The kind that all of these numbers have; None if they have none in common."""
    kinds = {kind_of(value) for value in items}
    return kinds.pop() if len(kinds) == 1 else None


def _place(index: HostValue, items: Any, machine: Running) -> torch.Tensor:
    """Where in `items` an index points, which the program checks."""
    if index.kind == "float":
        raise TypeError(f"{type(items).__name__} indices must be integers or slices, not float")
    number, size = index.as_kind("int").tensor, len(items)
    inside = torch.logical_and(torch.ge(number, -size), torch.lt(number, size))
    machine.recorder.check(inside, "IndexError", f"{type(items).__name__} index out of range")
    return torch.remainder(number, size)


def number_at(items: Any, index: HostValue, machine: Running) -> Any:
    """`items[index]` of numbers of one kind."""
    kind = common_kind(items)
    if kind is None:
        return NOT_HANDLED
    place = _place(index, items, machine)
    if any(isinstance(value, HostValue) for value in items):
        table = torch.stack([lift(value, kind, machine.recorder).tensor for value in items])
    else:
        table = torch.tensor(items, dtype=DTYPES[kind])
    return HostValue(kind, torch.index_select(table, 0, place.reshape(1)).reshape(()), machine.recorder, "chosen")


def store_number(items: list[Any], index: HostValue, value: Any, machine: Running) -> Any:
    """`items[index] = value` of numbers of one kind: every item may be the one that changes."""
    kind = common_kind((*items, value))
    if kind is None or not items:
        return NOT_HANDLED
    place = _place(index, items, machine)
    new = lift(value, kind, machine.recorder).tensor
    for position, old in enumerate(items):
        chosen = torch.where(torch.eq(place, position), new, lift(old, kind, machine.recorder).tensor)
        items[position] = HostValue(kind, chosen, machine.recorder, "chosen")
    return None


def in_order(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`sorted(numbers)`."""
    items, reverse = args[0], kwargs.get("reverse", False)
    if not isinstance(items, list | tuple) or kwargs.get("key") is not None or type(reverse) is not bool:
        return NOT_HANDLED
    kind = common_kind(items)
    if kind not in ("int", "float") or not any(isinstance(value, HostValue) for value in items):
        return NOT_HANDLED
    numbers = torch.stack([lift(value, kind, machine.recorder).tensor for value in items])
    if kind == "float":
        known = torch.logical_not(torch.isnan(numbers).any())
        machine.recorder.check(known, "ValueError", "a compiled program does not sort NaN among numbers", is_limit=True)
    ordered = torch.sort(numbers, descending=reverse).values
    return [HostValue(kind, number, machine.recorder, "chosen") for number in ordered.unbind(0)]


def sort_in_place(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`numbers.sort()`."""
    ordered = in_order(machine, args, kwargs)
    if ordered is NOT_HANDLED or type(args[0]) is not list:
        return NOT_HANDLED
    args[0][:] = ordered
    return None


def extreme(better: Callable[[Any, Any], Any]) -> Handler:
    """`min(...)` or `max(...)` of numbers of one kind."""

    def choose(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(args) == 1 and isinstance(args[0], HostValue):
            raise TypeError(f"'{args[0].kind}' object is not iterable")
        values = list(args[0]) if len(args) == 1 and isinstance(args[0], list | tuple) else list(args)
        if kwargs or not any(isinstance(value, HostValue) for value in values):
            return NOT_HANDLED
        kind = common_kind(values)
        if kind is None:
            return NOT_HANDLED
        best = lift(values[0], kind, machine.recorder)
        for value in values[1:]:
            other = lift(value, kind, machine.recorder)
            chosen = torch.where(better(other, best).tensor, other.tensor, best.tensor)
            best = HostValue(kind, chosen, machine.recorder, "chosen")
        return best

    return choose


def searched(before: bool) -> Handler:
    """`bisect.bisect_left` (`before`) or `bisect.bisect_right` of a number among numbers that are known and sorted."""

    def search(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if kwargs or len(args) != 2 or not isinstance(args[1], HostValue) or not isinstance(args[0], list | tuple):
            return NOT_HANDLED
        items, value = args
        known = all(type(item) in (bool, int, float) for item in items)
        if not items or not known or any(later < item for item, later in itertools.pairwise(items)):
            return NOT_HANDLED
        number: Any = 0
        for item in items:
            # As `bisect` itself does, ask `item < value` or `not value < item`, which differ for NaN.
            counts = value > item if before else lift(value < item, "bool", machine.recorder) == 0
            number = number + counts
        return number

    return search


HANDLERS: dict[Any, Handler] = {
    min: extreme(operator.lt),
    max: extreme(operator.gt),
    sorted: in_order,
    list.sort: sort_in_place,
    bisect.bisect_left: searched(True),
    bisect.bisect_right: searched(False),
}
