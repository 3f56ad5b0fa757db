"""Tell an error that the model itself makes from one that only its compilation makes."""

import types
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from dycl.rewrite.normalise.instructions import Call, Instruction, Star
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.semantics.dynamic import mentions
from dycl.rewrite.semantics.stand_ins import stand_ins
from dycl.rewrite.semantics.texts import HostText
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.frames import Frame, HostRange, RangeIterator
from dycl.rewrite.state.tables import GrownList, Spread


def operands(machine: Interprets, frame: Frame, instruction: Call) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
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


# Where Python complains of a type that only a compilation has, its words are of no use to the user.
_STAND_INS = (HostValue, HostText, HostArray, HostRange, GrownList, RangeIterator)


def require_genuine(machine: Interprets, frame: Frame, instruction: Instruction, error: Exception) -> None:
    """Refuse unless a call fails in the same way on real values: else it is DyCL that cannot follow it."""
    if _raised_in(error) is torch.Tensor.__array__.__code__:
        raise Refused("DY014", "a tensor that only the input determines is handed to NumPy")
    if type(error).__name__ == "GuardOnDataDependentSymNode":
        raise Refused("DY008", "the operation needs to know a size that only the input determines")
    if isinstance(error, NameError):
        return
    if not isinstance(instruction, Call):
        return
    callee, args, kwargs = operands(machine, frame, instruction)
    owner = getattr(callee, "__self__", None)
    if mentions((owner, args, kwargs), _STAND_INS) and any(kind.__name__ in str(error) for kind in _STAND_INS):
        raise Refused("DY010", "DyCL cannot follow this: code without decisions gets a value that it cannot use")
    if any(type(value) is GrownList for value in (*args, *kwargs.values())):
        raise Refused("DY011", f"a list of unknown length cannot be used here: {_first_line(error)}")
    with _disable_current_modes():
        real_callee, real_args, real_kwargs = stand_ins((callee, args, kwargs), machine, fill=0)
        try:
            real_callee(*real_args, **real_kwargs)
        except Exception as real_error:
            if type(real_error) is type(error):
                return
    raise Refused("DY010", f"DyCL cannot follow this call: {type(error).__name__}: {_first_line(error)}")


def _raised_in(error: Exception) -> types.CodeType | None:
    """The function that raised an error, if it is one in Python."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return None if trace is None else trace.tb_frame.f_code


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
