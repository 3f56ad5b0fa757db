"""Which block a state enters: the block of an equal state, one that is widened to fit this state too, or a new one.

Two states share a block if they stand at the same program points and differ in nothing but numbers, and tensors of
floats that are constants. Tensors of other shapes and other constants may have blocks of their own, few of them, before
dimensions and constants become values of the block.
"""

import heapq
from collections.abc import Iterator
from typing import Any

from dycl.rewrite.explore import limits
from dycl.rewrite.explore.budget import TENSORS, Budget, differing
from dycl.rewrite.explore.drafts import Arrival, Entry
from dycl.rewrite.knowledge import Exact, Fact, Knowledge, Loose, Place, Table
from dycl.rewrite.semantics.in_python import builtin_functions
from dycl.rewrite.signals import Again, Refused
from dycl.rewrite.state.reading import lists, program_points, things_held
from dycl.rewrite.state.whole_state import StateNode
from dycl.rewrite.state.widening import merged, numbers_widened, without_numbers


class States:
    """The blocks of one exploration, and those that are still to be run, in program order."""

    def __init__(self, knowledge: Knowledge, budget: Budget) -> None:
        self._knowledge = knowledge
        self._budget = budget
        self._entries: dict[Any, Entry] = {}
        self._queue: list[tuple[Any, int, Entry]] = []
        self._variants: dict[Any, list[StateNode]] = {}
        self._alike: dict[Any, list[StateNode]] = {}
        self._flexible: set[Any] = set()
        self._last: dict[Any, StateNode] = {}
        self._widened: set[Any] = set()

    def __len__(self) -> int:
        return len(self._entries)

    def waiting(self) -> Iterator[Entry]:
        """The blocks to run, each when all that are known to come before it have run."""
        while self._queue:
            _, _, entry = heapq.heappop(self._queue)
            if entry.queued:
                entry.queued = False
                yield entry

    @property
    def left(self) -> int:
        """How many blocks are known to be left."""
        return len(self._queue)

    def enter(self, arrival: Arrival) -> Entry:
        """The block for this state."""
        skeleton = arrival.skeleton
        points = program_points(skeleton.frames)
        exact = self._is_exact(arrival)
        loose = (points, skeleton if exact else without_numbers(skeleton, dimensions=True))
        key: Any = loose
        if loose not in self._flexible and not exact:
            # State is almost always written: its first constants would only make for one block more.
            key = without_numbers(skeleton, dimensions=False, constants=not points)
        entry = self._entries.get(key)
        if entry is not None:
            return self._widen(entry, arrival)
        if key is not loose:
            variants = self._variants.setdefault(loose, [])
            most = limits.VARIANTS_BEFORE_GROWTH if arrival.endless else limits.VARIANTS_BEFORE_DIMENSIONS_WIDEN
            if len(variants) >= most:
                self._flexible.add(loose)
                key = loose
                if arrival.endless:
                    # What has differed once will differ again: begin with what both variants fit.
                    skeleton = merged(variants[-1], skeleton)
            variants.append(skeleton)
        if arrival.endless and not exact:
            skeleton = self._changing_numbers_widened(points, skeleton)
        self._require_bounded(arrival, points, exact)
        return self.queued(key, skeleton, arrival.order)

    def queued(self, key: Any, skeleton: StateNode, order: Any) -> Entry:
        """A new block for the states with this key."""
        entry = self._entries[key] = Entry(len(self._entries) + 1, skeleton, order)
        heapq.heappush(self._queue, (order, entry.number, entry))
        return entry

    def drop_what_waits(self) -> None:
        """Let blocks that were widened and not run again have no draft: the one from before does not fit them."""
        for _, _, entry in self._queue:
            entry.draft = None

    def _is_exact(self, arrival: Arrival) -> bool:
        return arrival.code in builtin_functions.WITH_POSITIONS or Exact(arrival.code) in self._knowledge

    def _widen(self, entry: Entry, arrival: Arrival) -> Entry:
        both = merged(entry.skeleton, arrival.skeleton)
        if both != entry.skeleton:
            entry.skeleton = both
            self._widened.add(arrival.code)
            if not entry.queued:
                entry.queued = True
                heapq.heappush(self._queue, (arrival.order, entry.number, entry))
        return entry

    def _changing_numbers_widened(self, points: Any, skeleton: StateNode) -> StateNode:
        """A state in which numbers that were others when the loop last came by are open: they will change again.

        Where a list has grown since, a number may be what bounds it.
        """
        last = self._last.get(points)
        self._last[points] = skeleton
        if last is None or _list_lengths(last) != _list_lengths(skeleton):
            return skeleton
        return numbers_widened(last, skeleton)

    def _require_bounded(self, arrival: Arrival, points: Any, exact: bool) -> None:
        """Refuse, or learn of, something that grows as long as the input lets it."""
        # There are only so many modules to hold; states that hold the same ones must be few, or something grows.
        alike = self._alike.setdefault((points, things_held(arrival.skeleton)), [])
        alike.append(arrival.skeleton)
        if len(alike) > limits.VARIANTS_BEFORE_LISTS_GROW and arrival.endless:
            self._learn_of_varying_lists(alike)
        if len(alike) > self._budget.most_alike:
            raise self.over_budget()
        widened = arrival.code in self._widened
        most = limits.MOST_VARIANTS if points else limits.MOST_KINDS_OF_STATE
        if points and (exact or widened):
            most = limits.MOST_EXACT_VARIANTS if exact else limits.VARIANTS_BEFORE_EXACT
        if not (len(alike) > most and arrival.endless):
            if len(self._entries) > limits.MOST_BLOCKS:
                raise Refused("DY017", f"the program has more than {limits.MOST_BLOCKS} blocks: ways multiply", TENSORS)
            return
        if points and not exact and widened:
            # A number that bounds the growth may have been widened: try once with exact numbers.
            self._knowledge.learn(Exact(arrival.code))
            raise Again
        if not points:
            raise Refused(
                "DY011",
                f"what the model keeps from call to call grows or changes without a known bound: {differing(alike)}",
                "drop what is old, for instance the first item of a list that is full; count in numbers or tensors",
            )
        raise Refused(
            "DY011",
            "the loop around this decision makes a list, a dict or an object grow or change without a known bound",
            "give the loop a bound, `for step in range(self.max_steps)`, and leave it by `break`",
        )

    def over_budget(self) -> Refused:
        """The refusal of a program that is too much work, by the place that has the most states of a kind."""
        return self._budget.refusal(len(self), max(self._alike.values(), key=len, default=[]))

    def _learn_of_varying_lists(self, alike: list[StateNode]) -> None:
        """Explore again, freezing those lists otherwise that differ in these states in more than numbers."""
        found: dict[Place, set[Any]] = {}
        for skeleton in alike:
            for place, at_place in lists(skeleton).items():
                found.setdefault(place, set()).add(without_numbers(tuple(at_place), dimensions=True))
        varying: list[Fact] = []
        for place, variants in found.items():
            if len({tuple(map(len, variant)) for variant in variants}) > 1:
                varying.append(Table(place))
            elif len(variants) > limits.VARIANTS_OF_A_LIST:
                varying.append(Loose(place))
        if any(fact not in self._knowledge for fact in varying):
            self._knowledge.learn(*varying)
            raise Again


def _list_lengths(skeleton: StateNode) -> set[int]:
    return {len(items) for at_place in lists(skeleton).values() for items in at_place}
