"""Which loops are rolled up, learnt at the decisions inside them, and which are unrolled after all."""

from collections.abc import Iterable
from typing import Any

from dycl.rewrite.explore.drafts import Entry, edges
from dycl.rewrite.knowledge import Knowledge, Loop, Place, Roll, Table, Unroll
from dycl.rewrite.run.machine import Machine
from dycl.rewrite.run.rolled import Unrolling, goes_on_growing
from dycl.rewrite.signals import Again, Refused
from dycl.rewrite.state.skeleton import FrameNode, RangeNode
from dycl.rewrite.state.whole_state import StateNode, has_parts


def learn_of_long_loops(machine: Machine, knowledge: Knowledge, unrolling: Unrolling, blocks: int) -> None:
    """Explore again with the long loops around this decision rolled up, if there are new ones."""
    loops = [
        ((frame.function.code, register), frame.registers.get(register))
        for frame in machine.frames
        for register in frame.function.loops
        if register in frame.live(frame is machine.frames[-1])
    ]
    growing: dict[Loop, Any] = {loop: iterator for loop, iterator in loops if goes_on_growing(iterator)}
    if any(Unroll(loop) in knowledge for loop in growing):
        raise Refused("DY011", "a loop goes over a list that it adds to, without a known bound")
    long = [loop for loop, iterator in loops if unrolling.is_long(loop, iterator, blocks)]
    new = [Roll(loop) for loop in (*growing, *long) if Roll(loop) not in knowledge]
    if new:
        places = [place for iterator in growing.values() for place in _places_of(iterator.items, machine)]
        knowledge.learn(*new, *map(Table, places))
        raise Again


def _places_of(items: Any, machine: Machine) -> Iterable[Place]:
    """The variables that hold this list."""
    for frame in machine.frames:
        for register, value in frame.registers.items():
            if value is items or getattr(value, "items", None) is items:
                yield (frame.function.code, register)


def rolled_around(state: StateNode) -> set[Loop]:
    """The loops over positions that a state is inside of."""
    found: set[Loop] = set()
    waiting: list[object] = [state]
    while waiting:
        part = waiting.pop()
        if isinstance(part, FrameNode):
            found.update(
                (part.function.code, name)
                for name, value in zip(part.names, part.values, strict=True)
                if name in part.function.loops and isinstance(value, RangeNode)
            )
        if has_parts(part):
            waiting.extend(part)
    return found


def learn_of_loops_rolled_in_vain(first: Entry, troubled: Iterable[Entry], knowledge: Knowledge) -> None:
    """Learn to unroll the loops on the ways to refused blocks: a loop's counter may be needed while compiling."""
    before: dict[Entry, list[Entry]] = {}
    waiting, seen = [first], {first}
    while waiting:
        entry = waiting.pop()
        for edge in edges(entry.draft) if entry.draft is not None else ():
            before.setdefault(edge.entry, []).append(entry)
            if edge.entry not in seen:
                seen.add(edge.entry)
                waiting.append(edge.entry)
    ways = list(troubled)
    on_the_way = set(ways)
    for entry in ways:
        new = [other for other in before.get(entry, ()) if other not in on_the_way]
        on_the_way.update(new)
        ways.extend(new)
    loops = {loop for entry in ways for loop in rolled_around(entry.skeleton)}
    knowledge.learn(*(Unroll(loop) for loop in loops if Roll(loop) in knowledge))
