"""Feature maps from another sub-DNN are converted to ONNX Runtime's layout once."""

import onnx
import pytest
import torch
from torch import Tensor, nn

import dycl
from dycl.runtime import Program


class Residual(nn.Module):
    """Residual blocks before and after a decision."""

    def __init__(self, channels: int, blocks: int, preactivated: bool = False) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, channels, 3, padding=1)
        before = nn.BatchNorm2d(channels) if preactivated else nn.Identity()
        self.blocks = nn.ModuleList(
            nn.Sequential(before, nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU())
            for _ in range(blocks)
        )

    def forward(self, image: Tensor, offset: Tensor) -> Tensor:
        x: Tensor = self.first(image) + offset
        if x.mean() > 100:
            return x
        for block in self.blocks:
            x = torch.relu(x + block(x))
        return x


def compiled(model: nn.Module) -> tuple[Program, list[list[str]]]:
    """The program, and the operators of each of its sub-DNNs."""
    torch.manual_seed(0)
    program = dycl.compile(model.eval(), (torch.zeros(1, 3, 8, 8), torch.zeros(())))
    codes = [onnx.load_model_from_string(bytes(code)) for code in program.artefact.codes.values()]
    return program, [[node.op_type for node in code.graph.node] for code in codes]


@pytest.mark.parametrize("preactivated", [False, True])
@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, float("nan"), float("inf"), -float("inf")])
def test_a_chain_of_residual_blocks_is_converted_once(value: float, preactivated: bool) -> None:
    model = Residual(16, 3, preactivated)
    program, operators = compiled(model)
    assert [names.count("AveragePool") for names in operators] == [0, 1]
    assert operators[1][0] == "AveragePool"
    inputs = (torch.randn(1, 3, 8, 8), torch.tensor(value))
    with torch.inference_mode():
        torch.testing.assert_close(program(*inputs), model(*inputs), rtol=1e-5, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize(("channels", "blocks"), [(16, 1), (12, 3)])
def test_what_gains_nothing_is_left_alone(channels: int, blocks: int) -> None:
    _, operators = compiled(Residual(channels, blocks))
    assert not any("AveragePool" in names for names in operators)
