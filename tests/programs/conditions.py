"""Conditions and switches, as users write them."""

import math

import torch
from torch import nn

from tests.programs.base import WIDTH as D
from tests.programs.base import Base


class HostArithmetic(Base):
    def forward(self, x):
        v = x.sum().item()
        w = float(x.max())
        n = int(x.abs().sum())
        if v * 2 + 1 > w and n % 2 == 0:
            return self.a(x) * v
        elif math.sqrt(abs(v)) > 1.2:
            return self.b(x) + w
        return (self.c(x) / (n + 1), v, n)


class ChainedComparison(Base):
    def forward(self, x):
        g = x.mean()
        y = self.a(x) if g > 0.1 else self.b(x) if g > -0.1 else self.c(x)
        return y if -0.5 < y.mean() < 0.5 else y * 2


class MatchOnNumber(Base):
    def forward(self, x):
        k = int((x.sum() > 0).item()) + (x.max() > 1).long().item()
        match k:
            case 0:
                return self.a(x)
            case 1:
                return self.b(x)
            case _:
                return self.c(x)


class AssertOnInput(Base):
    paths = 1

    def forward(self, x):
        assert x.abs().max() < 100, "too big"
        return self.a(x)


class NamedExpressions(Base):
    def forward(self, x):
        if (y := self.a(x)).mean() > 0 and (z := y.sum()) > 0.5:
            return y * z
        return y


class HostMinimumAndIndex(Base):
    def forward(self, x):
        a = x[0, 0].item()
        b = x[0, 1].item()
        m = max(a, b, 0.0)
        best = None
        for i in range(3):
            v = x[i].sum().item()
            if best is None or v > best:
                best = v
                bi = i
        return (x[bi] * m, bi, min(a, b), round(a), abs(b), a // 0.3, -a)


class RoutedExperts(Base):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList((nn.Linear(D, D) for _ in range(4)))
        self.r = nn.Linear(D, 4)

    def forward(self, x):
        i = self.r(x).mean(0).argmax()
        return (self.experts[i](x), self.experts[int(i)](x))


class IdentityWithTrue(Base):
    def forward(self, x):
        positive = (x.sum() > 0).item()
        if positive is True:
            return self.a(x), positive is not False
        return x, positive is False


class AssignmentInsideExpression(Base):
    def forward(self, x):
        i = 1
        total = i + (i := 5)
        return x * total if x.sum() > 0 else x * i


class MessagesWithNumbers(Base):
    def forward(self, x):
        value = x.sum().item()
        print(f"the sum is {value:.2f}")
        if value > 1000:
            raise ValueError(f"too large: {value}")
        return self.a(x) if value > 0 else x


class SortedByKey(Base):
    def forward(self, x):
        pairs = [(x[i].sum().item(), i) for i in range(3)]
        pairs.sort(key=lambda pair: -pair[0])
        return [number for _, number in pairs]


class ScalarBufferAsTolerance(Base):
    def __init__(self):
        super().__init__()
        self.register_buffer("tolerance", torch.tensor(2.5))
        self.scale = torch.nn.Parameter(torch.tensor(1.5))

    def forward(self, x):
        residual, steps = float("inf"), 0
        while steps < 9 and residual > self.tolerance:
            x = 0.5 * x * self.scale + 0.01 * self.a(x)
            residual = x.norm().item()
            steps += 1
        return {"x": x, "residual": residual, "steps": steps}


class ExtremesByKey(Base):
    def forward(self, x):
        rows = [x[0], x[1], x[2]]
        best = max(rows, key=lambda row: row.sum().item())
        worst = min(rows, key=lambda row: row.sum().item())
        return best - worst, max((row.max() for row in rows), default=None)
