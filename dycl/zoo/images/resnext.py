"""ResNeXt-50 without its head (Xie et al. 2017, arXiv:1611.05431): an image becomes a map of features."""

from collections.abc import Sequence

from torch import Tensor, nn


class Bottleneck(nn.Module):
    """Narrow, look around in separate groups of channels, widen, and add what came in."""

    def __init__(self, inward: int, inner: int, outward: int, groups: int, stride: int) -> None:
        super().__init__()
        self.narrow = nn.Conv2d(inward, inner, 1, bias=False)
        self.narrow_norm = nn.BatchNorm2d(inner)
        self.grouped = nn.Conv2d(inner, inner, 3, stride, padding=1, groups=groups, bias=False)
        self.grouped_norm = nn.BatchNorm2d(inner)
        self.widen = nn.Conv2d(inner, outward, 1, bias=False)
        self.widen_norm = nn.BatchNorm2d(outward)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut: nn.Module | None = None
        if stride != 1 or inward != outward:
            self.shortcut = nn.Sequential(nn.Conv2d(inward, outward, 1, stride, bias=False), nn.BatchNorm2d(outward))

    def forward(self, x: Tensor) -> Tensor:
        """The features after the block."""
        kept = x if self.shortcut is None else self.shortcut(x)
        x = self.relu(self.narrow_norm(self.narrow(x)))
        x = self.relu(self.grouped_norm(self.grouped(x)))
        x = self.widen_norm(self.widen(x))
        x += kept
        result: Tensor = self.relu(x)
        return result


class ResNeXt(nn.Module):
    """The 50 layers of 32 groups of 4 channels, or fewer.

    `blocks` says how many blocks each stage has; each stage but the first halves the image and doubles the channels.
    """

    def __init__(
        self, blocks: Sequence[int] = (3, 4, 6, 3), groups: int = 32, group_width: int = 4, stem: int = 64
    ) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, stem, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(stem),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2, padding=1),
        )
        stages: list[nn.Module] = []
        channels = stem
        for stage, count in enumerate(blocks):
            inner, outward = groups * group_width * 2**stage, 4 * stem * 2**stage
            for block in range(count):
                stride = 2 if stage > 0 and block == 0 else 1
                stages.append(Bottleneck(channels, inner, outward, groups, stride))
                channels = outward
        self.stages = nn.Sequential(*stages)
        self.channels = channels

    def forward(self, image: Tensor) -> Tensor:
        """The map of features, `1 x channels x height x width`, of an image, `1 x 3 x height x width`."""
        result: Tensor = self.stages(self.stem(image))
        return result
