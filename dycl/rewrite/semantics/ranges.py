"""`range` with bounds that only the input determines: its length, its items, what it contains."""

from typing import Any

import torch

from dycl.hcfg.types import HostKind
from dycl.rewrite.record.host_values import HostValue, kind_of, lift
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler, number_of
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.frames import HostRange, RangeIterator


def make_range(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`range(...)`, where a bound or the step is a host value."""
    bounds = [number_of(value, machine) for value in args]
    if not any(isinstance(value, HostValue) for value in bounds):
        return NOT_HANDLED
    if any(kind_of(value) == "float" for value in bounds):
        raise TypeError("'float' object cannot be interpreted as an integer")
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


def reverse(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`reversed(range(...))`."""
    (source,) = args
    if not isinstance(source, HostRange):
        return NOT_HANDLED
    last = source.start + (range_length(source, machine) - 1) * source.step
    return RangeIterator(last, source.start - source.step, -source.step)


HANDLERS: dict[Any, Handler] = {range: make_range, reversed: reverse}
