"""A decoder in which each layer's router picks the tokens that the layer works on; the others pass it by."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from dycl.zoo.calibration import results, spread
from dycl.zoo.network import Inputs, Network, Size
from dycl.zoo.sequences.cached_attention import CachedAttention, Past, SwiGLU
from dycl.zoo.sequences.decoding import END, VOCABULARY, Decoder, draw_prompt
from dycl.zoo.sequences.endings import end_variously


class Layer(nn.Module):
    """Attention and a feed-forward network for every token."""

    def __init__(self, width: int, heads: int, shared_heads: int, inner: int) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(width, eps=1e-5)
        self.attention = CachedAttention(width, heads, shared_heads)
        self.feed_norm = nn.RMSNorm(width, eps=1e-5)
        self.feed = SwiGLU(width, inner)

    def forward(self, x: Tensor, positions: Tensor, past: Past) -> tuple[Tensor, Past]:
        """What the layer adds to the tokens' states, and the layer's past with these tokens in it."""
        attended, past = self.attention(self.attention_norm(x), positions, past)
        return attended + self.feed(self.feed_norm(x + attended)), past


class PickyLayer(nn.Module):
    """A layer for the tokens that its router picks."""

    def __init__(self, layer: Layer, width: int) -> None:
        super().__init__()
        self.router = nn.Linear(width, 1)
        self.layer = layer

    def forward(self, x: Tensor, positions: Tensor, past: Past) -> tuple[Tensor, Past]:
        """What the layer adds to the tokens' states, and the layer's past with the picked tokens in it."""
        weights = torch.sigmoid(self.router(x))
        picked = torch.where(weights[0, :, 0] > 0.5)[0]
        added = torch.zeros_like(x)
        if len(picked) > 0:
            made, past = self.layer(x[:, picked], positions[picked], past)
            added[:, picked] = weights[:, picked] * made
        return added, past


class LayerSkippingDecoder(Decoder):
    """A decoder of which every second layer picks its tokens, as published."""

    def __init__(
        self, vocabulary: int, layers: int, width: int, heads: int, shared_heads: int, inner: int, longest: int
    ) -> None:
        plain = (Layer(width, heads, shared_heads, inner) for _ in range(layers))
        mixed = (layer if index % 2 == 0 else PickyLayer(layer, width) for index, layer in enumerate(plain))
        super().__init__(mixed, vocabulary, width, heads, shared_heads, longest)


def _build(size: Size) -> LayerSkippingDecoder:
    if size == "full":
        return LayerSkippingDecoder(
            VOCABULARY[size], layers=12, width=512, heads=8, shared_heads=2, inner=1408, longest=64
        )
    return LayerSkippingDecoder(VOCABULARY[size], layers=4, width=32, heads=4, shared_heads=2, inner=64, longest=16)


def _calibrate(model: LayerSkippingDecoder, inputs: Sequence[Inputs]) -> None:
    longest, model.longest = model.longest, 1  # the tokens of the prompts suffice for the routers
    for router in [layer.router for layer in model.layers if isinstance(layer, PickyLayer)]:
        (seen,) = results(model, [router], inputs)
        spread(router, torch.cat([scores[0] for scores in seen]), deviation=2.0)
    model.longest = longest
    end_variously(model, model.head, END, inputs)


LAYER_SKIPPING_DECODER = Network(
    name="layer-skipping-decoder",
    title="Decoder whose layers pick their tokens (mixture of depths)",
    source="Raposo et al. 2024, arXiv:2404.02258",
    decides="for each token which layers it passes through, and after each token whether the text is complete",
    build=_build,
    draw=draw_prompt,
    calibrate=_calibrate,
    calibrated_on=24,
)
