"""What the handlers of calls on dynamic values share: how to tell such a value, and how to read it."""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch

from dycl.hcfg.types import HostKind
from dycl.rewrite.normalise import syntax
from dycl.rewrite.record.bounds import bounds
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import DTYPES, HostValue
from dycl.rewrite.record.sizes.needs import equal
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.copied import items_held
from dycl.rewrite.state.frames import HostRange
from dycl.rewrite.state.tables import GrownList

NOT_HANDLED = object()
MOST_CASES = 64
Handler = Callable[[Running, tuple[Any, ...], dict[str, Any]], Any]


def handler_of(callee: Any, handlers: Mapping[Any, Handler]) -> Handler | None:
    """The handler of a call, if there is one; what has no hash has none."""
    try:
        return handlers.get(callee)
    except TypeError:
        return None


def is_dynamic(value: Any, machine: Running) -> bool:
    """Whether only the input determines this value."""
    if isinstance(value, torch.Tensor):
        return machine.recorder.is_dynamic(value)
    if type(value) is HostArray:
        return machine.recorder.is_dynamic(value.tensor)
    return isinstance(value, HostValue | torch.SymInt | torch.SymFloat | torch.SymBool)


def item(tensor: torch.Tensor, machine: Running, is_place: bool = False) -> HostValue:
    """The one element of a tensor as a host value in Python's own precision; a place is for an index alone."""
    tensor = _only_one(tensor, machine, RuntimeError, "a Tensor with {} elements cannot be converted to Scalar")
    if tensor.is_complex():
        raise Refused("DY004", "a complex number becomes one of Python's", "read its parts, `x.real.item()`")
    kind: HostKind = "bool" if tensor.dtype == torch.bool else "float" if tensor.is_floating_point() else "int"
    return HostValue(kind, machine.recorder.number(tensor.to(DTYPES[kind]), is_place), machine.recorder)


def _only_one(tensor: torch.Tensor, machine: Running, error: type[Exception], message: str) -> torch.Tensor:
    """A tensor of one element, without dimensions if only the input determines whether it has more; else the error."""
    count: Any = tensor.numel()
    if not isinstance(count, int):
        equal(machine.recorder, count, 1, message.format("more or no"), error.__name__)
        return tensor.flatten().select(0, 0)
    if count != 1:
        raise error(message.format(count))
    return tensor


def has_plain(container: Any, method: str, kinds: tuple[type, ...]) -> bool:
    """Whether a container is of one of these classes, or of one made from it that has the same special method."""
    base = next((kind for kind in kinds if isinstance(container, kind)), None)
    return base is not None and getattr(type(container), method) is getattr(base, method)


def contains_plainly(container: Any, kinds: tuple[type, ...]) -> bool:
    """Whether a container finds what it holds as those of one of these classes do."""
    return has_plain(container, "__contains__", kinds) and not syntax.goes_its_own_way(container)


def number_of(value: Any, machine: Running, is_place: bool = False) -> Any:
    """A tensor or NumPy scalar that only the input determines as a host value; anything else as it is."""
    if type(value) is HostArray:
        (operator.index if is_place else float)(value.stand_in())  # NumPy's own error for what is no number
        return item(value.tensor, machine, is_place)
    if isinstance(value, torch.Tensor) and machine.recorder.is_dynamic(value):
        error, message = _NO_INDEX if is_place else _NO_NUMBER
        return item(_only_one(value, machine, error, message), machine, is_place)
    return value


_NO_NUMBER = (ValueError, "only one element tensors can be converted to Python scalars")
_NO_INDEX = (TypeError, "only integer tensors of a single element can be converted to an index")


def has_few_cases(number: HostValue, machine: Running) -> bool:
    """Whether the program can go on once for each value that a number can have."""
    cases = bounds(number, machine.recorder) if number.kind != "float" else None
    return cases is not None and len(cases) <= MOST_CASES


def truth(value: Any, machine: Running) -> bool | HostValue:
    """Whether a condition holds: a bool, or a host value if only the input determines it."""
    if isinstance(value, torch.Tensor) and machine.recorder.is_dynamic(value):
        value = _only_one(value, machine, RuntimeError, "Boolean value of Tensor with more than one value is ambiguous")
        return item(torch.view_as_real(value).ne(0).any() if value.is_complex() else value, machine).as_kind("bool")
    if isinstance(value, HostValue):
        return value.as_kind("bool")
    if type(value) is HostArray:
        return truth(value.truth(), machine)
    if type(value) is HostRange:
        return truth((value.stop - value.start) * value.step > 0, machine)
    if type(value) is GrownList:
        size = value.size()
        return size > 0 if isinstance(size, int) else (size > 0).as_kind("bool")
    return bool(value)


def mentions(tree: Any, kinds: tuple[type, ...]) -> bool:
    """Whether a value of one of `kinds` stands in these arguments, also inside plain containers."""
    waiting, seen = [tree], set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, kinds):
            return True
        if type(part) is GrownList or id(part) in seen:
            continue
        if isinstance(part, list | tuple | dict):
            seen.add(id(part))
            waiting.extend(items_held(part))
        elif isinstance(part, slice):
            waiting.extend((part.start, part.stop, part.step))
    return False
