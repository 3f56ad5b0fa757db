"""A call's arguments, matched against the signature that was compiled.

A compiled program holds for arguments of the compiled kinds only, so everything is compared: how containers are nested,
values that were known while compiling, element types and shapes. The first difference is an InputError that names the
argument, what was compiled and what came.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np

from dycl.hcfg.nodes import Hcfg
from dycl.hcfg.structure import Items, Named, Record, Rows, Slot, Static, Structure, Table
from dycl.hcfg.types import MAX_DIMENSION, HostKind, HostType, TensorType, ValueType
from dycl.hcfg.verify import INT64_MAX, INT64_MIN
from dycl.runtime.errors import InputError
from dycl.runtime.tensors import accepts, describe, is_tensor, is_torch_tensor, to_array
from dycl.runtime.weight_store import Array, array_dtype

_UNFILLED: Array = np.empty(0)
_KINDS: dict[HostKind, type] = {"bool": bool, "int": int, "float": float}


@dataclasses.dataclass(slots=True)
class CallInputs:
    """The arrays of a call in the order of the program's inputs, and whether any came as a PyTorch tensor."""

    arrays: list[Array]
    from_torch: bool = False
    sizes: dict[str, int] = dataclasses.field(default_factory=dict)


class Signature:
    """What calls of a program must look like."""

    def __init__(self, hcfg: Hcfg) -> None:
        match hcfg.signature:
            case Items("tuple", (Items("tuple", positional), Table("dict", keys, keyword))):
                self._positional = positional
                self._keyword = {str(key): item for key, item in zip(keys, keyword, strict=True)}
            case _:
                raise ValueError("the graph was not verified")
        self._names = hcfg.parameter_names
        self._sizes = hcfg.sizes
        self._types = [parameter.type for parameter in hcfg.inputs]
        self._exact = [
            (array_dtype(value_type.dtype), value_type.shape) if isinstance(value_type, TensorType) else None
            for value_type in self._types
        ]

    def match(self, args: Sequence[object], kwargs: Mapping[str, object]) -> CallInputs:
        """The inputs of a call; InputError unless it fits."""
        args, kwargs = self._arrange(args, kwargs)
        inputs = CallInputs([_UNFILLED] * len(self._types))
        for index, (structure, value) in enumerate(zip(self._positional, args, strict=True)):
            self._match(structure, value, self._name(index), inputs)
        for name, structure in self._keyword.items():
            self._match(structure, kwargs[name], name, inputs)
        if self._sizes:
            self._check_sizes(inputs.sizes)
        return inputs

    def _check_sizes(self, sizes: Mapping[str, int]) -> None:
        """Nothing; InputError unless the sizes of a call keep to the rules."""
        roots: dict[str, int] = dict(sizes)
        for rule in self._sizes:
            size = sizes[rule.name]
            root, rest = divmod(size - rule.offset, rule.factor)
            known = roots.setdefault(rule.root, root)
            if rest or root != known:
                where = f", where {rule.root} is {known}" if rule.root in sizes else ""
                raise InputError(f"the size {rule.name} was compiled as {rule}{where}, but {size} came")
            if not rule.least <= root <= rule.most:
                most = f" to {rule.most}" if rule.most < MAX_DIMENSION else " or more"
                raise InputError(f"the size {rule.root} was compiled as {rule.least}{most}, but {root} came")

    def _name(self, index: int) -> str:
        return self._names[index] if index < len(self._names) else f"argument {index + 1}"

    def _arrange(
        self, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> tuple[Sequence[object], Mapping[str, object]]:
        """The arguments passed the way they were compiled: by position or by keyword."""
        count = len(self._positional)
        if len(args) == count and kwargs.keys() == self._keyword.keys():
            return args, kwargs
        positional, keyword = list(args[:count]), dict(kwargs)
        for index in range(count, len(args)):
            name = self._name(index)
            if index >= len(self._names) or name not in self._keyword or name in keyword:
                raise InputError(f"{len(args)} positional arguments were passed, {count} were compiled")
            keyword[name] = args[index]
        for index in range(len(positional), count):
            name = self._name(index)
            if name not in keyword:
                raise InputError(f"{name} is missing")
            positional.append(keyword.pop(name))
        for name in self._keyword:
            if name not in keyword:
                raise InputError(f"{name} is missing")
        for name in keyword:
            if name not in self._keyword:
                raise InputError(f"{name} was passed, but not when the model was compiled")
        return positional, keyword

    def _match(self, structure: Structure, value: object, place: str, inputs: CallInputs) -> None:
        """Nothing; the slots of `structure` are filled in `inputs` from `value`."""
        match structure:
            case Slot(index=index):
                # The usual case first, since it is on every call's way: an array of exactly the compiled type.
                if type(value) is np.ndarray and (value.dtype, value.shape) == self._exact[index]:
                    inputs.arrays[index] = value
                else:
                    inputs.arrays[index] = _slot_array(self._types[index], value, place, inputs)
                return
            case Static(value=compiled):
                if not _is_same(compiled, value):
                    raise InputError(f"{place} was compiled as {compiled!r}, but {_shown(value)} came")
                return
            case Items(kind=kind):
                children = _sequence_items(kind, value, place, len(structure.items))
                places = [f"{place}[{index}]" for index in range(len(structure.items))]
            case Table(keys=keys):
                children = _table_items(keys, value, place)
                places = [f"{place}[{key!r}]" for key in keys]
            case Rows() | Named():
                raise ValueError("the graph was not verified")
            case Record(fields=fields):
                children = _record_items(structure, value, place)
                places = [f"{place}.{field}" for field in fields]
        for child, item, child_place in zip(structure.items, children, places, strict=True):
            self._match(child, item, child_place, inputs)


def _slot_array(value_type: ValueType, value: object, place: str, inputs: CallInputs) -> Array:
    if isinstance(value_type, HostType):
        return _number_array(value_type, value, place)
    if not is_tensor(value):
        raise InputError(f"{place} was compiled as {value_type}, but {_shown(value)} came")
    if is_torch_tensor(value):
        inputs.from_torch = True
    shape: tuple[int, ...] = tuple(value.shape)  # type: ignore[attr-defined]
    if not accepts(value_type, value) or not _shape_fits(value_type, shape, inputs.sizes):
        sizes = "".join(
            f", where {name} is {size}"
            for name, size in inputs.sizes.items()
            if name in value_type.shape and _rank_fits(value_type, shape)
        )
        raise InputError(f"{place} was compiled as {value_type}{sizes}, but {describe(value)} came")
    try:
        return to_array(value, value_type.dtype)
    except (TypeError, RuntimeError, ValueError) as error:  # Sparse, quantised and fake tensors have no array.
        raise InputError(f"{place} is a tensor whose elements cannot be read: {error}") from error


def _rank_fits(expected: TensorType, shape: tuple[int, ...]) -> bool:
    return len(shape) == len(expected.shape)


def _shape_fits(expected: TensorType, shape: tuple[int, ...], sizes: dict[str, int]) -> bool:
    """Whether `shape` fits; a symbolic dimension takes its size from the first tensor that has it."""
    return _rank_fits(expected, shape) and all(
        size == (sizes.setdefault(dimension, size) if isinstance(dimension, str) else dimension)
        for dimension, size in zip(expected.shape, shape, strict=True)
    )


def _number_array(host_type: HostType, value: object, place: str) -> Array:
    number = value.item() if isinstance(value, np.generic) else value
    if type(number) is not _KINDS[host_type.kind]:
        raise InputError(f"{place} was compiled as a Python {host_type}, but {_shown(value)} came")
    if isinstance(number, int) and not INT64_MIN <= number <= INT64_MAX:
        raise InputError(f"{place} was compiled as a 64-bit integer, but {_shown(value)} came")
    return np.array(number, array_dtype(host_type.tensor.dtype))


def _sequence_items(kind: str, value: object, place: str, count: int) -> Sequence[object]:
    wanted = tuple if kind == "tuple" else list
    if not isinstance(value, wanted) or hasattr(value, "_fields"):
        raise InputError(f"{place} was compiled as a {kind} of {count}, but {_shown(value)} came")
    items: Sequence[object] = value
    if len(items) != count:
        raise InputError(f"{place} was compiled as a {kind} of {count}, but a {kind} of {len(items)} came")
    return items


def _table_items(keys: tuple[str | int, ...], value: object, place: str) -> Sequence[object]:
    # The order counts: a model may walk through the dict.
    if not isinstance(value, dict) or tuple(value) != keys:
        came = f"a dict with the keys {', '.join(map(repr, value))}" if isinstance(value, dict) else _shown(value)
        raise InputError(f"{place} was compiled as a dict with the keys {', '.join(map(repr, keys))}, but {came} came")
    return list(value.values())


def _record_items(record: Record, value: object, place: str) -> Sequence[object]:
    if record.kind == "namedtuple":
        fields = getattr(value, "_fields", None) if isinstance(value, tuple) else None
    else:
        is_instance = dataclasses.is_dataclass(value) and not isinstance(value, type)
        fields = tuple(field.name for field in dataclasses.fields(value)) if is_instance else None  # type: ignore[arg-type]
    if fields != record.fields or type(value).__name__ != record.type_name.rsplit(".", 1)[-1]:
        wanted = f"{record.type_name} with the fields {', '.join(record.fields)}"
        raise InputError(f"{place} was compiled as a {record.kind} {wanted}, but {_shown(value)} came")
    return [getattr(value, field) for field in record.fields]


def _is_same(compiled: object, value: object) -> bool:
    if type(compiled) is not type(value):
        return False
    if isinstance(compiled, float) and math.isnan(compiled):
        return isinstance(value, float) and math.isnan(value)
    return compiled == value


def _shown(value: object) -> str:
    """A value as a message shows it."""
    if is_tensor(value):
        return describe(value)
    if value is None or isinstance(value, bool | int | float | str):
        return f"{value!r:.80}"
    return f"a {type(value).__name__}"
