"""Random inputs that differ as real ones do: some plain, some busy, some faint, some strong."""

import torch
from torch import Tensor
from torch.nn import functional as F


def image(side: int, generator: torch.Generator) -> Tensor:
    """One image, `1 x 3 x side x side`: coarse shapes, finer ones on top, and noise, each as strong as it comes."""
    picture = torch.zeros(1, 3, side, side)
    for cells in (2, 4, 8, side):
        strength = torch.empty(()).uniform_(0.0, 1.0, generator=generator) ** 2
        coarse = torch.randn(1, 3, cells, cells, generator=generator)
        picture += strength * F.interpolate(coarse, size=(side, side), mode="bilinear", align_corners=False)
    contrast = torch.empty(()).uniform_(0.5, 2.0, generator=generator)
    brightness = torch.randn(1, 3, 1, 1, generator=generator)
    return contrast * picture + brightness


def words(vocabulary: int, shortest: int, longest: int, generator: torch.Generator) -> Tensor:
    """One sentence, `1 x length`, of word numbers from 3 on: the first three are the padding, the start and the end."""
    length = int(torch.randint(shortest, longest + 1, (), generator=generator))
    return torch.randint(3, vocabulary, (1, length), generator=generator)
