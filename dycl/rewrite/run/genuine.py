"""Tell an error that the model itself makes from one that only its compilation makes."""

import dis
import types
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils._python_dispatch import _disable_current_modes

from dycl.rewrite.knowledge import Interpret
from dycl.rewrite.normalise.instructions import BranchOn, Call, Instruction, Star
from dycl.rewrite.normalise.source import has_source
from dycl.rewrite.normalise.spreading import described
from dycl.rewrite.own_code import is_own_module
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.run.errors import is_mark
from dycl.rewrite.semantics.dynamic import is_dynamic
from dycl.rewrite.semantics.kinds import class_of
from dycl.rewrite.semantics.stand_ins import stand_ins
from dycl.rewrite.semantics.texts import HostText
from dycl.rewrite.signals import OwnMistake, Refused, Restart
from dycl.rewrite.state.addresses import Address
from dycl.rewrite.state.copied import items_held
from dycl.rewrite.state.frames import Frame, Generator, HostRange, RangeIterator
from dycl.rewrite.state.heap.attributes import Attributes
from dycl.rewrite.state.heap.doors import Door
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
        _add_keywords(kwargs, {name: value} if name is not None else value, callee)
    return callee, tuple(args), kwargs


def _add_keywords(kwargs: dict[str, Any], more: Any, callee: Any) -> None:
    """Put more arguments by name to those that a call has already, as `**more` does."""
    if not hasattr(more, "keys"):
        kind = (class_of(more) or type(more)).__name__
        raise TypeError(f"{described(callee)} argument after ** must be a mapping, not {kind}")
    for name in more.keys():  # noqa: SIM118, a mapping need not be a dict
        if not isinstance(name, str):
            raise TypeError("keywords must be strings")
        if name in kwargs:
            raise TypeError(f"{described(callee)} got multiple values for keyword argument '{name}'")
        kwargs[name] = more[name]


# PyTorch refuses what is no parameter, no module or no buffer whatever its values are, and a dict a name it has not.
_SAID_OF_ATTRIBUTES = frozenset(
    function.__code__
    for function in (nn.Module.__setattr__, nn.Module.register_buffer, Door.__getitem__, Attributes.entry)
)
# Where Python complains of a type that only a compilation has, its words are of no use to the user.
_STAND_INS = (HostValue, HostText, HostArray, HostRange, GrownList, RangeIterator)
# What PyTorch says where its code in C++ wants a size as a number.
_ASKED_FOR_SIZES = ("operator aten::size does not exist", "on tensor with symbolic sizes/strides")
_TOLD_OF_STAND_INS = (*(kind.__name__ for kind in _STAND_INS), "__hash__ method should return an integer")


def require_genuine(machine: Interprets, frame: Frame, instruction: Instruction, error: BaseException) -> None:
    """Refuse unless a call fails in the same way on real values: else it is DyCL that cannot follow it."""
    if _is_own_mistake(error):
        raise OwnMistake from error
    if _tells_of_stand_in(error):
        _look_into_special_methods(machine, frame, instruction)
        raise Refused("DY010", "DyCL cannot follow this: code without decisions gets a value that it cannot use")
    if _raised_in(error) is torch.Tensor.__array__.__code__:
        raise Refused("DY014", "a tensor that only the input determines is handed to NumPy")
    if type(error).__name__ == "GuardOnDataDependentSymNode":
        raise Refused("DY008", "the operation needs to know a size that only the input determines")
    if isinstance(error, RuntimeError) and any(told in str(error) for told in _ASKED_FOR_SIZES):
        hint = "leave the size out of `dynamic_shapes`, or compute this by other operations"
        raise Refused("DY008", "PyTorch's own code needs to know a size that is open here", hint)
    if _raised_in(error) in _SAID_OF_ATTRIBUTES:
        return
    if isinstance(error, NameError) or any(isinstance(part, Address) for part in error.args):
        return  # an object is not found by its address, of which nothing can be told
    if not isinstance(instruction, Call):
        return
    try:
        callee, args, kwargs = operands(machine, frame, instruction)
    except Exception:
        return  # it is the call's operands that cannot be had, which nothing but the program's own values decide
    owner = attribute(callee, "__self__")
    if isinstance(owner, Generator) or any(isinstance(value, Generator) for value in args):
        return  # the machine itself went on with it
    if any(type(value) is GrownList for value in (*args, *kwargs.values())):
        raise Refused("DY011", f"a list of unknown length cannot be used here: {_first_line(error)}")
    if not _depends_on_input((owner, args, kwargs), machine):
        if len(machine.recorder.recording.operations) != machine.recorded_before:
            # It has called something back, which may have given it a number that it cannot take.
            raise Refused("DY010", f"DyCL cannot follow this call: {type(error).__name__}: {_first_line(error)}")
        return
    if not all(map(_can_be_tried_again, (owner, *args, *kwargs.values()))):
        raise Refused("DY010", f"DyCL cannot follow this call: {type(error).__name__}: {_first_line(error)}")
    with _disable_current_modes():
        real_callee, real_args, real_kwargs = stand_ins((callee, args, kwargs), machine, fill=0)
        try:
            real_callee(*real_args, **real_kwargs)
        except Exception as real_error:
            if type(real_error) is type(error):
                return
    raise Refused("DY010", f"DyCL cannot follow this call: {type(error).__name__}: {_first_line(error)}")


