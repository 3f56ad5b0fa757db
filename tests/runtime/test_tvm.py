"""The backend TVM: layers against PyTorch, whole networks, threads of the caller, hostile codes, kept libraries."""

import copy
import json
import os
import random
import stat
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import dycl
from dycl import zoo
from dycl.hcfg.types import TensorType
from dycl.runtime import ArtefactError
from dycl.runtime.backend import CompiledSubnet, SubnetSignature
from dycl.runtime.engines import _signature
from dycl.runtime.tvm.backend import TvmBackend
from tests.comparison import Calls, CallsWithTwo
from tests.runtime.tvm_nets import RandomNet

_DRAWN = torch.Generator().manual_seed(0)
_BOTH = ["tvm", "onnxruntime"]


def _drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=_DRAWN)


def _image(channels: int = 8, height: int = 9, width: int = 7, images: int = 1) -> Tensor:
    return _drawn(images, channels, height, width)


def _norm(channels: int, kind: Callable[..., nn.Module] = nn.BatchNorm2d, **told: Any) -> Any:
    norm: Any = kind(channels, **told)
    for part in (norm.weight, norm.bias, norm.running_mean):
        if part is not None:
            part.data.copy_(torch.randn(channels))
    norm.running_var.copy_(torch.rand(channels) + 0.5)
    return norm


class _Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.norm = nn.Conv2d(8, 24, 3, padding=1), nn.Conv2d(24, 24, 3, padding=1), _norm(24)

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x).relu()
        return F.relu(self.norm(self.second(y)) + y)


