"""What builtins and library functions do with values that only the input determines.

`apply` is asked before a call is made natively; it answers `NOT_HANDLED` unless the call needs a meaning of its own:
`float(tensor)` is a host value, `math.sqrt` of one is recorded, `print` is dropped.
"""

import builtins
import logging
import math
import operator
import types
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from dycl.hcfg.types import HostKind
from dycl.rewrite import natives
from dycl.rewrite.dynamic import NOT_HANDLED, Handler, is_dynamic, item, truth
from dycl.rewrite.frames import Generator, HostRange, ItemIterator, ParallelIterator, RangeIterator
from dycl.rewrite.freeze import import_symbol
from dycl.rewrite.host_values import PYTHON_TYPES, HostValue, kind_of, lift
from dycl.rewrite.indexing import get_item, set_item
from dycl.rewrite.signals import Refused
from dycl.rewrite.tensor_literals import make_tensor

if TYPE_CHECKING:
    from dycl.rewrite.machine import Machine


def apply(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], machine: "Machine") -> Any:
    """The result of a call that needs a meaning of its own, or `NOT_HANDLED`."""
    try:
        handler = _HANDLERS.get(callee)
    except TypeError:
        handler = None
    if handler is not None:
        return handler(machine, args, kwargs)
    owner = getattr(callee, "__self__", None)
    if isinstance(owner, torch.Tensor):
        method = _TENSOR_METHODS.get(getattr(callee, "__name__", ""))
        if method is not None and machine.recorder.is_dynamic(owner):
            return method(machine, (owner, *args), kwargs)
    if isinstance(owner, logging.Logger):
        machine.note("logging is dropped", machine.span)
        return None
    return NOT_HANDLED


