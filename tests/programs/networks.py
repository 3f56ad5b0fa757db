"""The four kinds of network that everything is measured on first."""

import torch
import torch.nn.functional as F
from torch import nn


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        x = F.relu(self.norm1(self.conv1(x)), inplace=True)
        return F.relu(self.norm2(self.conv2(x)) + shortcut)


class Gate(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.score = nn.Linear(channels, 1)

    def forward(self, x):
        return torch.sigmoid(self.score(F.adaptive_avg_pool2d(x, 1).flatten(1)))


class GatedResNet(nn.Module):
    """Skips a block unless it changes the shape or its gate opens."""

    def __init__(self, depth=18, width=8):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, 1, 1)
        channels = [width * 2 ** (3 * number // depth) for number in range(depth)]
        pairs = list(zip([width, *channels], channels))
        self.blocks = nn.ModuleList(ResidualBlock(i, o, 1 if i == o else 2) for i, o in pairs)
        self.gates = nn.ModuleList(Gate(i) for i, _ in pairs)
        self.head = nn.Linear(channels[-1], 10)

    def forward(self, x):
        x = self.stem(x)
        for b, g in zip(self.blocks, self.gates):
            gate = g(x)
            if b.downsample is not None or gate > 0.5:
                x = b(x)
        return self.head(x.mean((2, 3)))


class EarlyExitNet(nn.Module):
    """Leaves as soon as it is sure; the test and the return sit in helper methods."""

    def __init__(self, stages=5, width=8, threshold=0.16):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, 1, 1)
        self.stages = nn.ModuleList(ResidualBlock(width, width) for _ in range(stages))
        self.heads = nn.ModuleList(nn.Linear(width, 10) for _ in range(stages))
        self.threshold = threshold

    def is_sure(self, logits):
        return F.softmax(logits, dim=-1).max() > self.threshold

    def run_stages(self, x):
        for number, (stage, head) in enumerate(zip(self.stages, self.heads)):
            x = stage(x)
            logits = head(x.mean((2, 3)))
            if self.is_sure(logits):
                return logits, number
        return logits, len(self.stages)

    def forward(self, x):
        return self.run_stages(self.stem(x))


class FixedPointSolver(nn.Module):
    """Iterates to a fixed point; how often depends on the input."""

    def __init__(self, width=16, tolerance=1e-4):
        super().__init__()
        self.step = nn.Linear(width, width)
        self.tolerance = tolerance
        with torch.no_grad():
            self.step.weight.mul_(0.8)

    def forward(self, x):
        z = torch.tanh(x)
        residual = (z - x).norm()
        iterations = 0
        while residual > self.tolerance:
            following = torch.tanh(self.step(z) + x)
            residual = (following - z).norm()
            z = following
            iterations += 1
        return z, iterations


class GreedyDecoder(nn.Module):
    """Says words until the end token, at most `max_steps`."""

    def __init__(self, words=12, width=16, max_steps=20, end=3):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.cell = nn.GRUCell(width, width)
        self.output = nn.Linear(width, words)
        self.max_steps = max_steps
        self.end = end

    def forward(self, h):
        token = torch.zeros(h.shape[0], dtype=torch.long)
        words = []
        for step in range(self.max_steps):
            h = self.cell(self.embedding(token), h)
            token = self.output(h).argmax(-1)
            if token == self.end:
                break
            words.append(token)
        return torch.stack(words)


class SmallGates(nn.Module):
    """Many cheap gates, to see how rewriting grows with the number of decisions."""

    def __init__(self, gates, width=8):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(gates))
        self.gates = nn.ModuleList(nn.Linear(width, 1) for _ in range(gates))

    def forward(self, x):
        skipped = 0
        for layer, gate in zip(self.layers, self.gates):
            if torch.sigmoid(gate(x)) > 0.5:
                x = x + 0.1 * torch.tanh(layer(x))
            else:
                skipped += 1
        return x, skipped
