"""Constants that are changed in place where the input says."""

import torch

from tests.programs.base import Base


class MaskCleared(Base):
    paths = 1

    def forward(self, x):
        mask = torch.ones(4)
        mask[int(x.abs().sum()) % 4] = 0.0
        return mask


class MaskSlice(Base):
    def forward(self, x):
        n = int(x.abs().sum()) % 4
        mask = torch.zeros(4, 2, dtype=torch.bool)
        mask[:n] = True
        mask[n, 1] = True
        return mask if x.sum() > 0 else ~mask


class VisitedInLoop(Base):
    paths = 1

    def forward(self, x):
        visited = torch.zeros(4, dtype=torch.bool)
        place = int(x.abs().sum() * 3) % 4
        steps = 0
        while not visited[place]:
            visited[place] = True
            place = (place * 3 + 1) % 4
            steps += 1
        return visited, steps


class ViewOfConstant(Base):
    def forward(self, x):
        table = torch.zeros(4, 4)
        row = table[int(x.abs().sum()) % 4]
        row.add_(1)
        if x.sum() > 0:
            row.mul_(2)
        return table
