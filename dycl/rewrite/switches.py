"""Indexing by a host value: the program goes on once for each item that the index can mean."""

import operator
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from dycl.rewrite.dynamic import item
from dycl.rewrite.frames import Frame
from dycl.rewrite.host_values import HostValue
from dycl.rewrite.instructions import Call
from dycl.rewrite.signals import Refused
from dycl.rewrite.stops import Decided, Outcome

if TYPE_CHECKING:
    from dycl.rewrite.machine import Machine


def switch_on_index(
    machine: "Machine", frame: Frame, instruction: Call, callee: Any, args: tuple[Any, ...]
) -> Decided | None:
    """A switch over the items of a container, if this call indexes one by a host value."""
    if callee is not operator.getitem or not isinstance(args[0], list | tuple | dict | nn.ModuleList | nn.Sequential):
        return None
    container, index = args
    if isinstance(index, torch.Tensor) and machine.recorder.is_dynamic(index):
        if isinstance(container, dict):
            return None
        index = item(index, machine)
    if not isinstance(index, HostValue):
        return None
    number = index.as_kind("int")
    if isinstance(container, dict):
        cases = {int(key): value for key, value in container.items() if isinstance(key, int)}
        error = ("KeyError", "the key is not in the dict")
    else:
        cases = dict(enumerate(container))
        error = ("IndexError", "index out of range")
        wrapped = torch.where(torch.lt(number.tensor, 0), number.tensor + len(cases), number.tensor)
        number = HostValue("int", wrapped, machine.recorder)
    if machine.catches_errors():
        raise Refused(
            "DY008", f"whether this raises {error[0]} depends on the input, and the program catches errors here"
        )
    outcomes = (Outcome(case, frame.position + 1, {instruction.dest: value}) for case, value in cases.items())
    return Decided(number, tuple(outcomes), error)
