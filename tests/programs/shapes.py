"""Programs that must hold for every size: batches, sequences and images whose sizes only the input determines."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim

WIDTH = 8
BATCH, TIME = Dim("batch"), Dim("time")
ROWS = {"x": {0: BATCH}}
STEPS = {"x": {0: BATCH, 1: TIME}}


class Sized(nn.Module):
    """A program, its `dynamic_shapes`, and how to make an input for a batch and a length."""

    shapes = STEPS
    sizes = [(batch, time) for batch in (1, 2, 3, 5) for time in (1, 2, 3, 4, 7, 12)]
    empty_sizes = [(0, 3), (0, 1)]

    @staticmethod
    def inputs(generator, batch, time):
        return (torch.randn(batch, time, WIDTH, generator=generator),)


class EarlyExitEncoder(Sized):
    """A transformer encoder that stops after the layer in which every sample of the batch is confident."""

    sizes = [(batch, time) for batch in (1, 2, 3) for time in (1, 2, 5, 9)]
    empty_sizes = []

    def __init__(self):
        super().__init__()
        self.positions = nn.Parameter(torch.randn(1, 16, WIDTH))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, 2, 16, batch_first=True, norm_first=True) for _ in range(3)
        )
        self.heads = nn.ModuleList(nn.Linear(WIDTH, 3) for _ in range(3))

    def forward(self, x):
        batch, time, _ = x.shape
        if time > self.positions.size(1):
            raise ValueError("the sequence is too long")
        x = x + self.positions[:, :time]
        mask = torch.triu(torch.ones(time, time, dtype=torch.bool), diagonal=1)
        for depth, (layer, head) in enumerate(zip(self.layers, self.heads, strict=True), start=1):
            x = layer(x, src_mask=mask)
            scores = head(x.mean(1)).softmax(-1)
            if (scores.max(-1).values > 0.55).all():
                break
        return scores, depth


class StepByStep(Sized):
    """A recurrent cell over as many steps as the input has."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(WIDTH, 6)

    def forward(self, x):
        t, hidden = -1, x.new_zeros(x.size(0), 6)
        for t in range(x.size(1)):
            hidden = self.cell(x[:, t], hidden)
            if (hidden.abs() > 0.9).any():
                break
        return hidden, t + 1


class StepByStepFolded(Sized):
    """The same with a state that is kept step by step, the results of which are put together at the end."""

    def __init__(self):
        super().__init__()
        self.step = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        batch, time, width = x.shape
        state = torch.zeros(batch, width)
        history = torch.zeros(batch, 0, width)
        for t in range(time):
            state = torch.tanh(self.step(torch.cat([x[:, t], state], dim=-1)))
            history = torch.cat([history, state.unsqueeze(1)], dim=1)
        return history.reshape(batch, time * width), history[:, -1]


class Images(Sized):
    """A convolutional network for images of any size, with an exit for small ones."""

    shapes = {"x": {0: BATCH, 2: Dim("height"), 3: Dim("width")}}
    sizes = [(1, 4), (1, 8), (2, 5), (3, 9), (4, 16)]
    empty_sizes = [(0, 6)]

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU())
        self.down = nn.Sequential(nn.Conv2d(6, 6, 3, stride=2, padding=1), nn.GroupNorm(2, 6), nn.ReLU())
        self.head = nn.Linear(6, 4)

    def forward(self, x):
        x = self.stem(x)
        if min(x.shape[-2:]) < 5:
            return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))
        small = self.down(F.max_pool2d(x, 2))
        back = F.interpolate(small, size=x.shape[-2:], mode="bilinear", align_corners=False)
        pooled = F.adaptive_avg_pool2d(x + back, (1, 1))
        return self.head(torch.flatten(pooled, 1))

    @staticmethod
    def inputs(generator, batch, time):
        return (torch.randn(batch, 3, time, time + 3, generator=generator),)


