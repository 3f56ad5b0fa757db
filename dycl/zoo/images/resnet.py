"""Residual networks for small images: ResNet-56 (He et al. 2016) and WideResNet-32-4 (Zagoruyko, Komodakis 2016)."""

from torch import Tensor, nn
from torch.nn import functional as F

from dycl.zoo.images.shallow_deep import CLASSES, Backbone, network
from dycl.zoo.network import Size


class BasicBlock(nn.Module):
    """Two convolutions and a shortcut, which is a convolution of one pixel where the shape changes."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels_in, channels, 3, stride, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels)
        self.shortcut = nn.Sequential()
        if stride != 1 or channels_in != channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels_in, channels, 1, stride, bias=False), nn.BatchNorm2d(channels)
            )

    def forward(self, features: Tensor) -> Tensor:
        """The features, of which the block learns a correction."""
        inner = F.relu(self.first_norm(self.first(features)))
        return F.relu(self.second_norm(self.second(inner)) + self.shortcut(features))


class WideBlock(nn.Module):
    """A block that normalises before it convolves, so that the shortcut stays untouched."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        self.first_norm = nn.BatchNorm2d(channels_in)
        self.first = nn.Conv2d(channels_in, channels, 3, stride, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels)
        self.dropout = nn.Dropout(0.3)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.shortcut: nn.Conv2d | None = None
        if stride != 1 or channels_in != channels:
            self.shortcut = nn.Conv2d(channels_in, channels, 1, stride, bias=False)

    def forward(self, features: Tensor) -> Tensor:
        """The features and the block's correction."""
        active = F.relu(self.first_norm(features))
        inner: Tensor = self.second(self.dropout(F.relu(self.second_norm(self.first(active)))))
        return inner + (features if self.shortcut is None else self.shortcut(active))


Block = type[BasicBlock] | type[WideBlock]


def stages(block: Block, channels: int, widths: tuple[int, ...], depth: int) -> list[nn.Module]:
    """The blocks of all stages; the first block of each but the first stage halves the sides."""
    units: list[nn.Module] = []
    for stage, width in enumerate(widths):
        for number in range(depth):
            units.append(block(channels, width, 2 if stage and not number else 1))
            channels = width
    return units


def resnet(size: Size) -> Backbone:
    """ResNet-56, 27 blocks; small, ResNet-20 of half the width."""
    width, depth = (16, 9) if size == "full" else (8, 3)
    widths = (width, 2 * width, 4 * width)
    stem = nn.Sequential(nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], CLASSES))
    return Backbone([stem, *stages(BasicBlock, width, widths, depth)], head)


def wide_resnet(size: Size) -> Backbone:
    """WideResNet-32-4, 15 blocks; small, WideResNet-20-1 of half that width."""
    width, depth = (64, 5) if size == "full" else (8, 3)
    widths = (width, 2 * width, 4 * width)
    stem = nn.Conv2d(3, 16, 3, padding=1, bias=False)
    head = nn.Sequential(
        nn.BatchNorm2d(widths[-1]), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], CLASSES)
    )
    return Backbone([stem, *stages(WideBlock, 16, widths, depth)], head)


RESNET = network("shallowdeep-resnet", 3, "ShallowDeep ResNet-56", "He et al. 2016, arXiv:1512.03385", resnet, small=32)
WIDE_RESNET = network(
    "shallowdeep-wideresnet",
    4,
    "ShallowDeep WideResNet-32-4",
    "Zagoruyko, Komodakis 2016, arXiv:1605.07146",
    wide_resnet,
    small=32,
)