def _convert(kind: HostKind) -> Handler:
    def convert(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(args) == 1 and is_dynamic(args[0], machine):
            value = item(args[0], machine) if isinstance(args[0], torch.Tensor) else args[0]
            return value.converted(kind) if isinstance(value, HostValue) else NOT_HANDLED
        return NOT_HANDLED

    return convert


def _negation(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not is_dynamic(args[0], machine):
        return NOT_HANDLED
    value = truth(args[0], machine)
    assert isinstance(value, HostValue)
    return HostValue("bool", torch.logical_not(value.tensor), machine.recorder)


def _item(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return item(args[0], machine) if is_dynamic(args[0], machine) else NOT_HANDLED


def _tolist(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor = args[0]
    if tensor.dim() == 0:
        return item(tensor, machine)
    return [_tolist(machine, (row,), kwargs) for row in tensor.unbind(0)]


def _equal(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not any(is_dynamic(value, machine) for value in args):
        return NOT_HANDLED
    left, right = args
    return left.shape == right.shape and item(torch.eq(left, right).all(), machine)


def _allclose(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not any(is_dynamic(value, machine) for value in args):
        return NOT_HANDLED
    return item(torch.isclose(*args, **kwargs).all(), machine)


def _length(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if isinstance(args[0], torch.Tensor) and args[0].dim() and not isinstance(args[0].shape[0], int):
        return import_symbol(args[0].shape[0], machine.recorder)
    return NOT_HANDLED


def _loop_item(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    iterator, value = args
    if not isinstance(iterator, RangeIterator) or iterator.rows is None:
        return value
    return torch.select(iterator.rows, 0, value.symbol() if isinstance(value, HostValue) else value)


def _zip(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs.get("strict") or any(isinstance(source, HostRange | Generator | RangeIterator) for source in args):
        return NOT_HANDLED
    parts = tuple(machine.iterator(source) for source in args)
    return ParallelIterator(parts) if all(isinstance(part, ItemIterator) for part in parts) else NOT_HANDLED


def _enumerate(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    start = kwargs.get("start", args[1] if len(args) > 1 else 0)
    return _zip(machine, (range(start, 2**62), args[0]), {}) if type(start) is int else NOT_HANDLED


def _isinstance(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not isinstance(args[0], HostValue):
        return NOT_HANDLED
    stand_in = PYTHON_TYPES[args[0].kind]()
    return isinstance(stand_in, args[1])


def _type(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) == 1 and isinstance(args[0], HostValue):
        return PYTHON_TYPES[args[0].kind]
    return NOT_HANDLED


def _identical(wanted: bool) -> Handler:
    def identical(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        left, right = args if isinstance(args[0], HostValue) else reversed(args)
        if not isinstance(left, HostValue) or left.kind != "bool" or not isinstance(right, bool):
            return NOT_HANDLED
        result = torch.eq(left.tensor, right)
        return HostValue("bool", result if wanted else torch.logical_not(result), machine.recorder)

    return identical


def _setattr(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    owner, name = args[0], args[1]
    if isinstance(owner, torch.Tensor):
        raise Refused("DY009", f"the attribute `{name}` of a tensor is set")
    if isinstance(owner, types.FunctionType | types.ModuleType | type):
        raise Refused("DY007", f"the attribute `{name}` is set on an object that outlives the call")
    return NOT_HANDLED


def _range(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bounds = [item(value, machine) if isinstance(value, torch.Tensor) else value for value in args]
    if not any(isinstance(value, HostValue) for value in bounds):
        return NOT_HANDLED
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if type(step) is not int or step == 0:
        raise Refused("DY008", "the step of this `range` depends on the input")
    return HostRange(start, stop, step)


def _extreme(better: Callable[[Any, Any], Any]) -> Handler:
    def extreme(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        values = list(args[0]) if len(args) == 1 and isinstance(args[0], list | tuple) else list(args)
        if kwargs or not any(isinstance(value, HostValue) for value in values):
            return NOT_HANDLED
        kind = kind_of(values[0])
        if kind is None or any(kind_of(value) != kind for value in values):
            return NOT_HANDLED
        best = lift(values[0], kind, machine.recorder)
        for value in values[1:]:
            other = lift(value, best.kind, machine.recorder)
            chosen = torch.where(better(other, best).tensor, other.tensor, best.tensor)
            best = HostValue(best.kind, chosen, machine.recorder)
        return best

    return extreme


def _not_negative(number: torch.Tensor) -> torch.Tensor:
    return torch.logical_not(torch.lt(number, 0))


def _positive(number: torch.Tensor) -> torch.Tensor:
    return torch.logical_not(torch.le(number, 0))


def _math(
    function: Callable[..., torch.Tensor], kind: HostKind, domain: Callable[[torch.Tensor], torch.Tensor] | None = None
) -> Handler:
    def compute(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not any(is_dynamic(value, machine) for value in args):
            return NOT_HANDLED
        numbers = [item(value, machine) if isinstance(value, torch.Tensor) else value for value in args]
        tensors = [lift(value, "float", machine.recorder).tensor for value in numbers]
        if domain is not None:
            machine.recorder.check(domain(tensors[0]), "ValueError", "math domain error")
        result = HostValue("bool" if kind == "bool" else "float", function(*tensors), machine.recorder)
        if kind == "float":
            inside = torch.logical_or(torch.isfinite(result.tensor), torch.logical_not(torch.isfinite(tensors[0])))
            machine.recorder.check(inside, "OverflowError", "math range error")
        return result.converted(kind)

    return compute


def _contained(wanted: bool) -> Handler:
    def contained(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        value, container = args
        if not is_dynamic(value, machine) or not isinstance(container, list | tuple | set | frozenset | dict | range):
            return NOT_HANDLED
        number = item(value, machine) if isinstance(value, torch.Tensor) else value
        if not all(kind_of(candidate) is not None for candidate in container):
            return NOT_HANDLED
        found = lift(False, "bool", machine.recorder)
        for candidate in container:
            found = found | (number == candidate)
        return found if wanted else HostValue("bool", torch.logical_not(found.tensor), machine.recorder)

    return contained


class OpaqueText:
    """A text with input-dependent parts: good for a message, for nothing else."""

    def __init__(self, parts: tuple[Any, ...]) -> None:
        self.parts = parts

    def __str__(self) -> str:
        return "".join(str(part) if isinstance(part, str | OpaqueText) else "..." for part in self.parts)


def _formatted(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return OpaqueText((None,)) if is_dynamic(args[0], machine) else NOT_HANDLED


def _joined(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return OpaqueText(args) if any(isinstance(part, OpaqueText) for part in args) else NOT_HANDLED


def _text(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if args and is_dynamic(args[0], machine):
        raise Refused("DY001", "the text of a value that only the input determines is needed")
    return NOT_HANDLED


def _dropped(what: str) -> Handler:
    def drop(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        machine.note(f"`{what}` is dropped", machine.span)
        return None

    return drop


def _numpy(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    raise Refused("DY014", "a tensor that only the input determines is handed to NumPy")


def _open(machine: "Machine", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    raise Refused("DY002", "a file is opened", "read the file in the model's constructor")


_HANDLERS: dict[Any, Handler] = {
    bool: _convert("bool"),
    int: _convert("int"),
    float: _convert("float"),
    operator.index: _convert("int"),
    operator.not_: _negation,
    operator.getitem: get_item,
    operator.setitem: set_item,
    natives.contained: _contained(True),
    natives.not_contained: _contained(False),
    natives.loop_item: _loop_item,
    len: _length,
    zip: _zip,
    enumerate: _enumerate,
    operator.is_: _identical(True),
    operator.is_not: _identical(False),
    setattr: _setattr,
    isinstance: _isinstance,
    type: _type,
    range: _range,
    builtins.min: _extreme(operator.lt),
    builtins.max: _extreme(operator.gt),
    torch.equal: _equal,
    torch.allclose: _allclose,
    torch.is_nonzero: _item,
    torch.Tensor.item: _item,
    torch.tensor: make_tensor,
    natives.formatted: _formatted,
    natives.join: _joined,
    str: _text,
    repr: _text,
    format: _text,
    open: _open,
    print: _dropped("print"),
    warnings.warn: _dropped("warnings.warn"),
    math.sqrt: _math(torch.sqrt, "float", _not_negative),
    math.exp: _math(torch.exp, "float"),
    math.log: _math(torch.log, "float", _positive),
    math.log2: _math(torch.log2, "float", _positive),
    math.sin: _math(torch.sin, "float"),
    math.cos: _math(torch.cos, "float"),
    math.tanh: _math(torch.tanh, "float"),
    math.pow: _math(torch.pow, "float"),
    math.fabs: _math(torch.abs, "float"),
    math.floor: _math(torch.floor, "int"),
    math.ceil: _math(torch.ceil, "int"),
    math.trunc: _math(torch.trunc, "int"),
    math.isnan: _math(torch.isnan, "bool"),
    math.isinf: _math(torch.isinf, "bool"),
    math.isfinite: _math(torch.isfinite, "bool"),
}
_TENSOR_METHODS: dict[str, Handler] = {
    "item": _item,
    "tolist": _tolist,
    "__bool__": _convert("bool"),
    "__int__": _convert("int"),
    "__float__": _convert("float"),
    "__index__": _convert("int"),
    "equal": _equal,
    "allclose": _allclose,
    "is_nonzero": _item,
    "numpy": _numpy,
    "__array__": _numpy,
}
