"""Models that people could not deploy: a decoder with a cache, routed experts, kept state, a solver, a detector."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, past=None):
        batch, length, width = x.shape
        q, k, v = self.project(x).chunk(3, dim=-1)
        q, k, v = (t.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v))
        if past is not None:
            k = torch.cat([past[0], k], dim=2)
            v = torch.cat([past[1], v], dim=2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        if length > 1:
            mask = torch.ones(length, k.shape[2], dtype=torch.bool).tril(k.shape[2] - length)
            scores = scores.masked_fill(~mask, float("-inf"))
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)
        return self.out(y), (k, v)


class DecoderLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.attention = CachedAttention(width, heads)
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x, past):
        y, past = self.attention(self.norm1(x), past)
        x = x + y
        return x + self.feed(self.norm2(x)), past


class TransformerDecoder(nn.Module):
    """Says the likeliest word until it says the last one; keys and values of earlier words are kept."""

    def __init__(self, words=40, width=16, heads=2, layers=2, most=256, end=3):
        super().__init__()
        self.most = most
        self.end = end
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(most, width)
        self.layers = nn.ModuleList(DecoderLayer(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, words)

    def step(self, ids, start, caches):
        x = self.words(ids) + self.places(torch.arange(start, start + ids.shape[1]))
        new = []
        for layer, past in zip(self.layers, caches):
            x, past = layer(x, past)
            new.append(past)
        return self.head(x[:, -1]), new

    @torch.no_grad()
    def forward(self, prompt):
        caches = [None] * len(self.layers)
        tokens = prompt
        ids, start = prompt, 0
        for _ in range(self.most - prompt.shape[1]):
            logits, caches = self.step(ids, start, caches)
            start = start + ids.shape[1]
            ids = logits.argmax(-1, keepdim=True)
            tokens = torch.cat([tokens, ids], dim=1)
            if ids.item() == self.end:
                break
        return tokens


class RoutedExperts(nn.Module):
    """Two of eight experts for each token; a loop over the experts that were hit."""

    def __init__(self, width=8, experts=8, chosen=2):
        super().__init__()
        self.chosen = chosen
        self.gate = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 16), nn.SiLU(), nn.Linear(16, width)) for _ in range(experts)
        )

    def forward(self, x):
        scores = self.gate(x).softmax(-1)
        weights, chosen = torch.topk(scores, self.chosen, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        result = torch.zeros_like(x)
        mask = F.one_hot(chosen, num_classes=len(self.experts)).permute(2, 1, 0)
        hit = torch.greater(mask.sum(dim=(-1, -2)), 0).nonzero()
        for expert in hit:
            place, token = torch.where(mask[expert].squeeze(0))
            out = self.experts[expert](x[token]) * weights[token, place, None]
            result.index_add_(0, token, out)
        return result


class RecurrentGate(nn.Module):
    """Decides by a hidden state that it keeps on itself from call to call."""

    def __init__(self, width=6):
        super().__init__()
        self.cell = nn.LSTMCell(width, width)
        self.score = nn.Linear(width, 1)
        self.body = nn.Linear(width, width)
        self.hidden = None

    def forward(self, x):
        if self.hidden is None:
            zeros = x.new_zeros(x.shape[0], self.cell.hidden_size)
            self.hidden = (zeros, zeros)
        self.hidden = self.cell(x, self.hidden)
        if torch.sigmoid(self.score(self.hidden[0])).item() > 0.5:
            return torch.relu(self.body(x))
        return x


class AdaptiveSolver(nn.Module):
    """Heun's method with a step that shrinks where the error is large; counts accepted and rejected steps."""

    def __init__(self, width=4, tolerance=1e-3):
        super().__init__()
        self.field = nn.Sequential(nn.Linear(width, 16), nn.Tanh(), nn.Linear(16, width))
        self.tolerance = tolerance

    def forward(self, y):
        t, t1, h = 0.0, 1.0, 0.5
        accepted = rejected = 0
        while t < t1:
            h = min(h, t1 - t)
            k1 = self.field(y)
            k2 = self.field(y + h * k1)
            error = (h * (k2 - k1) / 2).norm().item()
            if error <= self.tolerance:
                t = t + h
                y = y + h * (k1 + k2) / 2
                accepted += 1
            else:
                rejected += 1
            h = h * min(2.0, max(0.2, 0.9 * math.sqrt(self.tolerance / (error + 1e-12))))
        return y, accepted, rejected


class Detector(nn.Module):
    """Keeps the best box and drops those that overlap it, until none is left."""

    def __init__(self, overlap=0.3):
        super().__init__()
        self.overlap = overlap

    def forward(self, boxes, scores):
        order = scores.argsort(descending=True)
        kept = []
        while order.numel() > 0:
            best = order[0]
            kept.append(best)
            if order.numel() == 1:
                break
            rest = boxes[order[1:]]
            low = torch.maximum(boxes[best, :2], rest[:, :2])
            high = torch.minimum(boxes[best, 2:], rest[:, 2:])
            shared = (high - low).clamp(min=0).prod(1)
            area = (rest[:, 2:] - rest[:, :2]).prod(1) + (boxes[best, 2:] - boxes[best, :2]).prod()
            order = order[1:][shared / (area - shared) <= self.overlap]
        kept = torch.stack(kept)
        return boxes[kept], scores[kept]
