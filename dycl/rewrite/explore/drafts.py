"""What rewriting gives: blocks as they were recorded, and the ways between them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any, assert_never

from dycl.hcfg.subnet import Ref
from dycl.hcfg.types import Span, ValueType
from dycl.rewrite.explore.diagnostics import Problem
from dycl.rewrite.explore.results import ResultStructure
from dycl.rewrite.record.recording import Recording
from dycl.rewrite.state.whole_state import StateNode


@dataclass(frozen=True, slots=True)
class Arrival:
    """A state that a run of a block leads to, and what is known of where it stands.

    `code` is the innermost function, `endless` tells whether only the input ends a loop around it.
    """

    skeleton: StateNode
    leaves: tuple[Ref, ...]
    order: Any
    code: CodeType | None
    endless: bool


@dataclass(slots=True, eq=False)
class Edge:
    """A way into a block."""

    entry: "Entry"
    arrival: Arrival

    @property
    def skeleton(self) -> StateNode:
        """The state that it carries."""
        return self.arrival.skeleton

    @property
    def leaves(self) -> tuple[Ref, ...]:
        """The ref of each leaf of that state."""
        return self.arrival.leaves


@dataclass(slots=True)
class Decision:
    """A draft's way out where the input decides; a bool case each for a branch, a number each for a switch."""

    value: Ref
    edges: tuple[tuple[bool | int, Edge], ...]
    error: tuple[str, str] | None


@dataclass(slots=True)
class Onward:
    """A draft's way out without a decision: into the first call, with the state the model has, or along one path."""

    edge: Edge


@dataclass(slots=True)
class Result:
    """A draft's way out at the program's end, and the way into its next call if the program keeps state."""

    values: tuple[Ref, ...]
    structure: ResultStructure
    next_call: Edge | None


@dataclass(slots=True)
class Failure:
    """A draft's way out with an error that the program raises, and the way into its next call."""

    error: str
    message: str
    next_call: Edge | None = None


End = Decision | Onward | Result | Failure


@dataclass(slots=True)
class Draft:
    """A block as recorded, before it knows its neighbours' final parameters."""

    recording: Recording
    parameters: tuple[ValueType, ...]
    end: End
    start: Span
    stop: Span


@dataclass(slots=True, eq=False)
class Entry:
    """A block's place in the graph: the state it starts from, and its draft once it has been run.

    A block without frames begins a call: it takes the program's inputs, then the leaves of its state.
    """

    number: int
    skeleton: StateNode
    order: Any
    draft: Draft | None = None
    queued: bool = True

    @property
    def begins_call(self) -> bool:
        return not self.skeleton.frames


def edges(draft: Draft) -> tuple[Edge, ...]:
    """Every way on from a draft, also into the next call."""
    match draft.end:
        case Decision(edges=cases):
            return tuple(edge for _, edge in cases)
        case Onward(edge=edge):
            return (edge,)
        case Result(next_call=next_call) | Failure(next_call=next_call):
            return () if next_call is None else (next_call,)
        case _:
            assert_never(draft.end)


def with_edges(end: End, change: Callable[[Edge], Edge]) -> End:
    """The same way out along other edges."""
    match end:
        case Decision(edges=cases):
            return replace(end, edges=tuple((case, change(edge)) for case, edge in cases))
        case Onward(edge=edge):
            return Onward(change(edge))
        case Result(next_call=next_call) | Failure(next_call=next_call):
            return replace(end, next_call=None if next_call is None else change(next_call))
        case _:
            assert_never(end)


def reached(first: Entry) -> list[Entry]:
    """Every block that can be reached, each once."""
    entries = [first]
    seen = {first}
    for entry in entries:
        for edge in edges(entry.draft) if entry.draft is not None else ():
            if edge.entry not in seen:
                seen.add(edge.entry)
                entries.append(edge.entry)
    return entries


@dataclass(slots=True)
class Explored:
    """The outcome of exploring: the first block, from which all are reached, and what was found on the way."""

    first: Entry
    problems: list[Problem] = field(default_factory=list)
    notes: list[tuple[str, Span]] = field(default_factory=list)
    draws: dict[Span, tuple[tuple[Span, ...], str]] = field(default_factory=dict)
    explorations: list[str] = field(default_factory=list)
    """What each exploration learnt that made another one necessary, and how many blocks ran in it."""
    interpreted: list[CodeType] = field(default_factory=list)
    """The functions that have decisions in them: the others ran natively."""
