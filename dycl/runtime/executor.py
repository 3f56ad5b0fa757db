"""The interpreter of a graph: blocks turned into short lists of closures over numbered slots.

A block runs on slots, a list that starts with the block's arguments and grows by each step's outputs; names are
resolved to positions in that list once, when the program is loaded. The loop itself only calls closures, so what it
adds to the backend's own time is a few microseconds a block, and a loop of the model is a loop here, not recursion.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import NoReturn

import numpy as np

from dycl.hcfg.nodes import (
    Block,
    BlockId,
    Branch,
    Check,
    Fail,
    Jump,
    Let,
    Literal,
    Name,
    Return,
    Run,
    Switch,
    Target,
    Weight,
)
from dycl.hcfg.types import DType, HostKind, HostType, carrier
from dycl.runtime.artefact import Artefact
from dycl.runtime.backend import Engine, Slots, SubnetFailure, Value
from dycl.runtime.errors import ArtefactError, ModelError
from dycl.runtime.host import CallResult, Outcome, Visit
from dycl.runtime.user_errors import user_error
from dycl.runtime.weight_store import Array, array_dtype, contiguous

Number = bool | int | float
Leave = Callable[[Slots, Slots, "Kept"], CallResult]
"""Ends a call: gets the last block's slots, the values of the call's inputs, and what the call began with."""

_Picked = list[tuple[int, DType]]


@dataclass(slots=True)
class _Way:
    """An edge: the block to go to, and how to make its slots of the present ones."""

    block: "LoadedBlock"
    arguments: Callable[[Slots], Slots]


@dataclass(slots=True)
class LoadedBlock:
    """A block ready to run. Either `leave` ends the program, or `decide` chooses one of `ways`."""

    id: BlockId
    steps: list[Callable[[Slots], None]] = field(default_factory=list)
    leave: "Leave | None" = None
    decide: Callable[[Slots], Outcome] = lambda slots: None
    ways: dict[Outcome, _Way] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kept:
    """What a program keeps for its next call: the block that begins it, and what that gets beside the inputs."""

    block: LoadedBlock
    values: Slots


class Executor:
    """Runs a verified graph on an engine.

    What a program keeps from call to call is handed out and in, so runs share nothing and threads may run together.
    """

    def __init__(self, artefact: Artefact, engine: Engine) -> None:
        hcfg = artefact.hcfg
        self._hcfg = hcfg
        self._weights = artefact.weights
        self._engine = engine
        self._constants: dict[int, Value] = {}
        self._dtypes = [carrier(parameter.type).dtype for parameter in hcfg.inputs]
        self._blocks = {block_id: LoadedBlock(block_id) for block_id in hcfg.blocks}
        for block in hcfg.blocks.values():
            self._load(block)
        self._first_call = Kept(self._blocks[hcfg.entry], [])

    def run(self, inputs: Sequence[Array], kept: object | None = None, path: list[Visit] | None = None) -> CallResult:
        """What the program gives for the inputs; the blocks it visits are appended to `path`."""
        put = self._engine.put
        given = [put(contiguous(array), dtype) for array, dtype in zip(inputs, self._dtypes, strict=True)]
        begin = self._first_call if kept is None else kept
        assert isinstance(begin, Kept)
        block = begin.block
        slots = [*given, *begin.values]
        while True:
            for step in block.steps:
                step(slots)
            if block.leave is not None:
                if path is not None:
                    path.append(Visit(block.id, None))
                return block.leave(slots, given, begin)
            outcome = block.decide(slots)
            if path is not None:
                path.append(Visit(block.id, outcome))
            way = block.ways[outcome]
            slots = way.arguments(slots)
            block = way.block

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
                    for name, tensor_type in zip(outputs, self._hcfg.subnets[subnet].outputs, strict=True):
                        define(name, tensor_type.dtype)
                case Let(name=name, constant=constant):
                    value, dtype = self._constant(constant)
                    loaded.steps.append(_let_step(value))
                    define(name, dtype)
                case Check(condition=condition):
                    loaded.steps.append(self._check_step(step, positions[condition]))
        self._load_terminator(block, loaded, positions, dtypes)

    def _load_terminator(
        self, block: Block, loaded: LoadedBlock, positions: dict[Name, int], dtypes: list[DType]
    ) -> None:
        def way(target: Target) -> _Way:
            return _Way(self._blocks[target.block], _picker([positions[name] for name in target.arguments]))

        def picked(names: Sequence[Name]) -> _Picked:
            return [(positions[name], dtypes[positions[name]]) for name in names]

        match block.terminator:
            case Jump(target=target):
                loaded.ways = {None: way(target)}
            case Branch(condition=condition, then=then, orelse=orelse):
                loaded.decide = self._reader(positions[condition])
                loaded.ways = {True: way(then), False: way(orelse)}
            case Switch(value=value, cases=cases) as switch:
                loaded.ways = {case: way(target) for case, target in cases}
                loaded.decide = self._switch(switch, positions[value], loaded.ways)
            case Return(values=values, next_call=None) if _made_by_runs(block).issuperset(values):
                loaded.leave = self._leave_with_own(block.id, picked(values))
            case Return(values=values, next_call=next_call):
                next_block = None if next_call is None else self._blocks[next_call.block]
                kept = () if next_call is None else next_call.arguments
                loaded.leave = self._leave(block.id, picked(values), picked(kept), next_block)
            case Fail(next_call=None) as end:

                def fail(slots: Slots, given: Slots, begin: Kept) -> NoReturn:
                    raise user_error(end.error, end.message, end.span)

                loaded.leave = fail
            case Fail(next_call=next_call) as end:
                assert next_call is not None
                keep = self._leave(block.id, [], picked(next_call.arguments), self._blocks[next_call.block])
                loaded.leave = lambda slots, given, begin: replace(
                    keep(slots, given, begin), error=user_error(end.error, end.message, end.span)
                )

    def _run_step(self, step: Run, positions: dict[Name, int]) -> Callable[[Slots], None]:
        call = self._engine.subnet(step.subnet, [positions[name] for name in step.inputs])
        outputs = range(len(step.outputs))

        def failed(error: SubnetFailure) -> ModelError:
            return ModelError(f"sub-DNN {step.subnet}, made from {step.span}, failed: {error}")

        def run_one(slots: Slots) -> None:
            try:
                slots.append(call(slots)[0])
            except SubnetFailure as error:
                raise failed(error) from error

        def run_many(slots: Slots) -> None:
            try:
                results = call(slots)
            except SubnetFailure as error:
                raise failed(error) from error
            slots.extend([results[index] for index in outputs])

        return run_one if len(outputs) == 1 else run_many

    def _check_step(self, check: Check, position: int) -> Callable[[Slots], None]:
        read = self._reader(position)

        def check_condition(slots: Slots) -> None:
            if not read(slots):
                raise user_error(check.error, check.message, check.span)

        return check_condition

    def _switch(self, switch: Switch, position: int, ways: dict[Outcome, _Way]) -> Callable[[Slots], Outcome]:
        read = self._reader(position)

        def choose(slots: Slots) -> Outcome:
            outcome = read(slots)
            if outcome not in ways:
                raise user_error(switch.error, switch.message, switch.span)
            return outcome

        return choose

    def _reader(self, position: int) -> Callable[[Slots], bool | int]:
        """A function that reads the number or flag at `position` of the slots."""
        number = self._engine.number

        def read(slots: Slots) -> bool | int:
            try:
                return number(slots[position])  # type: ignore[return-value]
            except ValueError as error:
                raise ArtefactError("a sub-DNN gave several values where its signature promises one") from error

        return read

    def _constant(self, constant: Literal | Weight) -> tuple[Value, DType]:
        if isinstance(constant, Weight):
            dtype = self._hcfg.weights[constant.weight].dtype
            array = contiguous(self._weights[constant.weight])
        else:
            dtype = HostType(_host_kind(constant.value)).tensor.dtype
            array = np.array(constant.value, array_dtype(dtype))
        value = self._engine.put(array, dtype)
        self._constants[id(value)] = value
        return value, dtype

    def _leave_with_own(self, block: BlockId, values: _Picked) -> Leave:
        """A function that hands out values which this block made itself: nobody else has a hold of them."""
        take = self._engine.take
        return lambda slots, given, begin: CallResult(
            block, [take(slots[position], dtype) for position, dtype in values], None
        )

    def _leave(self, block: BlockId, values: _Picked, kept: _Picked, next_block: LoadedBlock | None) -> Leave:
        """A function that hands the result's values to the caller, and keeps those that the next call begins with.

        Values of inputs use the caller's own arrays, which is why they are copied before they are kept. What is handed
        out shares memory with nothing that is used later: inputs, constants, what is kept now or was kept before.
        """
        take, put, constants = self._engine.take, self._engine.put, self._constants

        def leave(slots: Slots, given: Slots, begin: Kept) -> CallResult:
            inputs = set(map(id, given))
            keep: list[Value] = []
            for position, dtype in kept:
                value = slots[position]
                keep.append(put(take(value, dtype).copy(), dtype) if id(value) in inputs else value)
            shared = inputs.union(map(id, begin.values), map(id, keep))
            outputs: list[Array] = []
            for position, dtype in values:
                value = slots[position]
                array = take(value, dtype)
                outputs.append(array.copy() if id(value) in shared or id(value) in constants else array)
            return CallResult(block, outputs, None if next_block is None else Kept(next_block, keep))

        return leave


def _made_by_runs(block: Block) -> set[Name]:
    return {name for step in block.steps if isinstance(step, Run) for name in step.outputs}


def _host_kind(value: Number) -> HostKind:
    if isinstance(value, bool):
        return "bool"
    return "int" if isinstance(value, int) else "float"


def _let_step(value: Value) -> Callable[[Slots], None]:
    return lambda slots: slots.append(value)


def _picker(indices: list[int]) -> Callable[[Slots], Slots]:
    """A function that picks the values at `indices` out of slots, as new slots."""
    if not indices:
        return lambda slots: []
    if len(indices) == 1:
        index = indices[0]
        return lambda slots: [slots[index]]
    pick = itemgetter(*indices)
    return lambda slots: list(pick(slots))
