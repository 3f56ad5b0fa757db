"""The rules for names, and for the nesting of arguments and results."""

import keyword
import unicodedata
from collections.abc import Collection
from typing import assert_never

from dycl.hcfg.errors import HcfgError
from dycl.hcfg.structure import SLOT_KINDS, Items, Named, Record, Rows, Slot, Static, Structure, Table, children

MAX_NAME = 1000
MAX_NESTING = 32


def check_structure(structure: Structure, place: str) -> None:
    """Nothing if a structure is well formed; otherwise HcfgError."""
    waiting = [(structure, 1)]
    while waiting:
        current, depth = waiting.pop()
        if depth > MAX_NESTING:
            raise HcfgError(f"{place} nests more than {MAX_NESTING} containers")
        match current:
            case Slot(kind=kind):
                if kind not in SLOT_KINDS:
                    raise HcfgError(f"{place} has a slot of the unknown kind {kind}")
            case Static() | Rows():
                pass
            case Named(name=name):
                check_name(name, f"a name in {place}")
            case Items(kind=kind):
                if kind not in ("tuple", "list"):
                    raise HcfgError(f"{place} has a sequence of the unknown kind {kind}")
            case Table(type_name=type_name, keys=keys, items=items):
                _check_type_name(type_name, place)
                _require_keys(keys, items, f"a {type_name} of {place}")
            case Record(kind=kind, type_name=type_name, fields=fields, items=items):
                if kind not in ("namedtuple", "dataclass", "object"):
                    raise HcfgError(f"{place} has a record of the unknown kind {kind}")
                _check_type_name(type_name, place)
                for field in fields:
                    check_identifier(field, f"a field of {type_name} in {place}")
                    if field.startswith("__") or (kind == "namedtuple" and field.startswith("_")):
                        raise HcfgError(f"the field {field} of {type_name} in {place} starts with an underscore")
                _require_keys(fields, items, f"a {type_name} of {place}")
            case _:
                assert_never(current)
        waiting.extend((child, depth + 1) for child in children(current))


def _require_keys(keys: Collection[str | int], items: Collection[Structure], place: str) -> None:
    if len(keys) != len(items):
        raise HcfgError(f"{place} has {len(keys)} names for {len(items)} values")
    require_distinct(keys, f"the names in {place}")


def require_distinct(values: Collection[str | int], place: str) -> None:
    """Nothing if no value occurs twice; otherwise HcfgError."""
    if len(set(values)) != len(values):
        raise HcfgError(f"{place} are not distinct")


def _check_type_name(type_name: str, place: str) -> None:
    check_name(type_name, f"a type name in {place}")
    check_identifier(type_name.rsplit(".", 1)[-1], f"the type name {type_name} in {place}")


def check_identifier(text: str, place: str) -> None:
    """Nothing if a text is a Python identifier; otherwise HcfgError."""
    # Python normalises identifiers in source: two names that it folds together would not stay distinct.
    folded = unicodedata.normalize("NFKC", text) == text
    if not text.isidentifier() or not folded or keyword.iskeyword(text) or len(text) > MAX_NAME:
        raise HcfgError(f"{place} is not a plain identifier: {text!r:.80}")


def check_name(text: str, place: str) -> None:
    """Nothing if a text can be a name; otherwise HcfgError."""
    if not text or len(text) > MAX_NAME or not text.isprintable():
        raise HcfgError(f"{place} is empty, too long or not printable: {text!r:.80}")
