"""Adjusts a decoder's words so that its results differ, and end at different lengths, for different inputs."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from dycl.zoo.calibration import results, spread
from dycl.zoo.network import Inputs

_NEVER = 1000.0
_OPPOSITES = 200
_BIASES = 50


def end_variously(model: nn.Module, head: nn.Linear, end: int, inputs: Sequence[Inputs]) -> None:
    """Nothing; a decoder that stops at the word `end` gives results of as many different lengths as it can afterwards.

    `head` gives the scores of the words, once for each word written. The decoder first writes without ever ending. How
    far a word's score then lies below the best one says where each result would end if that word were the end. The end
    becomes the opposite of the best such word, with the best such bias.
    """
    (before,) = results(model, [head], inputs)
    spread(head, torch.cat(before), deviation=2.0)
    weight, bias = head.get_parameter("weight"), head.get_parameter("bias")
    with torch.no_grad():
        bias[end] -= _NEVER
    lags = torch.stack([_opposite_lags(results(model, [head], [given])[0], end + 1) for given in inputs])
    most, chosen, added = 0, 0, 0.0
    for word in range(lags.shape[2]):
        least = lags[:, :, word].cummin(1).values
        for candidate in _halfway(least.flatten(), _BIASES):
            different = len(set((least > candidate).sum(1).clamp(max=lags.shape[1] - 1).tolist()))
            if different > most:
                most, chosen, added = different, end + 1 + word, candidate
    with torch.no_grad():
        weight[end] = -weight[chosen]
        bias[end] = added - bias[chosen]


def _opposite_lags(written: Sequence[Tensor], first: int) -> Tensor:
    """For each word written, how far the opposites of some words, from the first one on, lie below the best word."""
    scores = torch.cat(list(written))
    return scores.max(1, keepdim=True).values + scores[:, first : first + _OPPOSITES]


def _halfway(values: Tensor, count: int) -> list[float]:
    """Numbers in the midst of these values, each halfway between two neighbours that differ."""
    ordered = torch.tensor(sorted(set(values.tolist())))
    halfway = (ordered[:-1] + ordered[1:]) / 2
    return [float(value) for value in halfway[:: len(halfway) // count + 1]]


def remember(cell: nn.LSTMCell | nn.GRUCell, longest: int) -> None:
    """Nothing; the units of the cell remember for 1 to `longest` steps afterwards.

    As Tallec & Ollivier 2018, arXiv:1804.11188, initialise them.
    """
    width = cell.hidden_size
    times = torch.empty(width).uniform_(1, longest - 1).log()
    bias = cell.get_parameter("bias_ih")
    with torch.no_grad():
        if isinstance(cell, nn.LSTMCell):
            bias[:width] -= times  # the input gate
        bias[width : 2 * width] += times  # the forget gate, or the update gate
