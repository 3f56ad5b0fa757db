"""Describe a call's example arguments: which tensors come in, and how they nest."""

import dataclasses
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from dycl.hcfg.nodes import SizeRule
from dycl.hcfg.structure import Items, Record, Slot, Static, Structure, Table
from dycl.hcfg.types import TensorType
from dycl.rewrite.example.dynamic_shapes import NamedSizes, argument_specs, item_specs, require_no_spec
from dycl.rewrite.signals import Refused

Rebuild = Callable[[list[torch.Tensor]], Any]


@dataclasses.dataclass(frozen=True, slots=True)
class ExampleCall:
    """A call of the model: the tensors that go in, their names, and how to make the call with other tensors."""

    callee: Callable[..., Any]
    tensors: tuple[torch.Tensor, ...]
    types: tuple[TensorType, ...]
    strides: tuple[tuple[int, ...] | None, ...]
    """How each tensor of known sizes lies in memory: whether a result is a view of it may depend on that."""
    names: tuple[str, ...]
    sizes: tuple[SizeRule, ...]
    signature: Structure
    parameter_names: tuple[str, ...]
    arguments: Callable[[list[torch.Tensor]], tuple[tuple[Any, ...], dict[str, Any]]]
    """The arguments of the call, with these tensors in the place of the example's."""


def example_call(
    callee: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any = None
) -> ExampleCall:
    """What a call of `callee` with these arguments takes in; `dynamic_shapes` says which sizes may differ."""
    parameters = _parameter_names(callee)
    given: list[torch.Tensor] = []
    types: list[TensorType] = []
    strides: list[tuple[int, ...] | None] = []
    names: list[str] = []
    sizes = NamedSizes()

    def visit(part: Any, name: str, spec: Any) -> tuple[Structure, Rebuild]:
        if isinstance(part, np.ndarray):
            part = torch.from_numpy(part)
        match part:
            case torch.Tensor():
                number = len(types)
                given.append(part)
                types.append(sizes.tensor_type(part, spec, name))
                open_size = any(isinstance(size, str) for size in types[-1].shape)
                strides.append(None if open_size or part.layout is not torch.strided else part.stride())
                names.append(name)
                return Slot(number, "tensor"), lambda tensors: tensors[number]
            case None | bool() | int() | float() | str():
                require_no_spec(spec, name, repr(part))
                return Static(part), lambda _: part
            case tuple() if hasattr(part, "_fields"):
                return record("namedtuple", part, tuple(part._fields), (name, spec), lambda items: type(part)(*items))
            case tuple() | list():
                kind = type(part)
                specs = item_specs(spec, range(len(part)), name)
                made = [visit(item, f"{name}.{number}", specs[number]) for number, item in enumerate(part)]
                nesting = Items("tuple" if kind is tuple else "list", tuple(item for item, _ in made))
                return nesting, lambda tensors: kind([build(tensors) for _, build in made])
            case dict() if all(type(key) in (str, int) for key in part):
                specs = item_specs(spec, tuple(part), name)
                entries = {
                    key: visit(item, f"{name}.{key}", specs[number]) for number, (key, item) in enumerate(part.items())
                }
                table = Table(type(part).__qualname__, tuple(part), tuple(item for item, _ in entries.values()))
                cls = type(part)
                return table, lambda tensors: cls({key: build(tensors) for key, (_, build) in entries.items()})
            case _ if dataclasses.is_dataclass(part) and not isinstance(part, type):
                fields = tuple(field.name for field in dataclasses.fields(part))
                make = functools.partial(_same_dataclass, part, fields)
                return record("dataclass", part, fields, (name, spec), make)
        raise Refused("DY013", f"the argument `{name}` is an object of type `{type(part).__name__}`")

    def record(
        kind: Any, part: Any, fields: tuple[str, ...], place: tuple[str, Any], make: Callable[[list[Any]], Any]
    ) -> tuple[Structure, Rebuild]:
        name, spec = place
        specs = item_specs(spec, fields, name)
        made = [visit(getattr(part, field), f"{name}.{field}", of) for field, of in zip(fields, specs, strict=True)]
        structure = Record(kind, type(part).__qualname__, fields, tuple(item for item, _ in made))
        return structure, lambda tensors: make([build(tensors) for _, build in made])

    specs_by_place, specs_by_name = argument_specs(callee, args, kwargs, dynamic_shapes)
    positional = [
        visit(arg, parameters[n] if n < len(parameters) else f"arg{n}", specs_by_place[n]) for n, arg in enumerate(args)
    ]
    keyword = {name: visit(value, name, specs_by_name[name]) for name, value in kwargs.items()}
    signature = Items(
        "tuple",
        (
            Items("tuple", tuple(item for item, _ in positional)),
            Table("dict", tuple(keyword), tuple(item for item, _ in keyword.values())),
        ),
    )

    def rebuild(tensors: list[torch.Tensor]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        called = tuple(build(tensors) for _, build in positional)
        return called, {name: build(tensors) for name, (_, build) in keyword.items()}

    return ExampleCall(
        callee, tuple(given), tuple(types), tuple(strides), tuple(names), sizes.rules, signature, parameters, rebuild
    )


def _same_dataclass(part: Any, fields: tuple[str, ...], items: list[Any]) -> Any:
    made = object.__new__(type(part))
    for name, value in zip(fields, items, strict=True):
        object.__setattr__(made, name, value)
    return made


def _parameter_names(callee: Callable[..., Any]) -> tuple[str, ...]:
    function = callee.forward if isinstance(callee, torch.nn.Module) else callee
    if not isinstance(inspect.unwrap(getattr(function, "__func__", function)), types.FunctionType):
        return ()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    return tuple(name for name, parameter in inspect.signature(function).parameters.items() if parameter.kind in kinds)
