"""The backend ncnn: layers against PyTorch, whole networks, maps that cross to another backend, hostile codes."""

import copy
import json
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import dycl
from dycl import zoo
from dycl.runtime import ArtefactError
from dycl.runtime.engines import _signature
from dycl.runtime.ncnn.backend import NcnnBackend
from tests.comparison import Calls

_IMAGE = torch.Generator().manual_seed(0)


def _image(channels: int = 8, height: int = 9, width: int = 7) -> Tensor:
    return torch.randn(1, channels, height, width, generator=_IMAGE)


class _Behind(nn.Module):
    """A layer with a decision behind it."""

    def __init__(self, layer: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Any:
        y = self.layer(x)
        return (y + y, 1) if y.max() > 0.5 else (y, 0)


_MODULES: dict[str, tuple[Callable[[], nn.Module], Tensor]] = {
    "convolution": (lambda: nn.Conv2d(8, 12, 3, padding=1), _image()),
    "without a bias": (lambda: nn.Conv2d(8, 5, 1, bias=False), _image()),
    "strides": (lambda: nn.Conv2d(8, 16, (3, 5), stride=(2, 1), padding=(0, 2), dilation=(2, 1)), _image(8, 20, 17)),
    "groups": (lambda: nn.Conv2d(8, 16, 3, groups=4), _image()),
    "depth-wise": (lambda: nn.Conv2d(8, 8, 3, padding=1, groups=8, bias=False), _image()),
    "normalised": (lambda: nn.Sequential(nn.Conv2d(8, 16, 3), _norm(16), nn.ReLU()), _image()),
    "norm alone": (lambda: nn.Sequential(nn.ReLU(), _norm(8), nn.Conv2d(8, 4, 1)), _image()),
    "norm of rows": (lambda: nn.Sequential(nn.Linear(6, 10), _norm(10, nn.BatchNorm1d)), torch.randn(1, 6)),
    "residual": (lambda: _Residual(), _image()),
    "linear": (lambda: nn.Sequential(nn.Flatten(), nn.Linear(8 * 9 * 7, 11), nn.Sigmoid()), _image()),
    "rows": (lambda: nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 5, bias=False)), torch.randn(1, 4, 6)),
    "largest": (lambda: nn.MaxPool2d(3, 2, padding=1), _image()),
    "average": (lambda: nn.AvgPool2d(3, 2, padding=1), _image()),
    "average of what is there": (lambda: nn.AvgPool2d((2, 3), count_include_pad=False, padding=(1, 1)), _image()),
    "adaptive": (lambda: nn.Sequential(nn.AdaptiveAvgPool2d((3, 1)), nn.Flatten(), nn.Linear(24, 2)), _image()),
    "global": (lambda: nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Softmax(-1)), _image()),
    "softmax of channels": (lambda: nn.Softmax(1), _image()),
}
_FUNCTIONS: dict[str, tuple[Callable[[Tensor], Any], Tensor]] = {
    "joined": (lambda x: torch.cat([x, x * 2, x.relu()], 1), _image()),
    "joined rows": (lambda x: torch.cat([x, x - 1.5], 2), _image(3)),
    "mean": (lambda x: x.mean((2, 3)), _image()),
    "larger": (lambda x: F.interpolate(x, size=(18, 20), mode="bilinear"), _image()),
    "larger, corners": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True), _image()),
    "quotient": (lambda x: (x + 3) / 7 * x.sigmoid() - x, _image()),
    "reshaped": (lambda x: x.reshape(1, 4, -1).softmax(-1).flatten(1), _image()),
}


def _norm(channels: int, kind: Callable[[int], nn.Module] = nn.BatchNorm2d) -> Any:
    norm: Any = kind(channels)
    for part in (norm.weight, norm.bias, norm.running_mean):
        part.data.copy_(torch.randn(channels))
    norm.running_var.copy_(torch.rand(channels) + 0.5)
    return norm


class _Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.norm = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1), _norm(8)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.norm(self.second(self.first(x).relu())) + x)


@pytest.mark.parametrize("name", [*_MODULES, *_FUNCTIONS])
def test_a_layer_is_pytorchs(name: str) -> None:
    torch.manual_seed(0)
    made, x = _MODULES[name] if name in _MODULES else (lambda: Calls(_FUNCTIONS[name][0]), _FUNCTIONS[name][1])
    model = _Behind(made()).eval()
    program = dycl.compile(model, x, backend="ncnn", check=False)
    assert {subnet.backend for subnet in program.hcfg.subnets.values()} == {"ncnn"}
    for scale in (1.0, 0.01, 30.0, 0.0):
        with torch.no_grad():
            (expected, path), (found, taken) = model(x * scale), program(x * scale)
        assert path == taken
        assert found.shape == expected.shape
        assert (found - expected).abs().max() <= 1e-5 * expected.abs().max()


