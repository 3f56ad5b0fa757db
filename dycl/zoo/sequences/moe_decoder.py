"""A decoder whose layers have eight experts each, of which a router picks two for each token."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dycl.zoo.network import Inputs, Network, Size
from dycl.zoo.sequences.cached_attention import CachedAttention, Past, SwiGLU
from dycl.zoo.sequences.decoding import END, VOCABULARY, Decoder, draw_prompt
from dycl.zoo.sequences.endings import end_variously


class Experts(nn.Module):
    """Experts, and the router that picks two for each token."""

    def __init__(self, width: int, inner: int, experts: int = 8, picked: int = 2) -> None:
        super().__init__()
        self.picked = picked
        self.router = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(SwiGLU(width, inner) for _ in range(experts))

    def forward(self, x: Tensor) -> Tensor:
        """What each token's experts make of it, counted as the router says."""
        tokens = x.flatten(0, 1)
        weights, picked = self.router(tokens).softmax(1).topk(self.picked, dim=1)
        weights = weights / weights.sum(1, keepdim=True)
        mask = F.one_hot(picked, num_classes=len(self.experts)).permute(2, 0, 1)
        hit = mask.sum((1, 2)).nonzero().flatten()
        mixed = torch.zeros_like(tokens)
        for expert in hit:
            token, place = torch.where(mask[expert] > 0)
            made = self.experts[expert](tokens[token]) * weights[token, place, None]
            mixed.index_add_(0, token, made)
        return mixed.reshape(x.shape)


class Layer(nn.Module):
    """Attention, then experts."""

    def __init__(self, width: int, heads: int, shared_heads: int, inner: int) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(width, eps=1e-5)
        self.attention = CachedAttention(width, heads, shared_heads)
        self.experts_norm = nn.RMSNorm(width, eps=1e-5)
        self.experts = Experts(width, inner)

    def forward(self, x: Tensor, positions: Tensor, past: Past) -> tuple[Tensor, Past]:
        """What the layer adds to the tokens' states, and the layer's past with these tokens in it."""
        attended, past = self.attention(self.attention_norm(x), positions, past)
        return attended + self.experts(self.experts_norm(x + attended)), past


class MoeDecoder(Decoder):
    """A decoder of layers with experts."""

    def __init__(
        self, vocabulary: int, layers: int, width: int, heads: int, shared_heads: int, inner: int, longest: int
    ) -> None:
        made = (Layer(width, heads, shared_heads, inner) for _ in range(layers))
        super().__init__(made, vocabulary, width, heads, shared_heads, longest)


def _build(size: Size) -> MoeDecoder:
    if size == "full":
        return MoeDecoder(VOCABULARY[size], layers=8, width=512, heads=8, shared_heads=2, inner=512, longest=64)
    return MoeDecoder(VOCABULARY[size], layers=2, width=32, heads=4, shared_heads=2, inner=32, longest=16)


def _calibrate(model: MoeDecoder, inputs: Sequence[Inputs]) -> None:
    end_variously(model, model.head, END, inputs)


MOE_DECODER = Network(
    name="moe-decoder",
    title="Decoder with routed experts (like Mixtral)",
    source="Jiang et al. 2024, arXiv:2401.04088",
    decides="in each layer which experts each token goes to, and after each token whether the text is complete",
    build=_build,
    draw=draw_prompt,
    calibrate=_calibrate,
    calibrated_on=24,
)
