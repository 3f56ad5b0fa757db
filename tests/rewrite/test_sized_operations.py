"""Operations on tensors whose sizes only the input determines, against eager PyTorch on many sizes, 0 and 1 among them.

`B` and `T` in a shape are the open sizes. Where eager PyTorch fails, so may the program; where it does not, the program
gives the same, or stops with an error if the case says so.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim

import dycl
from tests.comparison import assert_same

SIZES = [(2, 3), (1, 1), (1, 4), (3, 1), (4, 4), (7, 5), (2, 13), (0, 3), (3, 0)]
ROWS, STEPS, IMAGES = ("B", 8), ("B", "T", 8), ("B", 3, "T", 8)
POSITIONS = torch.randn(13, 8, generator=torch.Generator().manual_seed(0))
MASK = torch.ones(13, 13).tril().bool()


@dataclass
class Case:
    """A snippet, the shapes of its inputs, and the sizes for which it stops though eager PyTorch goes on.

    With `fails_too` the program fails wherever eager PyTorch does.
    """

    name: str
    snippet: Callable[..., Any]
    shapes: tuple[tuple[int | str, ...], ...]
    stops_at: tuple[tuple[int, int], ...] = ()
    modules: list[nn.Module] = field(default_factory=list)
    fails_too: bool = False

    def __str__(self) -> str:
        return self.name


class Snippet(nn.Module):
    def __init__(self, case: Case) -> None:
        super().__init__()
        self.snippet = case.snippet
        self.parts = nn.ModuleList(case.modules)

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.snippet(*self.parts, *inputs)


def of(
    name: str, snippet: Callable[..., Any], *shapes: Any, stops_at: Any = (), modules: Any = (), fails_too: bool = False
) -> Case:
    return Case(name, snippet, shapes or (STEPS,), tuple(stops_at), list(modules), fails_too)


def last_step_across_a_decision(x: torch.Tensor) -> Any:
    """A tensor of known shape whose strides hang on the open length."""
    last, first = (x + 1)[:, -1], (x * 2)[:, 0]
    if x.sum() > 0:
        last = last - first
    return last, first.reshape(-1), first.contiguous().view(-1)


def column_across_a_decision(x: torch.Tensor) -> Any:
    column = (x + 1).transpose(1, 2)[:, 3]
    for _ in range(2):
        if x.sum() > 0:
            column = column * 2
            column.add_(1)
    return column, column.flatten()


def strides_across_a_decision(x: torch.Tensor) -> Any:
    turned = (x + 1).transpose(0, 1)
    if x.sum() > 0:
        x = x + 1
    return turned.stride(), turned.reshape(-1), x


CASES = [
    of("sizes that meet", lambda x, y: (x + y, (x + y).shape[0]), ROWS, ("T", 8)),
    of("sizes across", lambda x, y: torch.where(x > 0, x, y), ("B", 1, 8), (1, "T", 8)),
    of("masked_fill across", lambda x, y: x.masked_fill(y > 0, 0.0), ("B", 1, 8), (1, "T", 1)),
    of("view", lambda x: x.view(x.shape[0], x.shape[1], 2, 4)),
    of("rows of all", lambda x: x.reshape(x.size(0) * x.size(1), 8)),
    of("flatten", lambda x: (x.flatten(), x.flatten(1), x.flatten(0, 1))),
    of("view of another size", lambda x, y: x.view(y.shape[0], 8), ROWS, ("T", 3), fails_too=True),
    of("transposed reshape", lambda x: x.transpose(0, 1).reshape(x.size(1), x.size(0) * 8)),
    of("matmul", lambda x: (x @ x.transpose(1, 2), x.mT @ x)),
    of("matmul across", lambda x, y: x @ y, ("B", 1, "T", 8), (1, 3, 8, "T")),
    of("einsum", lambda x, y: torch.einsum("btc,bsc->bts", x, y), STEPS, STEPS),
    of("einsum across", lambda x, y: torch.einsum("bc,bc->bc", x, y), ROWS, ("T", 8)),
    of("cat", lambda x: (torch.cat([x, x], 1), torch.cat([torch.zeros(1, 1, 8).expand(x.size(0), -1, -1), x], 1))),
    of("stack", lambda x: torch.stack([x, x * 2], 1)),
    of("expand", lambda x, y: x.expand(y.size(1), 8), ROWS, ("B", "T"), fails_too=True),
    of("repeat", lambda x: (x.repeat(1, 2, 1), x.repeat(x.size(1), 1, 1), x.repeat_interleave(2, 1))),
    of("chunk", lambda x: tuple(x.chunk(2, 1)), stops_at=((1, 1), (3, 1))),
    of("split", lambda x: x.split([1, x.size(1) - 1], 1)),
    of("tensor_split", lambda x: x.tensor_split(3, 1)),
    of("roll", lambda x: (x.roll(1, 1), x.roll(x.size(1) // 2, 1), x.flip(0))),
    of("boolean mask", lambda x: (x[x > 0], x[x[:, :, 0].sum(1) > 0])),
    of("causal mask", lambda x: torch.triu(torch.ones(x.size(1), x.size(1)), diagonal=1)),
    of("kept mask", lambda x: (x @ x.mT).masked_fill(~MASK[: x.size(1), : x.size(1)], -1e9).softmax(-1)),
    of("positions", lambda x: x + POSITIONS[: x.size(1)]),
    of("embedded positions", lambda x: x + F.embedding(torch.arange(x.size(1)), POSITIONS)),
    of("too many positions", lambda x: F.embedding(torch.arange(x.size(1) + 8), POSITIONS), fails_too=True),
    of("arange", lambda x: (torch.arange(0, x.size(1), 2), torch.arange(x.size(1) - 1, -1, -1))),
    of("backwards", lambda x: x.index_select(1, torch.arange(x.size(1) - 1, -1, -1))),
    of("gather", lambda x: x.gather(1, x.argsort(1))),
    of("topk", lambda x: x.topk(min(2, x.size(1)), 1)),
    of("pairs", lambda x: x[torch.arange(x.size(0)), x.size(1) - 1]),
    of("slices", lambda x: (x[:, 1:], x[:, ::2], x[:, -3:], x[:, 1:] - x[:, :-1], x[:, : x.size(1) // 2])),
    of("softmax", lambda x: (x.softmax(1), x.log_softmax(0))),
    of("running", lambda x: (x.cumsum(1), x.cumprod(0), x.cummax(1).values)),
    of("reductions", lambda x: (x.mean(1), x.sum(0), x.var(1), x.logsumexp(2), (x > 0).all(1))),
    of("pad", lambda x: (F.pad(x, (0, 0, 1, 2)), F.pad(x, (0, 0, 0, (4 - x.size(1) % 4) % 4)))),
    of("written in place", lambda x: torch.zeros(x.size(0), x.size(1), 8).copy_(x[:, :1]).add_(x)),
    of("distances", lambda x: torch.cdist(x, x)),
    of("cosine", lambda x, y: F.cosine_similarity(x, y, dim=-1), ("B", 1, 8), (1, "T", 8)),
    of("attention", lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), IMAGES),
    of("interpolate twice", lambda x: F.interpolate(x, scale_factor=2), IMAGES),
    of("interpolate odd", lambda x: F.interpolate(x, scale_factor=2.1), IMAGES),
    of("interpolate exact", lambda x: F.interpolate(x, scale_factor=1.7, mode="nearest-exact"), IMAGES),
    of("interpolate bilinear", lambda x: F.interpolate(x, scale_factor=1.5, mode="bilinear"), IMAGES),
    of("interpolate corners", lambda x: F.interpolate(x, (6, 5), mode="bilinear", align_corners=True), IMAGES),
    of("interpolate bicubic", lambda x: F.interpolate(x, scale_factor=1.5, mode="bicubic"), IMAGES),
    of("max_pool", lambda x: F.max_pool2d(x, 2), IMAGES),
    of("adaptive_avg_pool", lambda x: F.adaptive_avg_pool2d(x, (2, 3)), IMAGES),
    of("adaptive_max_pool", lambda x: F.adaptive_max_pool2d(x, (2, 3)), IMAGES),
    of("conv1d", lambda layer, x: layer(x.mT), modules=[nn.Conv1d(8, 4, 3, padding="same")]),
    of("conv2d", lambda layer, x: layer(x), IMAGES, modules=[nn.Conv2d(3, 4, 3, stride=2, padding=1)]),
    of("batch_norm", lambda layer, x: layer(x), IMAGES, modules=[nn.BatchNorm2d(3)]),
    of("group_norm", lambda layer, x: layer(x), IMAGES, modules=[nn.GroupNorm(3, 3)]),
    of("layer_norm", lambda layer, x: layer(x), modules=[nn.LayerNorm(8)]),
    of("lstm", lambda layer, x: layer(x), modules=[nn.LSTM(8, 4, 2, batch_first=True, bidirectional=True)]),
    of("gru", lambda layer, x: layer(x), modules=[nn.GRU(8, 4)]),
    of("lstm cell", lambda layer, x: layer(x), ROWS, modules=[nn.LSTMCell(8, 4)]),
    of(
        "multi-head attention",
        lambda layer, x: layer(x, x, x, need_weights=False)[0],
        modules=[nn.MultiheadAttention(8, 2, batch_first=True)],
    ),
    of(
        "transformer encoder",
        lambda layer, x: layer(x, mask=nn.Transformer.generate_square_subsequent_mask(x.size(1)), is_causal=True),
        modules=[nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1)],
    ),
    of("squeeze", lambda x: (x.squeeze(1), x.squeeze(-2), x[..., :1].squeeze(-1))),
    of("squeeze of all", lambda x: x.squeeze()),
    of("squeeze, written", lambda x: (y := x + 0, y.squeeze(1).add_(1))[0]),
    of(
        "linspace",
        lambda x: (torch.linspace(0, 1, x.size(1)), torch.linspace(start=-1, end=x.size(0), steps=x.size(1))),
    ),
    of("linspace between tensors", lambda x: torch.linspace(x.sum(), 1, x.size(1), dtype=torch.float64)),
    of("diff", lambda x: (torch.diff(x, dim=1), x.diff(n=2, dim=0), (x > 0).diff(dim=1))),
    of("diff with more", lambda x: torch.diff(x, dim=1, prepend=x[:, :1], append=x[:, -1:])),
    of("losses", lambda x, y: (F.mse_loss(x, y, reduction="sum"), F.l1_loss(x, y, reduction="none")), STEPS, STEPS),
    of("losses across", lambda x, y: (F.mse_loss(x, y, reduction="none"), F.huber_loss(x, y)), ROWS, ("T", 8)),
    of("broadcast_tensors", lambda x, y: tuple(torch.broadcast_tensors(x, y)), ("B", 1, 8), (1, "T", 8)),
    of("isin", lambda x, y: (torch.isin(x.round(), y.round()), torch.isin(x.round(), 1.0)), STEPS, ("T",)),
    of("fill_diagonal_", lambda x: (x @ x.mT)[0].fill_diagonal_(2.5), (2, "T", 8)),
    of("searchsorted", lambda x: torch.searchsorted(x.sort().values, 0.5), ("T",)),
    of("causal if long", lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=x.size(2) > 1), IMAGES),
    of("last step across a decision", last_step_across_a_decision, (2, "T", 8)),
    of("a column of all across a decision", column_across_a_decision),
    of("strides across a decision", strides_across_a_decision),
    of("index of two axes", lambda x: (x[:, x[0, :, 0].argsort()], x[0, x[0].argmax(1), x[0].argmax(1)]), ("B", 8, 8)),
    of("apart indices", lambda x: x[x[:, 0].argmax(0), :, x[0, 0].argmax(0, keepdim=True)]),
    of("rms_norm", lambda layer, x: layer(x), modules=[nn.RMSNorm(8)]),
    of("wide rms_norm", lambda x: F.rms_norm(x, (8,), torch.arange(8, dtype=torch.float64))),
    of("joined", lambda x: (torch.cat([x, x[:, :1], x], 1), torch.cat([x, x.double()]), torch.cat([x.mT, x.mT], -1))),
    of("repeated", lambda x: (x.repeat_interleave(2, 1), x.repeat_interleave(0, -1), x.repeat_interleave(3))),
    of("all and any", lambda x: ((x > 0).all(), x.any(), (x > 0).byte().any(), x[0].all())),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_operation_gives_the_same_for_every_size(case: Case) -> None:
    generator = torch.Generator().manual_seed(0)
    model = Snippet(case).eval()
    dims = {"B": Dim("batch"), "T": Dim("time")}
    spec = tuple(
        {axis: dims[size] for axis, size in enumerate(shape) if isinstance(size, str)} for shape in case.shapes
    )
    compared = 0
    program = dycl.compile(model, _inputs(case, 4, 4, generator), dynamic_shapes={"inputs": spec})
    for batch, time in SIZES:
        inputs = _inputs(case, batch, time, generator)
        try:
            with torch.no_grad():
                expected = model(*inputs)
        except (RuntimeError, IndexError, ValueError) as error:
            with pytest.raises(type(error)) as raised:
                program(*inputs)
            assert not isinstance(raised.value, dycl.ModelError)
            continue
        if (batch, time) in case.stops_at:
            with pytest.raises((RuntimeError, dycl.ModelError)):
                program(*inputs)
        else:
            assert_same(_plain(expected), _plain(program(*inputs)), 1e-4)
            compared += 1
    assert compared >= 2


@pytest.mark.parametrize("default", [torch.float32, torch.float64, torch.float32])
def test_whole_numbers_become_those_of_the_default_type(default: torch.dtype) -> None:
    model, before = Snippet(of("", lambda x: (x.long() / 3, x.long().sqrt()))).eval(), torch.get_default_dtype()
    try:
        torch.set_default_dtype(default)
        program = dycl.compile(model, (torch.ones(4),), dynamic_shapes={"inputs": ({0: Dim("time")},)})
        assert_same(model(torch.ones(3)), program(torch.ones(3)))
    finally:
        torch.set_default_dtype(before)


def test_how_one_row_of_open_length_lies() -> None:
    def strides(x: torch.Tensor) -> Any:
        y = x.transpose(1, 2) * 2
        return y.stride(), (y + 1).stride(), torch.cat([y, y], -1).stride()

    model = Snippet(of("", strides)).eval()
    program = dycl.compile(model, (torch.ones(1, 4, 8, 2),), dynamic_shapes={"inputs": ({1: Dim("time")},)})
    for time in (1, 2, 5):
        assert program(torch.ones(1, time, 8, 2)) == strides(torch.ones(1, time, 8, 2))


@pytest.mark.parametrize(
    "snippet",
    [
        lambda x: F.rms_norm(x, (5,)),
        lambda x: F.rms_norm(x, (4,), torch.ones(3)),
        lambda x: F.layer_norm(x, (5,)),
        lambda x: F.group_norm(x, 3),
        lambda x: F.batch_norm(x, torch.zeros(1), torch.ones(1)),
        lambda x: F.linear(x, torch.ones(2, 3)),
        lambda x: torch.cat([x, x], 2),
        lambda x: x.repeat_interleave(-1, 0),
        lambda x: x[x[:, 0].argsort(), x[:, 0].argsort(), x[:, 0].argsort()],
        lambda x: x + torch.ones(3),
        lambda x: x.tril(0).roll(1, 2),
    ],
)
def test_what_no_size_fits_is_refused(snippet: Callable[[torch.Tensor], torch.Tensor]) -> None:
    model = Snippet(of("", snippet)).eval()
    with pytest.raises((RuntimeError, IndexError)):
        model(torch.ones(2, 4))
    with pytest.raises(dycl.CompileError):
        dycl.compile(model, (torch.ones(2, 4),), dynamic_shapes={"inputs": ({0: Dim("batch")},)})


@pytest.mark.parametrize(
    "snippet",
    [
        lambda x: x.take_along_dim(x.argsort(1), 1),
        lambda x: torch.vander(x[:, 0]),
        lambda x: torch.kron(x, x),
        lambda x: x + x.nbytes,
        lambda x: x + x[:, 0].dim_order()[0],
        lambda x: x + x.t().dim_order()[0],
    ],
)
def test_what_needs_an_open_size_itself_is_refused(snippet: Callable[[torch.Tensor], torch.Tensor]) -> None:
    model = Snippet(of("", snippet)).eval()
    with pytest.raises(dycl.CompileError, match="a size that is open"):
        dycl.compile(model, (torch.ones(2, 4),), dynamic_shapes={"inputs": ({0: Dim("batch")},)})


def _inputs(case: Case, batch: int, time: int, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    sizes = {"B": batch, "T": time}
    shapes = [[sizes[size] if isinstance(size, str) else size for size in shape] for shape in case.shapes]
    return tuple(torch.randn(shape, generator=generator) for shape in shapes)


def _plain(result: Any) -> Any:
    """The result with PyTorch's own kinds of tuple as plain ones, and a number in the place of NaN."""
    if isinstance(result, torch.Tensor):
        return result.nan_to_num(nan=123.0) if result.is_floating_point() else result
    return tuple(map(_plain, result)) if isinstance(result, tuple | list) else result
