"""Describe what a program returns: the nesting as data, the tensors and numbers in order."""

import collections
import dataclasses
import functools
from typing import Any, assert_never

import numpy as np
import torch

from dycl.hcfg.structure import Items, Named, Record, Rows, Slot, SlotKind, Static, Structure, Table
from dycl.hcfg.verify_structure import MAX_NESTING
from dycl.rewrite.normalise.syntax import KnownNumber
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.record.host_arrays import NUMPY_DTYPES, HostArray
from dycl.rewrite.record.host_values import HostValue, import_symbol
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.semantics.texts import HostText
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.frames import Generator, HostRange, ItemIterator, ParallelIterator, RangeIterator
from dycl.rewrite.state.items import ArrayItem, KnownItem, NumberItem, Template, TensorItem, TupleItem
from dycl.rewrite.state.lazy_iterators import LazyIterator
from dycl.rewrite.state.tables import GrownList


@dataclasses.dataclass(frozen=True, slots=True)
class ResultStructure:
    """A result's nesting, and the classes that it names."""

    structure: Structure
    types: dict[str, Any]


def result_structure(value: Any, recorder: Recorder) -> tuple[list[torch.Tensor], ResultStructure]:
    """The tensors of a returned value in order, and how they nest."""
    leaves: list[torch.Tensor] = []
    types: dict[str, Any] = {}

    def slot(tensor: torch.Tensor, kind: SlotKind) -> Slot:
        leaves.append(tensor)
        return Slot(len(leaves) - 1, kind)

    around: list[int] = []

    def visit(part: Any) -> Structure:
        if id(part) in around:
            raise Refused("DY013", "the model returns a container or an object that holds itself")
        if len(around) >= MAX_NESTING:
            raise Refused("DY013", f"the model returns more than {MAX_NESTING} containers inside each other")
        around.append(id(part))
        structure = described(part)
        around.pop()
        return structure

    def described(part: Any) -> Structure:
        match part:
            case Generator() | RangeIterator() | HostRange() | ItemIterator() | ParallelIterator() | LazyIterator():
                raise Refused("DY013", "the model returns a generator or an iterator", "return a list of its items")
            case torch.Tensor():
                return slot(part, "tensor")
            case HostValue():
                return slot(part.tensor, part.kind)
            case torch.SymInt() | torch.SymFloat() | torch.SymBool():
                return visit(import_symbol(part, recorder))
            case _ if type(part) is HostArray:
                return slot(part.tensor, "scalar" if part.scalar else "array")
            case np.ndarray() | np.generic() if type(part) is np.ndarray or isinstance(part, np.generic):
                return slot(_known_array(part), "array" if isinstance(part, np.ndarray) else "scalar")
            case KnownNumber():
                return Static(int(part))
            case None | bool() | int() | float() | str() if type(part) in (type(None), bool, int, float, str):
                return Static(part)
            case tuple() if (fields := tuple_fields(type(part))) is not None:
                return named_tuple(type(part), fields, [visit(getattr(part, name)) for name in fields])
            case dict():
                return table(part)
            case GrownList():
                return rows(part)
            case tuple() | list() if type(part) in (tuple, list, torch.Size):
                return Items("tuple" if isinstance(part, tuple) else "list", tuple([visit(item) for item in part]))
            case _ if dataclasses.is_dataclass(part) and not isinstance(part, type):
                return record("dataclass", part, tuple(field.name for field in dataclasses.fields(part)))
            case HostText():
                raise Refused("DY013", "the model returns a text that only the input determines")
            case torch.dtype() | torch.device() | type():
                name = f"{part.__module__}.{part.__qualname__}" if isinstance(part, type) else str(part)
                types[name] = part
                return Named(name)
            case _ if _is_plain_object(part):
                return record("object", part, tuple(vars(part)))
            case _:
                raise Refused(
                    "DY013",
                    f"the model returns an object of type `{type(part).__name__}`",
                    "return tensors, numbers, tuples, lists, dicts, named tuples or dataclasses",
                )

    def record(kind: Any, part: Any, fields: tuple[str, ...]) -> Record:
        types[type(part).__qualname__] = type(part)
        return Record(kind, type(part).__qualname__, fields, tuple([visit(getattr(part, name)) for name in fields]))

    def named_tuple(cls: Any, fields: tuple[str, ...], items: list[Structure]) -> Record:
        # PyTorch's own are called `max` or `sort`, which alone says little.
        name = f"{cls.__module__}.{cls.__qualname__}" if cls.__module__ == "torch.return_types" else cls.__qualname__
        types[name] = cls
        return Record("namedtuple", name, fields, tuple(items))

    def rows(part: GrownList) -> Rows:
        first = len(leaves)
        columns = iter(part.columns)

        def item(template: Template) -> Structure:
            match template:
                case NumberItem(kind):
                    return slot(next(columns), kind)
                case TensorItem():
                    return slot(next(columns), "tensor")
                case ArrayItem(scalar=scalar):
                    return slot(next(columns), "scalar" if scalar else "array")
                case TupleItem(cls, parts) if (fields := tuple_fields(cls)) is not None:
                    return named_tuple(cls, fields, [item(inner) for inner in parts])
                case TupleItem(parts=parts):
                    return Items("tuple", tuple([item(inner) for inner in parts]))
                case KnownItem(value=value):
                    return visit(value)
                case _:
                    assert_never(template)

        structure = item(part.template)
        if len(leaves) == first:
            leaves.append(part.columns[0])
        return Rows(first, structure)

    def table(part: dict[Any, Any]) -> Table:
        if not all(type(key) in (str, int) for key in part):
            raise Refused("DY013", "the model returns a dict whose keys are not texts or whole numbers")
        name: str = type(part).__qualname__
        made: Any = type(part)
        if isinstance(part, collections.defaultdict):
            name = f"{name}.{_factory_name(part.default_factory)}"
            made = functools.partial(made, part.default_factory)
        types[name] = made
        return Table(name, tuple(part), tuple([visit(item) for item in part.values()]))

    structure = visit(value)
    return leaves, ResultStructure(structure, types)


