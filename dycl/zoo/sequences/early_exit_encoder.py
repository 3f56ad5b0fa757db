"""A sentence classifier with a way out after each layer: it leaves when it is sure enough."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dycl.zoo.calibration import leave_evenly, results, spread
from dycl.zoo.network import Inputs, Network, Size
from dycl.zoo.random_inputs import words

PADDING = 0
_VOCABULARY = {"small": 100, "full": 30_522}
_LENGTH = {"small": 16, "full": 128}


class Layer(nn.Module):
    """Attention of each word to all others, then two linear layers for each word."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.mix = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=1e-12)
        self.widen = nn.Linear(width, inner)
        self.narrow = nn.Linear(inner, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """The words' states after the layer; words where the mask is False are not attended to."""
        query, key, value = (
            part(x).unflatten(2, (self.heads, -1)).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        attended = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        x = self.attention_norm(x + self.mix(attended.transpose(1, 2).flatten(2)))
        result: Tensor = self.norm(x + self.narrow(F.gelu(self.widen(x))))
        return result


class Exit(nn.Module):
    """A classifier of the sentence by the state of its first word."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.pool = nn.Linear(width, width)
        self.classify = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        """The scores of the classes."""
        scores: Tensor = self.classify(torch.tanh(self.pool(x[:, 0])))
        return scores


def entropy(scores: Tensor) -> Tensor:
    """How unsure these scores of classes are."""
    return -(scores.softmax(1) * scores.log_softmax(1)).sum()


class EarlyExitEncoder(nn.Module):
    """A BERT with an exit after each layer."""

    thresholds: Tensor

    def __init__(
        self, vocabulary: int, length: int, layers: int, width: int, heads: int, inner: int, classes: int
    ) -> None:
        super().__init__()
        self.word_embedding = nn.Embedding(vocabulary, width)
        self.position_embedding = nn.Embedding(length, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(width, heads, inner) for _ in range(layers))
        self.exits = nn.ModuleList(Exit(width, classes) for _ in range(layers))
        self.register_buffer("thresholds", torch.zeros(layers - 1))

    def forward(self, sentence: Tensor) -> dict[str, Tensor | int]:
        """The scores of the classes, and after how many layers they were good enough."""
        mask = (sentence != PADDING)[:, None, None, :]
        positions = torch.arange(sentence.shape[1], device=sentence.device)
        x = self.norm(self.word_embedding(sentence) + self.position_embedding(positions))
        for depth, (layer, exit) in enumerate(zip(self.layers, self.exits, strict=True), start=1):
            x = layer(x, mask)
            scores = exit(x)
            if depth < len(self.layers) and entropy(scores) < self.thresholds[depth - 1]:
                break
        return {"scores": scores, "layers": depth}


def _build(size: Size) -> EarlyExitEncoder:
    vocabulary, length = _VOCABULARY[size], _LENGTH[size]
    if size == "full":
        return EarlyExitEncoder(vocabulary, length, layers=12, width=768, heads=12, inner=3072, classes=3)
    return EarlyExitEncoder(vocabulary, length, layers=6, width=32, heads=4, inner=64, classes=3)


def _draw(size: Size, generator: torch.Generator) -> Inputs:
    sentence = words(_VOCABULARY[size], _LENGTH[size] // 8, _LENGTH[size], generator)
    return (F.pad(sentence, (0, _LENGTH[size] - sentence.shape[1]), value=PADDING),)


def _calibrate(model: EarlyExitEncoder, inputs: Sequence[Inputs]) -> None:
    classifiers = [exit.get_submodule("classify") for exit in model.exits]
    seen = map(torch.cat, results(model, classifiers, inputs))  # the thresholds are 0 and let no input go
    scores = [spread(classifier, given, deviation=2.0) for classifier, given in zip(classifiers, seen, strict=True)]
    certainties = [
        [-float(entropy(scores[exit][[row]])) for exit in range(len(scores) - 1)] for row in range(len(inputs))
    ]
    leave_evenly(certainties, model.thresholds)
    model.thresholds.neg_()


EARLY_EXIT_ENCODER = Network(
    name="early-exit-encoder",
    title="BERT with early exits (DeeBERT)",
    source="Xin et al. 2020, arXiv:2004.12993",
    decides="after each layer whether the classifier there is sure enough",
    build=_build,
    draw=_draw,
    calibrate=_calibrate,
)
