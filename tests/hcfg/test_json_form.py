"""The JSON form gives back the same graph, and refuses everything that is not exactly one."""

import copy
import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from dycl.hcfg.errors import HcfgError
from dycl.hcfg.json_form import from_json, to_json
from dycl.hcfg.nodes import Block, Fail, Hcfg, Let, Literal, Parameter, Return, SizeRule
from dycl.hcfg.structure import Items, Record, Slot, Static, Structure, Table
from dycl.hcfg.types import TensorType
from tests.hand_built import call_of, counting_loop, gated, routed, span

Number = bool | int | float
WRONG: list[Any] = [{"strange": 1}, [[[]]]]


def returning(structure: Structure, *literals: Number) -> Hcfg:
    """A program that returns literals."""
    names = tuple(f"v{index}" for index in range(len(literals)))
    steps = tuple(Let(name, Literal(value), span(2)) for name, value in zip(names, literals, strict=True))
    block = Block("b0", (), steps, Return(names, structure, span(3)), span(1))
    return Hcfg("Constant", call_of(), (), "b0", {"b0": block}, {})


@pytest.mark.parametrize("make", [gated, counting_loop, routed])
def test_a_graph_survives_the_round_trip(make: Callable[[], Any]) -> None:
    hcfg = make().hcfg
    again = from_json(to_json(hcfg))
    assert again == hcfg
    assert list(again.blocks) == list(hcfg.blocks)
    assert to_json(again) == to_json(hcfg)


def test_every_structure_survives() -> None:
    structure = Items(
        "list",
        (
            Table("Output", ("a", 3), (Slot(0, "bool"), Static("text \ud800 \n"))),
            Record("dataclass", "Pair", ("left", "right"), (Static(None), Static(True))),
            Record("namedtuple", "Pair", ("left",), (Static(-0.0),)),
            Static(1),
            Static(1.0),
        ),
    )
    again = from_json(to_json(returning(structure, False)))
    assert repr(again) == repr(returning(structure, False))


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 5e-324, -0.0, 0.1, True, 1, 1.0, 2**62])
def test_literals_survive_with_their_type(value: Number) -> None:
    again = from_json(to_json(returning(Items("tuple", (Static(value), Slot(0, "float"))), value)))
    assert repr(again) == repr(returning(Items("tuple", (Static(value), Slot(0, "float"))), value))


def test_rules_of_sizes_survive() -> None:
    x = Parameter("x", TensorType("float32", ("n", "2*n + 1")))
    block = Block("b0", (x,), (), Return(("x",), Slot(0, "tensor"), span(2)), span(1))
    rules = (SizeRule("n", 1, 8, "n"), SizeRule("2*n + 1", 1, 8, "n", 2, 1))
    hcfg = Hcfg("Sized", call_of(Slot(0, "tensor")), (x,), "b0", {"b0": block}, {}, sizes=rules)
    assert from_json(to_json(hcfg)) == hcfg


def test_a_failing_block_survives() -> None:
    hcfg = Hcfg("F", call_of(), (), "b0", {"b0": Block("b0", (), (), Fail("E", "why", span(2)), span(1))}, {})
    assert from_json(to_json(hcfg)) == hcfg


def test_the_bytes_are_compact_and_sorted() -> None:
    text = to_json(gated().hcfg).decode("ascii")
    assert ": " not in text.replace("a: ", "")
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))


def document(make: Callable[[], Any]) -> Any:
    return json.loads(to_json(make().hcfg))


def everywhere(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside a JSON document."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(node, dict):
        inner = list(node.items())
    if isinstance(node, list):
        inner = list(enumerate(node))
    return [path, *(found for key, child in inner for found in everywhere(child, (*path, key)))]


def changed(node: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> bytes:
    """The document with `change` applied to the container and key that `path` leads to."""
    whole = copy.deepcopy(node)
    container = whole
    for key in path[:-1]:
        container = container[key]
    change(container, path[-1])
    return json.dumps(whole).encode()


def replaced(node: Any, path: tuple[Any, ...], value: Any) -> bytes:
    """The document with another value where `path` leads."""
    return changed(node, path, lambda container, key: container.__setitem__(key, value))


@pytest.mark.parametrize("make", [gated, routed])
def test_a_value_of_the_wrong_type_is_refused_wherever_it_stands(make: Callable[[], Any]) -> None:
    whole = document(make)
    for path in everywhere(whole)[1:]:
        for wrong in WRONG:
            with pytest.raises(HcfgError):
                from_json(replaced(whole, path, wrong))


@pytest.mark.parametrize("make", [gated, counting_loop, routed])
def test_a_missing_or_unknown_field_is_refused_wherever_it_stands(make: Callable[[], Any]) -> None:
    whole = document(make)
    objects = [path for path in everywhere(whole) if path and isinstance(path[-1], str)]
    for path in objects:
        with pytest.raises(HcfgError, match=r"lacks the field|is not an object with a kind"):
            from_json(changed(whole, path, lambda container, key: container.pop(key)))
        with pytest.raises(HcfgError, match="unknown field 'surprise'"):
            from_json(changed(whole, path, lambda container, key: container.__setitem__("surprise", 1)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the graph is not JSON"),
        (b"[]", "the graph is not an object"),
        (b"\xff", "the graph is not JSON"),
        (b'{"a": NaN}', "the graph contains NaN"),
        (b'{"a": 1e999}', "out of range"),
        (b'{"a": ' + b"1" * 5000 + b"}", "the graph is not JSON"),
        (b'{"a": 1, "a": 2}', "repeats a key"),
        (b"[" * 100_000, "nested too deeply"),
    ],
    ids=["empty", "list", "bytes", "nan", "infinite", "huge integer", "duplicate key", "deep"],
)
def test_what_is_not_strict_json_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(HcfgError, match=message):
        from_json(data)


def test_messages_name_the_place() -> None:
    whole = document(gated)
    whole["blocks"][2]["steps"][0]["inputs"][0] = 5
    with pytest.raises(HcfgError, match=r"^blocks\[2\]\.steps\[0\]\.inputs\[0\] is not a string$"):
        from_json(json.dumps(whole).encode())
    whole = document(gated)
    whole["blocks"][0]["terminator"]["kind"] = "Goto"
    with pytest.raises(HcfgError, match=r"^blocks\[0\]\.terminator has the unknown kind 'Goto'$"):
        from_json(json.dumps(whole).encode())


def test_two_blocks_of_one_id_are_refused() -> None:
    whole = document(gated)
    whole["blocks"][2]["id"] = "b1"
    with pytest.raises(HcfgError, match="blocks has two entries of the same id"):
        from_json(json.dumps(whole).encode())


def test_deep_structures_are_refused_without_exhausting_the_stack() -> None:
    whole = document(gated)
    deep: Any = {"kind": "Static", "value": None}
    for _ in range(100):
        deep = {"kind": "Items", "sequence": "list", "items": [deep]}
    whole["signature"] = deep
    with pytest.raises(HcfgError, match="nested too deeply"):
        from_json(json.dumps(whole).encode())
