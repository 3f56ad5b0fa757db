"""A decoder whose layers have eight experts each, of which a router picks two for each token.

It writes token by token, from a cache of keys and values, until it has written the end.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dycl.zoo.cached_attention import CachedAttention, Past, SwiGLU, nothing_yet
from dycl.zoo.endings import end_variously
from dycl.zoo.network import Inputs, Network, Size
from dycl.zoo.random_inputs import words

END = 2
_VOCABULARY = {"small": 100, "full": 8000}
_PROMPT = {"small": 6, "full": 16}


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
        """The tokens' states after the layer, and the layer's past with these tokens in it."""
        attended, past = self.attention(self.attention_norm(x), positions, past)
        x = x + attended
        return x + self.experts(self.experts_norm(x)), past


class MoeDecoder(nn.Module):
    """A decoder that adds at most `longest` tokens to a prompt."""

    def __init__(
        self, vocabulary: int, layers: int, width: int, heads: int, shared_heads: int, inner: int, longest: int
    ) -> None:
        super().__init__()
        self.longest = longest
        self.shared_heads, self.head_width = shared_heads, width // heads
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(Layer(width, heads, shared_heads, inner) for _ in range(layers))
        self.norm = nn.RMSNorm(width, eps=1e-5)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, prompt: Tensor) -> tuple[Tensor, Tensor]:
        """The tokens after the prompt, the end among them, and the score of each."""
        pasts = [nothing_yet(self.shared_heads, self.head_width) for _ in self.layers]
        tokens, start = prompt, 0
        written: list[Tensor] = []
        scores: list[Tensor] = []
        for _ in range(self.longest):
            x = self.embedding(tokens)
            positions = torch.arange(start, start + tokens.shape[1])
            for index, layer in enumerate(self.layers):
                x, pasts[index] = layer(x, positions, pasts[index])
            start += tokens.shape[1]
            score, token = self.head(self.norm(x[:, -1])).max(1)
            written.append(token)
            scores.append(score)
            if token.item() == END:
                break
            tokens = token[None]
        return torch.cat(written), torch.cat(scores)


def _build(size: Size) -> MoeDecoder:
    if size == "full":
        return MoeDecoder(_VOCABULARY[size], layers=8, width=512, heads=8, shared_heads=2, inner=512, longest=64)
    return MoeDecoder(_VOCABULARY[size], layers=2, width=32, heads=4, shared_heads=2, inner=32, longest=16)


def _draw(size: Size, generator: torch.Generator) -> Inputs:
    return (words(_VOCABULARY[size], _PROMPT[size], _PROMPT[size], generator),)


def _calibrate(model: MoeDecoder, inputs: Sequence[Inputs]) -> None:
    end_variously(model, model.head, END, inputs)


MOE_DECODER = Network(
    name="moe-decoder",
    title="Decoder with routed experts (like Mixtral)",
    source="Jiang et al. 2024, arXiv:2401.04088",
    decides="in each layer which experts each token goes to, and after each token whether the text is complete",
    build=_build,
    draw=_draw,
    calibrate=_calibrate,
    calibrated_on=24,
)