class _Squeezed(nn.Module):
    """Channels that are weighed by what all pixels say."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first, self.scale = nn.Conv2d(8, channels, 1), nn.Conv2d(channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        weighed: Tensor = y * torch.sigmoid(self.scale(y.mean((2, 3), keepdim=True)))
        return weighed


class _Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.LSTM(5, 7)

    def forward(self, x: Tensor) -> Tensor:
        found, (hidden, cell) = self.layer(x)
        joined: Tensor = torch.cat([found, hidden, cell], 0)
        return joined


def _conv(*sizes: Any, **told: Any) -> Callable[[], nn.Module]:
    return lambda: nn.Conv2d(*sizes, **told)


_MODULES: dict[str, tuple[Callable[[], nn.Module], Tensor]] = {
    "convolution": (_conv(8, 12, 3, padding=1), _image()),
    "of many channels": (_conv(40, 50, 3, padding=1), _image(40, images=2)),
    "of few channels": (_conv(3, 16, 5, stride=2, padding=2), _image(3, 20, 17)),
    "without a bias": (_conv(8, 5, 1, bias=False), _image()),
    "strides": (lambda: nn.Conv2d(8, 16, (3, 5), stride=(2, 1), padding=(0, 2), dilation=(2, 1)), _image(8, 20, 17)),
    "strides of points": (_conv(24, 16, 1, stride=2), _image(24)),
    "one pixel": (_conv(16, 33, 1), _image(16, 1, 1)),
    "groups": (_conv(8, 16, 3, groups=4), _image()),
    "groups of few": (_conv(64, 64, 3, groups=16, padding=1), _image(64)),
    "groups that do not fit": (_conv(18, 30, 3, groups=6), _image(18)),
    "groups at the end": (_conv(24, 24, 1, groups=12), _image(24)),
    "groups of many": (_conv(64, 64, 3, groups=2, padding=1), _image(64)),
    "groups of three": (_conv(12, 16, 3, groups=4), _image(12)),
    "depth-wise": (_conv(8, 8, 3, padding=1, groups=8, bias=False), _image()),
    "depth-wise of many": (_conv(40, 40, 3, stride=2, padding=1, groups=40), _image(40)),
    "a wide window": (lambda: nn.Conv2d(8, 8, (1, 11), padding=(0, 5), groups=8), _image(8, 4, 20)),
    "multiplied channels": (_conv(4, 12, 3, groups=4), _image(4)),
    "normalised": (lambda: nn.Sequential(nn.Conv2d(8, 16, 3), _norm(16), nn.ReLU()), _image()),
    "not scaled": (lambda: nn.Sequential(nn.Conv2d(8, 16, 3), _norm(16, affine=False), nn.ReLU6()), _image()),
    "norm alone": (lambda: nn.Sequential(nn.ReLU(), _norm(8), nn.Conv2d(8, 4, 1)), _image()),
    "norm of a sum": (lambda: nn.Sequential(nn.Conv2d(8, 20, 1), nn.MaxPool2d(2), _norm(20), nn.SiLU()), _image()),
    "norm of rows": (lambda: nn.Sequential(nn.Linear(6, 10), _norm(10, nn.BatchNorm1d)), _drawn(3, 6)),
    "residual": (_Residual, _image()),
    "weighed channels": (lambda: _Squeezed(20), _image()),
    "squares that are turned": (
        lambda: nn.Sequential(nn.Conv2d(32, 48, 3, padding=1), nn.MaxPool2d(1)),
        _image(32, 20, 18, images=2),
    ),
    "two layers": (lambda: nn.Sequential(nn.Conv2d(8, 20, 3, padding=1), nn.Conv2d(20, 8, 3, padding=2)), _image()),
    "linear": (lambda: nn.Sequential(nn.Flatten(), nn.Linear(8 * 9 * 7, 11), nn.Sigmoid()), _image()),
    "one number": (lambda: nn.Sequential(nn.Linear(600, 1), nn.Hardtanh(-0.5, 0.5)), _drawn(1, 600)),
    "rows": (lambda: nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 5, bias=False)), _drawn(3, 4, 6)),
    "normalised rows": (lambda: nn.Sequential(nn.Linear(6, 45), nn.GELU(), nn.LayerNorm(45)), _drawn(3, 4, 6)),
    "largest": (lambda: nn.MaxPool2d(3, 2, padding=1), _image()),
    "largest of blocks": (lambda: nn.Sequential(nn.Conv2d(8, 24, 1), nn.MaxPool2d(3, 2, 1, ceil_mode=True)), _image()),
    "average": (lambda: nn.AvgPool2d(3, 2, padding=1), _image()),
    "average of what is there": (lambda: nn.AvgPool2d((2, 3), count_include_pad=False, padding=(1, 1)), _image()),
    "adaptive": (lambda: nn.Sequential(nn.AdaptiveAvgPool2d((3, 1)), nn.Flatten(), nn.Linear(24, 2)), _image()),
    "global": (lambda: nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Softmax(-1)), _image()),
    "global of blocks": (
        lambda: nn.Sequential(nn.Conv2d(8, 20, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(20, 3)),
        _image(images=2),
    ),
    "softmax of channels": (lambda: nn.Softmax(1), _image()),
    "recurrent": (_Recurrent, _drawn(2, 3, 5)),
}
_FUNCTIONS: dict[str, tuple[Callable[[Tensor], Any], Tensor]] = {
    "joined": (lambda x: torch.cat([x, x * 2, x.relu()], 1), _image()),
    "joined rows": (lambda x: torch.cat([x, x - 1.5], 2), _image(3)),
    "stacked": (lambda x: torch.stack([x, x.relu()], 1), _drawn(3, 5)),
    "mean": (lambda x: x.mean((2, 3)), _image()),
    "reduced": (lambda x: x.sum(1) + x.amax(1) - x.amin(-1, keepdim=True).mean(1), _drawn(3, 5, 40)),
    "reduced in vectors": (lambda x: x.sum(-1) + x.mean(), _drawn(3, 70)),
    "larger": (lambda x: F.interpolate(x, size=(18, 20), mode="bilinear"), _image()),
    "larger, corners": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True), _image()),
    "quotient": (lambda x: (x + 3) / 7 * x.sigmoid() - x, _image()),
    "reshaped": (lambda x: x.reshape(1, 4, -1).softmax(-1).flatten(1), _image()),
    "functions": (lambda x: x.tanh() + x.abs().sqrt() + F.gelu(x) + F.hardswish(x) + F.silu(x), _drawn(5, 37)),
    "exponentials": (lambda x: x.exp() + (x.abs() + 1).log() + (x * x + 1).rsqrt() + x.pow(2), _drawn(5, 37)),
    "logarithms": (lambda x: x.log_softmax(0), _drawn(5, 7)),
    "chosen": (lambda x: torch.where(x > 0.2, x, -x) * (x <= 0.1).float(), _drawn(5, 7)),
    "parts": (
        lambda x: torch.cat([part * 2 for part in torch.split(x[:, 1:4:2].transpose(1, 2), 3, 1)], 2),
        _drawn(2, 5, 6),
    ),
    "products": (lambda x: (x @ x.transpose(1, 2)).softmax(-1) @ x + x[:, :1], _drawn(3, 5, 20)),
    "views": (
        lambda x: x.permute(1, 2, 0).reshape(5, -1)[:, ::2] + x.select(0, 1).sum(-1, keepdim=True),
        _drawn(2, 5, 6),
    ),
    "whole numbers": (lambda x: ((x * 10).int() - 3).float(), _drawn(4, 5)),
    "limits": (lambda x: F.leaky_relu(x, 0.1).clamp(min=-0.05, max=1), _drawn(4, 5)),
}


class _Behind(nn.Module):
    """A layer with a decision behind it."""

    def __init__(self, layer: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Any:
        y = self.layer(x)
        return (y + y, 1) if y.max() > 0.5 else (y, 0)


def _backends(program: dycl.Program) -> set[str]:
    return {subnet.backend for subnet in program.hcfg.subnets.values()}


@pytest.mark.parametrize("name", [*_MODULES, *_FUNCTIONS])
def test_a_layer_is_pytorchs(name: str) -> None:
    torch.manual_seed(0)
    made, x = _MODULES[name] if name in _MODULES else (lambda: Calls(_FUNCTIONS[name][0]), _FUNCTIONS[name][1])
    model = _Behind(made()).eval()
    program = dycl.compile(model, x, backend="tvm", check=False)
    assert _backends(program) == {"tvm"}
    for scale in (1.0, 0.01, 30.0, 0.0):
        with torch.no_grad():
            (expected, path), (found, taken) = model(x * scale), program(x * scale)
        assert path == taken
        assert found.shape == expected.shape
        assert (found - expected).abs().max() <= 1e-5 * expected.abs().max()


@pytest.mark.parametrize("name", ["shallowdeep-mobilenet", "skipnet-gates", "skipnet-rnn", "blockdrop", "ranet"])
def test_a_network_takes_the_same_paths(name: str) -> None:
    model, inputs = zoo.load(name, "small"), zoo.inputs(name, "small", 12)
    program, reference = dycl.compile(model, inputs[0], backend=_BOTH), dycl.compile(model, inputs[0])
    assert "tvm" in _backends(program)
    for args in inputs:
        found, expected = program.trace(*args), reference.trace(*args)
        assert found.path.decisions == expected.path.decisions
        torch.testing.assert_close(found.outputs, expected.outputs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("seed", range(24))
def test_random_nets(seed: int) -> None:
    net = RandomNet(seed)
    numbers = torch.Generator().manual_seed(seed)
    weights = [torch.rand(shape, generator=numbers) - 0.3 for shape in net.weights]
    weights = [weight.abs() + 0.2 if place in net.variances else weight for place, weight in enumerate(weights)]
    arrays = tuple(weight.numpy() for weight in weights)
    backend = TvmBackend()
    backend.check(net.code, net.signature)
    call = backend.open([CompiledSubnet("net", net.code, net.signature, arrays)], 1).subnet(
        "net", range(len(net.inputs))
    )
    for _ in range(2):
        inputs = [torch.randn(shape, generator=numbers) for shape in net.inputs]
        found: Any = call([value.numpy() for value in inputs])
        for given, wanted in zip(found, net.expected(inputs, weights), strict=True):
            assert given.shape == wanted.shape
            if wanted.dtype == torch.bool:
                assert (given != wanted.numpy()).mean() <= 0.02
            else:
                close = 3e-5 * wanted.abs().max().clamp(min=1) * len(net.steps)
                assert (torch.from_numpy(given) - wanted).abs().max() <= close


def test_numbers_that_are_none_stay_so() -> None:
    layers = nn.Sequential(nn.ReLU(), nn.MaxPool2d(3, 1, padding=1), nn.ReLU6())
    x = _image()
    x[0, 1, 4, 3], x[0, 2, 0, 0], x[0, 3, 5, 5] = float("nan"), float("inf"), -float("inf")
    program = dycl.compile(layers.eval(), _image(), backend="tvm", check=False)
    torch.testing.assert_close(program(x), layers(x), equal_nan=True)
    functions = Calls(lambda x: torch.stack([x.exp(), x.sigmoid(), x.tanh()])).eval()
    row = torch.tensor([float("nan"), float("inf"), -float("inf"), 88.9, -104.0, -90.0, 0.0, 1e-30, 40.0, -40.0] * 4)
    found = dycl.compile(functions, row, backend="tvm", check=False)(row)
    torch.testing.assert_close(found, functions(row), equal_nan=True)


class _Ends(nn.Module):
    """Two convolutions with something between them that has no translation."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 4, 1)

    def forward(self, x: Tensor) -> Any:
        y = self.first(x).relu()
        z = self.second(y.cumsum(-1))
        return (z, y) if z.sum() > 0 else z.flip(0)


