"""Merge blocks that do the same: equal steps, and ways on to blocks that do the same.

before                                  after
  b1(x): y = run net0(x); jump b3(y)      b1(x): y = run net0(x); jump b3(y)
  b2(z): t = run net0(z); jump b4(t)      b3(a): return a
  b3(a): return a
  b4(b): return b                         who went to b2 goes to b1, who went to b4 goes to b3

The rewriter keeps states apart that differ in something known, such as which round of a loop it is, also where nothing
that follows depends on it. Which blocks do the same is found from the other end: first all blocks count as one that
look alike apart from where they lead; then classes whose members lead to different classes are split, until none is.
Blocks in loops that do the same forever are never told apart by this, and so are merged too.

A decision, a check and an error keep their place in the source: where those differ, blocks do.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from dycl.hcfg.module import Module, only_used, with_targets
from dycl.hcfg.nodes import (
    Block,
    BlockId,
    Branch,
    Check,
    Fail,
    Jump,
    Let,
    Name,
    Return,
    Run,
    Step,
    Switch,
    Target,
    Terminator,
    next_calls,
    targets,
)
from dycl.hcfg.types import HostType, TensorType, ValueType
from dycl.optimize.passes import Pass, Property

Looks = tuple[object, ...]
"""All that counts about a block, apart from which blocks it leads to; names are numbers in order of definition."""

Classes = dict[BlockId, int]


def merge_blocks(module: Module) -> Module:
    """The same program, in which no two blocks do the same."""
    classes = _classes(module.blocks)
    first: dict[int, BlockId] = {classes[module.entry]: module.entry}
    # A block in which a call begins has the inputs by their own names: it stays, and others lead to it.
    begins = {target.block for block in module.blocks.values() for target in next_calls(block.terminator)}
    for name in (*filter(begins.__contains__, module.blocks), *module.blocks):
        first.setdefault(classes[name], name)

    def kept(target: Target) -> Target:
        return replace(target, block=first[classes[target.block]])

    blocks = {
        name: replace(block, terminator=with_targets(block.terminator, kept, kept))
        for name, block in module.blocks.items()
        if first[classes[name]] == name
    }
    return only_used(replace(module, blocks=blocks))


def _classes(blocks: Mapping[BlockId, Block]) -> Classes:
    """The coarsest partition in which blocks of one class look alike and lead to the same classes."""
    looks = {name: _looks(block) for name, block in blocks.items()}
    ways = {name: tuple(target.block for target in _ways_on(block)) for name, block in blocks.items()}
    classes = _numbered(looks)
    count = 0
    while count != (count := len(set(classes.values()))):
        classes = _numbered({name: (classes[name], *(classes[target] for target in ways[name])) for name in blocks})
    return classes


def _numbered(keys: Mapping[BlockId, Looks]) -> Classes:
    numbers: dict[Looks, int] = {}
    return {name: numbers.setdefault(key, len(numbers)) for name, key in keys.items()}


def _ways_on(block: Block) -> Iterable[Target]:
    return (*targets(block.terminator), *next_calls(block.terminator))


def _looks(block: Block) -> Looks:
    numbers: dict[Name, int] = {}
    dimensions: dict[str, int] = {}
    parameters = [_type(parameter.type, dimensions) for parameter in block.parameters]
    for parameter in block.parameters:
        numbers[parameter.name] = len(numbers)
    steps = [_step(step, numbers) for step in block.steps]
    passed = [tuple(numbers[name] for name in target.arguments) for target in _ways_on(block)]
    return (tuple(parameters), tuple(steps), _end(block.terminator, numbers), tuple(passed))


def _type(value_type: ValueType, dimensions: dict[str, int]) -> Looks:
    """A type with its named dimensions numbered, since their names are a block's own."""
    match value_type:
        case HostType(kind=kind):
            return (kind,)
        case TensorType(dtype=dtype, shape=shape):
            sizes = [
                ("open", dimensions.setdefault(size, len(dimensions))) if isinstance(size, str) else size
                for size in shape
            ]
            return (dtype, *sizes)
        case _:
            assert_never(value_type)


def _step(step: Step, numbers: dict[Name, int]) -> Looks:
    match step:
        case Run(subnet=subnet, inputs=inputs, outputs=outputs):
            read = tuple(numbers[name] for name in inputs)
            for name in outputs:
                numbers[name] = len(numbers)
            return ("run", subnet, read, len(outputs))
        case Let(name=name, constant=constant):
            numbers[name] = len(numbers)
            return ("let", type(constant), repr(constant))
        case Check(condition=condition, error=error, message=message, span=span):
            return ("check", numbers[condition], error, message, span)
        case _:
            assert_never(step)


def _end(terminator: Terminator, numbers: Mapping[Name, int]) -> Looks:
    match terminator:
        case Jump():
            return ("jump",)
        case Branch(condition=condition, span=span):
            return ("branch", numbers[condition], span)
        case Switch(value=value, cases=cases, error=error, message=message, span=span):
            return ("switch", numbers[value], tuple(case for case, _ in cases), error, message, span)
        case Return(values=values, structure=structure, next_call=next_call):
            # In the text, since 1, 1.0 and True count as equal.
            return ("return", tuple(numbers[name] for name in values), repr(structure), next_call is None)
        case Fail(error=error, message=message, span=span, next_call=next_call):
            return ("fail", error, message, span, next_call is None)
        case _:
            assert_never(terminator)


def _first_pair(module: Module) -> str | None:
    seen: dict[int, BlockId] = {}
    for name, number in _classes(module.blocks).items():
        other = seen.setdefault(number, name)
        if other != name:
            return f"{other} and {name} do the same"
    return None


DISTINCT_BLOCKS = Property("no two blocks do the same", _first_pair)
MERGE_BLOCKS = Pass(
    "merge_blocks",
    "blocks that do the same become one",
    merge_blocks,
    ensures=(DISTINCT_BLOCKS,),
)
