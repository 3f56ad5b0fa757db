"""Arguments are matched against the compiled signature, and results are arranged as the user's code arranged them."""

import dataclasses
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from dycl.hcfg.structure import Items, Record, Slot, Static, Table
from dycl.hcfg.types import HostType, TensorType
from dycl.runtime import InputError, Program, load
from tests.hand_built import ROW, call_of, counting_loop, forwarding, gated, routed

ONES = np.ones((2, 3), np.float32)


@dataclasses.dataclass
class Output:
    rows: Any
    note: Any = None


@dataclasses.dataclass(frozen=True)
class Partial:
    rows: Any
    hidden: Any = dataclasses.field(init=False)


class Pair(NamedTuple):
    left: Any
    right: Any


class Other(NamedTuple):
    left: Any
    right: Any


class Bag(OrderedDict[str, Any]):
    pass


@dataclasses.dataclass
class ModelOutput(OrderedDict[str, Any]):
    loss: Any = None
    rows: Any = None


class TestStructures:
    @pytest.fixture
    def program(self, tmp_path: Path) -> Path:
        Program(
            forwarding(
                call_of(Slot(0, "tensor")),
                Items(
                    "tuple",
                    (
                        Record("dataclass", "Output", ("rows", "note"), (Slot(0, "tensor"), Static("done"))),
                        Record("dataclass", "Partial", ("rows", "hidden"), (Static(1), Static(2))),
                        Record("namedtuple", "pkg.Pair", ("left", "right"), (Static(None), Items("list", ()))),
                        Table("Bag", ("a", "b"), (Static(1), Static(2.5))),
                        Table("ModelOutput", ("rows",), (Static(True),)),
                        Table("dict", (3,), (Static(1),)),
                    ),
                ),
                ROW,
            )
        ).save(tmp_path / "model.dycl")
        return tmp_path / "model.dycl"

    def test_with_the_users_classes(self, program: Path) -> None:
        Named: Any = type("Pair", (Pair,), {"__module__": "pkg", "__qualname__": "Pair"})
        output, partial, pair, bag, model_output, table = load(
            program, types=[Output, Partial, Named, Bag, ModelOutput]
        )(ONES)
        assert type(output) is Output
        assert output.note == "done"
        assert type(partial) is Partial
        assert (partial.rows, partial.hidden) == (1, 2)
        assert type(pair) is Named
        assert (pair.left, pair.right) == (None, [])
        assert type(bag) is Bag
        assert bag == {"a": 1, "b": 2.5}
        assert type(model_output) is ModelOutput
        assert model_output.rows is True
        assert table == {3: 1}

    def test_without_them(self, program: Path) -> None:
        output, partial, pair, bag, model_output, table = load(program)(ONES)
        assert type(output).__name__ == "Output"
        assert dataclasses.asdict(output)["note"] == "done"
        assert (partial.rows, partial.hidden) == (1, 2)
        assert type(pair).__name__ == "Pair"
        assert pair == (None, [])
        assert pair.right == []
        assert type(bag) is dict
        assert type(model_output) is dict
        assert model_output == {"rows": True}
        assert table == {3: 1}

    def test_made_classes_are_the_same_in_every_call(self, program: Path) -> None:
        loaded = load(program)
        assert type(loaded(ONES)[0]) is type(loaded(ONES)[0])

    def test_arguments_are_matched_by_structure(self) -> None:
        signature = call_of(
            Items("list", (Slot(0, "tensor"), Static(None))),
            Record("dataclass", "Output", ("rows", "note"), (Slot(1, "tensor"), Static("a"))),
            Record("namedtuple", "Pair", ("left", "right"), (Slot(2, "float"), Static(2))),
            options=Table("dict", ("deep",), (Items("tuple", (Slot(3, "bool"),)),)),
        )
        result = Items("tuple", (Slot(2, "float"), Slot(3, "bool"), Slot(0, "tensor"), Slot(1, "tensor")))
        program = Program(
            forwarding(
                signature,
                result,
                ROW,
                ROW,
                HostType("float"),
                HostType("bool"),
                names=("rows", "output", "pair", "options"),
            )
        )
        good: dict[str, Any] = {
            "rows": [ONES, None],
            "output": Output(ONES, "a"),
            "pair": Pair(0.5, 2),
            "options": {"deep": (True,)},
        }
        assert program(*good.values())[:2] == (0.5, True)
        assert program(**good)[:2] == (0.5, True)
        bad: list[tuple[str, Any, str]] = [
            ("rows", (ONES, None), "rows was compiled as a list of 2, but a tuple came"),
            ("rows", [ONES], "rows was compiled as a list of 2, but a list of 1 came"),
            ("rows", [None, None], r"rows\[0\] was compiled as float32\[2, 3\], but None came"),
            ("rows", [ONES, 0], r"rows\[1\] was compiled as None, but 0 came"),
            ("output", Output(ONES, "b"), "output.note was compiled as 'a', but 'b' came"),
            (
                "output",
                Pair(ONES, "a"),
                "output was compiled as a dataclass Output with the fields rows, note, but a Pair",
            ),
            ("output", Output, "output was compiled as a dataclass Output"),
            ("pair", (0.5, 2), "pair was compiled as a namedtuple Pair with the fields left, right, but a tuple came"),
            ("pair", Other(0.5, 2), "but a Other came"),
            ("pair", Pair(0.5, 2.0), "pair.right was compiled as 2, but 2.0 came"),
            ("pair", Pair(1, 2), "pair.left was compiled as a Python float, but 1 came"),
            ("options", {"deep": (1,)}, r"options\['deep'\]\[0\] was compiled as a Python bool, but 1 came"),
            ("options", {}, "options was compiled as a dict with the keys 'deep', but a dict with the keys  came"),
            ("options", [], "options was compiled as a dict with the keys 'deep', but a list came"),
        ]
        for name, value, message in bad:
            with pytest.raises(InputError, match=message):
                program(**{**good, name: value})


