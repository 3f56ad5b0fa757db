"""Tell an error that the model itself makes from one that only its compilation makes."""

import types
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from dycl.rewrite.frames import Frame
from dycl.rewrite.grown_lists import GrownList, Spread
from dycl.rewrite.host_values import PYTHON_TYPES, HostValue
from dycl.rewrite.instructions import Call, Instruction, Star
from dycl.rewrite.numpy_arrays import HostArray
from dycl.rewrite.signals import Refused

if TYPE_CHECKING:
    from dycl.rewrite.machine import Machine


def operands(machine: "Machine", frame: Frame, instruction: Call) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """What a call instruction calls, and with which arguments."""
    callee = machine.value(frame, instruction.callee)
    args: list[Any] = []
    for operand in instruction.args:
        if isinstance(operand, Star):
            items = machine.value(frame, operand.operand)
            args.extend([Spread(items)] if type(items) is GrownList else map(machine.number, items))
        else:
            args.append(machine.value(frame, operand))
    kwargs: dict[str, Any] = {}
    for name, operand in instruction.keywords:
        value = machine.value(frame, operand)
        kwargs.update({name: value} if name is not None else value)
    return callee, tuple(args), kwargs


_OUR_NAMES = ("HostValue", "HostText", "HostArray", "HostRange", "GrownList", "RangeIterator")


def require_genuine(machine: "Machine", frame: Frame, instruction: Instruction, error: Exception) -> None:
    """Refuse unless a call fails in the same way on real values: else it is DyCL that cannot follow it."""
    if "numpy() is not supported for tensor subclasses" in str(error):
        raise Refused("DY014", "a tensor that only the input determines is handed to NumPy")
    if type(error).__name__ == "GuardOnDataDependentSymNode":
        raise Refused("DY008", "the operation needs to know a size that only the input determines")
    if isinstance(error, NameError):
        return
    if any(name in str(error) for name in _OUR_NAMES):
        raise Refused("DY010", "DyCL cannot follow this: code without decisions gets a value that it cannot use")
    if not isinstance(instruction, Call):
        return
    callee, args, kwargs = operands(machine, frame, instruction)
    if any(type(value) is GrownList for value in (*args, *kwargs.values())):
        raise Refused("DY011", f"a list of unknown length cannot be used here: {_first_line(error)}")
    seen: dict[int, Any] = {}
    with _disable_current_modes():
        real_callee, real_args, real_kwargs = (_real(part, machine, seen) for part in (callee, args, kwargs))
        try:
            real_callee(*real_args, **real_kwargs)
        except Exception as real_error:
            if type(real_error) is type(error):
                return
    raise Refused("DY010", f"DyCL cannot follow this call: {type(error).__name__}: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]


def stand_in(tree: Any, machine: "Machine", fill: int = 1) -> Any:
    """The same value with real tensors, arrays and numbers in the place of those that only the input determines."""
    return _real(tree, machine, {}, fill)


def _real(tree: Any, machine: "Machine", seen: dict[int, Any], fill: int = 0) -> Any:
    match tree:
        case torch.Tensor() if machine.recorder.is_dynamic(tree):
            return seen.setdefault(id(tree), torch.full(_known_sizes(tree), fill, dtype=tree.dtype))
        case HostValue():
            return PYTHON_TYPES[tree.kind](1)
        case _ if type(tree) is HostArray:
            return seen.setdefault(id(tree), tree.stand_in(fill))
        case list() | tuple() if type(tree) in (list, tuple):
            return type(tree)([_real(part, machine, seen, fill) for part in tree])
        case dict() if type(tree) is dict:
            return {key: _real(part, machine, seen, fill) for key, part in tree.items()}
        case slice():
            return slice(*(_real(part, machine, seen, fill) for part in (tree.start, tree.stop, tree.step)))
        case types.BuiltinMethodType() if isinstance(tree.__self__, torch.Tensor | list | dict):
            return getattr(_real(tree.__self__, machine, seen, fill), tree.__name__)
        case types.MethodType() if isinstance(tree.__self__, torch.Tensor):
            return types.MethodType(tree.__func__, _real(tree.__self__, machine, seen, fill))
        case types.MethodType() if type(tree.__self__) is HostArray:
            return getattr(tree.__self__.stand_in(fill), tree.__name__)
        case _:
            return tree


def _known_sizes(tensor: torch.Tensor) -> list[int]:
    return [size if isinstance(size, int) else 2 for size in tensor.shape]
