"""The interpreter of a graph: blocks turned into short lists of closures over numbered slots.

A block runs on a frame, a list that starts with the block's arguments and grows by each step's outputs; names are
resolved to positions in that list once, when the program is loaded. The loop itself only calls closures, so what it
adds to the backend's own time is a few microseconds a block, and a loop of the model is a loop here, not recursion.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NoReturn

import numpy as np

from dycl.hcfg.nodes import (
    Block,
    BlockId,
    Branch,
    Check,
    Fail,
    Hcfg,
    Jump,
    Let,
    Literal,
    Name,
    Return,
    Run,
    Switch,
    Target,
    Terminator,
    Weight,
)
from dycl.hcfg.structure import Structure
from dycl.hcfg.types import DType, HostKind, HostType, Span, carrier
from dycl.runtime.backend import Engine, Frame, SubnetFailure, Value
from dycl.runtime.errors import ArtefactError, ModelError
from dycl.runtime.user_errors import user_error
from dycl.runtime.weight_store import array_dtype

Outcome = bool | int | None
Number = bool | int | float


@dataclass(frozen=True, slots=True)
class ResultForm:
    """How a block's result looks: the element type of each value, and the structure they are arranged in."""

    dtypes: tuple[DType, ...]
    structure: Structure


@dataclass(slots=True)
class _Way:
    """An edge: the block to go to, and how to make its frame of the present one."""

    block: "LoadedBlock"
    arguments: Callable[[Frame], Frame]


@dataclass(slots=True)
class LoadedBlock:
    """A block ready to run. Either `leave` ends the program, or `decide` chooses one of `ways`."""

    id: BlockId
    span: Span
    subnet_calls: int = 0
    steps: list[Callable[[Frame], None]] = field(default_factory=list)
    leave: "Callable[[Frame], Result] | None" = None
    decide: Callable[[Frame], Outcome] = lambda frame: None
    ways: dict[Outcome, _Way] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kept:
    """What a program keeps for its next call: the block that begins it, and what that gets beside the inputs."""

    block: LoadedBlock
    values: Frame


@dataclass(frozen=True, slots=True)
class Result:
    """What a run of the program gave: the values of its result, how they look, and what it keeps for its next call."""

    values: Frame
    form: ResultForm
    kept: Kept | None


@dataclass(frozen=True, slots=True)
class Visit:
    """One block on a path, and how its decision went; None where it had none to make."""

    block: LoadedBlock
    outcome: Outcome


