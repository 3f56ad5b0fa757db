"""Loops that end when the input says so, as users write them."""

import itertools

import torch
import torch.nn.functional as F

from tests.programs.base import Base


class WhileWithCounterAndElse(Base):
    def forward(self, x):
        i = 0
        while x.norm() < 10 and i < 20:
            x = x * 1.5 + self.a(x) * 0.1
            i += 1
        else:
            x = x + 1
        return (x, i)


class NestedLoops(Base):
    def forward(self, x):
        t = 0
        for i in range(3):
            j = 0
            while x.abs().max() > 0.3:
                x = x * 0.7
                j += 1
                if j > 5:
                    break
                if x.sum() > 1:
                    continue
                t += 1
            x = self.a(x)
        return (x, t)


class RangeOfHostValue(Base):
    def forward(self, x):
        n = int(x.abs().sum()) % 4
        for i in range(n):
            x = self.a(x) + i
        return x


class StackOfWork(Base):
    def forward(self, x):
        st = [x]
        n = 0
        while st and n < 6:
            y = st.pop()
            n += 1
            if y.sum() > 0 and n < 4:
                st.append(self.a(y))
                st.append(self.b(y))
        return (y, n)


class GrowingTensor(Base):
    def forward(self, x):
        t = x[:1]
        while t.sum() < 20 and t.shape[0] < 30:
            t = torch.cat([t, torch.relu(self.a(t[-1:])) + 1])
        return t


class EnumerateZipReversed(Base):
    def forward(self, x):
        acc = []
        for i, (l, m) in enumerate(zip(reversed([self.a, self.b]), [self.b, self.c])):
            y = l(x) if x[i].sum() > 0 else m(x)
            acc.append((i, y))
        d = {k: v for k, v in acc if k >= 0}
        return d


class ListThatGrowsWhileEnumerated(Base):
    def forward(self, x):
        queue = [x]
        for number, item in enumerate(queue):
            if number < 3 and item.sum() > 0:
                queue.append(self.a(item))
        return queue


class LazyMap(Base):
    def forward(self, x):
        calls = []

        def run(layer):
            calls.append(1)
            return layer(x)

        for y in map(run, (self.a, self.b, self.c)):
            if y.sum() > 0:
                break
        return y, len(calls)


class EndlessCount(Base):
    def forward(self, x):
        for number in itertools.count():
            if x.norm() < 1:
                break
            x = 0.7 * x
        return x, number


class RowsOfUnknownNumber(Base):
    def forward(self, x):
        total = torch.zeros(8)
        for row in x[x.sum(1) > 0]:
            total = total + torch.tanh(self.a(row))
        return total


class KeyValueCache(Base):
    def forward(self, x):
        keys = x[:1]
        query = x[1:2]
        while keys.shape[0] < 9:
            attended = F.scaled_dot_product_attention(query[None], keys[None], keys[None])[0]
            query = torch.tanh(self.a(attended))
            keys = torch.cat([keys, query])
            if query.sum() > 0.6:
                break
        return keys


class LongBoundedLoop(Base):
    def forward(self, x):
        words = []
        for step in range(80):
            x = 0.95 * x
            if x.abs().max() < 0.5:
                break
            words.append(x.argmax())
        return torch.stack(words) if words else x


class StrictZipOfGenerator(Base):
    def results(self, x):
        for layer in (self.a, self.b, self.c):
            x = layer(x)
            if x.sum() > 0:
                yield x

    def forward(self, x):
        kept = []
        try:
            for y, scale in zip(self.results(x), (1.0, 2.0), strict=True):
                kept.append(y * scale)
        except ValueError:
            return kept, False
        return kept, True


class CacheWithPositions(Base):
    """Decoding with a cache; the mask compares positions, whose number is a difference of two counters."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(20, 8)
        self.head = torch.nn.Linear(8, 20)

    def forward(self, tokens):
        past, seen, start, written = torch.zeros(1, 0, 8), torch.zeros(0, dtype=torch.long), 0, []
        while len(written) < 8:
            x = self.embedding(tokens)
            positions = torch.arange(start, start + tokens.shape[1])
            past, seen = torch.cat([past, x], 1), torch.cat([seen, positions])
            x = x + F.scaled_dot_product_attention(x, past, past, attn_mask=seen <= positions[:, None])
            if x.sum() > 0:
                x = x + 1
            start += tokens.shape[1]
            token = self.head(x[:, -1]).argmax(1)
            written.append(token)
            if token.item() == 2:
                break
            tokens = token[None]
        return torch.cat(written)

    @staticmethod
    def inputs(generator):
        return (torch.randint(3, 20, (1, 5), generator=generator),)


class ExpertsWithCache(Base):
    """Routed experts inside a decoding loop, at each point as many states as modules; one list grows, one's items do."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(20, 8)
        self.experts = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(8))
        self.router, self.head = torch.nn.Linear(8, 8), torch.nn.Linear(8, 20)

    def forward(self, tokens):
        pasts, written = [torch.zeros(0, 8), torch.zeros(0, 8)], []
        while len(written) < 8:
            x = self.embedding(tokens)
            for layer in range(2):
                past = pasts[layer] = torch.cat([pasts[layer], x])
                x = x + F.scaled_dot_product_attention(x[None], past[None], past[None])[0]
            weights, picked = self.router(x).softmax(1).topk(2, dim=1)
            mixed = torch.zeros_like(x)
            for expert in picked.unique():
                token, place = torch.where(picked == expert)
                mixed.index_add_(0, token, self.experts[expert](x[token]) * weights[token, place, None])
            tokens = self.head(mixed[-1:]).argmax(1)
            written.append(tokens)
            if tokens.item() == 2:
                break
        return torch.cat(written)

    @staticmethod
    def inputs(generator):
        return (torch.randint(3, 20, (5,), generator=generator),)
