"""A program's results, arranged as the user's code arranged them.

Classes of results are the user's own where the caller supplies them. Where not, a named tuple or a dataclass of the
recorded name and fields takes their place, made of names that the verifier has checked to be plain identifiers.
"""

import dataclasses
import functools
from collections import OrderedDict, namedtuple
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any, Protocol

from dycl.hcfg.structure import Items, Named, Record, Rows, Slot, Static, Structure, Table
from dycl.runtime.tensors import element_type

TypeTable = Mapping[str, Any]


def types_by_name(types: Iterable[type]) -> dict[str, type]:
    """A table in which each class is found by its name, with or without the module in front."""
    table: dict[str, type] = {}
    for given in types:
        for name in (given.__name__, given.__qualname__, f"{given.__module__}.{given.__qualname__}"):
            table[name] = given
    return table


class Values(Protocol):
    """The values that stand in the slots of a structure."""

    def value(self, slot: Slot, row: int | None) -> object:
        """The value of a slot; if the slot is inside a list of unknown length, the one in this row."""
        ...

    def length(self, index: int) -> int:
        """How many rows the value with this index has."""
        ...


def arrange(structure: Structure, values: Values, types: TypeTable, row: int | None = None) -> object:
    """The values for the slots of `structure`, in the containers that it describes."""
    match structure:
        case Slot():
            return values.value(structure, row)
        case Static(value=value):
            return value
        case Items(kind=kind, items=items):
            arranged = [arrange(item, values, types, row) for item in items]
            return tuple(arranged) if kind == "tuple" else arranged
        case Named(name=name):
            return types[name] if name in types else element_type(name) or name
        case Rows(length=length, item=item):
            return [arrange(item, values, types, number) for number in range(values.length(length))]
        case Table(type_name=type_name, keys=keys, items=items):
            table = {key: arrange(item, values, types, row) for key, item in zip(keys, items, strict=True)}
            return _table(types.get(type_name, _OF_PYTHON.get(type_name)), table)
        case Record(kind=kind, fields=fields, items=items):
            arranged = [arrange(item, values, types, row) for item in items]
            return _record(kind, _record_type(structure, types), dict(zip(fields, arranged, strict=True)))


_OF_PYTHON: dict[str, type] = {"OrderedDict": OrderedDict}
"""Classes of tables that need not be supplied."""


def _table(table_type: type | None, table: dict[str | int, object]) -> object:
    if table_type is None:
        return table
    if dataclasses.is_dataclass(table_type):
        return table_type(**{str(key): value for key, value in table.items()})
    return table_type(table)


def _record(kind: str, record_type: type[Any], values: dict[str, object]) -> object:
    if kind == "object" and issubclass(record_type, SimpleNamespace):
        return record_type(**values)
    if kind == "object":
        made = object.__new__(record_type)
        vars(made).update(values)
        return made
    if hasattr(record_type, "n_sequence_fields"):
        # A named tuple made in C, such as PyTorch's own, takes its items as one argument.
        return record_type(tuple(values.values()))
    if not dataclasses.is_dataclass(record_type):
        return record_type(**values)
    made = record_type(**{field.name: values[field.name] for field in dataclasses.fields(record_type) if field.init})
    for field in dataclasses.fields(record_type):
        if not field.init:
            object.__setattr__(made, field.name, values[field.name])
    return made


@functools.cache
def _made_type(kind: str, name: str, fields: tuple[str, ...]) -> type[Any]:
    """A class that stands in for one that the caller did not supply; the same one for equal names and fields."""
    if kind == "namedtuple":
        return namedtuple(name, fields)
    if kind == "object":
        return type(name, (SimpleNamespace,), {})
    return dataclasses.make_dataclass(name, fields)


def _record_type(record: Record, types: TypeTable) -> type[Any]:
    given = types.get(record.type_name)
    return given if given is not None else _made_type(record.kind, record.type_name.rsplit(".", 1)[-1], record.fields)
