"""The heterogeneous control-flow graph (HCFG): blocks of sub-DNN calls joined by host decisions.

A block has parameters, a list of steps and one terminator. Control enters a block with one argument
for each parameter, so merges need no phi nodes. Every node carries the place in the user's source it came from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dycl.hcfg.structure import Structure
from dycl.hcfg.types import Span, TensorType, ValueType

Name = str
BlockId = str
SubnetId = str
WeightId = str


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value that a block receives from whoever enters it."""

    name: Name
    type: ValueType


@dataclass(frozen=True, slots=True)
class Run:
    """Call a sub-DNN: the only node that computes on tensors."""

    subnet: SubnetId
    inputs: tuple[Name, ...]
    outputs: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Literal:
    """A number or flag known while compiling."""

    value: bool | int | float


@dataclass(frozen=True, slots=True)
class Weight:
    """A tensor known while compiling, stored with the artefact's weights."""

    weight: WeightId


@dataclass(frozen=True, slots=True)
class Let:
    """Name a constant on the host."""

    name: Name
    constant: Literal | Weight
    span: Span


@dataclass(frozen=True, slots=True)
class Check:
    """Stop with the user's own error unless `condition` holds."""

    condition: Name
    error: str
    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Target:
    """Where to go next, and with which values."""

    block: BlockId
    arguments: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Jump:
    """Go to `target`."""

    target: Target
    span: Span


@dataclass(frozen=True, slots=True)
class Branch:
    """Go to `then` if `condition` holds, else to `orelse`."""

    condition: Name
    then: Target
    orelse: Target
    span: Span


@dataclass(frozen=True, slots=True)
class Switch:
    """Go to the case that equals `value`; with no such case, stop with the user's own error."""

    value: Name
    cases: tuple[tuple[int, Target], ...]
    error: str
    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Return:
    """Leave the program with `values` arranged as `structure` says.

    A program that keeps state from call to call says here where its next call begins: in `next_call.block`, whose
    parameters are the program's inputs and then the values kept, which are `next_call.arguments`.
    """

    values: tuple[Name, ...]
    structure: Structure
    span: Span
    next_call: Target | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    """Stop with the error that the user's own code raises on this path; `next_call` is as in `Return`."""

    error: str
    message: str
    span: Span
    next_call: Target | None = None


Step = Run | Let | Check
Terminator = Jump | Branch | Switch | Return | Fail


@dataclass(frozen=True, slots=True)
class Block:
    """Steps without a decision between them, then one way out."""

    id: BlockId
    parameters: tuple[Parameter, ...]
    steps: tuple[Step, ...]
    terminator: Terminator
    span: Span


@dataclass(frozen=True, slots=True)
class Subnet:
    """A sub-DNN's signature: what goes in and comes out, which backend runs its code, and on which weights."""

    id: SubnetId
    inputs: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]
    backend: str
    code: str
    weights: tuple[WeightId, ...]


@dataclass(frozen=True, slots=True)
class SizeRule:
    """What a call must keep to: the size `name` is `factor * root + offset`, and `root` is from `least` to `most`."""

    name: str
    least: int
    most: int
    root: str
    factor: int = 1
    offset: int = 0

    def __str__(self) -> str:
        scaled = self.root if self.factor == 1 else f"{self.factor}*{self.root}"
        return scaled if not self.offset else f"{scaled} {'+' if self.offset > 0 else '-'} {abs(self.offset)}"


@dataclass(frozen=True, slots=True)
class Hcfg:
    """A whole program: its call signature, its blocks, its sub-DNNs and its weights.

    `signature` nests the call as a tuple of (positional arguments, keyword arguments); `parameter_names` are the names
    of the program's parameters in order, where known, so that a call may pass them either way. A named dimension of an
    input stands for any size, the same one wherever the name occurs, as far as the rules in `sizes` let it.
    """

    name: str
    signature: Structure
    parameter_names: tuple[str, ...] = field(default=(), kw_only=True)
    sizes: tuple[SizeRule, ...] = field(default=(), kw_only=True)
    inputs: tuple[Parameter, ...]
    entry: BlockId
    blocks: Mapping[BlockId, Block]
    subnets: Mapping[SubnetId, Subnet]
    weights: Mapping[WeightId, TensorType] = field(default_factory=dict)


def targets(terminator: Terminator) -> tuple[Target, ...]:
    """Every way on from a terminator, in the order it names them."""
    match terminator:
        case Jump(target=target):
            return (target,)
        case Branch(then=then, orelse=orelse):
            return (then, orelse)
        case Switch(cases=cases):
            return tuple(target for _, target in cases)
        case Return() | Fail():
            return ()


def next_calls(terminator: Terminator) -> tuple[Target, ...]:
    """Where the next call begins, if this terminator says so."""
    target = terminator.next_call if isinstance(terminator, Return | Fail) else None
    return () if target is None else (target,)
