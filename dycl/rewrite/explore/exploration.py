"""One exploration of a program, with the facts that are known: run it to each decision, go on once for each outcome.

enter(state):                     an edge into the graph
    key = program points + live static values + kinds of live dynamic values
    new key: a new block, queued;  known key: the same block, widened if numbers differ

while blocks are queued:          in program order, so that states meet before they are continued
    run the machine from the block's state to its next decision, recording
    enter one state for each outcome

A block that ran in an earlier exploration from the same state, and did not ask for anything that was learnt since, does
not run again: its ways on are entered as they were.
"""

import contextlib
import contextvars
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from dycl.hcfg.subnet import Ref
from dycl.hcfg.types import HostType, Span, ValueType
from dycl.rewrite.explore.diagnostics import Problem, own_mistake, problem_at
from dycl.rewrite.explore.drafts import (
    Arrival,
    Decision,
    Draft,
    Edge,
    End,
    Entry,
    Failure,
    Onward,
    Result,
    with_edges,
)
from dycl.rewrite.explore.loops import learn_of_long_loops
from dycl.rewrite.explore.process import Process
from dycl.rewrite.explore.results import result_structure
from dycl.rewrite.explore.states import States
from dycl.rewrite.knowledge import Fact, Loose, Table
from dycl.rewrite.record.errors.checked_before import checked_before
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.run.generators import reach_of, require_none_given_up
from dycl.rewrite.run.rolled import Unrolling
from dycl.rewrite.semantics.random_numbers import DrawWatch
from dycl.rewrite.semantics.texts import message_of
from dycl.rewrite.signals import Again, CheckMet, DecisionMet, Refused, Restart
from dycl.rewrite.state.frames import Frame, Generator, ItemIterator
from dycl.rewrite.state.freeze import Freezer
from dycl.rewrite.state.reading import leaf_types
from dycl.rewrite.state.skeleton import Leaf
from dycl.rewrite.state.stops import Decided, Outcome, Raised, Returned, Stop
from dycl.rewrite.state.thaw import Thawer
from dycl.rewrite.state.whole_state import BEGINNING, StateNode
from dycl.rewrite.state.widening import renamed_dimensions

