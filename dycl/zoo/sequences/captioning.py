"""Captions for images: an encoder, and a recurrent decoder that looks at a part of the image for each word.

The decoder reads its own last word and stops when it has written the end.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from dycl.zoo.calibration import settle
from dycl.zoo.images.googlenet import INCEPTIONS, GoogLeNet
from dycl.zoo.images.resnext import ResNeXt
from dycl.zoo.network import Inputs, Network, Size
from dycl.zoo.random_inputs import image
from dycl.zoo.sequences.endings import end_variously, remember

START, END = 1, 2


class Attention(nn.Module):
    """How much each position of the image matters for the next word."""

    def __init__(self, feature_width: int, hidden_width: int, width: int) -> None:
        super().__init__()
        self.of_features = nn.Linear(feature_width, width)
        self.of_hidden = nn.Linear(hidden_width, width)
        self.score = nn.Linear(width, 1)

    def forward(self, features: Tensor, projected: Tensor, hidden: Tensor) -> Tensor:
        """The features (1 x positions x width), each counted as much as it matters to this hidden state."""
        scores: Tensor = self.score(torch.relu(projected + self.of_hidden(hidden).unsqueeze(1)))
        return (features * scores.softmax(1)).sum(1)


class Captioner(nn.Module):
    """An encoder and a decoder that writes at most `longest` words."""

    def __init__(
        self,
        encoder: ResNeXt | GoogLeNet,
        vocabulary: int,
        embedded: int,
        hidden: int,
        attended: int,
        longest: int = 50,
    ) -> None:
        super().__init__()
        self.longest = longest
        self.encoder = encoder
        self.attention = Attention(encoder.channels, hidden, attended)
        self.embedding = nn.Embedding(vocabulary, embedded)
        self.first_hidden = nn.Linear(encoder.channels, hidden)
        self.first_cell = nn.Linear(encoder.channels, hidden)
        self.gate = nn.Linear(hidden, encoder.channels)
        self.recurrent = nn.LSTMCell(embedded + encoder.channels, hidden)
        self.head = nn.Linear(hidden, vocabulary)
        remember(self.recurrent, longest)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        """The words of the caption, the end among them, and the score of each."""
        features = self.encoder(image).flatten(2).transpose(1, 2)
        projected = self.attention.of_features(features)
        hidden = torch.tanh(self.first_hidden(features.mean(1)))
        cell = torch.tanh(self.first_cell(features.mean(1)))
        word = torch.full((1,), START)
        words: list[Tensor] = []
        scores: list[Tensor] = []
        while len(words) < self.longest:
            context = torch.sigmoid(self.gate(hidden)) * self.attention(features, projected, hidden)
            hidden, cell = self.recurrent(torch.cat([self.embedding(word), context], 1), (hidden, cell))
            score, word = self.head(hidden).max(1)
            words.append(word)
            scores.append(score)
            if word.item() == END:
                break
        return torch.cat(words), torch.cat(scores)


def _with_resnext(size: Size) -> Captioner:
    if size == "full":
        return Captioner(ResNeXt(), vocabulary=9490, embedded=512, hidden=512, attended=512)
    return Captioner(ResNeXt((1, 1, 1), groups=4, group_width=2, stem=8), 100, embedded=32, hidden=32, attended=32)


def _with_googlenet(size: Size) -> Captioner:
    if size == "full":
        return Captioner(GoogLeNet(), vocabulary=9490, embedded=512, hidden=512, attended=512)
    return Captioner(GoogLeNet((INCEPTIONS[0], INCEPTIONS[1][:1]), 8), 100, embedded=32, hidden=32, attended=32)


def _draw(size: Size, generator: torch.Generator) -> Inputs:
    return (image(256 if size == "full" else 64, generator),)


def _calibrate(model: Captioner, inputs: Sequence[Inputs]) -> None:
    settle(model.encoder, inputs)
    end_variously(model, model.head, END, inputs)


CAPTIONING_RESNEXT = Network(
    name="captioning-resnext",
    title="Show, Attend and Tell, on ResNeXt-50",
    source="Xu et al. 2015, arXiv:1502.03044",
    decides="after each word whether the caption is complete",
    build=_with_resnext,
    draw=_draw,
    calibrate=_calibrate,
    calibrated_on=32,
    number=7,
)

CAPTIONING_GOOGLENET = Network(
    name="captioning-googlenet",
    title="Show, Attend and Tell, on GoogLeNet",
    source="Xu et al. 2015, arXiv:1502.03044",
    decides="after each word whether the caption is complete",
    build=_with_googlenet,
    draw=_draw,
    calibrate=_calibrate,
    calibrated_on=32,
    number=8,
)
