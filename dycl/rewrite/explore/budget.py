"""How much work rewriting a program may be, and what is to blame where it is more."""

import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from dycl.rewrite.signals import Refused
from dycl.rewrite.state.skeleton import FrameNode, SeenNode
from dycl.rewrite.state.whole_state import AttributeNode, ContainerNode, StateNode

DEFAULT_BUDGET = 120.0
"""Seconds that rewriting a program may take."""
_STATES_PER_SECOND = 128 / DEFAULT_BUDGET
_LONGEST = 1e9  # as good as for ever
_FEWEST = 64
_SUSPICIOUS = 16
_SHOWN = 3


class Budget:
    """How long rewriting may go on, and how many states of a kind there may be at one place of the program."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._began = time.thread_time()

    @property
    def most_alike(self) -> int:
        """How many states of a kind there may be at one place: beyond, they are combinations of independent things."""
        return max(_FEWEST, round(min(self.seconds, _LONGEST) * _STATES_PER_SECOND))

    @property
    def is_spent(self) -> bool:
        """Whether rewriting has taken longer than it may, by the time that this thread had the processor."""
        return time.thread_time() - self._began > self.seconds

    def refusal(self, blocks: int, alike: Sequence[StateNode]) -> Refused:
        """Why rewriting is given up, by the states of the place that has most of them."""
        told = differing(alike)
        if told and len(alike) >= _SUSPICIOUS:
            reason = f"the program gets here in {len(alike)} states that differ in {told}"
            return Refused("DY017", reason, f"{TENSORS}; or allow more, `budget={2 * self.seconds:g}`")
        reason = f"rewriting takes longer than its budget of {self.seconds:g} s; there are {blocks} blocks so far"
        return Refused("DY017", reason, f"allow more, `budget={2 * self.seconds:g}`")


TENSORS = "decide with tensor operations, such as `torch.where`, what later decisions do not depend on"


def differing(alike: Sequence[StateNode]) -> str:
    """The variables and attributes in which these states differ most, and how many values each has."""
    values: dict[str, set[Any]] = defaultdict(set)
    for state in alike:
        for name, value in _named(state):
            values[name].add(value)
    counts = Counter({name: len(found) for name, found in values.items() if len(found) > 1})
    return ", ".join(f"`{name}` ({min(count, len(alike))} values)" for name, count in counts.most_common(_SHOWN))


def _named(state: StateNode) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for frame in state.frames:
        if isinstance(frame, FrameNode):
            named = dict(zip(frame.names, frame.values, strict=True))
            # What a call is about to get stands first in a state; the variable that holds it refers to it.
            aliases = [name for name, value in named.items() if isinstance(value, SeenNode) and name.isidentifier()]
            on_the_way = aliases[0] if aliases else "a value on the way"
            found.extend(
                (name if name.isidentifier() else on_the_way, value)
                for name, value in named.items()
                if not isinstance(value, SeenNode)
            )
    held: tuple[AttributeNode | ContainerNode, ...] = (*state.heap.attributes, *state.heap.containers)
    for node in held:
        contents = node.value if isinstance(node, AttributeNode) else (node.keys, node.values)
        found.append((str(node.place[1]), contents))
    return found
