"""`dynamic_shapes` in every form that `torch.export` takes, what is refused, and what a call must keep to."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim, ShapesCollection

import dycl
from dycl.hcfg.types import carrier


class Sum(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor, *, scale: float = 2.0) -> torch.Tensor:
        return x.sum(0) + y.sum(0) * scale


class Nested(nn.Module):
    def forward(self, pair: Any, table: Any) -> Any:
        return pair[0] + table["a"].sum(), table["b"].shape[0]


class Spread(nn.Module):
    def forward(self, *tensors: torch.Tensor, **named: torch.Tensor) -> torch.Tensor:
        return tensors[1] + named["z"].sum()


class Point(NamedTuple):
    x: torch.Tensor
    y: torch.Tensor


@dataclass
class Box:
    low: torch.Tensor
    high: torch.Tensor


class Fields(nn.Module):
    def forward(self, point: Point, box: Box) -> Any:
        return point.x + 1, box.high * 2


def shapes(model: nn.Module, args: Any, dynamic_shapes: Any, kwargs: Any = None) -> list[tuple[Any, ...]]:
    """The shapes of the inputs of a compiled model."""
    program = dycl.compile(model.eval(), args, kwargs, dynamic_shapes=dynamic_shapes)
    return [carrier(parameter.type).shape for parameter in program.hcfg.inputs]


def refused(model: nn.Module, args: Any, dynamic_shapes: Any) -> str:
    """Why a specification is refused."""
    with pytest.raises(dycl.CompileError) as error:
        dycl.compile(model.eval(), args, dynamic_shapes=dynamic_shapes)
    (problem,) = error.value.problems
    assert problem.identifier == "DY015"
    assert dycl.explain(model, args, dynamic_shapes=dynamic_shapes).problems == error.value.problems
    return problem.reason


X, Y = torch.ones(2, 3), torch.ones(4, 3)
BATCH = Dim("batch")


@pytest.mark.parametrize(
    "spec",
    [
        {"x": {0: BATCH}, "y": None},
        {"x": {0: BATCH}},
        {"x": {-2: BATCH, 1: 3}},
        {"x": (BATCH, None), "y": {}},
        {"x": [BATCH, Dim.STATIC], "y": [4, Dim.STATIC]},
        ({0: BATCH}, None),
        [(BATCH, 3), None],
    ],
)
def test_the_same_said_in_different_ways(spec: Any) -> None:
    assert shapes(Sum(), (X, Y), spec) == [("batch", 3), (4, 3)]


def test_open_sizes_get_names_of_their_own() -> None:
    spec = {"x": {0: Dim.AUTO}, "y": {0: Dim.DYNAMIC(max=9)}}
    assert shapes(Sum(), (X, Y), spec) == [("x.0", 3), ("y.0", 3)]


def test_keyword_arguments() -> None:
    assert shapes(Sum(), (X,), {"y": {0: BATCH}}, {"y": Y, "scale": 3.0}) == [(2, 3), ("batch", 3)]
    assert shapes(Sum(), (X,), (None, {0: BATCH}), {"y": Y}) == [(2, 3), ("batch", 3)]


def test_nested_arguments() -> None:
    args = ((X, None), {"a": Y, "b": X})
    spec: Any = {"pair": ({0: BATCH}, None), "table": {"b": (Dim("rows"), None)}}
    assert shapes(Nested(), args, spec) == [("batch", 3), (4, 3), ("rows", 3)]
    assert shapes(Nested(), args, (None, {"a": {1: Dim("columns")}})) == [(2, 3), (4, "columns"), (2, 3)]


def test_records() -> None:
    args = (Point(X, Y), Box(X, Y))
    expected = [("batch", 3), (4, 3), (2, 3), ("rows", 3)]
    rows = Dim("rows")
    assert shapes(Fields(), args, (({0: BATCH}, None), {"high": {0: rows}})) == expected
    assert shapes(Fields(), args, ({"x": {0: BATCH}}, Box(None, {0: rows}))) == expected  # type: ignore[arg-type]


def test_spread_arguments() -> None:
    spec = {"tensors": (None, {0: BATCH}), "named": {"z": {1: Dim("width")}}}
    assert shapes(Spread(), (X, Y), spec, {"z": X}) == [(2, 3), ("batch", 3), (2, "width")]


def test_a_collection_of_shapes() -> None:
    collection = ShapesCollection()
    collection[X] = {0: BATCH}
    assert shapes(Sum(), (X, Y), collection) == [("batch", 3), (4, 3)]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"z": None}, "`dynamic_shapes` mentions `z`, but the arguments are `x`, `y`"),
        ((None,), "`dynamic_shapes` has 1 entries, but the arguments are 2"),
        ("x", "`dynamic_shapes` is 'x', but the arguments are 2"),
        ({"x": {2: BATCH}}, "`dynamic_shapes` mentions dimension 2 of the argument `x`, which has 2"),
        ({"x": {"0": BATCH}}, "`dynamic_shapes` mentions dimension '0' of the argument `x`, which has 2"),
        ({"x": (BATCH,)}, "`dynamic_shapes` has 1 entries for the argument `x`, which has 2 dimensions"),
        ({"x": BATCH}, "`dynamic_shapes` says a Dim of the argument `x`, which is a tensor"),
        ({"x": {0: 5}}, "dimension 0 of the argument `x` is 2 in the example call, but 5 in `dynamic_shapes`"),
        ({"x": {0: "batch"}}, "`dynamic_shapes` says 'batch' of dimension 0 of the argument `x`, which is no size"),
        ({"x": {0: True}}, "`dynamic_shapes` says True of dimension 0 of the argument `x`, which is no size"),
        (
            {"x": {0: Dim("batch", min=3)}},
            "dimension 0 of the argument `x` makes `batch` 2 in the example call, not 3 or more",
        ),
        (
            {"x": {0: Dim("batch", max=1)}},
            "dimension 0 of the argument `x` makes `batch` 2 in the example call, not 0 to 1",
        ),
        (
            {"x": {0: BATCH}, "y": {0: BATCH}},
            "dimension 0 of the argument `y` makes `batch` 4 in the example call, "
            "but dimension 0 of the argument `x` makes it 2",
        ),
        (
            {"x": {0: BATCH}, "y": {0: Dim("batch", max=8)}},
            "`dynamic_shapes` gives the size `batch` of dimension 0 of the argument `y` other bounds than before",
        ),
        ({"x": {1: 2 * BATCH}}, "dimension 1 of the argument `x` is 3 in the example call, which is not 2*batch"),
    ],
)
def test_what_does_not_fit_is_refused(spec: Any, reason: str) -> None:
    assert refused(Sum(), (X, Y), spec) == reason


def test_a_number_has_no_shape() -> None:
    class Scaled(nn.Module):
        def forward(self, x: torch.Tensor, scale: float) -> torch.Tensor:
            return x * scale

    spec = {"scale": {0: BATCH}}
    assert refused(Scaled(), (X, 2.0), spec) == "`dynamic_shapes` says a dict of the argument `scale`, which is 2.0"


def test_a_call_must_keep_to_the_rules(tmp_path: Path) -> None:
    class Two(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
            return x.sum() + y.sum() + z.sum()

    batch = Dim("batch", min=1, max=4)
    example = (torch.ones(2, 3), torch.ones(2), torch.ones(5))
    spec = {"x": {0: batch}, "y": {0: batch}, "z": {0: 2 * batch + 1}}
    program = dycl.compile(Two().eval(), example, dynamic_shapes=spec)
    program.save(tmp_path / "two.dycl")
    for runs in (program, dycl.load(tmp_path / "two.dycl")):
        for size in (1, 2, 4):
            x, y, z = np.ones((size, 3), np.float32), np.ones(size, np.float32), np.ones(2 * size + 1, np.float32)
            assert float(runs(x, y, z)) == 3 * size + size + 2 * size + 1
        ones = [np.ones(size, np.float32) for size in range(12)]
        with pytest.raises(dycl.InputError, match=r"y was compiled as float32\[batch\], where batch is 2, but"):
            runs(np.ones((2, 3), np.float32), ones[3], ones[5])
        with pytest.raises(dycl.InputError, match="the size batch was compiled as 1 to 4, but 5 came"):
            runs(np.ones((5, 3), np.float32), ones[5], ones[11])
        with pytest.raises(dycl.InputError, match="the size batch was compiled as 1 to 4, but 0 came"):
            runs(np.ones((0, 3), np.float32), ones[0], ones[1])
        for length in (4, 7):
            with pytest.raises(dycl.InputError, match=r"2\*batch \+ 1, where batch is 2, but"):
                runs(np.ones((2, 3), np.float32), ones[2], ones[length])


def test_a_multiple_of_a_size_that_no_tensor_has() -> None:
    size = Dim("half", max=3)
    program = dycl.compile(nn.Identity().eval(), (torch.ones(4),), dynamic_shapes=({0: 2 * size},))
    assert program(np.ones(6, np.float32)).shape == (6,)
    with pytest.raises(dycl.InputError, match=r"the size 2\*half was compiled as 2\*half, but 5 came"):
        program(np.ones(5, np.float32))
    with pytest.raises(dycl.InputError, match="the size half was compiled as 0 to 3, but 4 came"):
        program(np.ones(8, np.float32))


def test_a_name_that_looks_like_a_symbol() -> None:
    class Grow(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
            total = x + y
            return torch.cat([total, x * 1]), total.shape[0]

    spec = {"x": {0: Dim("u1")}, "y": {0: Dim("u0")}}
    program = dycl.compile(Grow().eval(), (torch.ones(2), torch.ones(3)), dynamic_shapes=spec)
    total, length = program(torch.ones(1), torch.ones(3))
    assert (total.shape[0], length) == (4, 3)
