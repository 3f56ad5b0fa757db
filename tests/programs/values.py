"""Values that differ by path, as users write them."""

import dataclasses
from collections import namedtuple

import torch
from torch import nn

from tests.programs.base import WIDTH as D
from tests.programs.base import Base


class ListOfUnknownLength(Base):
    def forward(self, x):
        outs = []
        for l in (self.a, self.b, self.c):
            x = torch.tanh(l(x))
            if x.sum() > 0:
                outs.append(x)
        return outs


class DictsThatDiffer(Base):
    def forward(self, x):
        d = {"x": x}
        if x.sum() > 0:
            d["pos"] = self.a(x)
        else:
            d["neg"] = [self.b(x), None, 3]
        return d


@dataclasses.dataclass
class Output:
    logits: torch.Tensor
    exit: int
    aux: object = None


class DataclassResult(Base):
    def forward(self, x):
        if x.sum() > 0:
            return Output(self.a(x), 0)
        return Output(self.b(x), 1, aux=(x, 2))


Scored = namedtuple("Scored", "y k")


class NamedTupleResult(Base):
    def forward(self, x):
        return Scored(self.a(x), 1 if x.sum() > 0 else 2)


class AttributesWithinCall(Base):
    def forward(self, x):
        self.gate = x.sum()
        if self.gate > 0:
            self.last = self.a(x)
        else:
            self.last = self.b(x)
        return self.last + self.gate


class InPlaceAcrossDecision(Base):
    def forward(self, x):
        y = torch.zeros(3, D)
        y[0] = x[0]
        if x.sum() > 0:
            y[1] = self.a(x)[0]
            y[2].add_(1)
        y[:, 0] *= 2
        return y


class RecurrentGate(Base):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(D, D)
        self.p = nn.Linear(D, 1)
        self.h = None

    def forward(self, x):
        self.h = None
        n = 0
        for l in (self.a, self.b, self.c):
            o, self.h = self.lstm(x[None], self.h)
            if torch.sigmoid(self.p(o[0])).mean() > 0.5:
                x = l(x)
                n += 1
        return (x, n)


class SliceByHostValue(Base):
    paths = 1

    def forward(self, x):
        n = int(x.abs().sum()) % 3 + 1
        return self.a(x)[:n]


class BooleanMask(Base):
    paths = 1

    def forward(self, x):
        k = x.sum(1) > 0
        y = x[k]
        return (self.a(y), y.shape[0])


class NestedInputs(Base):
    @staticmethod
    def inputs(generator):
        first, second = (torch.randn(3, D, generator=generator) for _ in range(2))
        return ({"x": first, "y": [second, torch.randn(2, generator=generator)]},)

    def forward(self, d):
        x = d["x"]
        return self.a(x) + d["y"][0] if d["y"][1].sum() > 0 else x


class AppendAcrossDecision(Base):
    def forward(self, x):
        results = []
        total = {}
        for number, layer in enumerate((self.a, self.b)):
            results.append(layer(x) if x.mean() > 0 else x)
            total.setdefault("sum", []).append(results[-1].sum() if results[-1].max() > 0.9 else x.sum())
            x = -results[-1]
        return results, total


class BufferFilledInPlace(Base):
    def forward(self, x):
        y = torch.zeros(3, D)
        y[0] = x[0]
        y[1] = x[1]
        row = y[2]
        if x.sum() > 0:
            y[2] = self.a(x)[0]
        y[:, 0] *= 2
        return y


class ShapeChangedInPlace(Base):
    def forward(self, x):
        y = self.a(x)[None]
        if x.sum() > 0:
            y.squeeze_(0)
            return y + 1
        z = self.b(x) * 1
        z.t_()
        z.unsqueeze_(0)
        return z


class ClassAttributeAsDefault(Base):
    hidden = None

    def forward(self, x):
        self.hidden = self.a(x)
        return self.hidden if x.sum() > 0 else x


class DictKeyedByPosition(Base):
    def forward(self, x):
        kept = {}
        for number, layer in enumerate((self.a, self.b, self.c)):
            x = layer(x)
            if x.sum() > 0:
                kept[number] = x
        return kept


class StaleView(Base):
    def forward(self, x):
        y = x.clone()
        first = y[0]
        y.add_(1)
        return first if x.sum() > 0 else y


class NamesLikeGeneratedOnes(Base):
    def forward(self, x):
        t0 = x * 2
        k0 = 1
        if x.sum() > 0:
            t0 = t0 + k0
        return t0 * 3
