"""SkipNet: before each block a gate looks at the features and says whether the block is worth running.

Wang, Yu, Dou, Darrell, Gonzalez: SkipNet, ECCV 2018 (arXiv:1711.09485).
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from dycl.zoo import random_inputs
from dycl.zoo.calibration import results, settle, spread
from dycl.zoo.images.resnet import BasicBlock, stages
from dycl.zoo.network import Inputs, Network, Size

CLASSES = 10
EMBEDDING = 10
SOURCE = "Wang et al. 2018, arXiv:1711.09485"


State = tuple[Tensor, Tensor]


class RecurrentGate(nn.Module):
    """A gate that shares its LSTM with the others, and so knows what they said of the blocks before."""

    def __init__(self, channels: int, lstm: nn.LSTM, score: nn.Linear) -> None:
        super().__init__()
        self.embedding = nn.Conv2d(channels, EMBEDDING, 1)
        self.lstm = lstm
        self.score = score

    def forward(self, features: Tensor, state: State | None) -> tuple[Tensor, State | None]:
        """How much the gate is for running its block, before the sigmoid, and what the next gate remembers."""
        embedded = self.embedding(features.mean((2, 3), keepdim=True)).flatten(1)
        output, state = self.lstm(embedded.unsqueeze(0), state)
        return self.score(output[0]), state


class FeedForwardGate(nn.Module):
    """A gate of its own: a convolution, and a linear layer on the mean of what it gives."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.pool = nn.MaxPool2d(2)
        self.convolution = nn.Conv2d(channels, channels, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.score = nn.Linear(channels, 1)

    def forward(self, features: Tensor, state: State | None) -> tuple[Tensor, State | None]:
        """How much the gate is for running its block, before the sigmoid; nothing is remembered."""
        seen = self.norm(self.convolution(self.pool(features))).relu()
        return self.score(seen.mean((2, 3))), state


class SkipNet(nn.Module):
    """A residual network for small images in which every block but the first may be skipped."""

    def __init__(self, recurrent: bool, width: int, depth: int) -> None:
        super().__init__()
        widths = (width, 2 * width, 4 * width)
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        first, *others = stages(BasicBlock, width, widths, depth)
        self.first = first
        self.blocks = nn.ModuleList(others)
        self.shortcuts = nn.ModuleList(block.get_submodule("shortcut") for block in others)
        given = [block.get_parameter("first.weight").shape[1] for block in others]
        if recurrent:
            lstm, score = nn.LSTM(EMBEDDING, EMBEDDING), nn.Linear(EMBEDDING, 1)
            self.gates = nn.ModuleList(RecurrentGate(channels, lstm, score) for channels in given)
        else:
            self.gates = nn.ModuleList(map(FeedForwardGate, given))
        self.head = nn.Linear(widths[-1], CLASSES)

    def forward(self, image: Tensor) -> Tensor:
        """The logits."""
        features = self.first(self.stem(image))
        state: State | None = None
        for block, shortcut, gate in zip(self.blocks, self.shortcuts, self.gates, strict=True):
            score, state = gate(features, state)
            if torch.sigmoid(score).item() > 0.5:
                features = block(features)
            else:
                features = shortcut(features)
        logits: Tensor = self.head(features.mean((2, 3)))
        return logits


def calibrate(model: SkipNet, inputs: Sequence[Inputs]) -> None:
    """Nothing; the gates keep about half of the blocks afterwards, other ones for other inputs."""
    scores = [module for name, module in model.gates.named_modules() if name.endswith("score")]
    embeddings = [module for name, module in model.gates.named_modules() if name.endswith("embedding")]
    for score in scores:
        nn.init.constant_(score.get_parameter("bias"), 1000.0)  # all blocks run
    settle(model, inputs)
    for embedding, seen in zip(embeddings, results(model, embeddings, inputs), strict=True):
        spread(embedding, torch.cat(seen).flatten(1), 2.0)
    for score, seen in zip(scores, results(model, scores, inputs), strict=True):
        spread(score, torch.cat(seen), 2.0)


def _network(name: str, title: str, number: int, recurrent: bool) -> Network:
    return Network(
        name=name,
        title=title,
        source=SOURCE,
        decides="for each block but the first, whether it runs or is skipped",
        build=lambda size: SkipNet(recurrent, *((16, 6) if size == "full" else (8, 3))),
        draw=_draw,
        calibrate=calibrate,
        number=number,
    )


def _draw(size: Size, generator: torch.Generator) -> Inputs:
    return (random_inputs.image(32, generator),)


RECURRENT = _network("skipnet-rnn", "SkipNet-38, LSTM gate", 5, recurrent=True)
FEED_FORWARD = _network("skipnet-gates", "SkipNet-38, feed-forward gates", 6, recurrent=False)
