"""Graphs that keep state from call to call, and results of a length that the input decides."""

from dataclasses import replace

import pytest

from dycl.hcfg.errors import HcfgError
from dycl.hcfg.json_form import from_json, to_json
from dycl.hcfg.nodes import Block, Hcfg, Jump, Let, Literal, Parameter, Return, Target
from dycl.hcfg.structure import Items, Named, Record, Rows, Slot, Static, Structure
from dycl.hcfg.text import to_text
from dycl.hcfg.types import HostType, TensorType
from dycl.hcfg.verify import verify
from tests.hand_built import call_of, span

X = Parameter("x", TensorType("float32", ("n", 3)))
COUNT = Parameter("count", HostType("int"))
WHOLE = Slot(0, "tensor")


def keeping(next_call: Target | None, structure: Structure = WHOLE) -> Hcfg:
    """A program that begins with a count of 0, returns its input and keeps a count."""
    first = Block("b0", (X,), (Let("k", Literal(0), span(1)),), Jump(Target("b1", ("x", "k")), span(1)), span(1))
    result = Return(("x",), structure, span(2), next_call)
    return Hcfg(
        "Keeping", call_of(WHOLE), (X,), "b0", {"b0": first, "b1": Block("b1", (X, COUNT), (), result, span(2))}, {}
    )


def test_a_kept_value_survives_the_round_trip() -> None:
    hcfg = keeping(Target("b1", ("count",)))
    verify(hcfg)
    assert from_json(to_json(hcfg)) == hcfg
    assert "next call: b1(count)" in to_text(hcfg)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (Target("b9", ("count",)), "which does not exist"),
        (Target("b1", ()), "gives 0 values to the next call in block b1, which takes 1"),
        (Target("b1", ("x",)), "gives x, which is"),
        (Target("b1", ("other",)), "before it is defined"),
    ],
)
def test_a_next_call_gets_what_its_block_takes(target: Target, message: str) -> None:
    with pytest.raises(HcfgError, match=message):
        verify(keeping(target))


def test_a_next_call_begins_in_a_block_that_takes_the_inputs() -> None:
    hcfg = keeping(Target("b2", ("count",)))
    stranger = Block("b2", (COUNT,), (), Return((), Static(None), span(3)), span(3))
    with pytest.raises(HcfgError, match="does not take the inputs"):
        verify(replace(hcfg, blocks={**hcfg.blocks, "b2": stranger}))


@pytest.mark.parametrize(
    "structure",
    [
        Rows(0, Slot(0, "tensor")),
        Rows(0, Items("tuple", (Slot(0, "tensor"), Static("word")))),
        Record("object", "Cache", ("values", "_dtype"), (Slot(0, "tensor"), Named("torch.float32"))),
    ],
)
def test_open_results_survive_the_round_trip(structure: Structure) -> None:
    hcfg = keeping(None, structure)
    verify(hcfg)
    assert from_json(to_json(hcfg)) == hcfg


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        (Rows(0, Slot(0, "int")), "takes x as int"),
        (Rows(0, Rows(0, Slot(0, "tensor"))), "inside each other"),
        (Rows(1, Slot(0, "tensor")), "does not use each of its 1 values"),
        (Record("object", "Cache", ("__dict__",), (Slot(0, "tensor"),)), "underscore"),
    ],
)
def test_a_broken_result_is_refused(structure: Structure, message: str) -> None:
    with pytest.raises(HcfgError, match=message):
        verify(keeping(None, structure))


def test_arguments_have_a_known_length() -> None:
    hcfg = keeping(None)
    signature = call_of(WHOLE)
    assert isinstance(signature, Items)
    open_call = Items("tuple", (Items("tuple", (Rows(0, Slot(0, "tensor")),)), signature.items[1]))
    with pytest.raises(HcfgError, match="list of unknown length"):
        verify(replace(hcfg, signature=open_call))
