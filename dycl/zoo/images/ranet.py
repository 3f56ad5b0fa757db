"""RANet: the image is first looked at in low resolution; only if that does not do, in a higher one.

Yang, Han, Chen, Song, Dai, Huang: Resolution Adaptive Networks, CVPR 2020 (arXiv:2003.07326).
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dycl.zoo import random_inputs
from dycl.zoo.calibration import leave_when_sure, settle
from dycl.zoo.network import Inputs, Network, Size

CLASSES = 10
BLOCKS = (2, 2, 3)
"""How many blocks, each with a classifier behind it, the sub-network of each resolution has, the lowest first."""


def convolution(channels_in: int, channels: int, kernel: int, stride: int = 1) -> nn.Sequential:
    """A convolution, normalised and rectified."""
    return nn.Sequential(
        nn.Conv2d(channels_in, channels, kernel, stride, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
    )


class Pyramid(nn.Module):
    """The image's first features in every resolution."""

    def __init__(self, channels: int, scales: int) -> None:
        super().__init__()
        self.first = convolution(3, channels, 3)
        self.halvings = nn.ModuleList(convolution(channels, channels, 3, stride=2) for _ in range(scales - 1))

    def forward(self, image: Tensor) -> list[Tensor]:
        """Feature maps, the smallest first."""
        maps = [self.first(image)]
        for halving in self.halvings:
            maps.append(halving(maps[-1]))
        return maps[::-1]


class DenseLayer(nn.Module):
    """New channels from all there are, which come along."""

    def __init__(self, channels: int, growth: int) -> None:
        super().__init__()
        self.narrow = convolution(channels, 4 * growth, 1)
        self.wide = convolution(4 * growth, growth, 3)

    def forward(self, features: Tensor) -> Tensor:
        """The features with the new ones behind."""
        return torch.cat([features, self.wide(self.narrow(features))], dim=1)


class DenseBlock(nn.Module):
    """Dense layers; where a sub-network of lower resolution has run, its features come in at the end, enlarged."""

    def __init__(self, channels: int, growth: int, layers: int, lower: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(*(DenseLayer(channels + number * growth, growth) for number in range(layers)))
        self.channels = channels + layers * growth
        self.fusion = convolution(lower, growth, 1) if lower else None
        if self.fusion is not None:
            self.channels += growth

    def forward(self, features: Tensor, lower: Tensor | None) -> Tensor:
        """The block's features."""
        features = self.layers(features)
        if self.fusion is None:
            return features
        assert lower is not None
        enlarged = F.interpolate(self.fusion(lower), size=features.shape[2:], mode="bilinear", align_corners=False)
        return torch.cat([features, enlarged], dim=1)


class Classifier(nn.Module):
    """Two convolutions that halve the sides, a mean and a linear layer."""

    def __init__(self, channels: int, hidden: int) -> None:
        super().__init__()
        self.features = nn.Sequential(
            convolution(channels, hidden, 3, stride=2),
            convolution(hidden, hidden, 3, stride=2),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )
        self.linear = nn.Linear(hidden, CLASSES)

    def forward(self, features: Tensor) -> Tensor:
        """The logits."""
        logits: Tensor = self.linear(self.features(features))
        return logits


class RANet(nn.Module):
    """Sub-networks of rising resolution; an image leaves at the first classifier that is confident enough."""

    thresholds: Tensor

    def __init__(self, channels: int, growth: int, layers: int) -> None:
        super().__init__()
        self.pyramid = Pyramid(channels, len(BLOCKS))
        streams, classifiers = [], []
        lower: list[int] = []
        for blocks in BLOCKS:
            stream: list[DenseBlock] = []
            width = channels
            for number in range(blocks):
                below = lower[min(number, len(lower) - 1)] if lower else 0
                stream.append(DenseBlock(width, growth, layers, below))
                width = stream[-1].channels
                classifiers.append(Classifier(width, 4 * channels))
            lower = [block.channels for block in stream]
            streams.append(nn.ModuleList(stream))
        self.streams = nn.ModuleList(streams)
        self.classifiers = nn.ModuleList(classifiers)
        self.register_buffer("thresholds", torch.full((len(classifiers) - 1,), 2.0))

    def forward(self, image: Tensor) -> tuple[Tensor, int]:
        """The logits, and the number of the classifier that gave them."""
        exit = 0
        lower: list[Tensor] = []
        for stream, features in zip(self.streams, self.pyramid(image), strict=True):
            assert isinstance(stream, nn.ModuleList)
            outputs: list[Tensor] = []
            for number, block in enumerate(stream):
                below = lower[min(number, len(lower) - 1)] if lower else None
                features = block(features, below)
                outputs.append(features)
                logits = self.classifiers[exit](features)
                if exit == len(self.thresholds):
                    break
                if logits.softmax(-1).max() > self.thresholds[exit]:
                    return logits, exit
                exit += 1
            lower = outputs
        return logits, exit


def calibrate(model: RANet, inputs: Sequence[Inputs]) -> None:
    """Nothing; an equal share of the inputs leaves at each classifier afterwards."""
    settle(model, inputs)
    classifiers = [module for module in model.classifiers.modules() if isinstance(module, nn.Linear)]
    leave_when_sure(model, classifiers, inputs, model.thresholds)


def _draw(size: Size, generator: torch.Generator) -> Inputs:
    return (random_inputs.image(32, generator),)


RANET = Network(
    name="ranet",
    title="RANet",
    source="Yang et al. 2020, arXiv:2003.07326",
    decides="at which of seven classifiers, in which resolution, the image leaves",
    build=lambda size: RANet(*((16, 12, 4) if size == "full" else (8, 4, 2))),
    draw=_draw,
    calibrate=calibrate,
)
