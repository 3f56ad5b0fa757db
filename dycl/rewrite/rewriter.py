"""Rewrite a program into blocks: run it to each decision, go on once for each outcome, merge equal states.

enter(state):                     an edge into the graph
    key = program points + live static values + kinds of live dynamic values
    new key: a new block, queued;  known key: the same block, widened if numbers differ

while blocks are queued:          in program order, so that states meet before they are continued
    run the machine from the block's state to its next decision, recording
    enter one state for each outcome
"""

import gc
import heapq
import logging
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor

from dycl.hcfg.subnet import Ref
from dycl.hcfg.types import HostType, Span, TensorType, ValueType
from dycl.rewrite import calls
from dycl.rewrite.diagnostics import Problem, problem_at
from dycl.rewrite.freeze import Freezer
from dycl.rewrite.heap import Heap
from dycl.rewrite.host_values import HostValue
from dycl.rewrite.machine import Machine
from dycl.rewrite.recorder import Recorder, Recording
from dycl.rewrite.results import ResultStructure, result_structure
from dycl.rewrite.signals import DecisionMet, Refused, Restart
from dycl.rewrite.skeleton import Leaf, Pinned, Skeleton
from dycl.rewrite.source import span_of_function
from dycl.rewrite.stops import Decided, Outcome, Raised, Returned, Stop
from dycl.rewrite.substitutes import SUBSTITUTES
from dycl.rewrite.thaw import Thawer
from dycl.rewrite.widening import (
    Widening,
    leaf_types,
    program_points,
    renamed_dimensions,
    without_numbers,
)

# A loop that makes something grow shows as many states at one program point.
_VARIANTS_BEFORE_DIMENSIONS_WIDEN = 4
_VARIANTS_BEFORE_EXACT = 64
_MOST_EXACT_VARIANTS = 512
_MOST_VARIANTS = 260
_MOST_BLOCKS = 20_000


@dataclass(slots=True, eq=False)
class Edge:
    """A way into a block: the state it carries, and the ref of each of the state's leaves."""

    entry: "Entry"
    skeleton: Skeleton
    leaves: tuple[Ref, ...]


@dataclass(slots=True)
class Decision:
    """A draft's way out where the input decides; a bool case each for a branch, a number each for a switch."""

    value: Ref
    edges: tuple[tuple[bool | int, Edge], ...]
    error: tuple[str, str] | None


@dataclass(slots=True)
class Result:
    """A draft's way out at the program's end."""

    values: tuple[Ref, ...]
    structure: ResultStructure


@dataclass(slots=True)
class Failure:
    """A draft's way out with an error that the program raises."""

    error: str
    message: str


@dataclass(slots=True)
class Draft:
    """A block as recorded, before it knows its neighbours' final parameters."""

    recording: Recording
    parameters: tuple[ValueType, ...]
    end: Decision | Result | Failure
    start: Span
    stop: Span


@dataclass(slots=True, eq=False)
class Entry:
    """A block's place in the graph: the state it starts from, and its draft once it has been run."""

    number: int
    skeleton: Skeleton
    order: Any
    draft: Draft | None = None
    queued: bool = True


@dataclass(slots=True)
class Rewritten:
    """The outcome of rewriting: the first block, from which all are reached, and what was found on the way."""

    first: Entry
    problems: list[Problem] = field(default_factory=list)
    notes: list[tuple[str, Span]] = field(default_factory=list)


def _no_text(tensor: torch.Tensor) -> str:
    raise DecisionMet("the text of a tensor that only the input determines")


@contextmanager
def _settings() -> Iterator[None]:
    """Settings of the process while it rewrites.

    Attention takes its ordinary path, whose operations backends know. The garbage collector rests: with many blocks
    alive, each of its runs would look through all of them. PyTorch does not log the shape rules that fail: a problem
    says so in its own words. And a fake tensor has no text: the program would take it for the real one's.
    """
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    fast_path, collecting = torch.backends.mha.get_fastpath_enabled(), gc.isenabled()
    torch.backends.mha.set_fastpath_enabled(False)
    gc.disable()
    FakeTensor.__repr__ = FakeTensor.__str__ = _no_text  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        del FakeTensor.__repr__, FakeTensor.__str__
        logger.setLevel(level)
        torch.backends.mha.set_fastpath_enabled(fast_path)
        if collecting:
            gc.enable()