def test_a_sub_dnn_is_cut_where_the_operations_end() -> None:
    torch.manual_seed(0)
    model = _Ends().eval()
    program = dycl.compile(model, _image(), backend=_BOTH)
    assert _backends(program) == {"tvm", "onnxruntime"}
    for _ in range(6):
        x = _image()
        with torch.no_grad():
            torch.testing.assert_close(program(x), model(x), rtol=1e-4, atol=1e-5)


def test_what_has_no_translation_is_refused_at_its_line() -> None:
    with pytest.raises(dycl.CompileError, match="DY004"):
        dycl.compile(Calls(lambda x: x.sort().values).eval(), _drawn(1, 4), backend="tvm", check=False)


def test_inputs_that_are_given_back_are_copies() -> None:
    program = dycl.compile(
        CallsWithTwo(lambda x, y: (x, x, y + 1, y)).eval(), (_drawn(2, 3), _drawn(3)), backend="tvm", check=False
    )
    x, y = np.ones((2, 3), np.float32), np.ones(3, np.float32)
    first, second, *_ = program(x, y)
    first += 1
    assert (x == 1).all() and (np.asarray(second) == 1).all()


def test_several_threads_call_at_a_time() -> None:
    torch.manual_seed(0)
    model = _Behind(nn.Sequential(nn.Conv2d(8, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 20, 3, padding=1))).eval()
    program = dycl.compile(model, _image(), backend="tvm", check=False)
    given = [_image() for _ in range(24)]
    with torch.no_grad(), ThreadPoolExecutor(4) as pool:
        for x, found in zip(given, pool.map(program, given), strict=True):
            torch.testing.assert_close(found, model(x), rtol=1e-4, atol=1e-5)


