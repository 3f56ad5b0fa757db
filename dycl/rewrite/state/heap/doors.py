"""What a module answers when it is asked for its attributes otherwise than by name.

Attributes that the program sets live in a table, not in the module (`attributes.py`). Whoever takes them by
`module.attribute` is diverted there; whoever takes the module's `__dict__` or its table of buffers, as `vars`,
`state_dict`, `buffers` and `copy.copy` do, gets one of these in its place.
"""

import copy
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import Any, Protocol

from torch import nn


class Answers(Protocol):
    """Who answers for attributes of modules."""

    def is_diverted(self, module: nn.Module, name: str) -> bool:
        """Whether an attribute lives in the table."""
        ...

    def entry(self, module: nn.Module, table: str, name: str) -> Any:
        """A diverted attribute that a module has in this table; KeyError if it has not."""
        ...

    def names(self, module: nn.Module, table: str) -> list[str]:
        """The names in a module's `__dict__` or in a table of it, in the order that Python would have them in."""
        ...

    def write(self, module: nn.Module, table: str, name: str, value: Any) -> None:
        """Set an entry."""
        ...

    def remove(self, module: nn.Module, table: str, name: str) -> None:
        """Delete an entry."""
        ...


class Door(dict[str, Any]):
    """A module's `__dict__` or table of buffers or parameters; Python's own lookup sees only what is not diverted."""

    __slots__ = ("answers", "module", "table")

    def __init__(self, module: nn.Module, table: str, answers: Answers, entries: dict[str, Any]) -> None:
        self.module, self.table, self.answers = module, table, answers
        dict.update(self, entries)

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str) or not self.answers.is_diverted(self.module, name):
            return dict.__getitem__(self, name)
        return self.answers.entry(self.module, self.table, name)

    def __setitem__(self, name: str, value: Any) -> None:
        self.answers.write(self.module, self.table, name, value)

    def __delitem__(self, name: str) -> None:
        self[name]
        self.answers.remove(self.module, self.table, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.answers.names(self.module, self.table))

    def __reversed__(self) -> Iterator[str]:
        return reversed(self.answers.names(self.module, self.table))

    def __len__(self) -> int:
        return len(self.answers.names(self.module, self.table))

    # All else comes down to these.

    def __contains__(self, name: object) -> bool:
        return self.get(name, _MISSING) is not _MISSING

    def __eq__(self, other: object) -> bool:
        return self.copy() == other

    __hash__ = None

    def __repr__(self) -> str:
        return repr(self.copy())

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def get(self, name: Any, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default

    def keys(self) -> Any:
        return KeysView(self)

    def values(self) -> Any:
        return ValuesView(self)

    def items(self) -> Any:
        return ItemsView(self)

    def pop(self, name: str, *default: Any) -> Any:
        value = self.get(name, _MISSING)
        if value is _MISSING and default:
            return default[0]
        del self[name]
        return value

    def popitem(self) -> tuple[str, Any]:
        name = next(reversed(self), None)
        return {}.popitem() if name is None else (name, self.pop(name))

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def update(self, *others: Any, **entries: Any) -> None:
        for name, value in dict(*others, **entries).items():
            self[name] = value

    def clear(self) -> None:
        for name in list(self):
            del self[name]

    def copy(self) -> dict[str, Any]:
        return {name: self[name] for name in self}

    def __copy__(self) -> dict[str, Any]:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return copy.deepcopy(self.copy(), memo)


_MISSING = object()
