"""Values that a program's sub-DNNs meet: every block is run once or more, by PyTorch, with what leads to it.

    example ──> entry ──> b1 ──> b2            b1 decides for b2; b3 is run with the same values all the same
                            └──> b3

Decisions are not kept to, so that the sub-DNNs of every way get values of the kind that they are made for. A way that
PyTorch cannot go with some values (an index that is out of range) is tried again with those of the next one who comes.
"""

import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch

from dycl.hcfg.module import Module
from dycl.hcfg.nodes import (
    Block,
    BlockId,
    Let,
    Literal,
    Name,
    Run,
    SubnetId,
    Target,
    Weight,
    WeightId,
    next_calls,
    targets,
)
from dycl.hcfg.types import HostType, carrier
from dycl.trials.reference import NoReference, computed

_TRIES = 4
"""How often a block is run with other values where PyTorch has refused some of its sub-DNNs."""

Values = list[torch.Tensor]


@dataclass(slots=True)
class Walked:
    """The inputs with which each sub-DNN was run, and why none was found for the others."""

    inputs: dict[SubnetId, Values] = field(default_factory=dict)
    failed: dict[SubnetId, str] = field(default_factory=dict)


def walk(
    module: Module, constants: Mapping[WeightId, torch.Tensor], inputs: Sequence[torch.Tensor], seconds: float
) -> Walked:
    """Values for the sub-DNNs of a program, from those of one call, found within some seconds."""
    return _Walk(module, constants, time.monotonic() + seconds).from_call(inputs)


class _Walk:
    def __init__(self, module: Module, constants: Mapping[WeightId, torch.Tensor], until: float) -> None:
        self._module, self._constants, self._until = module, constants, until
        self._found = Walked()
        self._tries: Counter[BlockId] = Counter()
        self._done: set[BlockId] = set()

    def from_call(self, inputs: Sequence[torch.Tensor]) -> Walked:
        waiting: deque[tuple[BlockId, Values]] = deque([(self._module.entry, list(inputs))])
        while waiting and time.monotonic() < self._until:
            name, arguments = waiting.popleft()
            if name in self._done or self._tries[name] >= _TRIES:
                continue
            self._tries[name] += 1
            block = self._module.blocks[name]
            values, is_whole = self._run(block, arguments)
            if is_whole:
                self._done.add(name)
            for target in targets(block.terminator):
                self._follow(target, values, [], waiting)
            for target in next_calls(block.terminator):
                self._follow(target, values, inputs, waiting)
        return self._found

    def _follow(
        self,
        target: Target,
        values: Mapping[Name, torch.Tensor],
        first: Sequence[torch.Tensor],
        waiting: deque[tuple[BlockId, Values]],
    ) -> None:
        """Take note of a way, if its values are known."""
        if all(name in values for name in target.arguments):
            waiting.append((target.block, [*first, *(values[name] for name in target.arguments)]))

    def _run(self, block: Block, arguments: Values) -> tuple[dict[Name, torch.Tensor], bool]:
        """The values in a block, as far as PyTorch can compute them, and whether that is all of them."""
        values = {parameter.name: value for parameter, value in zip(block.parameters, arguments, strict=True)}
        is_whole = True
        for step in block.steps:
            match step:
                case Let(name=name, constant=Literal(value=number)):
                    kind = HostType("bool" if type(number) is bool else "int" if type(number) is int else "float")
                    values[name] = torch.tensor(number, dtype=getattr(torch, carrier(kind).dtype))
                case Let(name=name, constant=Weight(weight=weight)):
                    values[name] = self._constants[weight]
                case Run():
                    is_whole = self._run_subnet(step, values) and is_whole
        return values, is_whole

    def _run_subnet(self, step: Run, values: dict[Name, torch.Tensor]) -> bool:
        if not all(name in values for name in step.inputs):
            return False
        subnet = self._module.subnets[step.subnet]
        inputs = [values[name] for name in step.inputs]
        try:
            results = computed(subnet.graph, inputs, [self._constants[weight] for weight in subnet.weights])
        except NoReference as error:
            self._found.failed.setdefault(step.subnet, str(error))
            return False
        values.update(zip(step.outputs, results, strict=True))
        self._found.inputs.setdefault(step.subnet, inputs)
        self._found.failed.pop(step.subnet, None)
        return True