def _tells_of_stand_in(error: BaseException) -> bool:
    """Whether Python complains of a type that only a compilation has, or of what a special method gives."""
    texts = [part for part in error.args if isinstance(part, str)]
    return any(told in text for text in texts for told in _TOLD_OF_STAND_INS)


def _look_into_special_methods(machine: Interprets, frame: Frame, instruction: Instruction) -> None:
    """Interpret the special methods of the objects that an instruction uses, unless they are already."""
    match instruction:
        case Call():
            callee, args, kwargs = operands(machine, frame, instruction)
            objects = [callee, *args, *kwargs.values()]
        case BranchOn(condition=condition):
            objects = [machine.value(frame, condition)]
        case _:
            return
    codes = {
        found.__code__
        for value in objects
        for cls in type(value).__mro__
        for name, found in vars(cls).items()
        if name.startswith("__") and isinstance(found, types.FunctionType) and has_source(found.__code__)
    }
    new = codes - machine.knowledge.interpreted
    machine.knowledge.learn(*map(Interpret, new))
    if new:
        raise Restart


def _depends_on_input(tree: Any, machine: Interprets) -> bool:
    """Whether something that only the input determines stands in these arguments, also inside plain containers."""
    waiting, seen = [tree], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        if isinstance(part, _STAND_INS) or is_dynamic(part, machine):
            return True
        if isinstance(part, list | tuple | dict):
            seen.add(id(part))
            waiting.extend(items_held(part))
        elif isinstance(part, slice):
            waiting.extend((part.start, part.stop, part.step))
    return False


def _can_be_tried_again(value: Any, around: tuple[int, ...] = ()) -> bool:
    """Whether a call with this argument has no effect that a second call could repeat."""
    if type(value) in (list, tuple, dict):
        parts = value.values() if isinstance(value, dict) else value
        holds_itself = id(value) in around
        return not holds_itself and all(_can_be_tried_again(part, (*around, id(value))) for part in parts)
    return isinstance(value, _INERT) or type(value) in _STAND_INS


# What a builtin that gets it can neither change nor call.
_INERT = (
    *(bool, int, float, complex, str, bytes, range, slice, type, types.NoneType, types.EllipsisType, types.ModuleType),
    *(torch.Tensor, torch.Size, torch.dtype, torch.device, torch.layout, torch.memory_format, np.generic),
    *(torch.SymInt, torch.SymFloat, torch.SymBool),
)


def _is_own_mistake(error: BaseException) -> bool:
    """Whether DyCL's own code went wrong: the errors that it raises for the program, it raises by `raise`."""
    trace = _innermost(error)
    if trace is None or not is_own_module(trace.tb_frame.f_globals.get("__name__", "")):
        return False
    if isinstance(error, AssertionError | NotImplementedError):
        return True
    if not isinstance(error, NameError | AttributeError):
        return False
    here = next(item for item in dis.get_instructions(trace.tb_frame.f_code) if item.offset == trace.tb_lasti)
    return here.opname.startswith(("LOAD_", "STORE_", "DELETE_"))


def _raised_in(error: BaseException) -> types.CodeType | None:
    """The function that raised an error, if it is one in Python."""
    trace = _innermost(error)
    return None if trace is None else trace.tb_frame.f_code


def _innermost(error: BaseException) -> types.TracebackType | None:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None and not is_mark(trace.tb_next):
        trace = trace.tb_next
    return trace


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0]
