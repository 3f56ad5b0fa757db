"""VGG-16 with batch normalisation (Simonyan, Zisserman 2015, arXiv:1409.1556)."""

from torch import nn

from dycl.zoo.images.shallow_deep import CLASSES, Backbone, network
from dycl.zoo.network import Size

_LAYERS = (2, 2, 3, 3, 3)
_WIDTHS = (64, 128, 256, 512, 512)


def vgg(size: Size) -> Backbone:
    """Thirteen convolutions in five stages and three linear layers, or, small, an eighth as wide."""
    widths = _WIDTHS if size == "full" else tuple(width // 8 for width in _WIDTHS)
    side, hidden = (7, 4096) if size == "full" else (1, 64)
    units = []
    channels = 3
    for layers, width in zip(_LAYERS, widths, strict=True):
        for layer in range(layers):
            unit = [nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
            units.append(nn.Sequential(*unit, *([nn.MaxPool2d(2)] if layer == layers - 1 else [])))
            channels = width
    head = nn.Sequential(
        nn.AdaptiveAvgPool2d(side),
        nn.Flatten(),
        nn.Linear(channels * side**2, hidden),
        nn.ReLU(),
        nn.Dropout(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Dropout(),
        nn.Linear(hidden, CLASSES),
    )
    return Backbone(units, head)


VGG = network("shallowdeep-vgg", 2, "ShallowDeep VGG-16", "Simonyan, Zisserman 2015, arXiv:1409.1556", vgg, small=32)
