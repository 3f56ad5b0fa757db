"""Vision: overlapping boxes, edges that grow, and matching that stops early."""

import kornia
import torch
from kornia.feature import LightGlue
from torch import nn

from tests.thirdparty.case import INPUTS, case


class Suppression(nn.Module):
    """The boxes that no better box overlaps."""

    def forward(self, boxes, scores):
        return kornia.geometry.bbox.nms(boxes, scores, 0.3)


@case("kornia", "nms", decides="which box goes next, until none is left")
def boxes():
    corners = [torch.rand(10, 2) for _ in range(INPUTS)]
    sizes = [torch.rand(10, 2) * (0.1 + 0.05 * index) for index in range(INPUTS)]
    return Suppression(), [
        (torch.cat([corner, corner + size], 1), torch.rand(10)) for corner, size in zip(corners, sizes, strict=True)
    ]


@case("kornia", "Canny", decides="how often weak edges grow from strong ones")
def canny():
    return kornia.filters.Canny(), [(torch.rand(1, 1, 12, 12),) for _ in range(INPUTS)]


class Matching(nn.Module):
    """The keypoints of two images that belong together."""

    def __init__(self):
        super().__init__()
        self.glue = LightGlue(
            features=None,
            input_dim=32,
            descriptor_dim=32,
            num_heads=2,
            n_layers=3,
            depth_confidence=0.6,
            width_confidence=0.6,
            filter_threshold=0.0,
            flash=False,
        )
        for confidence in self.glue.token_confidence:
            confidence.token[0].weight.data.mul_(6.0)
            confidence.token[0].bias.data.fill_(1.5)

    def forward(self, points0, described0, points1, described1):
        size = torch.tensor([[64, 64]])
        return self.glue(
            {
                "image0": {"keypoints": points0, "descriptors": described0, "image_size": size},
                "image1": {"keypoints": points1, "descriptors": described1, "image_size": size},
            }
        )


@case("kornia", "LightGlue", decides="after how many layers it is sure, and which keypoints it drops")
def lightglue():
    return Matching(), [
        (torch.rand(1, 8, 2) * 64, torch.randn(1, 8, 32) * 2, torch.rand(1, 7, 2) * 64, torch.randn(1, 7, 32) * 2)
        for _ in range(INPUTS)
    ]


@case("kornia", "DescriptorMatcher, smnn", decides="how many pairs match both ways", paths=1)
def matches():
    return kornia.feature.DescriptorMatcher("smnn", 0.95), [
        (torch.randn(6, 8), torch.randn(5, 8)) for _ in range(INPUTS)
    ]