Draws = dict[Span, tuple[tuple[Span, ...], str]]
# The next call's first block is explored when all that is known of this call is.
_AFTER_ALL = (((2**62, 0),),)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run of a block gave, and all that it depended on beside the state it began with."""

    draft: Draft
    places: tuple[Span, ...]
    asked: dict[Fact, bool]
    notes: dict[tuple[str, Span], None]
    draws: Draws


class Exploration:
    """Explores a program once."""

    def __init__(self, process: Process, ran: dict[StateNode, Ran]) -> None:
        self.process = process
        self.machine, self.recorder, self.heap = process.machine, process.recorder, process.heap
        self.knowledge = process.knowledge
        self.ran = ran
        self.states = States(self.knowledge, process.budget)
        self.unrolling = Unrolling()
        self.runs = 0
        self.problems: dict[tuple[str, Span], Problem] = {}
        self.troubled: list[Entry] = []
        self.failures: list[tuple[Failure, Span]] = []
        self.returns = False
        self.gives_up = False
        """Whether the program is too much work: the rest of it is not looked at."""
        self.notes: dict[tuple[str, Span], None] = {}
        self.draws: Draws = {}

    def explore(self, progress: Callable[[int, int], None]) -> Entry:
        """The first block, with all that follow as far as nothing is learnt that calls for another exploration."""
        first = Entry(0, BEGINNING, (), queued=False)
        try:
            if self.heap.keeps_state:
                first.draft = self._beginning()
            else:
                self._run_block(first)
            for done, entry in enumerate(self.states.waiting(), start=1):
                # One that was widened has a draft already, which does not fit it any more.
                entry.draft = None
                if self.knowledge.news or self.gives_up:
                    break
                if self.process.budget.is_spent:
                    self.refuse(self.states.over_budget(), self.machine.last_places)
                    break
                self._run_block(entry)
                progress(done, self.states.left)
        except Again:
            assert self.knowledge.news, "an exploration was cut short without learning anything"
        except Refused as refused:
            # What the model holds before its first call cannot be part of a state.
            self.refuse(refused, self.machine.last_places)
            self.troubled.append(first)
        self.states.drop_what_waits()
        return first

    def _beginning(self) -> Draft:
        """The draft before the first call of a program that keeps state."""
        self.recorder.start()
        self.heap.begin()
        for value_type in self.process.call.types:
            self.recorder.parameter(value_type)
        place = self.machine.last_places[-1]
        self.machine.frames = []
        edge = self._entered(self._next_call())
        return Draft(self.recorder.recording, self.process.call.types, Onward(edge), place, place)

    def _run_block(self, entry: Entry) -> None:
        """Let a block have its draft, unless it is refused."""
        ran = self.ran.get(entry.skeleton)
        if ran is None or not self.knowledge.still_holds(ran.asked):
            ran = self._run(entry)
        if ran is None:
            self.troubled.append(entry)
            return
        self.notes |= ran.notes
        self.draws |= ran.draws
        draft = ran.draft
        self.returns = self.returns or isinstance(draft.end, Result)
        if isinstance(draft.end, Failure):
            self.failures.append((draft.end, draft.stop))
        try:
            end = with_edges(draft.end, lambda edge: self._entered(edge.arrival))
        except Refused as refused:
            self.refuse(refused, ran.places)
            self.troubled.append(entry)
            return
        except Exception as error:
            self._take_note(own_mistake(error, ran.places))
            self.troubled.append(entry)
            return
        entry.draft = replace(draft, end=end)

    @property
    def _last(self) -> Span:
        return self.machine.last_places[-1]

    def _entered(self, arrival: Arrival) -> Edge:
        with not_too_deep():
            return Edge(self.states.enter(arrival), arrival)

    def _run(self, entry: Entry) -> Ran | None:
        """Run a block from its state to the next decision; None if it is refused."""
        self.runs += 1
        self.knowledge.asked = {}
        watch = DrawWatch()
        while True:
            self.process.notes, self.recorder.draws = {}, {}
            try:
                # In a context of its own: variables of the context that the program sets belong to its state.
                draft = contextvars.copy_context().run(self._run_once, entry, watch)
            except Restart:
                if self.process.budget.is_spent:
                    self.refuse(self.states.over_budget(), self.machine.places() or self.machine.last_places)
                    return None
                continue
            except (Refused, DecisionMet, CheckMet) as refused:
                self.refuse(refused, self.machine.places() or self.machine.last_places)
                return None
            except Exception as error:
                self._take_note(own_mistake(error, self.machine.places() or self.machine.last_places))
                return None
            break
        places = self.machine.places() or self.machine.last_places
        ran = Ran(draft, places, self.knowledge.asked, self.process.notes, self.recorder.draws)
        self.recorder.recording.forget_tensors()
        self.ran[entry.skeleton] = ran
        return ran

    def _run_once(self, entry: Entry, watch: DrawWatch) -> Draft:
        with checked_before():
            parameters = self._start() if entry.skeleton is BEGINNING else self._continue(entry)
        start = self.machine.span
        try:
            with watch.none_drawn():
                stop = self.machine.run()
            self.heap.note_stop()
            self.recorder.at_end = True
            end, place = self._end(stop)
        finally:
            # What a library's clean-up says of being cut off is nobody's error.
            with contextlib.suppress(Exception):
                self.machine.contexts.close()
        return Draft(self.recorder.recording, tuple(parameters), end, start, place)

    def refuse(self, refused: Refused | DecisionMet | CheckMet, places: tuple[Span, ...]) -> None:
        """Take note of a problem at the innermost of these places that is the user's own."""
        if isinstance(refused, DecisionMet):
            refused = refused.refusal("DY001", f"{refused.reason} is needed here")
        elif isinstance(refused, CheckMet):
            refused = Refused("DY001", f"whether this raises {refused.error} is needed here")
        self._take_note(problem_at(refused, places))

    def _take_note(self, problem: Problem) -> None:
        self.gives_up = self.gives_up or problem.identifier == "DY017"
        self.problems.setdefault((problem.identifier, problem.span), problem)

    def _start(self) -> list[ValueType]:
        """Put the machine at the start of the program, with a parameter for each input."""
        self.recorder.start()
        self.machine.waiting = []
        self.heap.begin()
        self.process.begin_call(self.process.inputs())
        return list(self.process.call.types)

    def _continue(self, entry: Entry) -> list[ValueType]:
        """Put the machine into the state that `entry` starts from, with a parameter for each leaf."""
        self.recorder.start()
        inputs = self.process.inputs() if entry.begins_call else []
        state = entry.skeleton
        leaves = leaf_types(state)
        remaining = iter(leaves)

        def next_leaf() -> Leaf:
            value_type, layout = next(remaining)
            if isinstance(value_type, HostType):
                tensor = self.recorder.parameter(value_type.tensor)
                return HostValue(value_type.kind, tensor, self.recorder, "kept")
            return self.recorder.parameter(value_type, layout)

        thawer = Thawer(self.process.pinned, next_leaf, self.recorder)
        with copying():
            if not entry.begins_call:
                self.machine.frames = [thawer.frame_or_seen(frame) for frame in state.frames]
            self.heap.thaw(state.heap, thawer)
        for iterator in [found for found in thawer.seen if type(found) is ItemIterator]:
            iterator.begin()  # what it goes through is filled now
        if entry.begins_call:
            self.process.begin_call(inputs)
        self.machine.waiting = [found for found in thawer.seen if type(found) is Generator]
        aliases = self.recorder.recording.aliases
        for key, group in enumerate(state.entangled, start=-len(state.entangled)):
            for number in group:
                if number >= 0:
                    tensor = thawer.seen[number]
                    aliases.entangled[id(tensor)] = (tensor, key)
                else:
                    aliases.outside_groups.add(key)
        given = self.process.call.types if entry.begins_call else ()
        return [*given, *(value_type for value_type, _ in leaves)]

    def _end(self, stop: Stop) -> tuple[End, Span]:
        """A draft's way out, with its edges not entered yet, and its place."""
        match stop:
            case Decided():
                return self._decided(stop), self.machine.span
            case Returned(value=value):
                require_none_given_up(self.machine, reach_of(value))
                self.heap.note_end()
                for name in self.heap.unread:
                    self.machine.note(f"`{name}` is added to and never read: what it collects is left out", self._last)
                values, structure = result_structure(value, self.recorder)
                refs = tuple(self.recorder.ref(leaf) for leaf in values)
                return Result(refs, structure, self._kept()), self.machine.last_places[-1]
            case Raised(error=error, places=places):
                text = message_of(error).replace("FakeTensor", "Tensor")
                self.heap.note_end()
                return Failure(type(error).__name__, text, self._kept()), places[-1]

    def _kept(self) -> Edge | None:
        """The way into the next call, if the program keeps state."""
        return ahead(self._next_call()) if self.heap.keeps_state else None

    def _decided(self, stop: Decided) -> End:
        learn_of_long_loops(self.machine, self.knowledge, self.unrolling, len(self.states))
        flag = self.recorder.ref(stop.value.tensor)
        edges = tuple((outcome.case, ahead(self._arrival(outcome))) for outcome in stop.outcomes)
        return Decision(flag, edges, stop.error)

    def _arrival(self, outcome: Outcome) -> Arrival:
        """The state in which the program goes on from here with this outcome."""
        frame = self.machine.frames[-1]
        before = (frame.position, frame.registers)
        item = outcome.next_item
        position = item[0].position if item is not None else None
        try:
            frame.position, frame.registers = outcome.position, frame.registers | outcome.writes
            if item is not None:
                item[0].position = item[1]
            return self._frozen(frame)
        finally:
            frame.position, frame.registers = before
            if item is not None:
                item[0].position = position

    def _frozen(self, top: Frame) -> Arrival:
        def walk(freezer: Freezer) -> StateNode:
            frames = tuple(freezer.frame_or_seen(frame) for frame in self.machine.frames)
            heap = self.heap.freeze(freezer)
            require_none_given_up(self.machine, freezer.has)
            return StateNode(frames, heap, freezer.entangled())

        state, leaves = self._walked(top, walk)
        order = tuple(frame.program_order(frame is top) for frame in self.machine.frames)
        endless = any(frame.may_be_endless(frame is top) for frame in self.machine.frames)
        return Arrival(state, self._refs(leaves), order, top.function.code, endless)

    def _next_call(self) -> Arrival:
        """The state in which the next call begins; calls may follow each other without end."""

        def walk(freezer: Freezer) -> StateNode:
            heap = self.heap.freeze_for_next_call(freezer)
            return StateNode((), heap, freezer.entangled())

        state, leaves = self._walked(None, walk)
        return Arrival(state, self._refs(leaves), _AFTER_ALL, None, True)

    def _walked(self, top: Frame | None, walk: Callable[[Freezer], StateNode]) -> tuple[StateNode, list[Leaf]]:
        """What `walk` freezes, and its leaves; where lists are tables, it must know beforehand what shares memory."""
        pinned, recorder, knowledge = self.process.pinned, self.recorder, self.knowledge
        shared: set[int] = set()
        with copying():
            if knowledge.of(Table, Loose):
                scout = Freezer(pinned, recorder, knowledge, top)
                walk(scout)
                shared = scout.shared_memories()
            freezer = Freezer(pinned, recorder, knowledge, top, shared)
            return renamed_dimensions(walk(freezer)), freezer.leaves

    def _refs(self, leaves: Sequence[Leaf]) -> tuple[Ref, ...]:
        return tuple(self.recorder.ref(leaf.tensor if isinstance(leaf, HostValue) else leaf) for leaf in leaves)


@contextlib.contextmanager
def not_too_deep() -> Iterator[None]:
    """Refuse values that hold each other more often than can be gone through."""
    try:
        yield
    except RecursionError:
        raise Refused("DY009", "what is alive across a decision is nested too deeply to be copied") from None


@contextlib.contextmanager
def copying() -> Iterator[None]:
    """Refuse values whose copies, which each way behind a decision gets, run code of the model's that fails there."""
    try:
        with not_too_deep():
            yield
    except Exception as error:
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        users = [frame for frame in frames if frame.f_globals.get("__name__", "").partition(".")[0] not in _COPIERS]
        if not users:
            raise
        reason = f"`{users[-1].f_code.co_qualname}` is run where values alive across a decision are copied, and fails"
        raise Refused("DY009", reason, "let it only read what its object has") from error


_COPIERS = ("dycl", "torch", "contextlib")


def ahead(arrival: Arrival) -> Edge:
    """An edge whose block is not known yet."""
    return Edge(Entry(-1, arrival.skeleton, arrival.order, queued=False), arrival)
