"""Operations whose own way of computing asks for sizes, spelled out so that they hold for every size.

PyTorch takes these apart by looking at sizes, or gives a number of results that depends on one.
"""

from collections.abc import Callable
from typing import Any

import torch

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.sizes import spellings
from dycl.rewrite.signals import DecisionMet


def spelled_out(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], recorder: Records) -> Any:
    """The result of an operation that has another spelling for open sizes; `NotImplemented` for any other."""
    spelling = _FOR_ALL_SIZES.get(name)
    if spelling is None and name in _SPELLINGS and any(map(_is_open, (*args, *kwargs.values()))):
        spelling = _SPELLINGS[name]
    if spelling is None:
        return NotImplemented
    with recorder:
        return spelling(recorder, *args, **kwargs)


def _is_open(value: Any) -> bool:
    """Whether this is a tensor with a size that only the input determines, or a list of such."""
    if isinstance(value, list | tuple):
        return any(_is_open(item) for item in value)
    return isinstance(value, torch.Tensor) and any(not isinstance(size, int) for size in value.shape)


def _chunk(recorder: Records, tensor: torch.Tensor, chunks: int, dim: int = 0) -> Any:
    size: Any = tensor.shape[dim]
    if isinstance(size, int):
        return torch.ops.aten.split.Tensor(tensor, max(1, -(-size // chunks)), dim)
    piece = (size + chunks - 1) // chunks
    last = size - piece * (chunks - 1)
    whole = recorder.materialise(last)
    every = torch.logical_or(torch.gt(whole, 0), torch.eq(recorder.materialise(size), 0))
    message = f"a compiled program cuts this dimension into {chunks} pieces, and it is too short for so many"
    recorder.check(every, "RuntimeError", message, is_limit=True)
    return _pieces(tensor, dim, [*[piece] * (chunks - 1), last])


def _tensor_split(recorder: Records, tensor: torch.Tensor, sections: int, dim: int = 0) -> Any:
    size: Any = tensor.shape[dim]
    return _pieces(tensor, dim, [(size + sections - 1 - number) // sections for number in range(sections)])


def _pieces(tensor: torch.Tensor, dim: int, lengths: list[Any]) -> list[torch.Tensor]:
    found = []
    start: Any = 0
    for length in lengths:
        found.append(torch.ops.aten.slice.Tensor(tensor, dim, start, start + length))
        start = start + length
    return found


def _cosine(recorder: Records, first: torch.Tensor, second: torch.Tensor, dim: int = 1, eps: float = 1e-8) -> Any:
    left, right = (
        tensor / torch.linalg.vector_norm(tensor, dim=dim, keepdim=True).clamp_min(eps) for tensor in (first, second)
    )
    return (left * right).sum(dim)


def _gates(inputs: torch.Tensor, hidden: torch.Tensor, weights: tuple[Any, ...], count: int) -> tuple[Any, Any]:
    """What the input and the state before contribute to each gate of a recurrent cell."""
    input_weight, hidden_weight, input_bias, hidden_bias = (*weights, None, None)[:4]
    linear = torch.ops.aten.linear.default
    given, kept = linear(inputs, input_weight, input_bias), linear(hidden, hidden_weight, hidden_bias)
    return given.chunk(count, -1), kept.chunk(count, -1)


def _lstm_cell(recorder: Records, inputs: torch.Tensor, states: Any, *weights: Any) -> tuple[torch.Tensor, ...]:
    given, kept = _gates(inputs, states[0], weights, 4)
    enter, forget, new, leave = (one + other for one, other in zip(given, kept, strict=True))
    memory = forget.sigmoid() * states[1] + enter.sigmoid() * new.tanh()
    return leave.sigmoid() * memory.tanh(), memory


def _gru_cell(recorder: Records, inputs: torch.Tensor, hidden: torch.Tensor, *weights: Any) -> Any:
    given, kept = _gates(inputs, hidden, weights, 3)
    reset, update = (given[0] + kept[0]).sigmoid(), (given[1] + kept[1]).sigmoid()
    new = (given[2] + reset * kept[2]).tanh()
    return new + update * (hidden - new)


def _rnn_cell(activation: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., Any]:
    def cell(recorder: Records, inputs: torch.Tensor, hidden: torch.Tensor, *weights: Any) -> torch.Tensor:
        given, kept = _gates(inputs, hidden, weights, 1)
        return activation(given[0] + kept[0])

    return cell


def _squeeze(recorder: Records, tensor: torch.Tensor, dim: int | list[int] | None = None) -> Any:
    rank = tensor.dim()
    axes = range(rank) if dim is None else [axis % rank for axis in ([dim] if isinstance(dim, int) else dim)]
    if any(not isinstance(tensor.shape[axis], int) for axis in axes):
        raise DecisionMet("whether `squeeze` drops a dimension")
    return NotImplemented


_FOR_ALL_SIZES: dict[str, Callable[..., Any]] = {
    "aten.searchsorted.Scalar": spellings.searchsorted,
    "aten.bucketize.Scalar": spellings.bucketize,
    "aten.unique_consecutive.default": spellings.unique_consecutive,
    "aten.as_strided.default": spellings.as_strided,
    "aten.linalg_lstsq.default": spellings.lstsq,
    "aten.lstm.input": spellings.lstm,
    **{
        f"aten.{name}.default": spellings.loss(getattr(torch.ops.aten, name).default)
        for name in ("mse_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss")
    },
}
_SPELLINGS: dict[str, Callable[..., Any]] = {
    "aten.broadcast_tensors.default": spellings.broadcast,
    "aten.chunk.default": _chunk,
    "aten.tensor_split.sections": _tensor_split,
    "aten.cosine_similarity.default": _cosine,
    "aten.lstm_cell.default": _lstm_cell,
    "aten.gru_cell.default": _gru_cell,
    "aten.rnn_tanh_cell.default": _rnn_cell(torch.tanh),
    "aten.rnn_relu_cell.default": _rnn_cell(torch.relu),
    "aten.squeeze.default": _squeeze,
    "aten.squeeze.dim": _squeeze,
    "aten.squeeze.dims": _squeeze,
}
