"""The nesting of a call's arguments and results, as data: which container holds which value."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one dynamic value: the `index`-th tensor or host value of the call or result."""

    index: int
    kind: Literal["tensor", "bool", "int", "float"]


@dataclass(frozen=True, slots=True)
class Static:
    """A value known while compiling."""

    value: bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Items:
    """A tuple or a list."""

    kind: Literal["tuple", "list"]
    items: tuple["Structure", ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A dict, or a subclass of dict named by `type_name`, in its own order."""

    type_name: str
    keys: tuple[str | int, ...]
    items: tuple["Structure", ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A named tuple or a dataclass: named fields under a type's name."""

    kind: Literal["namedtuple", "dataclass"]
    type_name: str
    fields: tuple[str, ...]
    items: tuple["Structure", ...]


Structure = Slot | Static | Items | Table | Record


def children(structure: Structure) -> tuple[Structure, ...]:
    """The structures directly inside `structure`."""
    match structure:
        case Slot() | Static():
            return ()
        case Items(items=items) | Table(items=items) | Record(items=items):
            return items


def slots(structure: Structure) -> list[Slot]:
    """Every slot of `structure`, in depth-first order."""
    if isinstance(structure, Slot):
        return [structure]
    return [slot for child in children(structure) for slot in slots(child)]
