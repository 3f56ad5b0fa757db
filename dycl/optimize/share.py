"""Share what is equal: sub-DNNs of one structure are compiled once, each weight is stored once.

before                                  after
  b1: y = run net1(x)                     b1: y = run net1(x)
  b2: y = run net2(x)                     b2: y = run net1(x)       same operations and weights
  b3: y = run net3(x)                     b3: y = run net3(x)       same code, other weights
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from dycl.backends import Compiler
from dycl.backends.errors import Untranslatable
from dycl.hcfg.nodes import Block, BlockId, Let, Run, Step, Subnet, SubnetId, Weight, WeightId
from dycl.hcfg.subnet import SubnetGraph
from dycl.hcfg.types import TensorType
from dycl.rewrite.assemble import Assembled
from dycl.rewrite.diagnostics import Problem, problem_at
from dycl.rewrite.signals import Refused
from dycl.rewrite.tensor_types import tensor_type
from dycl.runtime.artefact import code_digest
from dycl.runtime.weight_store import Array


@dataclass(slots=True)
class Shared:
    """Blocks that call shared sub-DNNs, with codes and weights each once."""

    blocks: dict[BlockId, Block] = field(default_factory=dict)
    subnets: dict[SubnetId, Subnet] = field(default_factory=dict)
    codes: dict[str, bytes] = field(default_factory=dict)
    weights: dict[WeightId, Array] = field(default_factory=dict)
    weight_types: dict[WeightId, TensorType] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def share(
    assembled: Assembled,
    compiler: Compiler,
    names: Mapping[int, str],
    merge: bool,
    progress: Callable[[int, int], None],
) -> Shared:
    """The program with equal codes and weights stored once and, if `merge` says so, equal sub-DNNs made one.

    `names` are those of the model's tensors.
    """
    shared = Shared()
    store = _Weights(shared, names)
    structures: dict[str, str] = {}
    known: dict[tuple[str, tuple[WeightId, ...], SubnetId | None], SubnetId] = {}
    stands_for: dict[SubnetId, SubnetId] = {}
    for number, (subnet, recorded) in enumerate(assembled.subnets.items()):
        structure = _structure(recorded.graph)
        if structure not in structures:
            try:
                code = compiler.compile(recorded.graph)
            except Untranslatable as refused:
                shared.problems.append(problem_at(Refused("DY004", refused.reason), (refused.span,)))
                continue
            structures[structure] = code_digest(code)
            shared.codes[structures[structure]] = code
        weights = tuple(map(store.add, recorded.weights))
        key = (structures[structure], weights, None if merge else subnet)
        stands_for[subnet] = known.setdefault(key, SubnetId(f"net{len(known)}"))
        graph = recorded.graph
        shared.subnets[stands_for[subnet]] = Subnet(
            stands_for[subnet],
            tuple(map(graph.type_of, graph.inputs)),
            tuple(map(graph.type_of, graph.outputs)),
            compiler.name,
            structures[structure],
            weights,
        )
        progress(number + 1, len(assembled.subnets) - number - 1)
    constants = {name: store.add(tensor) for name, tensor in assembled.constants.items()}
    if not shared.problems:
        for name, block in assembled.blocks.items():
            steps = tuple(_renamed(step, stands_for, constants) for step in block.steps)
            shared.blocks[name] = replace(block, steps=steps)
    return shared


def _structure(graph: SubnetGraph) -> str:
    """A text that is equal for graphs that differ in their places in the source only."""
    operations = [(item.target, sorted(item.arguments.items()), item.outputs) for item in graph.operations]
    text = repr((graph.inputs, graph.weights, graph.outputs, graph.types, operations))
    return hashlib.sha256(text.encode()).hexdigest()


def _renamed(step: Step, subnets: Mapping[SubnetId, SubnetId], constants: Mapping[str, WeightId]) -> Step:
    match step:
        case Run(subnet=subnet):
            return replace(step, subnet=subnets[subnet])
        case Let(constant=Weight(weight=weight)):
            return replace(step, constant=Weight(constants[weight]))
        case _:
            return step


class _Weights:
    """Stores tensors once, by content."""

    def __init__(self, shared: Shared, names: Mapping[int, str]) -> None:
        self.shared = shared
        self.names = names
        self.by_tensor: dict[int, tuple[WeightId, torch.Tensor]] = {}
        self.by_content: dict[tuple[TensorType, bytes], WeightId] = {}

    def add(self, tensor: torch.Tensor) -> WeightId:
        known = self.by_tensor.get(id(tensor))
        if known is None:
            known = (self._store(tensor), tensor)
            self.by_tensor[id(tensor)] = known
        return known[0]

    def _store(self, tensor: torch.Tensor) -> WeightId:
        array = to_array(tensor)
        value_type = tensor_type(tensor)
        key = (value_type, hashlib.sha256(array.tobytes()).digest())
        if key not in self.by_content:
            name = self.names.get(id(tensor), f"constant{len(self.by_content)}")
            self.by_content[key] = name
            self.shared.weights[name] = array
            self.shared.weight_types[name] = value_type
        return self.by_content[key]


def to_array(tensor: torch.Tensor) -> Array:
    """A copy of a tensor as an array; bfloat16, which numpy lacks, as its bits."""
    plain = tensor.detach().cpu().contiguous()
    bits = plain.view(torch.uint16) if plain.dtype == torch.bfloat16 else plain
    return np.array(bits.numpy(), copy=True)
