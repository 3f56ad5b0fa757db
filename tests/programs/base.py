"""What the programs share: three layers, and inputs that take different paths."""

import torch
from torch import nn

WIDTH = 8


class Base(nn.Module):
    """Three linear layers to choose between; `paths` is how many paths 40 random inputs must take at least."""

    paths = 2

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(WIDTH, WIDTH)
        self.b = nn.Linear(WIDTH, WIDTH)
        self.c = nn.Linear(WIDTH, WIDTH)

    @staticmethod
    def inputs(generator):
        return (torch.randn(3, WIDTH, generator=generator),)
