"""What `max`, `sort` and others of PyTorch return comes back as PyTorch's own type, from a file as a named tuple."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import dycl


class Extremes(nn.Module):
    def forward(self, x: Tensor) -> Any:
        greatest = x.max(0)
        if greatest.values.sum() > 0:
            return greatest, torch.topk(x, 2)
        return {"mode": torch.mode(x)}


class Found(nn.Module):
    """A list whose length the input decides."""

    def forward(self, x: Tensor) -> Any:
        found = []
        while x.sum() > 0:
            found.append(x.max(0))
            x = x - 1
        return found


UP, DOWN = torch.tensor([3.0, 2.0, 1.0]), torch.tensor([-3.0, -2.0, -2.0])


def test_types_of_pytorch_come_back() -> None:
    program = dycl.compile(Extremes().eval(), (UP,))
    greatest, best = program(UP)
    assert type(greatest) is torch.return_types.max
    assert type(best) is torch.return_types.topk
    assert (int(greatest.values), int(greatest.indices)) == (3, 0)
    assert best.indices.tolist() == [0, 1]
    assert type(program(DOWN)["mode"]) is torch.return_types.mode


def test_a_file_gives_named_tuples(tmp_path: Path) -> None:
    dycl.compile(Extremes().eval(), (UP,)).save(tmp_path / "model.dycl")
    greatest, best = dycl.load(tmp_path / "model.dycl")(UP.numpy())
    assert (type(greatest).__name__, greatest._fields) == ("max", ("values", "indices"))
    assert np.array_equal(best.values, [3, 2])
    own: Any = torch.return_types.max
    greatest, _ = dycl.load(tmp_path / "model.dycl", types=[own])(UP)
    assert type(greatest) is own


def test_lists_hold_them_too() -> None:
    model = Found().eval()
    found, expected = dycl.compile(model, (UP,))(UP), model(UP)
    assert found == expected
    assert [type(item) for item in found] == [torch.return_types.max] * len(expected)


class Grouped(nn.Module):
    def forward(self, x: Tensor) -> Any:
        groups: dict[str, list[Tensor]] = defaultdict(list)
        counts: dict[str, int] = defaultdict(int)
        for row in x:
            name = "up" if row > 0 else "down"
            groups[name].append(row)
            counts[name] += 1
        return groups, counts


def test_a_dict_with_a_factory_keeps_it(tmp_path: Path) -> None:
    program = dycl.compile(Grouped().eval(), (UP,))
    for x in (UP, DOWN):
        groups, counts = program(x)
        assert (groups, counts) == Grouped()(x)
        assert (groups["other"], counts["other"]) == ([], 0)
    program.save(tmp_path / "model.dycl")
    groups, _ = dycl.load(tmp_path / "model.dycl")(UP)
    assert type(groups) is dict


class Unnamed(nn.Module):
    def forward(self, x: Tensor) -> Any:
        counts: dict[str, int] = defaultdict(lambda: 7)
        counts["up"] += int(x[0] > 0)
        return counts


def test_a_factory_without_a_name_is_refused() -> None:
    with pytest.raises(dycl.CompileError, match="whose factory is no class or function of a module"):
        dycl.compile(Unnamed().eval(), (UP,))
