"""GoogLeNet without its heads (Szegedy et al. 2015, arXiv:1409.4842), with batch normalisation.

An image becomes a map of features.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

Widths = tuple[int, int, int, int, int, int]
"""Channels of an inception block: 1x1; before and of 3x3; before and of 5x5; after the pooling."""

INCEPTIONS: tuple[tuple[Widths, ...], ...] = (
    ((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64)),
    (
        (192, 96, 208, 16, 48, 64),
        (160, 112, 224, 24, 64, 64),
        (128, 128, 256, 24, 64, 64),
        (112, 144, 288, 32, 64, 64),
        (256, 160, 320, 32, 128, 128),
    ),
    ((256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128)),
)


class Convolution(nn.Module):
    """A convolution, normalised and rectified."""

    def __init__(self, inward: int, outward: int, side: int, stride: int = 1) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(inward, outward, side, stride, padding=side // 2, bias=False)
        self.norm = nn.BatchNorm2d(outward, eps=0.001)

    def forward(self, x: Tensor) -> Tensor:
        """The features after the convolution."""
        return torch.relu(self.norm(self.convolution(x)))


class Inception(nn.Module):
    """Four views of the same features, side by side."""

    def __init__(self, inward: int, widths: Widths) -> None:
        super().__init__()
        point, before_three, three, before_five, five, pooled = widths
        self.views = nn.ModuleList(
            [
                Convolution(inward, point, 1),
                nn.Sequential(Convolution(inward, before_three, 1), Convolution(before_three, three, 3)),
                nn.Sequential(Convolution(inward, before_five, 1), Convolution(before_five, five, 5)),
                nn.Sequential(nn.MaxPool2d(3, stride=1, padding=1), Convolution(inward, pooled, 1)),
            ]
        )
        self.channels = point + three + five + pooled

    def forward(self, x: Tensor) -> Tensor:
        """The features of all views."""
        return torch.cat([view(x) for view in self.views], 1)


class GoogLeNet(nn.Module):
    """Three groups of inception blocks with a pooling between them.

    `narrower` divides the channels of every layer; the published network is 1.
    """

    def __init__(self, groups: Sequence[Sequence[Widths]] = INCEPTIONS, narrower: int = 1) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            Convolution(3, 64 // narrower, 7, stride=2),
            nn.MaxPool2d(3, stride=2, ceil_mode=True),
            Convolution(64 // narrower, 64 // narrower, 1),
            Convolution(64 // narrower, 192 // narrower, 3),
        )
        channels = 192 // narrower
        layers: list[nn.Module] = []
        for group in groups:
            layers.append(nn.MaxPool2d(3, stride=2, ceil_mode=True))
            for published in group:
                point, before_three, three, before_five, five, pooled = (width // narrower for width in published)
                block = Inception(channels, (point, before_three, three, before_five, five, pooled))
                layers.append(block)
                channels = block.channels
        self.layers = nn.Sequential(*layers)
        self.channels = channels

    def forward(self, image: Tensor) -> Tensor:
        """The map of features, `1 x channels x height x width`, of an image, `1 x 3 x height x width`."""
        result: Tensor = self.layers(self.stem(image))
        return result
