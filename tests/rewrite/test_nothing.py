"""Operations on tensors without elements, whose sizes are known: what PyTorch refuses of nothing, a program refuses."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import dycl
from tests.comparison import assert_same

SNIPPETS: dict[str, Callable[[Tensor], Any]] = {
    "einsum over nothing": lambda y: torch.einsum("ij,kj->ik", y[:, :0], y[:, :0]),
    "einsum of nothing": lambda y: torch.einsum("ij,jk->ik", y[:0], y.t()),
    "einsum to a number": lambda y: torch.einsum("ij->", y[:, :0]),
    "interpolate without channels": lambda y: F.interpolate(y[None, :0], size=3),
    "interpolate without places": lambda y: F.interpolate(y[None, None][:, :, :0], size=(3, 3)),
    "max_pool": lambda y: F.max_pool1d(y[None, :0], 1),
    "adaptive pooling without channels": lambda y: F.adaptive_avg_pool1d(y[None, :0], 1),
    "adaptive pooling without places": lambda y: F.adaptive_avg_pool1d(y[None, :, :0], 1),
    "convolution without samples": lambda y: F.conv1d(y[None][:0], torch.ones(2, 3, 1)),
    "convolution without places": lambda y: F.conv1d(y[None, :, :0], torch.ones(2, 3, 1)),
    "reflected": lambda y: F.pad(y[None, :, :0], (1, 1), mode="reflect"),
    "max": lambda y: y[:0].max(),
    "argmax": lambda y: y[:, :0].argmax(1),
    "largest": lambda y: y[:0].topk(1, 0).values,
    "median": lambda y: y[:0].median(),
    "logsumexp": lambda y: y[:, :0].logsumexp(1),
    "infinite norm": lambda y: torch.linalg.vector_norm(y[:0], float("inf")),
    "quantile": lambda y: y[:0].quantile(0.5),
    "determinant": lambda y: torch.linalg.det(y[:0, :0]),
    "attention": lambda y: F.scaled_dot_product_attention(y[None], y[None, :0], y[None, :0]),
    "fold": lambda y: F.fold(y[None, :0], (1, 1), 1),
    "instance_norm": lambda y: F.instance_norm(y[None, :, :0]),
    "cdist": lambda y: torch.cdist(y[:, :0], y[:, :0]),
}


class Caught(nn.Module):
    """Tells of which kind an error is."""

    def __init__(self, snippet: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.snippet = snippet

    def forward(self, y: Tensor) -> Any:
        if (y > 0).sum() > 3:
            y = y + 0.5
        try:
            return self.snippet(y), 0
        except IndexError:
            return y, 1
        except RuntimeError:
            return y, 2


@pytest.mark.parametrize("name", SNIPPETS)
def test_nothing(name: str) -> None:
    model = Caught(SNIPPETS[name]).eval()
    program = dycl.compile(model, (torch.ones(3, 2),))
    for x in (torch.ones(3, 2), -torch.ones(3, 2)):
        assert_same(_plain(model(x)), _plain(program(x)))


def _plain(result: tuple[Tensor, int]) -> Any:
    """The result with numbers in the place of NaN and infinity, and where these are."""
    return result[0].isnan(), result[0].nan_to_num(), result[1]


def test_an_open_number_of_channels() -> None:
    """ONNX Runtime pools no map without channels."""

    class Pooled(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return F.adaptive_avg_pool1d(x[None], 1)[0], F.adaptive_avg_pool1d(x[None], 2)

    program = dycl.compile(
        Pooled().eval(), (torch.ones(3, 4),), dynamic_shapes={"x": {0: torch.export.Dim("n", min=0)}}
    )
    for channels in (0, 1, 5):
        x = torch.randn(channels, 4)
        assert_same(Pooled()(x), program(x))