class Executor:
    """Runs a verified graph on a backend's engine.

    What a program keeps from call to call is handed out and in, so runs share nothing and threads may run together.
    """

    def __init__(self, hcfg: Hcfg, engine: Engine) -> None:
        self._hcfg = hcfg
        self._engine = engine
        self._constants: dict[int, Value] = {}
        self._blocks = {block.id: LoadedBlock(block.id, block.terminator.span) for block in hcfg.blocks.values()}
        for block in hcfg.blocks.values():
            self._load(block)
        self.first_call = Kept(self._blocks[hcfg.entry], [])
        """What a program that was never called keeps: nothing."""

    def run(self, inputs: Frame, kept: Kept, path: list[Visit] | None = None) -> Result:
        """What the program gives for the inputs; the blocks it visits are appended to `path`."""
        block = kept.block
        frame = [*inputs, *kept.values]
        while True:
            for step in block.steps:
                step(frame)
            if block.leave is not None:
                if path is not None:
                    path.append(Visit(block, None))
                return block.leave(frame)
            outcome = block.decide(frame)
            if path is not None:
                path.append(Visit(block, outcome))
            way = block.ways[outcome]
            frame = way.arguments(frame)
            block = way.block

    def is_constant(self, value: Value) -> bool:
        """Whether `value` is a weight or literal of the program, which no caller may get hold of."""
        return id(value) in self._constants

    def _load(self, block: Block) -> None:
        loaded = self._blocks[block.id]
        positions: dict[Name, int] = {}
        dtypes: list[DType] = []

        def define(name: Name, dtype: DType) -> None:
            positions[name] = len(positions)
            dtypes.append(dtype)

        for parameter in block.parameters:
            define(parameter.name, carrier(parameter.type).dtype)
        for step in block.steps:
            match step:
                case Run(subnet=subnet, outputs=outputs):
                    loaded.steps.append(self._run_step(step, positions))
                    loaded.subnet_calls += 1
                    for name, tensor_type in zip(outputs, self._hcfg.subnets[subnet].outputs, strict=True):
                        define(name, tensor_type.dtype)
                case Let(name=name, constant=constant):
                    value, dtype = self._constant(constant)
                    loaded.steps.append(_let_step(value))
                    define(name, dtype)
                case Check(condition=condition):
                    loaded.steps.append(self._check_step(step, positions[condition]))
        self._load_terminator(block.terminator, loaded, positions, dtypes)

    def _load_terminator(
        self, terminator: Terminator, loaded: LoadedBlock, positions: dict[Name, int], dtypes: list[DType]
    ) -> None:
        def way(target: Target) -> _Way:
            return _Way(self._blocks[target.block], _picker([positions[name] for name in target.arguments]))

        match terminator:
            case Jump(target=target):
                loaded.ways = {None: way(target)}
            case Branch(condition=condition, then=then, orelse=orelse):
                loaded.decide = self._reader(positions[condition])
                loaded.ways = {True: way(then), False: way(orelse)}
            case Switch(value=value, cases=cases):
                loaded.ways = {case: way(target) for case, target in cases}
                loaded.decide = self._switch(terminator, positions[value], loaded.ways)
            case Return(values=values, structure=structure, next_call=next_call):
                indices = [positions[name] for name in values]
                form = ResultForm(tuple(dtypes[index] for index in indices), structure)
                loaded.leave = _leave(indices, form, None if next_call is None else way(next_call))
            case Fail(error=error, message=message, span=span):

                def fail(frame: Frame) -> NoReturn:
                    raise user_error(error, message, span)

                loaded.leave = fail

    def _run_step(self, step: Run, positions: dict[Name, int]) -> Callable[[Frame], None]:
        call = self._engine.subnet(step.subnet, [positions[name] for name in step.inputs])
        outputs = range(len(step.outputs))

        def failed(error: SubnetFailure) -> ModelError:
            return ModelError(f"sub-DNN {step.subnet}, made from {step.span}, failed: {error}")

        def run_one(frame: Frame) -> None:
            try:
                frame.append(call(frame)[0])
            except SubnetFailure as error:
                raise failed(error) from error

        def run_many(frame: Frame) -> None:
            try:
                results = call(frame)
            except SubnetFailure as error:
                raise failed(error) from error
            frame.extend([results[index] for index in outputs])

        return run_one if len(outputs) == 1 else run_many

    def _check_step(self, check: Check, position: int) -> Callable[[Frame], None]:
        read = self._reader(position)

        def check_condition(frame: Frame) -> None:
            if not read(frame):
                raise user_error(check.error, check.message, check.span)

        return check_condition

    def _switch(self, switch: Switch, position: int, ways: dict[Outcome, _Way]) -> Callable[[Frame], Outcome]:
        read = self._reader(position)

        def choose(frame: Frame) -> Outcome:
            outcome = read(frame)
            if outcome not in ways:
                raise user_error(switch.error, switch.message, switch.span)
            return outcome

        return choose

    def _reader(self, position: int) -> Callable[[Frame], bool | int]:
        """A function that reads the number or flag at `position` of a frame."""
        number = self._engine.number

        def read(frame: Frame) -> bool | int:
            try:
                return number(frame[position])  # type: ignore[return-value]
            except ValueError as error:
                raise ArtefactError("a sub-DNN gave several values where its signature promises one") from error

        return read

    def _constant(self, constant: Literal | Weight) -> tuple[Value, DType]:
        if isinstance(constant, Weight):
            value, dtype = self._engine.weight(constant.weight), self._hcfg.weights[constant.weight].dtype
        else:
            dtype = HostType(_host_kind(constant.value)).tensor.dtype
            value = self._engine.put(np.array(constant.value, array_dtype(dtype)), dtype)
        self._constants[id(value)] = value
        return value, dtype


def _host_kind(value: Number) -> HostKind:
    if isinstance(value, bool):
        return "bool"
    return "int" if isinstance(value, int) else "float"


def _let_step(value: Value) -> Callable[[Frame], None]:
    return lambda frame: frame.append(value)


def _leave(indices: list[int], form: ResultForm, next_call: _Way | None) -> Callable[[Frame], Result]:
    pick = _picker(indices)
    if next_call is None:
        return lambda frame: Result(pick(frame), form, None)
    block, keep = next_call.block, next_call.arguments
    return lambda frame: Result(pick(frame), form, Kept(block, keep(frame)))


def _picker(indices: list[int]) -> Callable[[Frame], Frame]:
    """A function that picks the values at `indices` out of a frame, as a new frame."""
    if not indices:
        return lambda frame: []
    if len(indices) == 1:
        index = indices[0]
        return lambda frame: [frame[index]]
    pick = itemgetter(*indices)
    return lambda frame: list(pick(frame))
