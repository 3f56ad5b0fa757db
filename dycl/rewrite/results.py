"""Describe what a program returns: the nesting as data, the tensors and numbers in order."""

import collections
import dataclasses
from typing import Any

import torch

from dycl.hcfg.structure import Items, Record, Slot, Static, Structure, Table
from dycl.hcfg.types import HostKind
from dycl.rewrite.frames import ItemIterator
from dycl.rewrite.freeze import import_symbol
from dycl.rewrite.host_values import HostValue
from dycl.rewrite.recorder import Recorder
from dycl.rewrite.signals import Refused


@dataclasses.dataclass(frozen=True, slots=True)
class ResultStructure:
    """A result's nesting, and the classes that it names."""

    structure: Structure
    types: dict[str, type]


def result_structure(value: Any, recorder: Recorder) -> tuple[list[torch.Tensor], ResultStructure]:
    """The tensors of a returned value in order, and how they nest."""
    leaves: list[torch.Tensor] = []
    types: dict[str, type] = {}

    def slot(tensor: torch.Tensor, kind: HostKind | None) -> Slot:
        leaves.append(tensor)
        return Slot(len(leaves) - 1, kind or "tensor")

    def visit(part: Any) -> Structure:
        match part:
            case torch.Tensor():
                return slot(part, None)
            case HostValue():
                return slot(part.tensor, part.kind)
            case torch.SymInt() | torch.SymFloat() | torch.SymBool():
                return visit(import_symbol(part, recorder))
            case None | bool() | int() | float() | str() if type(part) in (type(None), bool, int, float, str):
                return Static(part)
            case tuple() if hasattr(part, "_fields"):
                return record("namedtuple", part, tuple(part._fields))
            case dict():
                return table(part)
            case tuple() | list():
                return Items("tuple" if isinstance(part, tuple) else "list", tuple([visit(item) for item in part]))
            case _ if dataclasses.is_dataclass(part) and not isinstance(part, type):
                return record("dataclass", part, tuple(field.name for field in dataclasses.fields(part)))
            case ItemIterator() | _:
                raise Refused(
                    "DY013",
                    f"the model returns an object of type `{type(part).__name__}`",
                    "return tensors, numbers, tuples, lists, dicts, named tuples or dataclasses",
                )

    def record(kind: Any, part: Any, fields: tuple[str, ...]) -> Record:
        types[type(part).__qualname__] = type(part)
        return Record(kind, type(part).__qualname__, fields, tuple([visit(getattr(part, name)) for name in fields]))

    def table(part: dict[Any, Any]) -> Table:
        if not all(type(key) in (str, int) for key in part):
            raise Refused("DY013", "the model returns a dict whose keys are not texts or whole numbers")
        cls = dict if isinstance(part, collections.defaultdict) else type(part)
        types[cls.__qualname__] = cls
        return Table(cls.__qualname__, tuple(part), tuple([visit(item) for item in part.values()]))

    structure = visit(value)
    return leaves, ResultStructure(structure, types)
