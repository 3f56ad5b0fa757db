"""What holds for every backend that DyCL brings: artefacts come from files, inputs may be read-only."""

import numpy as np
import pytest
import torch
from torch import nn

import dycl

BACKENDS = ("onnxruntime", "ncnn", "openvino", "tvm")


class _Exits(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.first(x))
        return y if y.mean() > 0.3 else torch.relu(self.second(y))


@pytest.fixture(scope="module", params=BACKENDS)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dycl.Program:
    pytest.importorskip(request.param)
    program = dycl.compile(exits(), (torch.ones(1, 3, 8, 8),), backend=[request.param, "onnxruntime"])
    assert any(subnet.backend == request.param for subnet in program.hcfg.subnets.values())
    path = tmp_path_factory.mktemp("artefact") / "exits.dycl"
    program.save(path)
    return dycl.load(path)


def exits() -> nn.Module:
    torch.manual_seed(3)
    return _Exits().eval()


@pytest.mark.parametrize("value", (-2.0, 0.0, 2.0))
def test_read_only_inputs_of_a_program_from_a_file(loaded: dycl.Program, value: float) -> None:
    array = np.full((1, 3, 8, 8), value, np.float32)
    array.flags.writeable = False
    with torch.no_grad():
        wanted = exits()(torch.full((1, 3, 8, 8), value))
    np.testing.assert_allclose(loaded(array), wanted.numpy(), rtol=1e-4, atol=1e-5)
    assert (array == value).all()
