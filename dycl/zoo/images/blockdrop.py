"""BlockDrop: a small network looks at the image and says, once, which blocks of a large one to run.

Wu, Nagarajan, Kumar, Rennie, Davis, Grauman, Feris: BlockDrop, CVPR 2018 (arXiv:1711.08393).
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dycl.zoo import random_inputs
from dycl.zoo.calibration import results, settle, spread
from dycl.zoo.network import Inputs, Network, Size

CLASSES = 10


class Residual(nn.Module):
    """The two convolutions of a block; the shortcut around them is the network's."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels_in, channels, 3, stride, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels)

    def forward(self, features: Tensor) -> Tensor:
        """The correction that the block has learnt."""
        correction: Tensor = self.second_norm(self.second(F.relu(self.first_norm(self.first(features)))))
        return correction


class Shortcut(nn.Module):
    """Features of half the sides and twice the channels, the new ones zero; without weights."""

    def forward(self, features: Tensor) -> Tensor:
        """The features, made to fit the next stage."""
        smaller = F.avg_pool2d(features, 2)
        return torch.cat([smaller, torch.zeros_like(smaller)], dim=1)


class FlatResNet(nn.Module):
    """A residual network for small images whose blocks stand in one flat list, to be run or not."""

    def __init__(self, width: int, depth: int, outputs: int) -> None:
        super().__init__()
        self.seed = nn.Sequential(nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        blocks: list[nn.Module] = []
        shortcuts: list[nn.Module] = []
        channels = width
        for stage in range(3):
            for number in range(depth):
                grows = stage > 0 and number == 0
                blocks.append(Residual(channels, 2 * channels if grows else channels, 2 if grows else 1))
                shortcuts.append(Shortcut() if grows else nn.Identity())
                channels = 2 * channels if grows else channels
        self.blocks = nn.ModuleList(blocks)
        self.shortcuts = nn.ModuleList(shortcuts)
        self.head = nn.Linear(channels, outputs)

    def forward(self, image: Tensor, policy: Tensor | None = None) -> Tensor:
        """The logits; `policy` has a 1 for every block that runs, without one all do."""
        features = self.seed(image)
        for number, (block, shortcut) in enumerate(zip(self.blocks, self.shortcuts, strict=True)):
            residual = shortcut(features)
            if policy is None or policy[0, number] == 1:
                features = F.relu(residual + block(features))
            else:
                features = residual
        logits: Tensor = self.head(features.mean((2, 3)))
        return logits


class BlockDrop(nn.Module):
    """A policy network and the network whose blocks it drops."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.backbone = FlatResNet(width, depth, CLASSES)
        self.agent = FlatResNet(width, 1, len(self.backbone.blocks))

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        """The logits and the policy that was followed."""
        probabilities = torch.sigmoid(self.agent(image))
        policy = (probabilities > 0.5).float()
        return self.backbone(image, policy), policy


def calibrate(model: BlockDrop, inputs: Sequence[Inputs]) -> None:
    """Nothing; each block runs for about half of the inputs afterwards."""
    head = model.agent.head
    nn.init.constant_(head.bias, 1000.0)  # all blocks run
    settle(model, inputs)
    spread(head, torch.cat(results(model, [head], inputs)[0]), 2.0)


def _draw(size: Size, generator: torch.Generator) -> Inputs:
    return (random_inputs.image(32, generator),)


BLOCKDROP = Network(
    name="blockdrop",
    title="BlockDrop, flat ResNet-32",
    source="Wu et al. 2018, arXiv:1711.08393",
    decides="which blocks run, all at once, by a policy vector",
    build=lambda size: BlockDrop(*((16, 5) if size == "full" else (8, 3))),
    draw=_draw,
    calibrate=calibrate,
    number=9,
)
