"""Long loops, rolled up: a loop over hundreds of numbers or rows, with decisions inside, is one loop of blocks.

A loop over known things is unrolled, since modules hang on its positions. A decoder of 500 steps would so become 500
sub-DNNs and more. So a long loop that has decisions in it, over a range or over rows of one shape, goes over positions
instead: its counter is an ordinary number, which widening makes a host value. What is long depends on the program:
where unrolling makes many blocks, a loop of a dozen steps is.
"""

from typing import Any

import torch

from dycl.rewrite.state.frames import ItemIterator, ParallelIterator, RangeIterator

_LONG = 64
_LONG_IN_LARGE_PROGRAMS = 12
_LARGE = 256
_STEPS_TO_JUDGE_BY = 3


def rolled_up(source: Any) -> RangeIterator | None:
    """An iterator over positions in `source`; None if its items have no common kind."""
    if type(source) is list:
        return RangeIterator(0, None, 1, source)
    if isinstance(source, range):
        return RangeIterator(source.start, source.stop, source.step)
    parts = source.parts if isinstance(source, ParallelIterator) else (source,)
    rows = [_rows(part) for part in parts]
    if any(part is None for part in rows):
        return None
    length = min(len(part) for part in rows)
    if isinstance(source, ParallelIterator) and source.strict and any(len(part) != length for part in rows):
        return None
    return RangeIterator(0, length, 1, tuple(rows) if isinstance(source, ParallelIterator) else rows[0])


def _rows(part: Any) -> Any:
    """A range or a tensor whose rows are the items of `part`."""
    if isinstance(part, ItemIterator):
        if part.position or part.source is not None:
            return None
        part = part.items
    if isinstance(part, range):
        return part
    if isinstance(part, torch.Tensor):
        return part if part.dim() and isinstance(part.shape[0], int) else None
    if not isinstance(part, tuple) or not part or not all(isinstance(item, torch.Tensor) for item in part):
        return None
    kinds = {(item.dtype, item.shape) for item in part}
    return torch.stack(part) if len(kinds) == 1 else None


def goes_on_growing(iterator: Any) -> bool:
    """Whether a loop goes over items that it has itself added to its list."""
    return isinstance(iterator, ItemIterator) and iterator.in_growth > 2


class Unrolling:
    """How many blocks the loops of one program make, as far as they are unrolled yet."""

    def __init__(self) -> None:
        self._first_seen: dict[Any, tuple[int, int]] = {}

    def is_long(self, loop: Any, iterator: Any, blocks: int) -> bool:
        """Whether `loop`, over `iterator` in a program of so many blocks so far, should be rolled up, if it can be."""
        parts = iterator.parts if isinstance(iterator, ParallelIterator) else (iterator,)
        if not parts or not all(isinstance(part, ItemIterator) and _can_roll(part) for part in parts):
            return False
        length = min(len(part.items) for part in parts)
        if length <= _LONG_IN_LARGE_PROGRAMS or length > _LONG:
            return length > _LONG
        return self._expected(loop, parts[0].position, length, blocks) > _LARGE

    def _expected(self, loop: Any, position: int, length: int, blocks: int) -> float:
        """How many blocks there will be after the loop, if it goes on as it did in its steps so far."""
        began, blocks_then = self._first_seen.setdefault(loop, (position, blocks))
        if position <= began:
            # The loop around it came round.
            began, blocks_then = self._first_seen[loop] = (position, blocks)
        steps = position - began
        if steps < _STEPS_TO_JUDGE_BY:
            return blocks
        return blocks + (blocks - blocks_then) / steps * (length - position)


def _can_roll(iterator: ItemIterator) -> bool:
    items = iterator.items
    if isinstance(items, range):
        return True
    tensors = isinstance(items, tuple) and all(isinstance(item, torch.Tensor) for item in items)
    return tensors and iterator.source is None