class TestCalls:
    def test_one_message_says_all(self) -> None:
        with pytest.raises(InputError) as caught:
            Program(gated())(np.ones((2, 4), np.float32))
        assert str(caught.value) == (
            "error[DY103]: x was compiled as float32[2, 3], but float32[2, 4] came\n"
            "  = help: pass arguments of the compiled kinds and shapes, or compile the model for these as well\n"
            "  = page: docs/errors/DY103.md"
        )

    @pytest.mark.parametrize(
        ("value", "came"),
        [
            (np.ones((2, 3)), r"float64\[2, 3\]"),
            (np.ones(3, np.float32), r"float32\[3\]"),
            (torch.ones(2, 3, dtype=torch.int32), r"int32\[2, 3\]"),
            (np.array("x"), r"str\d*\[\]"),
            ([[1.0]], "a list"),
            (1.0, r"1\.0"),
            (None, "None"),
        ],
    )
    def test_tensors_of_another_type(self, value: Any, came: str) -> None:
        with pytest.raises(InputError, match=rf"x was compiled as float32\[2, 3\], but {came} came"):
            Program(gated())(value)

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            ((True, True, 1.0, 1.0), "which was compiled as a Python int, but True came"),
            ((1.0, True, 1.0, 1.0), "which was compiled as a Python int, but 1.0 came"),
            ((0, 1, 1.0, 1.0), "ready was compiled as a Python bool, but 1 came"),
            ((0, True, np.ones(1), 1.0), r"first was compiled as a Python float, but float64\[1\] came"),
            ((np.array(0), True, 1.0, 1.0), r"which was compiled as a Python int, but int64\[\] came"),
            ((2**63, True, 1.0, 1.0), "which was compiled as a 64-bit integer"),
        ],
    )
    def test_numbers_of_another_kind(self, args: tuple[Any, ...], message: str) -> None:
        with pytest.raises(InputError, match=message):
            Program(routed())(*args)

    def test_numpys_numbers_are_numbers(self) -> None:
        assert Program(routed())(np.int32(1), np.bool_(True), np.float32(1), np.float64(2.5)) == [2.5]

    def test_symbolic_dimensions_take_any_size_but_one_at_a_time(self) -> None:
        types = [TensorType("float32", ("batch", 3)), TensorType("float32", ("batch",))]
        pair = Items("tuple", (Slot(0, "tensor"), Slot(1, "tensor")))
        program = Program(forwarding(call_of(Slot(0, "tensor"), Slot(1, "tensor")), pair, *types, names=("x", "y")))
        for size in (0, 1, 5):
            program(np.ones((size, 3), np.float32), np.ones(size, np.float32))
        with pytest.raises(
            InputError, match=r"y was compiled as float32\[batch\], where batch is 5, but float32\[4\] came"
        ):
            program(np.ones((5, 3), np.float32), np.ones(4, np.float32))
        with pytest.raises(InputError, match=r"x was compiled as float32\[batch, 3\], but float32\[5\] came"):
            program(np.ones(5, np.float32), np.ones(5, np.float32))

    def test_parameters_go_by_position_or_by_name(self) -> None:
        program = Program(routed())
        assert program(1, True, second=2.5, first=1.5) == [2.5]
        assert program(second=2.5, first=1.5, which=0, ready=True) == [1.5]
        assert Program(counting_loop())(4) == (10, 0)

    @pytest.mark.parametrize(
        ("args", "kwargs", "message"),
        [
            ((), {}, "which is missing"),
            ((0, True), {"second": 1.0}, "first is missing"),
            ((0, True, 1.0, 2.0, 3.0), {}, "5 positional arguments were passed, 4 were compiled"),
            ((0, True, 1.0, 2.0), {"extra": 1}, "extra was passed, but not when the model was compiled"),
            ((0, True, 1.0, 2.0), {"which": 1}, "which was passed, but not when the model was compiled"),
        ],
    )
    def test_missing_and_surplus_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError, match=message):
            Program(routed())(*args, **kwargs)

    def test_without_parameter_names_arguments_have_numbers(self) -> None:
        program = Program(forwarding(call_of(Slot(0, "tensor")), Slot(0, "tensor"), ROW))
        with pytest.raises(InputError, match="argument 1 was compiled as"):
            program(None)
        with pytest.raises(InputError, match="argument 1 is missing"):
            program(x=ONES)

    def test_dicts_in_another_order_are_refused(self) -> None:
        signature = call_of(Table("dict", ("a", "b"), (Slot(0, "float"), Slot(1, "float"))))
        program = Program(
            forwarding(
                signature, Items("tuple", (Slot(0, "float"), Slot(1, "float"))), HostType("float"), HostType("float")
            )
        )
        assert program({"a": 1.0, "b": 2.0}) == (1.0, 2.0)
        with pytest.raises(InputError, match="with the keys 'a', 'b', but a dict with the keys 'b', 'a' came"):
            program({"b": 2.0, "a": 1.0})
