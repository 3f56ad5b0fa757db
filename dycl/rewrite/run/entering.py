"""Begin to interpret a function: its frame, the generator that it makes, and functions made of nested code."""

import types
from typing import Any

from dycl.rewrite.normalise.instructions import MakeFunction
from dycl.rewrite.normalise.statements import normalise
from dycl.rewrite.run.binding import bound
from dycl.rewrite.run.callees import Arguments
from dycl.rewrite.run.code_inspection import watch_state_of, with_inner
from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.semantics.in_python.builtin_functions import stands_in
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.frames import Frame, Generator, Purpose


def frame(
    machine: Interprets, function: types.FunctionType, arguments: Arguments, purpose: Purpose, constructed: Any = None
) -> Frame:
    """A frame at the start of `function` with its parameters bound."""
    if len(machine.frames) > 200:
        called = "what is called here" if stands_in(function.__code__) else f"`{function.__qualname__}`"
        raise Refused("DY011", f"{called} calls itself without an end that is known while compiling")
    flat = normalise(function.__code__)
    machine.entered[function.__code__] = None
    watch_state_of(function, machine)
    registers = bound(function, *arguments)
    for name in function.__code__.co_cellvars:
        cell = types.CellType(registers[name]) if name in registers else types.CellType()
        registers[name] = cell
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        registers[name] = cell
    return Frame(flat, function.__globals__, registers, purpose=purpose, constructed=constructed)


def generator(machine: Interprets, function: types.FunctionType, arguments: Arguments) -> Generator:
    """The generator that a call of a generator function makes."""
    names = (function.__name__, function.__qualname__)
    return Generator(frame(machine, function, arguments, "next"), names=names)


def make_function(machine: Interprets, frame: Frame, instruction: MakeFunction) -> types.FunctionType:
    """A function value of nested code, closed over the frame's cells."""
    code = instruction.code
    machine.nested.update(with_inner(code))
    cells = tuple(frame.registers[name] for name in instruction.captures)
    defaults = tuple(machine.value(frame, operand) for operand in instruction.defaults)
    function = types.FunctionType(code, frame.globals, code.co_name, defaults or None, cells or None)
    keywords = {name: machine.value(frame, operand) for name, operand in instruction.keyword_defaults}
    function.__kwdefaults__ = keywords or None
    function.__annotations__ = {name: machine.value(frame, operand) for name, operand in instruction.annotations}
    function.__qualname__ = code.co_qualname
    return function
