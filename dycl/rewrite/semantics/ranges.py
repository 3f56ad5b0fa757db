"""`range` with bounds that only the input determines: its length, its items, what it contains."""

import operator
from typing import Any

import torch

from dycl.hcfg.types import HostKind
from dycl.rewrite.record.host_values import HostValue, kind_of, lift
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler, number_of, truth
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.frames import HostRange, RangeIterator


def make_range(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`range(...)`, where a bound or the step is a host value."""
    bounds = [number_of(value, machine) for value in args]
    if not any(isinstance(value, HostValue) for value in bounds):
        return NOT_HANDLED
    if any(kind_of(value) == "float" for value in bounds):
        raise TypeError("'float' object cannot be interpreted as an integer")
    if any(kind_of(value) is None for value in bounds):
        other = next(value for value in bounds if kind_of(value) is None)
        if hasattr(type(other), "__index__"):
            return NOT_HANDLED
        raise TypeError(f"'{type(other).__name__}' object cannot be interpreted as an integer")
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if isinstance(step, HostValue):
        machine.recorder.check(torch.ne(step.tensor, 0), "ValueError", "range() arg 3 must not be zero")
    elif step == 0:
        raise ValueError("range() arg 3 must not be zero")
    return HostRange(start, stop, step)


def range_length(source: HostRange, machine: Running) -> HostValue:
    """`len(range(...))`."""
    count = lift(-((source.start - source.stop) // source.step), "int", machine.recorder)
    return HostValue("int", torch.clamp(count.tensor, min=0), machine.recorder)


def range_item(source: HostRange, index: Any, machine: Running) -> Any:
    """`range(...)[index]`."""
    if isinstance(index, slice):
        raise Refused("DY008", "a part of a `range` whose bounds depend on the input is taken", "compute the bounds")
    count = range_length(source, machine).tensor
    number = lift(number_of(index, machine), "int", machine.recorder).tensor
    place = torch.where(torch.lt(number, 0), number + count, number)
    inside = torch.logical_and(torch.ge(place, 0), torch.lt(place, count))
    machine.recorder.check(inside, "IndexError", "range object index out of range")
    return source.start + HostValue("int", place, machine.recorder) * source.step


def range_contains(source: HostRange | range, number: Any, machine: Running) -> HostValue:
    """`number in range(...)`."""
    kind: HostKind = "float" if kind_of(number) == "float" else "int"
    start, stop, step, value = (
        lift(part, kind, machine.recorder).tensor for part in (source.start, source.stop, source.step, number)
    )
    rising = torch.gt(step, 0)
    above = torch.where(rising, torch.ge(value, start), torch.le(value, start))
    below = torch.where(rising, torch.lt(value, stop), torch.gt(value, stop))
    divisor = torch.where(torch.eq(step, 0), torch.ones_like(step), step)
    on_step = torch.eq(torch.remainder(value - start, divisor), 0)
    return HostValue("bool", torch.logical_and(torch.logical_and(above, below), on_step), machine.recorder)


def is_full(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`bool(range(...))`."""
    return truth(args[0], machine) if args and isinstance(args[0], HostRange) else NOT_HANDLED


def is_empty(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`not range(...)`."""
    full = is_full(machine, args, kwargs)
    return HostValue("bool", torch.logical_not(full.tensor), machine.recorder) if isinstance(full, HostValue) else full


def compare(wanted: bool) -> Handler:
    """`range(...) == other`: ranges are equal if they have the same items."""

    def compared(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not any(isinstance(source, HostRange) for source in args):
            return NOT_HANDLED
        if not all(isinstance(source, HostRange | range) for source in args):
            return not wanted
        one, other = (HostRange(source.start, source.stop, source.step) for source in args)
        count, same_count = range_length(one, machine), range_length(one, machine) == range_length(other, machine)
        same_step = (count < 2) | (lift(one.step, "int", machine.recorder) == other.step)
        same_start = lift(one.start, "int", machine.recorder) == other.start
        same = same_count & ((count < 1) | (same_start & same_step))
        return same if wanted else HostValue("bool", torch.logical_not(same.tensor), machine.recorder)

    return compared


def reverse(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`reversed(range(...))`."""
    (source,) = args
    if not isinstance(source, HostRange):
        return NOT_HANDLED
    last = source.start + (range_length(source, machine) - 1) * source.step
    return RangeIterator(last, source.start - source.step, -source.step)


HANDLERS: dict[Any, Handler] = {
    range: make_range,
    reversed: reverse,
    bool: is_full,
    operator.not_: is_empty,
    operator.eq: compare(True),
    operator.ne: compare(False),
}
