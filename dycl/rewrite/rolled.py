"""Long loops, rolled up: a loop over hundreds of numbers or rows, with decisions inside, is one loop of blocks.

A loop over known things is unrolled, since modules hang on its positions. A decoder of 500 steps would so become 500
sub-DNNs and more. So a long loop that has decisions in it, over a range or over rows of one shape, goes over positions
instead: its counter is an ordinary number, which widening makes a host value. What is long depends on the program: once
it has many blocks, a loop of a dozen steps is.
"""

from typing import Any

import torch

from dycl.rewrite.frames import ItemIterator, ParallelIterator, RangeIterator

_LONG = 64
_LONG_IN_LARGE_PROGRAMS = 12
_LARGE = 256


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
    return RangeIterator(0, length, 1, tuple(rows) if isinstance(source, ParallelIterator) else rows[0])


def _rows(part: Any) -> Any:
    """A range or a tensor whose rows are the items of `part`."""
    if isinstance(part, ItemIterator):
        if part.position:
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


def is_long(iterator: Any, blocks: int) -> bool:
    """Whether a loop over `iterator`, in a program of so many blocks so far, should be rolled up, if it can be."""
    parts = iterator.parts if isinstance(iterator, ParallelIterator) else (iterator,)
    if not parts or not all(isinstance(part, ItemIterator) and _can_roll(part.items) for part in parts):
        return False
    return min(len(part.items) for part in parts) > (_LONG_IN_LARGE_PROGRAMS if blocks > _LARGE else _LONG)


def _can_roll(items: Any) -> bool:
    if isinstance(items, range):
        return True
    return isinstance(items, tuple) and all(isinstance(item, torch.Tensor) for item in items)
