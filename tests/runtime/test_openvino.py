"""The backend OpenVINO: layers against PyTorch, whole networks, open sizes, threads of the caller, hostile codes."""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
from dycl.runtime.openvino.backend import OpenVinoBackend
from tests.comparison import Calls

_DRAWN = torch.Generator().manual_seed(0)
_BOTH = ["openvino", "onnxruntime"]


def _drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=_DRAWN)


_LAYERS: dict[str, tuple[Callable[[], nn.Module], Tensor]] = {
    "convolution": (lambda: nn.Conv2d(8, 12, 3, padding=1), _drawn(2, 8, 9, 7)),
    "groups": (lambda: nn.Conv2d(8, 16, 3, groups=4, stride=2), _drawn(1, 8, 9, 7)),
    "of sequences": (lambda: nn.Conv1d(4, 6, 3, dilation=2), _drawn(3, 4, 11)),
    "linear": (lambda: nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.LayerNorm(12)), _drawn(2, 4, 6)),
    "normalised": (lambda: nn.Sequential(nn.Conv2d(8, 16, 3), nn.BatchNorm2d(16), nn.ReLU()), _drawn(1, 8, 9, 7)),
    "attention": (lambda: Calls(lambda x: F.scaled_dot_product_attention(x, x, x)), _drawn(2, 4, 5, 8)),
    "pooling": (lambda: nn.Sequential(nn.Conv2d(8, 4, 1), nn.MaxPool2d(3, 2, padding=1)), _drawn(1, 8, 9, 7)),
}


class _Behind(nn.Module):
    """A layer with a decision behind it."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Any:
        y = self.layer(x)
        return (y + y, 1) if y.max() > 0.5 else (y, 0)


def _backends(program: dycl.Program) -> set[str]:
    return {subnet.backend for subnet in program.hcfg.subnets.values()}


@pytest.mark.parametrize("name", _LAYERS)
def test_a_layer_is_pytorchs(name: str) -> None:
    torch.manual_seed(0)
    made, x = _LAYERS[name]
    model = _Behind(made()).eval()
    program = dycl.compile(model, x, backend=_BOTH)
    assert "openvino" in _backends(program)
    for scale in (1.0, 0.01, 30.0, 0.0):
        with torch.no_grad():
            (expected, path), (found, taken) = model(x * scale), program(x * scale)
        assert path == taken
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["shallowdeep-mobilenet", "skipnet-gates", "skipnet-rnn", "early-exit-encoder"])
def test_a_network_takes_the_same_paths(name: str) -> None:
    model, inputs = zoo.load(name, "small"), zoo.inputs(name, "small", 12)
    program, reference = dycl.compile(model, inputs[0], backend=_BOTH), dycl.compile(model, inputs[0])
    assert "openvino" in _backends(program)
    for args in inputs:
        found, expected = program.trace(*args), reference.trace(*args)
        assert found.path.decisions == expected.path.decisions
        torch.testing.assert_close(found.outputs, expected.outputs, rtol=1e-4, atol=1e-5)


def test_open_sizes() -> None:
    torch.manual_seed(0)
    model = _Behind(nn.Sequential(nn.Linear(6, 5), nn.ReLU())).eval()
    rows = torch.export.Dim("rows")
    program = dycl.compile(model, _drawn(3, 6), dynamic_shapes={"x": {0: rows}}, backend=_BOTH)
    assert "openvino" in _backends(program)
    for count in (1, 2, 7):
        x = _drawn(count, 6)
        with torch.no_grad():
            torch.testing.assert_close(program(x), model(x), rtol=1e-4, atol=1e-5)


def test_what_is_not_in_single_precision_is_left_to_others() -> None:
    program = dycl.compile(Calls(lambda x: x @ x.t()).eval(), _drawn(3, 3).double(), backend=_BOTH)
    assert _backends(program) == {"onnxruntime"}
    with pytest.raises(dycl.CompileError, match="OpenVINO computes no float64"):
        dycl.compile(Calls(lambda x: x @ x.t()).eval(), _drawn(3, 3).double(), backend="openvino", check=False)


def test_several_threads_call_at_a_time() -> None:
    torch.manual_seed(0)
    model = _Behind(nn.Conv2d(8, 12, 3)).eval()
    program = dycl.compile(model, _drawn(1, 8, 9, 7), backend=_BOTH)
    given = [_drawn(1, 8, 9, 7) for _ in range(24)]
    with torch.no_grad(), ThreadPoolExecutor(4) as pool:
        for x, found in zip(given, pool.map(program, given), strict=True):
            torch.testing.assert_close(found, model(x), rtol=1e-4, atol=1e-5)


def test_inputs_stay_as_they_are_and_results_are_the_callers() -> None:
    program = dycl.compile(nn.Linear(4, 4).eval(), _drawn(2, 4), backend="openvino", check=False)
    x = np.asarray(_drawn(2, 4))
    before, first = x.copy(), program(x)
    kept = np.array(first)
    first += 1
    assert (np.asarray(program(x)) == kept).all()
    assert (x == before).all()


def test_an_artefact_is_checked_without_openvino(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    program = dycl.compile(nn.Conv2d(8, 4, 3).eval(), _drawn(1, 8, 9, 7), backend="openvino", check=False)
    program.save(tmp_path / "model.dycl")
    monkeypatch.setitem(sys.modules, "openvino", None)
    monkeypatch.delitem(sys.modules, "dycl.runtime.openvino.engine", raising=False)
    with pytest.raises(ArtefactError, match="DY102"):
        dycl.load(tmp_path / "model.dycl")


def test_codes_that_do_not_fit_are_refused() -> None:
    program = dycl.compile(nn.Linear(4, 3).eval(), _drawn(2, 4), backend="openvino", check=False)
    subnet = next(iter(program.hcfg.subnets.values()))
    code, signature = program.artefact.codes[subnet.code], _signature(subnet, program.artefact)
    OpenVinoBackend().check(code, signature)
    double = dycl.compile(nn.Linear(4, 3).double().eval(), _drawn(2, 4).double())
    other = next(iter(double.hcfg.subnets.values()))
    for wrong, told in (
        (code[:-7], signature),
        (b"", signature),
        (program.artefact.codes[subnet.code], _signature(other, double.artefact)),
        (double.artefact.codes[other.code], signature),
    ):
        with pytest.raises(ArtefactError):
            OpenVinoBackend().check(wrong, told)
