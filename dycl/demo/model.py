"""The model of the demo: plain PyTorch, with a plain `if` that lets easy images leave early."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Stage(nn.Module):
    """Two convolutions, the second with a shortcut around it."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels_in, channels, 3, stride, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels)

    def forward(self, features: Tensor) -> Tensor:
        """The stage's features."""
        features = F.relu(self.first_norm(self.first(features)))
        return F.relu(features + self.second_norm(self.second(features)))


class EarlyExitNet(nn.Module):
    """A classifier with an exit after every stage; an image leaves at the first that is confident enough."""

    def __init__(
        self, widths: Sequence[int] = (8, 16, 32, 64), strides: Sequence[int] = (1, 1, 2, 1), classes: int = 10
    ) -> None:
        super().__init__()
        channels_in = (1, *widths[:-1])
        self.stages = nn.ModuleList(map(Stage, channels_in, widths, strides))
        self.exits = nn.ModuleList(
            nn.Sequential(nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(4 * width, classes)) for width in widths
        )
        self.last = len(widths) - 1
        self.threshold = 0.9

    def forward(self, image: Tensor) -> Tensor:
        """The logits of the exit at which the image leaves."""
        features = image
        for number, (stage, exit) in enumerate(zip(self.stages, self.exits, strict=True)):
            features = stage(features)
            logits: Tensor = exit(features)
            if number == self.last or self.is_confident(logits):
                break
        return logits

    def is_confident(self, logits: Tensor) -> Tensor:
        """Whether the most likely class is likely enough to stop here."""
        confidence = logits.softmax(-1).max()
        return confidence > self.threshold

    def all_exits(self, images: Tensor) -> Tensor:
        """The logits of every exit, first exit first: what training and the choice of the threshold look at."""
        features, logits = images, []
        for stage, exit in zip(self.stages, self.exits, strict=True):
            features = stage(features)
            logits.append(exit(features))
        return torch.stack(logits)