def test_an_artefact_is_checked_without_tvm(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    program = dycl.compile(nn.Conv2d(8, 4, 3).eval(), _image(), backend="tvm", check=False)
    program.save(tmp_path / "model.dycl")
    monkeypatch.setitem(sys.modules, "tvm", None)
    for name in [name for name in sys.modules if name.startswith("dycl.runtime.tvm.")]:
        if name.rpartition(".")[2] not in ("backend", "code", "kinds"):
            monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ArtefactError, match="DY102"):
        dycl.load(tmp_path / "model.dycl")


def _kept(folder: Path) -> list[Path]:
    return list(folder.glob("tvm-*"))


def test_a_library_is_kept_and_used_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DYCL_CACHE", str(tmp_path / "cache"))
    program = dycl.compile(nn.Linear(4, 3).eval(), _drawn(2, 4), backend="tvm", check=False)
    program.save(tmp_path / "model.dycl")
    (kept,) = _kept(tmp_path / "cache")
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    x = np.asarray(_drawn(2, 4))
    wanted = np.asarray(program(x))
    monkeypatch.setattr("dycl.runtime.tvm.library._built", None)
    assert (dycl.load(tmp_path / "model.dycl")(x) == wanted).all()


def test_a_folder_that_cannot_be_used_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    x = _drawn(2, 4)
    model = nn.Linear(4, 3).eval()
    wanted = model(x).detach()
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("DYCL_CACHE", str(tmp_path / "file" / "cache"))
    torch.testing.assert_close(dycl.compile(model, x, backend="tvm", check=False)(x), wanted)
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    monkeypatch.setenv("DYCL_CACHE", str(open_to_all))
    torch.testing.assert_close(dycl.compile(model, x, backend="tvm", check=False)(x), wanted)
    assert not _kept(open_to_all)


