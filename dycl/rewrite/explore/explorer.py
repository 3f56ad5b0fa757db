"""Explore a program: run it to each decision, go on once for each outcome, merge equal states.

enter(state):                     an edge into the graph
    key = program points + live static values + kinds of live dynamic values
    new key: a new block, queued;  known key: the same block, widened if numbers differ

while blocks are queued:          in program order, so that states meet before they are continued
    run the machine from the block's state to its next decision, recording
    enter one state for each outcome
"""

import contextvars
import heapq
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from dycl.hcfg.subnet import Ref
from dycl.hcfg.types import HostType, Span, ValueType
from dycl.rewrite.example.call import ExampleCall
from dycl.rewrite.explore import limits
from dycl.rewrite.explore.diagnostics import Problem, problem_at
from dycl.rewrite.explore.drafts import Decision, Draft, Edge, End, Entry, Explored, Failure, Onward, Result
from dycl.rewrite.explore.results import result_structure
from dycl.rewrite.normalise.source import span_of_function
from dycl.rewrite.record.aliases import memory
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.run import calls
from dycl.rewrite.run.callees import resolve
from dycl.rewrite.run.machine import Machine
from dycl.rewrite.run.rolled import Unrolling, goes_on_growing
from dycl.rewrite.run.settings import rewriting
from dycl.rewrite.semantics.in_python import builtin_functions
from dycl.rewrite.semantics.random_numbers import none_drawn
from dycl.rewrite.signals import Reconsider, Refused, Restart
from dycl.rewrite.state.frames import Frame
from dycl.rewrite.state.freeze import Freezer
from dycl.rewrite.state.heap import Heap
from dycl.rewrite.state.skeleton import Leaf, Pinned, Skeleton
from dycl.rewrite.state.stops import Decided, Outcome, Raised, Returned, Stop
from dycl.rewrite.state.thaw import Thawer
from dycl.rewrite.state.widening import (
    Widening,
    leaf_types,
    mentions_list,
    program_points,
    renamed_dimensions,
    things_held,
    without_numbers,
)

# The next call's first block is explored when all that is known of this call is.
_AFTER_ALL = (((2**62, 0),),)