@contextmanager
def _no_random_numbers() -> Iterator[None]:
    """Refuse code that draws from a random number generator which PyTorch's operations do not show."""
    python, numpy, pytorch = random.getstate(), np.random.get_state(), torch.get_rng_state()
    yield
    same_in_numpy = all(map(np.array_equal, numpy, np.random.get_state()))
    if random.getstate() != python or not same_in_numpy or not torch.equal(torch.get_rng_state(), pytorch):
        random.setstate(python)
        np.random.set_state(numpy)
        torch.set_rng_state(pytorch)
        raise Refused("DY005", "a random number generator is used on the way to here")


class Rewriter:
    """Explores one program."""

    def __init__(
        self,
        model: nn.Module,
        callee: Callable[..., Any],
        inputs: Sequence[TensorType],
        arguments: Callable[[list[torch.Tensor]], tuple[tuple[Any, ...], dict[str, Any]]],
        supports: Callable[[str], bool],
    ) -> None:
        self.callee = callee
        self.inputs = tuple(inputs)
        self.arguments = arguments
        self.pinned = Pinned()
        self.recorder = Recorder(supports, self._locate)
        self.heap = Heap(model, self.pinned)
        self.notes: dict[tuple[str, Span], None] = {}
        self.machine = Machine(self.recorder, self.heap, self.pinned, self._note)
        for tensor in (*model.parameters(), *model.buffers()):
            self.pinned.add(tensor)
            self.recorder.model_memory.add(tensor.untyped_storage()._cdata)
        self.machine.last_places = (span_of_function(model.forward if callee is model else callee),)
        self.problems: dict[tuple[str, Span], Problem] = {}
        # Substitutes for builtins work on positions in lists, which must stay exact.
        self.exact: set[Any] = {function.__code__ for function in SUBSTITUTES.values()}
        self.widened: set[Any] = set()
        self._begin()

    def _begin(self) -> None:
        self.entries: dict[Any, Entry] = {}
        self.queue: list[tuple[Any, int, Entry]] = []
        self.variants: dict[Any, int] = {}
        self.flexible: set[Any] = set()
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

    def rewrite(self, progress: Callable[[int, int], None] = lambda done, queued: None) -> Rewritten:
        """Every block of the program, reachable from the first."""
        with torch.inference_mode(), self.heap.active(), _settings():
            first = self._explore(progress)
            while first is None or self.heap.needs_another_pass:
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
        return Rewritten(first, list(self.problems.values()), list(self.notes))

    def _explore(self, progress: Callable[[int, int], None]) -> Entry | None:
        """The first block with all that follow; None if the program must be explored anew."""
        first = Entry(0, (), (), queued=False)
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

    def _start(self) -> list[ValueType]:
        """Put the machine at the start of the program, with a parameter for each input."""
        self.recorder.start()
        self.heap.begin()
        tensors = [self.recorder.parameter(value_type) for value_type in self.inputs]
        self.machine.frames = []
        args, kwargs = self.arguments(tensors)
        function, arguments, purpose, made = calls.resolve(self.callee, args, kwargs)
        if function is None:
            raise Refused("DY003", "the model's own method is not a Python function")
        try:
            self.machine.frames.append(calls.frame(self.machine, function, arguments, purpose, made))
        except TypeError as error:
            raise Refused("DY013", f"the example arguments do not fit the model: {error}") from None
        return list(self.inputs)

    def _continue(self, entry: Entry) -> list[ValueType]:
        """Put the machine into the state that `entry` starts from, with a parameter for each leaf."""
        self.recorder.start()
        leaves = leaf_types(entry.skeleton)
        remaining = iter(leaves)

        def next_leaf(_: Skeleton) -> Leaf:
            value_type, strides = next(remaining)
            if isinstance(value_type, HostType):
                tensor = self.recorder.parameter(value_type.tensor)
                return HostValue(value_type.kind, tensor, self.recorder)
            return self.recorder.parameter(value_type, strides)

        thawer = Thawer(self.pinned, next_leaf, self.recorder.own)
        frames, heap, entangled = entry.skeleton
        self.machine.frames = [thawer.frame_or_seen(frame) for frame in frames]
        self.heap.thaw(heap, thawer)
        for group in entangled:
            for number in group:
                if number >= 0:
                    tensor = thawer.seen[number]
                    self.recorder.recording.aliases.entangled[id(tensor)] = tensor
        return [value_type for value_type, _ in leaves]

    def _run_block(self, entry: Entry, prepare: Callable[[], list[ValueType]]) -> None:
        while True:
            try:
                parameters = prepare()
                start = self.machine.span
                with _no_random_numbers():
                    stop = self.machine.run()
                end = self._end(stop)
            except Restart:
                continue
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

    def _refuse(self, refused: Refused) -> None:
        places = self.machine.places() or self.machine.last_places
        problem = problem_at(refused, places)
        self.problems.setdefault((problem.identifier, problem.span), problem)

    def _end(self, stop: Stop) -> Decision | Result | Failure:
        match stop:
            case Decided(value=value, outcomes=outcomes, error=error):
                self.last_place = self.machine.span
                flag = self.recorder.ref(value.tensor)
                edges = tuple((outcome.case, self._enter(outcome)) for outcome in outcomes)
                return Decision(flag, edges, error)
            case Returned(value=value):
                self.last_place = self.machine.last_places[-1]
                self.heap.require_unchanged()
                values, structure = result_structure(value, self.recorder)
                return Result(tuple(self.recorder.ref(leaf) for leaf in values), structure)
            case Raised(error=error):
                return Failure(type(error).__name__, str(error).replace("FakeTensor", "Tensor"))

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
        refs = tuple(self.recorder.ref(leaf.tensor if isinstance(leaf, HostValue) else leaf) for leaf in leaves)
        return Edge(self._entry(skeleton, order), skeleton, refs)

    def _freeze(self) -> tuple[Skeleton, list[Leaf], Any]:
        top = self.machine.frames[-1]
        freezer = Freezer(self.pinned, self.recorder, top)
        frames = tuple(freezer.frame_or_seen(frame) for frame in self.machine.frames)
        heap = self.heap.freeze(freezer)
        skeleton = renamed_dimensions((frames, heap, freezer.entangled()))
        order = tuple(frame.program_order(frame is top) for frame in self.machine.frames)
        return skeleton, freezer.leaves, order

    def _may_be_endless(self) -> bool:
        top = self.machine.frames[-1]
        return any(frame.may_be_endless(frame is top) for frame in self.machine.frames)

    def _entry(self, skeleton: Skeleton, order: Any) -> Entry:
        """The block for this state: a known one, perhaps widened, or a new one."""
        points = program_points(skeleton[0])
        innermost = self.machine.frames[-1].function.code
        exact = innermost in self.exact
        loose = (points, skeleton if exact else without_numbers(skeleton, dimensions=True))
        key = loose if loose in self.flexible or exact else without_numbers(skeleton, dimensions=False)
        entry = self.entries.get(key)
        if entry is None and key is not loose:
            self.variants[loose] = self.variants.get(loose, 0) + 1
            if self.variants[loose] > _VARIANTS_BEFORE_DIMENSIONS_WIDEN:
                self.flexible.add(loose)
                key = loose
        if entry is None:
            self.variants[points] = self.variants.get(points, 0) + 1
            most = _MOST_VARIANTS
            if exact or innermost in self.widened:
                most = _MOST_EXACT_VARIANTS if exact else _VARIANTS_BEFORE_EXACT
            growing = self.variants[points] > most and self._may_be_endless()
            if growing or len(self.entries) > _MOST_BLOCKS:
                if not exact and innermost in self.widened:
                    # A number that bounds the growth may have been widened: try once with exact numbers.
                    self.exact.add(innermost)
                    self.anew = True
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
