"""Typed reading of untrusted JSON: each function gives the value it names, or HcfgError saying where it is not one."""

import json
from typing import NoReturn

from dycl.hcfg.errors import HcfgError

MAX_BYTES = 32 * 1024 * 1024
MAX_INTEGER = 2**64

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def parse(data: bytes, place: str) -> object:
    """The JSON value in `data`: no duplicate keys, no NaN, no number out of range, no deep nesting."""
    if len(data) > MAX_BYTES:
        raise HcfgError(f"{place} is larger than {MAX_BYTES} bytes")

    def refuse_constant(text: str) -> NoReturn:
        raise HcfgError(f"{place} contains {text}")

    def finite(text: str) -> float:
        number = float(text)
        if number in (float("inf"), float("-inf")):
            raise HcfgError(f"{place} contains the number {text:.40}, which is out of range")
        return number

    def distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
        table = dict(pairs)
        if len(table) != len(pairs):
            raise HcfgError(f"{place} repeats a key of an object")
        return table

    try:
        result: object = json.loads(
            data.decode("utf-8"), parse_constant=refuse_constant, parse_float=finite, object_pairs_hook=distinct
        )
    except HcfgError:
        raise
    except RecursionError as error:
        raise HcfgError(f"{place} is nested too deeply") from error
    except ValueError as error:
        raise HcfgError(f"{place} is not JSON: {error}") from error
    return result


def write(document: Json) -> bytes:
    """The compact form of `document` with sorted keys: equal documents give equal bytes."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def fields(value: object, place: str, *names: str) -> list[object]:
    """The values of an object that has exactly the keys `names`, in that order."""
    if not isinstance(value, dict):
        raise HcfgError(f"{place} is not an object")
    for name in names:
        if name not in value:
            raise HcfgError(f"{place} lacks the field {name}")
    if len(value) != len(names):
        unknown = next(key for key in value if key not in names)
        raise HcfgError(f"{place} has the unknown field {unknown!r:.80}")
    return [value[name] for name in names]


def kind(value: object, place: str) -> str:
    """The `kind` that an object states."""
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        raise HcfgError(f"{place} is not an object with a kind")
    return str(value["kind"])


def items(value: object, place: str) -> list[tuple[object, str]]:
    """The items of a list, each with its place."""
    if not isinstance(value, list):
        raise HcfgError(f"{place} is not a list")
    return [(item, f"{place}[{index}]") for index, item in enumerate(value)]


def text(value: object, place: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise HcfgError(f"{place} is not a string")
    return value


def texts(value: object, place: str) -> tuple[str, ...]:
    """A list of strings."""
    return tuple(text(*item) for item in items(value, place))


def integer(value: object, place: str) -> int:
    """An integer of at most 64 bits."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise HcfgError(f"{place} is not an integer")
    if abs(value) > MAX_INTEGER:
        raise HcfgError(f"{place} is out of range")
    return value