class ShapeBranches(Sized):
    """What Python does with sizes: compare, count, round up, choose."""

    def __init__(self):
        super().__init__()
        self.few, self.many = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, time, width = x.shape
        x = self.many(x) if time > 4 else self.few(x)
        pad = (4 - time % 4) % 4
        if pad > 0:
            x = F.pad(x, (0, 0, 0, pad))
        blocks = x.view(batch, (time + pad) // 4, 4, width).mean(2)
        assert blocks.size(1) == math.ceil(time / 4)
        kept = min(time, 3)
        top = blocks.sum(-1).topk(min(2, blocks.size(1)), dim=1).values
        if batch == 1:
            top = top + 1
        return blocks, top, x[:, :kept], {"blocks": len(blocks.transpose(0, 1)), "last": time - 1, "half": time / 2}


class MixtureOfExperts(Sized):
    """Each token goes to the expert that its router prefers."""

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, 3)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, 6), nn.ReLU(), nn.Linear(6, WIDTH)) for _ in range(3)
        )

    def forward(self, x):
        batch, time, width = x.shape
        tokens = x.reshape(batch * time, width)
        weight, choice = self.router(tokens).softmax(-1).max(-1)
        result = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            chosen = choice == number
            if chosen.any():
                result[chosen] = expert(tokens[chosen]) * weight[chosen].unsqueeze(-1)
        return result.view(batch, time, width)


class GreedyDecoder(Sized):
    """Tokens after a prompt of any length, until the end token or the limit."""

    shapes = {"prompt": {1: TIME}}
    sizes = [(1, time) for time in (1, 2, 3, 5, 8)] * 4
    empty_sizes = []

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(12, WIDTH)
        self.positions = nn.Embedding(32, WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 2, batch_first=True)
        self.head = nn.Linear(WIDTH, 12)

    def forward(self, prompt):
        tokens = prompt
        for _ in range(6):
            length = tokens.shape[1]
            x = self.embedding(tokens) + self.positions(torch.arange(length))
            mask = torch.full((length, length), float("-inf")).triu(1)
            x = x + self.attention(x, x, x, attn_mask=mask, need_weights=False)[0]
            following = self.head(x[:, -1]).argmax(-1, keepdim=True)
            tokens = torch.cat([tokens, following], dim=1)
            if following.item() == 0:
                break
        return tokens, tokens.size(1) - prompt.size(1)

    @staticmethod
    def inputs(generator, batch, time):
        return (torch.randint(0, 12, (batch, time), generator=generator),)


class OwnAttention(Sized):
    """Attention as people write it, with a mask kept for the longest sequence."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.register_buffer("mask", torch.tril(torch.ones(16, 16)).view(1, 1, 16, 16))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = (part.view(B, T, 2, C // 2).transpose(1, 2) for part in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        scores = scores.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf")).softmax(-1)
        y = (scores @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.out(y)


class Broadcast(Sized):
    """Two sizes that meet: where one of them is 1, it stretches to the other."""

    shapes = {"x": {0: BATCH}, "y": {0: TIME}}
    empty_sizes = [(1, 0), (0, 1), (0, 0)]
    sizes = [(1, 1), (1, 4), (4, 1), (3, 3)]

    def forward(self, x, y):
        total = x + y
        if total.shape[0] > 3:
            total = total * 2
        return total, total.shape[0], torch.where(y > 0, x, total).reshape(total.shape[0], 2, 4)

    @staticmethod
    def inputs(generator, batch, time):
        return torch.randn(batch, WIDTH, generator=generator), torch.randn(time, WIDTH, generator=generator)


class Listed(Sized):
    """A list with an entry for each row, as long as a bound allows."""

    def forward(self, x):
        rows = []
        for t in range(3):
            if t >= x.size(1):
                break
            rows.append(x[:, t].sum(-1))
        return torch.stack(rows, dim=1), len(rows)


def _middle(x):
    return x.narrow(0, 1, 2)


class CaughtInHelpers(Sized):
    """What a helper without decisions does with a size that is too small is an error that the model catches."""

    shapes = ROWS
    sizes = [(1, 1), (2, 1), (3, 1), (5, 1)]
    empty_sizes = []

    def forward(self, x):
        try:
            return _middle(x), bool(x[:, 0, 0])
        except RuntimeError:
            return x.sum(), np.arange(x.shape[0] - 1).sum(), np.linalg.norm(x[:, 0, 0].numpy(), np.inf)
