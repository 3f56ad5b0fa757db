"""MobileNet: depthwise convolutions, each followed by one of a single pixel (Howard et al. 2017, arXiv:1704.04861)."""

from torch import nn

from dycl.zoo.images.shallow_deep import CLASSES, Backbone, network
from dycl.zoo.network import Size

_FULL = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *((512, 1),) * 5, (1024, 2), (1024, 1))
_SMALL = tuple((channels // 8, stride) for channels, stride in _FULL)


def separable(channels_in: int, channels: int, stride: int) -> nn.Sequential:
    """A convolution of 3 x 3 pixels within each channel, then one across the channels."""
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_in, 3, stride, padding=1, groups=channels_in, bias=False),
        nn.BatchNorm2d(channels_in),
        nn.ReLU(),
        nn.Conv2d(channels_in, channels, 1, bias=False),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
    )


def mobilenet(size: Size) -> Backbone:
    """MobileNet of width 1, or of an eighth of that."""
    plan = _FULL if size == "full" else _SMALL
    channels = plan[0][0] // 2
    units = [nn.Sequential(nn.Conv2d(3, channels, 3, 2, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU())]
    for out, stride in plan:
        units.append(separable(channels, out, stride))
        channels = out
    return Backbone(units, nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES)))


MOBILENET = network(
    "shallowdeep-mobilenet", 1, "ShallowDeep MobileNet", "Howard et al. 2017, arXiv:1704.04861", mobilenet, small=64
)
