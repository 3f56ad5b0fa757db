"""The JSON form of the values inside nodes: types, places in the source, structures, numbers."""

import math

from dycl.hcfg import strict_json
from dycl.hcfg.errors import HcfgError
from dycl.hcfg.strict_json import Json, fields, integer, items, text, texts
from dycl.hcfg.structure import SLOT_KINDS, Items, Named, Record, Rows, Slot, Static, Structure, Table
from dycl.hcfg.types import DTYPES, HOST_KINDS, Dimension, HostType, Span, TensorType, ValueType

MAX_NESTING = 64
"""Deeper than the verifier allows a structure to be, shallow enough not to exhaust Python's stack."""

Number = bool | int | float


def write_type(value_type: ValueType) -> Json:
    """The JSON form of a value type."""
    if isinstance(value_type, HostType):
        return {"kind": "HostType", "host": value_type.kind}
    return {"kind": "TensorType", "dtype": value_type.dtype, "shape": list(value_type.shape)}


def read_type(value: object, place: str) -> ValueType:
    """The type of a value that crosses between blocks."""
    if strict_json.kind(value, place) == "HostType":
        _, host = fields(value, place, "kind", "host")
        for kind in HOST_KINDS:
            if host == kind:
                return HostType(kind)
        raise HcfgError(f"{place} has an unknown host kind")
    return read_tensor_type(value, place)


def read_tensor_type(value: object, place: str) -> TensorType:
    """The type of a tensor."""
    kind, dtype, shape = fields(value, place, "kind", "dtype", "shape")
    if kind != "TensorType":
        raise HcfgError(f"{place} is not a tensor type")
    for known in DTYPES:
        if dtype == known:
            return TensorType(known, tuple(_read_dimension(*item) for item in items(shape, f"{place}.shape")))
    raise HcfgError(f"{place} has an unknown element type")


def _read_dimension(value: object, place: str) -> Dimension:
    return value if isinstance(value, str) else integer(value, place)


def write_span(span: Span) -> Json:
    """The JSON form of a place in the source, as a list."""
    return [span.file, span.line, span.column, span.end_line, span.end_column, span.function]


def read_span(value: object, place: str) -> Span:
    """A place in the source."""
    parts = items(value, place)
    if len(parts) != 6:
        raise HcfgError(f"{place} is not a place in a source file")
    file, line, column, end_line, end_column, function = parts
    return Span(
        text(*file), integer(*line), integer(*column), integer(*end_line), integer(*end_column), text(*function)
    )


def write_structure(structure: Structure) -> Json:
    """The JSON form of a structure and all inside it."""
    match structure:
        case Slot(index=index, kind=kind):
            return {"kind": "Slot", "index": index, "value": kind}
        case Static(value=value):
            return {"kind": "Static", "value": _write_float(value) if isinstance(value, float) else value}
        case Items(kind=sequence):
            return {"kind": "Items", "sequence": sequence, "items": _write_structures(structure.items)}
        case Table(type_name=type_name, keys=keys):
            return {"kind": "Table", "type": type_name, "keys": list(keys), "items": _write_structures(structure.items)}
        case Record(kind=record, type_name=type_name, fields=names):
            return {
                "kind": "Record",
                "record": record,
                "type": type_name,
                "fields": list(names),
                "items": _write_structures(structure.items),
            }
        case Named(name=name):
            return {"kind": "Named", "name": name}
        case Rows(length=length, item=item):
            return {"kind": "Rows", "length": length, "item": write_structure(item)}


def _write_structures(structures: tuple[Structure, ...]) -> Json:
    return [write_structure(structure) for structure in structures]


def read_structure(value: object, place: str, depth: int = 0) -> Structure:
    """A structure and all inside it, nested at most MAX_NESTING deep."""
    if depth > MAX_NESTING:
        raise HcfgError(f"{place:.80} is nested too deeply")
    match strict_json.kind(value, place):
        case "Slot":
            _, index, slot_kind = fields(value, place, "kind", "index", "value")
            for kind in SLOT_KINDS:
                if slot_kind == kind:
                    return Slot(integer(index, f"{place}.index"), kind)
            raise HcfgError(f"{place} is a slot of an unknown kind")
        case "Static":
            _, static = fields(value, place, "kind", "value")
            if static is None or isinstance(static, str):
                return Static(static)
            return Static(read_number(static, f"{place}.value"))
        case "Items":
            _, sequence, inner = fields(value, place, "kind", "sequence", "items")
            children = _read_structures(inner, place, depth)
            if sequence == "tuple":
                return Items("tuple", children)
            if sequence == "list":
                return Items("list", children)
            raise HcfgError(f"{place} is a sequence of an unknown kind")
        case "Table":
            _, type_name, keys, inner = fields(value, place, "kind", "type", "keys", "items")
            names = tuple(key if isinstance(key, str) else integer(key, at) for key, at in items(keys, f"{place}.keys"))
            return Table(text(type_name, f"{place}.type"), names, _read_structures(inner, place, depth))
        case "Record":
            _, record, type_name, names_, inner = fields(value, place, "kind", "record", "type", "fields", "items")
            type_text, members = text(type_name, f"{place}.type"), texts(names_, f"{place}.fields")
            children = _read_structures(inner, place, depth)
            if record == "namedtuple":
                return Record("namedtuple", type_text, members, children)
            if record == "dataclass":
                return Record("dataclass", type_text, members, children)
            if record == "object":
                return Record("object", type_text, members, children)
            raise HcfgError(f"{place} is a record of an unknown kind")
        case "Named":
            _, name = fields(value, place, "kind", "name")
            return Named(text(name, f"{place}.name"))
        case "Rows":
            _, length, row = fields(value, place, "kind", "length", "item")
            return Rows(integer(length, f"{place}.length"), read_structure(row, f"{place}.item", depth + 1))
        case unknown:
            raise HcfgError(f"{place} has the unknown kind {unknown!r:.80}")


def _read_structures(value: object, place: str, depth: int) -> tuple[Structure, ...]:
    return tuple(read_structure(item, at, depth + 1) for item, at in items(value, f"{place}.items"))


def _write_float(value: float) -> Json:
    return value if math.isfinite(value) else {"float": str(value)}


def write_number(value: Number) -> Json:
    """The JSON form of a number or flag."""
    return _write_float(value) if isinstance(value, float) else value


def read_number(value: object, place: str) -> Number:
    """A number or flag; what JSON has no number for is written as an object: {"float": "nan"}."""
    if isinstance(value, bool | float):
        return value
    if isinstance(value, dict):
        (name,) = fields(value, place, "float")
        if name not in ("nan", "inf", "-inf"):
            raise HcfgError(f"{place} is an unknown number")
        return float(str(name))
    return integer(value, place)