def test_a_library_that_is_broken_is_built_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DYCL_CACHE", str(tmp_path))
    tmp_path.chmod(0o700)
    x, model = _drawn(2, 4), nn.Linear(4, 3).eval()
    dycl.compile(model, x, backend="tvm", check=False)
    (kept,) = _kept(tmp_path)
    whole = kept.read_bytes()
    for broken in (b"", b"nonsense", whole[: len(whole) // 2]):
        kept.write_bytes(broken)
        torch.testing.assert_close(dycl.compile(model, x, backend="tvm", check=False)(x), model(x).detach())
        assert len(kept.read_bytes()) == len(whole)
    if hasattr(os, "getuid") and os.getuid() == 0:
        kept.write_bytes(b"nonsense")
        os.chown(kept, 12345, 12345)
        torch.testing.assert_close(dycl.compile(model, x, backend="tvm", check=False)(x), model(x).detach())


def test_images_that_are_too_large_are_refused() -> None:
    shape = (1, 1, 16_000, 16_000)
    weight, images = TensorType("float32", (1, 1, 3, 3)), TensorType("float32", shape)
    told = {"stride": [1, 1], "padding": [1, 1], "dilation": [1, 1], "groups": 1}
    signature = SubnetSignature((images,), (images,), (weight,))
    code = json.dumps({"steps": [["conv2d", [0, 1], told]], "outputs": [2]}).encode()
    TvmBackend().check(code, signature)
    with pytest.raises(ArtefactError, match="elements"):
        TvmBackend().open([CompiledSubnet("net", code, signature, (np.zeros((1, 1, 3, 3), np.float32),))], 1)


def test_hostile_codes_are_refused() -> None:
    """Numbers, kinds and places are changed at random: a code is refused, or still fits its signature."""
    program = dycl.compile(
        zoo.load("shallowdeep-resnet", "small"), zoo.inputs("shallowdeep-resnet")[0], backend="tvm", check=False
    )
    draw, refused = random.Random(0), 0
    for subnet in program.hcfg.subnets.values():
        told = json.loads(program.artefact.codes[subnet.code])
        signature = _signature(subnet, program.artefact)
        for _ in range(100):
            changed = copy.deepcopy(told)
            step = draw.choice(changed["steps"])
            match draw.randrange(4):
                case 0:
                    step[0] = draw.choice(["conv2d", "relu", "max_pool", "reshape", "unknown", 3, None])
                case 1:
                    step[1] = [draw.choice([draw.randrange(-2, 40), 1.5, "1", None, True])]
                case 2:
                    name = draw.choice([*step[2], "axis", "shape"])
                    step[2][name] = draw.choice([0, -1, 2**40, 1.5, "1", None, [7], [2**40, 1], [0, 0], {}])
                case _:
                    changed["outputs"][0] = draw.choice([0, 9999, -1, None, [3], "1"])
            try:
                TvmBackend().check(json.dumps(changed).encode(), signature)
            except ArtefactError:
                refused += 1
    assert refused > 500
    for code in (b"", b"[]", b"{}", b'{"steps": 1, "outputs": []}', b"\xff", b"[" * 100_000):
        with pytest.raises(ArtefactError):
            TvmBackend().check(code, signature)
