"""Attention of decoders that write one token after the other and keep the keys and values of the earlier ones."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Past(NamedTuple):
    """What one layer keeps of the tokens it has seen: their keys and values (1 x heads x tokens x width) and places."""

    keys: Tensor
    values: Tensor
    positions: Tensor


def nothing_yet(heads: int, width: int) -> Past:
    """The past of a layer that has seen no token."""
    none = torch.zeros(1, heads, 0, width)
    return Past(none, none, torch.zeros(0, dtype=torch.long))


def rotate(x: Tensor, positions: Tensor) -> Tensor:
    """The tokens' heads (1 x heads x tokens x width), turned by angles that grow with their positions.

    As in Su et al. 2021, arXiv:2104.09864.
    """
    half = x.shape[-1] // 2
    frequencies = 10_000 ** (-torch.arange(half, device=x.device) / half)
    angles = positions[:, None] * frequencies
    cos, sin = angles.cos(), angles.sin()
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


class CachedAttention(nn.Module):
    """Attention to the tokens at the same or an earlier position; groups of heads share their keys and values."""

    def __init__(self, width: int, heads: int, shared_heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.shared_heads = shared_heads
        self.head_width = width // heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, shared_heads * self.head_width, bias=False)
        self.value = nn.Linear(width, shared_heads * self.head_width, bias=False)
        self.mix = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor, positions: Tensor, past: Past) -> tuple[Tensor, Past]:
        """The new tokens' (1 x tokens x width) view of all tokens, and the past with the new ones in it."""
        queries = rotate(self._heads(self.query(x), self.heads), positions)
        keys = rotate(self._heads(self.key(x), self.shared_heads), positions)
        values = self._heads(self.value(x), self.shared_heads)
        past = Past(
            torch.cat([past.keys, keys], 2),
            torch.cat([past.values, values], 2),
            torch.cat([past.positions, positions]),
        )
        group = self.heads // self.shared_heads
        attended = F.scaled_dot_product_attention(
            queries,
            past.keys.repeat_interleave(group, 1),
            past.values.repeat_interleave(group, 1),
            attn_mask=past.positions <= positions[:, None],
        )
        return self.mix(attended.transpose(1, 2).flatten(2)), past

    def _heads(self, x: Tensor, heads: int) -> Tensor:
        return x.view(1, -1, heads, self.head_width).transpose(1, 2)


class SwiGLU(nn.Module):
    """Two linear layers, the first gated (Shazeer 2020, arXiv:2002.05202)."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, inner, bias=False)
        self.widen = nn.Linear(width, inner, bias=False)
        self.narrow = nn.Linear(inner, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """The features of each token after the layers."""
        result: Tensor = self.narrow(F.silu(self.gate(x)) * self.widen(x))
        return result
