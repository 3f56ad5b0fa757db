"""Where values lie: arrays that a call brings, constants, and scratch memory that is used again when nobody reads it.

A border is zeroed when scratch memory is made and never written, so memory with one is used again for the same image
only.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

ALIGNMENT = 64


@dataclass(eq=False, slots=True)
class Buffer:
    """Memory for one value: the input, output or constant of this number, or a part of the scratch memory.

    `shape` is what only the same may follow in this memory; `first` and `last` are the calls that use it.
    """

    kind: str
    number: int
    bytes: int = 0
    shape: Hashable = None
    first: int = 0
    last: int = 0


def placed(buffers: Sequence[Buffer]) -> int:
    """Give each part of the scratch memory its place, as `number`; how many bytes there are."""
    free: list[tuple[int, int, Hashable]] = []
    used: list[tuple[int, int, Buffer]] = []
    end = 0
    for buffer in sorted(buffers, key=lambda one: one.first):
        for place in [place for place in used if place[2].last < buffer.first]:
            used.remove(place)
            free.append((place[0], place[1], place[2].shape))
        size = buffer.bytes + -buffer.bytes % ALIGNMENT
        fitting = [part for part in free if part[2] == buffer.shape and size <= part[1]]
        if fitting:
            start, size, _ = found = min(fitting, key=lambda part: part[1])
            free.remove(found)
        else:
            start, end = end, end + size
        buffer.number = start
        used.append((start, size, buffer))
    return end
