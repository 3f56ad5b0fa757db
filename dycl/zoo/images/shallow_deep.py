"""Shallow-Deep networks: a classifier looks over the backbone's shoulder at six places, and a sure one ends the run.

Kaya, Hong, Dumitras: Shallow-Deep Networks, ICML 2019 (arXiv:1810.07052).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dycl.zoo import random_inputs
from dycl.zoo.calibration import leave_when_sure, settle
from dycl.zoo.network import Inputs, Network, Size

SHARES = (0.15, 0.30, 0.45, 0.60, 0.75, 0.90)
"""Where the internal classifiers stand: after these shares of the backbone's multiplications."""

POOLED = 4
CLASSES = 10
SOURCE = "Kaya et al. 2019, arXiv:1810.07052"


@dataclass(frozen=True, slots=True)
class Backbone:
    """A plain network in pieces: an exit may follow each of `units`; `head` makes logits of the last one's features."""

    units: Sequence[nn.Module]
    head: nn.Module


class InternalClassifier(nn.Module):
    """A classifier of feature maps: maximum and mean of each part of the map, mixed, and one linear layer."""

    def __init__(self, channels: int, side: int, classes: int) -> None:
        super().__init__()
        window = max(side // POOLED, 1)
        self.maximum = nn.MaxPool2d(window)
        self.mean = nn.AvgPool2d(window)
        self.mix = nn.Parameter(torch.rand(()))
        self.linear = nn.Linear(channels * (side // window) ** 2, classes)

    def forward(self, features: Tensor) -> Tensor:
        """The logits."""
        share = self.mix.sigmoid()
        reduced = share * self.maximum(features) + (1 - share) * self.mean(features)
        logits: Tensor = self.linear(reduced.flatten(1))
        return logits


class ShallowDeep(nn.Module):
    """A backbone with six internal classifiers; an image leaves at the first whose confidence passes its threshold."""

    thresholds: Tensor

    def __init__(self, backbone: Backbone, side: int, classes: int = CLASSES) -> None:
        super().__init__()
        costs, shapes = measure(backbone.units, torch.zeros(1, 3, side, side))
        ends = [_first_past(share * sum(costs), costs) for share in SHARES]
        starts = [0, *ends[:-1]]
        self.segments = nn.ModuleList(
            nn.Sequential(*backbone.units[start:end]) for start, end in zip(starts, ends, strict=True)
        )
        self.classifiers = nn.ModuleList(
            InternalClassifier(shapes[end - 1][1], shapes[end - 1][-1], classes) for end in ends
        )
        self.rest = nn.Sequential(*backbone.units[ends[-1] :])
        self.head = backbone.head
        self.register_buffer("thresholds", torch.full((len(SHARES),), 2.0))

    def forward(self, image: Tensor) -> tuple[Tensor, int]:
        """The logits, and the number of the classifier that gave them."""
        features = image
        for number, (segment, classifier) in enumerate(zip(self.segments, self.classifiers, strict=True)):
            features = segment(features)
            logits = classifier(features)
            confidence = logits.softmax(-1).max()
            if confidence > self.thresholds[number]:
                return logits, number
        return self.head(self.rest(features)), len(self.classifiers)


def measure(units: Sequence[nn.Module], example: Tensor) -> tuple[list[int], list[tuple[int, ...]]]:
    """How many multiplications each unit makes, and the shape of what it gives."""
    costs, shapes = [], []
    count = 0

    def note(module: nn.Module, inputs: Inputs, output: Tensor) -> None:
        nonlocal count
        weight = module.get_parameter("weight")
        count += output.numel() * weight[0].numel()

    features = example
    with torch.no_grad():
        for unit in units:
            layers = [module for module in unit.modules() if isinstance(module, nn.Conv2d | nn.Linear)]
            handles = [layer.register_forward_hook(note) for layer in layers]
            count = 0
            features = unit.eval()(features)
            for handle in handles:
                handle.remove()
            costs.append(count)
            shapes.append(tuple(features.shape))
    return costs, shapes


def _first_past(amount: float, costs: Sequence[int]) -> int:
    """How many units together cost as much as this, or just more."""
    total = 0
    for number, cost in enumerate(costs, 1):
        total += cost
        if total >= amount:
            return number
    raise ValueError("the units cost less")


def calibrate(model: ShallowDeep, inputs: Sequence[Inputs]) -> None:
    """Nothing; an equal share of the inputs leaves at each classifier afterwards."""
    settle(model, inputs[: len(inputs) // 3])
    classifiers = [module for module in model.classifiers.modules() if isinstance(module, nn.Linear)]
    leave_when_sure(model, classifiers, inputs, model.thresholds)


def network(
    name: str, number: int, title: str, source: str, backbone: Callable[[Size], Backbone], small: int
) -> Network:
    """The zoo's entry of a backbone with exits, on images of 256 x 256 or, small, of another size."""

    def side(size: Size) -> int:
        return 256 if size == "full" else small

    return Network(
        name=name,
        title=title,
        source=f"{SOURCE}; {source}",
        decides="at which of six internal classifiers the image leaves",
        build=lambda size: ShallowDeep(backbone(size), side(size)),
        draw=lambda size, generator: (random_inputs.image(side(size), generator),),
        calibrate=calibrate,
        calibrated_on=42,
        number=number,
    )