@pytest.mark.parametrize("name", ["shallowdeep-mobilenet", "skipnet-gates", "skipnet-rnn", "blockdrop", "ranet"])
def test_a_network_takes_the_same_paths(name: str) -> None:
    model, inputs = zoo.load(name, "small"), zoo.inputs(name, "small", 12)
    program = dycl.compile(model, inputs[0], backend=["ncnn", "onnxruntime"], check=False)
    assert "ncnn" in {subnet.backend for subnet in program.hcfg.subnets.values()}
    reference = dycl.compile(model, inputs[0])
    for args in inputs:
        found, expected = program.trace(*args), reference.trace(*args)
        assert found.path.blocks == expected.path.blocks
        assert found.path.decisions == expected.path.decisions
        torch.testing.assert_close(found.outputs, expected.outputs, rtol=1e-4, atol=1e-5)


class _Ends(nn.Module):
    """Two convolutions with something between them that ncnn has no layer for."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 4, 1)

    def forward(self, x: Tensor) -> Any:
        y = self.first(x).relu()
        z = self.second(y.cumsum(-1))
        return (z, y) if z.sum() > 0 else z.flip(0)


def test_a_sub_dnn_is_cut_where_the_layers_end() -> None:
    torch.manual_seed(0)
    model = _Ends().eval()
    program = dycl.compile(model, _image(), backend=["ncnn", "onnxruntime"], check=False)
    first = [subnet for name, subnet in program.hcfg.subnets.items() if name.startswith("net0_")]
    assert [subnet.backend for subnet in first] == ["ncnn", "onnxruntime", "ncnn", "onnxruntime"]
    for _ in range(6):
        x = _image()
        with torch.no_grad():
            torch.testing.assert_close(program(x), model(x), rtol=1e-4, atol=1e-5)


def test_parts_that_are_not_worth_a_call_stay_where_they_are() -> None:
    program = dycl.compile(
        Calls(lambda x: x.relu().cumsum(-1)).eval(), _image(), backend=["ncnn", "onnxruntime"], check=False
    )
    assert {subnet.backend for subnet in program.hcfg.subnets.values()} == {"onnxruntime"}


def test_what_has_no_layer_is_refused_at_its_line() -> None:
    with pytest.raises(dycl.CompileError, match="DY004"):
        dycl.compile(Calls(lambda x: x.cumsum(-1)).eval(), torch.randn(1, 4), backend="ncnn", check=False)


def test_inputs_stay_as_they_are() -> None:
    program = dycl.compile(
        Calls(lambda x: x.relu() if x.max() > 0 else x.sigmoid()).eval(), _image(), backend="ncnn", check=False
    )
    x = np.asarray(_image())
    before = x.copy()
    program(x)
    assert (x == before).all()


def test_an_artefact_is_checked_without_ncnn(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    program = dycl.compile(nn.Conv2d(8, 4, 3).eval(), _image(), backend="ncnn", check=False)
    program.save(tmp_path / "model.dycl")
    monkeypatch.setitem(sys.modules, "ncnn", None)
    monkeypatch.delitem(sys.modules, "dycl.runtime.ncnn.engine", raising=False)
    with pytest.raises(ArtefactError, match="DY102"):
        dycl.load(tmp_path / "model.dycl")


def test_hostile_codes_are_refused() -> None:
    """Numbers, kinds and places are changed at random: a code is refused, or still fits its signature."""
    program = dycl.compile(
        zoo.load("shallowdeep-resnet", "small"), zoo.inputs("shallowdeep-resnet")[0], backend="ncnn", check=False
    )
    draw, refused = random.Random(0), 0
    for subnet in program.hcfg.subnets.values():
        told = json.loads(program.artefact.codes[subnet.code])
        signature = _signature(subnet, program.artefact)
        for _ in range(100):
            changed = copy.deepcopy(told)
            layer = draw.choice(changed["layers"])
            match draw.randrange(5):
                case 0:
                    layer[0] = draw.choice(["Convolution", "ReLU", "Pooling", "Reshape", "Unknown", 3])
                case 1:
                    layer[1] = [draw.randrange(-2, 40)]
                case 2:
                    layer[3][str(draw.randrange(20))] = draw.choice([0, -1, 2**40, 1.5, "1", None, 7])
                case 3:
                    layer[4] = draw.choice([[], [["plain", 99, None]], [["plain", 0, None], ["plain", None, None]]])
                case _:
                    changed["outputs"][0] = draw.choice([0, 99, -1, None, [3, "gt", 0.5], "1"])
            try:
                NcnnBackend().check(json.dumps(changed).encode(), signature)
            except ArtefactError:
                refused += 1
    assert refused > 500
    for code in (b"", b"[]", b"{}", b'{"layers": 1, "outputs": []}', b"\xff", b"[" * 100_000):
        with pytest.raises(ArtefactError):
            NcnnBackend().check(code, signature)
