"""What the parts of the machine ask of it."""

from collections.abc import Iterator
from contextlib import ExitStack
from types import CodeType
from typing import Any, Protocol

from dycl.rewrite.knowledge import Knowledge
from dycl.rewrite.normalise.instructions import Operand
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.state.frames import Frame, Generator, ItemIterator
from dycl.rewrite.state.heap import Heap
from dycl.rewrite.state.heap.caches import Remembered
from dycl.rewrite.state.stops import Stop


class Interprets(Running, Protocol):
    """The machine: its stack of frames, and how calls go on in it."""

    heap: Heap
    frames: list[Frame]
    knowledge: Knowledge
    waiting: list[Generator]
    """Generators that have waited inside `try` or `with`."""
    entered: dict[CodeType, None]
    """The functions that were interpreted."""
    watched: set[Any]
    looked_at: set[Any]
    cached: dict[int, Remembered]
    """What functions gave whose results Python caches, by their addresses."""
    contexts: ExitStack
    """Undoes what library code set up for `with` blocks that the program will not leave any more."""

    recorded_before: int
    """How many operations the block had when the current call began."""

    def value(self, frame: Frame, operand: Operand) -> Any:
        """The value of an operand."""
        ...

    def over(self, source: Iterator[Any]) -> ItemIterator:
        """An iterator over items."""
        ...

    def raise_error(self, error: BaseException) -> Stop | None:
        """Let the innermost handler catch the error."""
        ...