class Explorer:
    """Explores one program."""

    def __init__(self, model: nn.Module, call: ExampleCall, supports: Callable[[str], bool]) -> None:
        self.callee = call.callee
        self.inputs = call.types
        self.arguments = call.arguments
        self.pinned = Pinned()
        self.recorder = Recorder(supports, self._locate)
        self.heap = Heap(model, self.pinned, self.recorder)
        self.notes: dict[tuple[str, Span], None] = {}
        self.machine = Machine(self.recorder, self.heap, self.pinned, self._note)
        for tensor in (*model.parameters(), *model.buffers()):
            self.pinned.add(tensor)
            if tensor.layout is torch.strided:
                self.recorder.model_memory.add(memory(tensor))
        self.machine.last_places = (span_of_function(model.forward if self.callee is model else self.callee),)
        self.problems: dict[tuple[str, Span], Problem] = {}
        self.exact: set[Any] = set(builtin_functions.WITH_POSITIONS)
        self.widened: set[Any] = set()
        self.unrolled: set[Any] = set()
        self.grows_lists = False
        self._begin()

    def _begin(self) -> None:
        self.entries: dict[Any, Entry] = {}
        self.queue: list[tuple[Any, int, Entry]] = []
        self.variants: dict[Any, int] = {}
        self.flexible: set[Any] = set()
        self.unrolling = Unrolling()
        self.count = 0
        self.anew = False
        self.returns = False
        self.failures: list[tuple[Failure, Span]] = []
        self.problems.clear()
        self.notes.clear()
        self.heap.begin_pass()

    def _locate(self) -> Span:
        return self.machine.span

    def _note(self, text: str, span: Span) -> None:
        self.notes[text, span] = None

    def explore(self, progress: Callable[[int, int], None] = lambda done, queued: None) -> Explored:
        """Every block of the program, reachable from the first."""
        with torch.inference_mode(), self.heap.active(), rewriting(self.recorder):
            first = self._explore(progress)
            while first is None or self.heap.needs_another_pass or self._rolled_in_vain():
                self._begin()
                first = self._explore(progress)
            leaked = self.heap.leaked()
            if leaked is not None:
                self.machine.frames = []
                self._refuse(Refused("DY007", f"the attribute `{leaked}` is set without going through `setattr`"))
        if not self.problems and not self.returns:
            # Every path ends in an error: the example call itself fails.
            error, span = self.failures[0]
            refused = Refused("DY010", f"the model raises {error.error}: {error.message}")
            self.problems[refused.identifier, span] = problem_at(refused, (span,))
        return Explored(first, list(self.problems.values()), list(self.notes), self.recorder.draws)

    def _explore(self, progress: Callable[[int, int], None]) -> Entry | None:
        """The first block with all that follow; None if the program must be explored anew."""
        first = Entry(0, (), (), queued=False)
        if self.heap.keeps_state:
            first.draft = self._beginning()
        else:
            self._run_block(first, self._start)
        done = 0
        while self.queue:
            _, _, entry = heapq.heappop(self.queue)
            if entry.queued and not self.anew:
                entry.queued = False
                self._run_block(entry, partial(self._continue, entry))
                done += 1
                progress(done, len(self.queue))
        return None if self.anew else first

    def _rolled_in_vain(self) -> bool:
        """Whether to try once more with every loop unrolled: a loop's counter may be needed while compiling."""
        if not self.problems or not self.machine.rolled:
            return False
        self.unrolled |= self.machine.rolled
        self.machine.rolled.clear()
        return True

    def _roll_long_loops(self) -> None:
        """Start anew with the long loops around this decision rolled up."""
        loops = [
            ((frame.function.code, register), frame.registers.get(register))
            for frame in self.machine.frames
            for register in frame.function.loops
            if register in frame.live(frame is self.machine.frames[-1])
        ]
        growing = {loop for loop, iterator in loops if goes_on_growing(iterator)}
        if growing & self.unrolled:
            raise Refused("DY011", "a loop goes over a list that it adds to, without a known bound")
        long = {loop for loop, iterator in loops if self.unrolling.is_long(loop, iterator, len(self.entries))}
        new = (growing | long) - self.unrolled - self.machine.rolled
        if new:
            self.grows_lists = self.grows_lists or bool(growing)
            self.machine.rolled |= new
            raise Reconsider

    def _beginning(self) -> Draft:
        """The draft before the first call of a program that keeps state."""
        self.recorder.start()
        self.heap.begin()
        for value_type in self.inputs:
            self.recorder.parameter(value_type)
        place = self.machine.last_places[-1]
        self.machine.frames = []
        edge = self._next_call()
        return Draft(self.recorder.recording, tuple(self.inputs), Onward(edge), place, place)

    def _next_call(self) -> Edge:
        """The edge to the block that begins the next call."""
        freezer = self._freezer(None, self.heap.freeze_for_next_call)
        heap = self.heap.freeze_for_next_call(freezer)
        skeleton = renamed_dimensions(((), heap, freezer.entangled()))
        return Edge(self._entry(skeleton, _AFTER_ALL), skeleton, self._refs(freezer.leaves))

    def _refs(self, leaves: Sequence[Leaf]) -> tuple[Ref, ...]:
        return tuple(self.recorder.ref(leaf.tensor if isinstance(leaf, HostValue) else leaf) for leaf in leaves)

    def _start(self) -> list[ValueType]:
        """Put the machine at the start of the program, with a parameter for each input."""
        self.recorder.start()
        self.heap.begin()
        self._call()
        return list(self.inputs)

    def _call(self) -> None:
        tensors = [self.recorder.parameter(value_type) for value_type in self.inputs]
        self.machine.frames = []
        args, kwargs = self.arguments(tensors)
        function, arguments, purpose, made = resolve(self.callee, args, kwargs)
        if function is None:
            raise Refused("DY003", "the model's own method is not a Python function")
        try:
            self.machine.frames.append(calls.frame(self.machine, function, arguments, purpose, made))
        except TypeError as error:
            raise Refused("DY013", f"the example arguments do not fit the model: {error}") from None

    def _continue(self, entry: Entry) -> list[ValueType]:
        """Put the machine into the state that `entry` starts from, with a parameter for each leaf."""
        self.recorder.start()
        if entry.begins_call:
            self._call()
        inputs = list(self.inputs) if entry.begins_call else []
        leaves = leaf_types(entry.skeleton)
        remaining = iter(leaves)

        def next_leaf(_: Skeleton) -> Leaf:
            value_type, strides = next(remaining)
            if isinstance(value_type, HostType):
                tensor = self.recorder.parameter(value_type.tensor)
                return HostValue(value_type.kind, tensor, self.recorder)
            return self.recorder.parameter(value_type, strides)

        thawer = Thawer(self.pinned, next_leaf, self.recorder)
        frames, heap, entangled = entry.skeleton
        if not entry.begins_call:
            self.machine.frames = [thawer.frame_or_seen(frame) for frame in frames]
        self.heap.thaw(heap, thawer)
        aliases = self.recorder.recording.aliases
        for key, group in enumerate(entangled, start=-len(entangled)):
            for number in group:
                if number >= 0:
                    tensor = thawer.seen[number]
                    aliases.entangled[id(tensor)] = (tensor, key)
                else:
                    aliases.outside_groups.add(key)
        return inputs + [value_type for value_type, _ in leaves]

    def _run_block(self, entry: Entry, prepare: Callable[[], list[ValueType]]) -> None:
        while True:
            try:
                # In a context of its own: variables of the context that the program sets belong to its state.
                parameters, start, stop, end = contextvars.copy_context().run(self._run_once, prepare)
            except Restart:
                continue
            except Reconsider:
                self.anew = True
                return
            except Refused as refused:
                self._refuse(refused)
                return
            break
        place = stop.places[-1] if isinstance(stop, Raised) else self.last_place
        self.returns = self.returns or isinstance(end, Result)
        if isinstance(end, Failure):
            self.failures.append((end, place))
        self.recorder.recording.forget_tensors()
        entry.draft = Draft(self.recorder.recording, tuple(parameters), end, start, place)

    def _run_once(self, prepare: Callable[[], list[ValueType]]) -> tuple[list[ValueType], Span, Stop, End]:
        parameters = prepare()
        start = self.machine.span
        with none_drawn():
            stop = self.machine.run()
        self.recorder.at_end = True
        return parameters, start, stop, self._end(stop)

    def _refuse(self, refused: Refused) -> None:
        places = self.machine.places() or self.machine.last_places
        problem = problem_at(refused, places)
        self.problems.setdefault((problem.identifier, problem.span), problem)

    def _end(self, stop: Stop) -> End:
        match stop:
            case Decided(value=value, outcomes=outcomes, error=error):
                self.last_place = self.machine.span
                self._roll_long_loops()
                flag = self.recorder.ref(value.tensor)
                edges = tuple((outcome.case, self._enter(outcome)) for outcome in outcomes)
                return Decision(flag, edges, error)
            case Returned(value=value):
                self.last_place = self.machine.last_places[-1]
                self.heap.note_end()
                self.heap.require_no_variable()
                values, structure = result_structure(value, self.recorder)
                refs = tuple(self.recorder.ref(leaf) for leaf in values)
                return Result(refs, structure, self._next_call() if self.heap.keeps_state else None)
            case Raised(error=error):
                # A key error's text is its key as Python writes it, quotes included.
                only = error.args[0] if isinstance(error, KeyError) and len(error.args) == 1 else None
                text = only if isinstance(only, str) else str(error)
                return Failure(type(error).__name__, text.replace("FakeTensor", "Tensor"))

    def _enter(self, outcome: Outcome) -> Edge:
        """The edge to the block that goes on from here with this outcome."""
        frame = self.machine.frames[-1]
        before = (frame.position, frame.registers)
        item = outcome.next_item
        position = item[0].position if item is not None else None
        try:
            frame.position, frame.registers = outcome.position, frame.registers | outcome.writes
            if item is not None:
                item[0].position = item[1]
            skeleton, leaves, order = self._freeze()
        finally:
            frame.position, frame.registers = before
            if item is not None:
                item[0].position = position
        return Edge(self._entry(skeleton, order), skeleton, self._refs(leaves))

    def _freeze(self) -> tuple[Skeleton, list[Leaf], Any]:
        top = self.machine.frames[-1]

        def walk(freezer: Freezer) -> Skeleton:
            frames = tuple(freezer.frame_or_seen(frame) for frame in self.machine.frames)
            return frames, self.heap.freeze(freezer)

        freezer = self._freezer(top, walk)
        frames, heap = walk(freezer)
        skeleton = renamed_dimensions((frames, heap, freezer.entangled()))
        order = tuple(frame.program_order(frame is top) for frame in self.machine.frames)
        return skeleton, freezer.leaves, order

    def _freezer(self, top: Frame | None, walk: Callable[[Freezer], Skeleton]) -> Freezer:
        """What freezes a state; where lists grow, it must know beforehand what shares memory."""
        if not self.grows_lists:
            return Freezer(self.pinned, self.recorder, top)
        scout = Freezer(self.pinned, self.recorder, top, set())
        walk(scout)
        return Freezer(self.pinned, self.recorder, top, scout.shared_memories())

    def _may_be_endless(self) -> bool:
        """Whether only the input ends a loop around here; calls may follow each other without end."""
        top = self.machine.frames[-1] if self.machine.frames else None
        return top is None or any(frame.may_be_endless(frame is top) for frame in self.machine.frames)

    def _entry(self, skeleton: Skeleton, order: Any) -> Entry:
        """The block for this state: a known one, perhaps widened, or a new one."""
        points = program_points(skeleton[0])
        innermost = self.machine.frames[-1].function.code if self.machine.frames else None
        exact = innermost in self.exact
        loose = (points, skeleton if exact else without_numbers(skeleton, dimensions=True))
        key = loose
        if loose not in self.flexible and not exact:
            # State is almost always written: its first constants would only make for one block more.
            key = without_numbers(skeleton, dimensions=False, constants=not points)
        entry = self.entries.get(key)
        endless = self._may_be_endless()
        if entry is None and key is not loose:
            self.variants[loose] = self.variants.get(loose, 0) + 1
            most = limits.VARIANTS_BEFORE_GROWTH if endless else limits.VARIANTS_BEFORE_DIMENSIONS_WIDEN
            if self.variants[loose] > most:
                self.flexible.add(loose)
                key = loose
        if entry is None:
            # There are only so many modules to hold; states that hold the same ones must be few, or something grows.
            alike = (points, things_held(skeleton))
            self.variants[alike] = self.variants.get(alike, 0) + 1
            many = self.variants[alike] > limits.VARIANTS_BEFORE_LISTS_GROW
            if many and endless and not self.grows_lists and mentions_list(skeleton):
                self.grows_lists = True
                raise Reconsider
            most = limits.MOST_VARIANTS if points else limits.MOST_KINDS_OF_STATE
            if points and (exact or innermost in self.widened):
                most = limits.MOST_EXACT_VARIANTS if exact else limits.VARIANTS_BEFORE_EXACT
            growing = self.variants[alike] > most and endless
            if growing or len(self.entries) > limits.MOST_BLOCKS:
                if points and not exact and innermost in self.widened:
                    # A number that bounds the growth may have been widened: try once with exact numbers.
                    self.exact.add(innermost)
                    self.anew = True
                if not points:
                    raise Refused(
                        "DY011",
                        "what the model keeps from call to call grows without a known bound",
                        "drop what is old, for instance the first item of a list that is full",
                    )
                raise Refused(
                    "DY011",
                    "the loop around this decision makes a list, a dict or an object grow without a known bound",
                    "give the loop a bound, `for step in range(self.max_steps)`, and leave it by `break`",
                )
            self.count += 1
            entry = self.entries[key] = Entry(self.count, skeleton, order)
            heapq.heappush(self.queue, (order, entry.number, entry))
            return entry
        merged = renamed_dimensions(Widening().merge(entry.skeleton, skeleton))
        if merged != entry.skeleton:
            entry.skeleton = merged
            self.widened.add(innermost)
            if not entry.queued:
                entry.queued = True
                heapq.heappush(self.queue, (order, entry.number, entry))
        return entry
