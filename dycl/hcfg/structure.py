"""The nesting of a call's arguments and results, as data: which container holds which value."""

from dataclasses import dataclass
from typing import Literal, get_args

SlotKind = Literal["tensor", "array", "scalar", "bool", "int", "float"]
"""What a value is for the caller: a tensor, NumPy's array or scalar whatever the inputs are, or a number of Python."""
SLOT_KINDS: tuple[SlotKind, ...] = get_args(SlotKind)


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one dynamic value: the `index`-th tensor or host value of the call or result."""

    index: int
    kind: SlotKind


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
    """A named tuple, a dataclass or another object with attributes: named fields under a type's name."""

    kind: Literal["namedtuple", "dataclass", "object"]
    type_name: str
    fields: tuple[str, ...]
    items: tuple["Structure", ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """A list whose length the input decides.

    Each slot of `item` stands for a tensor in which the values of all items are stacked; `length` is the index of one
    such tensor, whose first dimension is the length also where the items hold no value.
    """

    length: int
    item: "Structure"


@dataclass(frozen=True, slots=True)
class Named:
    """Something that only its name stands for, such as a type or an element type: the caller may supply it by name."""

    name: str


Structure = Slot | Static | Items | Table | Record | Rows | Named


def children(structure: Structure) -> tuple[Structure, ...]:
    """The structures directly inside `structure`."""
    match structure:
        case Slot() | Static() | Named():
            return ()
        case Items(items=items) | Table(items=items) | Record(items=items):
            return items
        case Rows(item=item):
            return (item,)


def nested(structure: Structure) -> list[Structure]:
    """A structure and every structure inside it, outer ones first."""
    return [structure, *(inner for child in children(structure) for inner in nested(child))]


def slots(structure: Structure) -> list[Slot]:
    """Every slot of `structure`, in depth-first order."""
    if isinstance(structure, Slot):
        return [structure]
    return [slot for child in children(structure) for slot in slots(child)]
