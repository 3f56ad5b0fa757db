"""What operations need of two open sizes: where eager PyTorch raises an error, the program raises one of its class."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional as F

import dycl
from tests.comparison import CallsWithTwo, assert_same

SIZES = (0, 1, 2, 3)
Snippet = Callable[[Tensor, Tensor], Any]


def _matrix(x: Tensor) -> Tensor:
    return torch.stack([x, x], 1)


_GRU, _LSTM, _RNN = nn.GRUCell(2, 2), nn.LSTMCell(2, 2), nn.RNNCell(2, 2)
_BILINEAR = nn.Bilinear(2, 2, 1)

SNIPPETS: dict[str, Snippet] = {
    "gru_cell": lambda x, y: _GRU(_matrix(x), _matrix(y)),
    "lstm_cell": lambda x, y: _LSTM(_matrix(x), (_matrix(y), _matrix(y))),
    "rnn_cell": lambda x, y: _RNN(_matrix(x), _matrix(y)),
    "bilinear": lambda x, y: _BILINEAR(_matrix(x), _matrix(y)),
    "searchsorted": lambda x, y: torch.searchsorted(_matrix(x), _matrix(y)),
    "soft_margin_loss": lambda x, y: F.soft_margin_loss(x, y, reduction="none"),
    "multilabel_margin_loss": lambda x, y: F.multilabel_margin_loss(x, y.long()),
    "select_scatter": lambda x, y: _matrix(x).select_scatter(y, 1, 0),
    "slice_scatter": lambda x, y: _matrix(x).slice_scatter(_matrix(y), 0, 1),
    "slice_scatter by steps": lambda x, y: x.slice_scatter(y, 0, 0, 9, 2),
    "cat of another rank": lambda x, y: torch.cat([x, _matrix(y)]),
    "cat of another rank, behind": lambda x, y: torch.cat([_matrix(y), x]),
    "broadcast_shapes": lambda x, y: torch.zeros(torch.broadcast_shapes(x.shape, y.shape)),
    "broadcast_shapes of more": lambda x, y: torch.zeros(torch.broadcast_shapes(x.shape, (2, 1), y.shape)),
    "repeat_interleave": lambda x, y: x.repeat_interleave(2, output_size=y.shape[0]),
    "outer": torch.outer,
    "check": lambda x, y: torch._check(x.shape[0] < 3, lambda: "too long") or x * 2,
}


@pytest.mark.parametrize("snippet", SNIPPETS.values(), ids=SNIPPETS)
def test_program_raises_where_eager_does(snippet: Snippet) -> None:
    torch.manual_seed(0)
    model = CallsWithTwo(snippet).eval()
    shapes = {"x": {0: Dim("a")}, "y": {0: Dim("b")}}
    program = dycl.compile(model, (torch.ones(2), torch.ones(2)), dynamic_shapes=shapes)
    failed = 0
    for first, second in itertools.product(SIZES, SIZES):
        inputs = (torch.randn(first), torch.zeros(second))
        try:
            with torch.no_grad():
                expected = model(*inputs)
        except Exception as error:
            failed += 1
            with pytest.raises(type(error)):
                program(*inputs)
        else:
            assert_same(expected, program(*inputs))
    assert failed or snippet is torch.outer


REFUSED: dict[str, tuple[Snippet, str]] = {
    "a shape is a key": (lambda x, y: {tuple(y.shape): 1} and x, "DY001"),
    "NumPy of a shape": (lambda x, y: float(torch.ones(2).numpy().sum()) * _product(y.shape), "DY0"),
}


def _product(shape: Any) -> Any:
    import numpy as np

    return np.prod(shape)


@pytest.mark.parametrize(("snippet", "identifier"), REFUSED.values(), ids=REFUSED)
def test_open_size_that_is_looked_at_natively_is_refused(snippet: Snippet, identifier: str) -> None:
    model = CallsWithTwo(snippet).eval()
    with pytest.raises(dycl.CompileError, match=identifier):
        dycl.compile(model, (torch.ones(2), torch.ones(2)), dynamic_shapes={"x": {0: Dim("a")}, "y": {0: Dim("b")}})


@pytest.mark.parametrize(
    "snippet",
    [
        lambda x, y: F.adaptive_avg_pool1d(x.reshape(1, 1, -1), 1),
        lambda x, y: torch.arange(x.shape[0]).softmax(0),
    ],
)
def test_where_eager_computes_nothing_a_caught_error_is_refused(snippet: Snippet) -> None:
    def tried(x: Tensor, y: Tensor) -> Any:
        try:
            return snippet(x, y)
        except (RuntimeError, NotImplementedError):
            return "none"

    with pytest.raises(dycl.CompileError, match=r"DY008|DY004"):
        shapes = {"x": {0: Dim("a")}, "y": {0: Dim("b")}}
        dycl.compile(CallsWithTwo(tried).eval(), (torch.ones(3), torch.ones(3)), dynamic_shapes=shapes)


def test_attention_that_does_not_fit_is_caught_where_eager_raises() -> None:
    def tried(x: Tensor, y: Tensor) -> Any:
        queries, keys = _matrix(x)[None], _matrix(y)[None]
        try:
            return F.scaled_dot_product_attention(queries, keys, keys, torch.ones(3, 3))
        except RuntimeError:
            return "none"

    shapes = {"x": {0: Dim("a")}, "y": {0: Dim("b")}}
    program = dycl.compile(CallsWithTwo(tried).eval(), (torch.ones(3), torch.ones(3)), dynamic_shapes=shapes)
    for sizes in ((3, 3), (1, 3), (3, 1), (2, 3), (3, 4)):
        x, y = map(torch.ones, sizes)
        assert_same(tried(x, y), program(x, y))