def _factory_name(factory: Any) -> str:
    """What a defaultdict's factory is called; one without a name cannot be told from others."""
    name = "None" if factory is None else f"{factory.__module__}.{getattr(factory, '__qualname__', '<')}"
    if "<" in name:
        reason = "the model returns a defaultdict whose factory is no class or function of a module"
        raise Refused("DY013", reason, "return `dict(result)`")
    return name


def tuple_fields(cls: Any) -> tuple[str, ...] | None:
    """The names of a named tuple's items; None if the tuple is a plain one.

    What `max`, `sort` and others return is a tuple made in C, whose fields are named where `match` looks for them.
    """
    if getattr(cls, "n_sequence_fields", -1) == len(getattr(cls, "__match_args__", ())):
        return tuple(cls.__match_args__)
    return tuple(cls._fields) if hasattr(cls, "_fields") else None


def _known_array(value: Any) -> torch.Tensor:
    """The elements of an array or a scalar that is known while compiling."""
    if value.dtype not in NUMPY_DTYPES.values():
        raise Refused("DY013", f"the model returns an array of element type `{value.dtype}`")
    return torch.from_numpy(np.array(value, order="C"))


def _is_plain_object(value: Any) -> bool:
    """Whether a value is an object of a Python class that is nothing but its attributes."""
    cls: Any = type(value)
    machinery = isinstance(value, torch.nn.Module | Exception | ItemIterator) or callable(value)
    attributes = attribute(value, "__dict__")
    return (
        attributes is not None
        and not machinery
        and cls.__new__ is object.__new__
        and cls.__reduce_ex__ is object.__reduce_ex__
        and not any(hasattr(base, "__slots__") and base.__slots__ for base in cls.__mro__)
        and all(name.isidentifier() and not name.startswith("__") for name in attributes)
    )
