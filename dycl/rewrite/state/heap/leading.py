"""What values lead to, one after the other."""

import collections
import types
from collections.abc import Collection, Iterable
from typing import Any

from dycl.rewrite.state.copied import items_held
from dycl.rewrite.state.heap.contents import cell_contents
from dycl.rewrite.state.heap.reach import held_by, leads_nowhere, names_in


def leads_to(values: Iterable[Any], wanted: Collection[int]) -> bool:
    """Whether these values lead to one of the objects with these addresses: by attributes, items, global variables."""
    waiting, seen = list(values) if wanted else [], set[int]()
    while waiting:
        value = waiting.pop()
        if id(value) in seen or leads_nowhere(type(value)):
            continue
        seen.add(id(value))
        if id(value) in wanted:
            return True
        waiting.extend(parts_of(value))
    return False


def parts_of(value: Any) -> list[Any]:
    """What a value holds or names."""
    match value:
        case types.FunctionType():
            cells = [held for cell in value.__closure__ or () for held in cell_contents(cell)]
            named = [value.__globals__[name] for name in names_in(value.__code__) if name in value.__globals__]
            return [*cells, *named, *(value.__defaults__ or ())]
        case types.ModuleType() | type():
            return []
        case dict():
            return [*dict.keys(value), *items_held(value)]
        case list() | tuple() | set() | frozenset() | collections.deque():
            return items_held(value)
        case _:
            return [*(held_by(value) or ()), *([value.__dict__] if hasattr(value, "__dict__") else [])]
