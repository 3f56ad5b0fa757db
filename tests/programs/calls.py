"""Decisions behind calls, as users write them."""

import functools

import torch
from torch import nn

from tests.programs.base import WIDTH as D
from tests.programs.base import Base


class KeywordsAndDefaults(Base):
    def helper(self, x, *, scale=2.0, flip=False):
        if x.sum() > 0:
            return x * scale
        return -x if flip else x

    def forward(self, x):
        return self.helper(self.a(x), flip=True) + self.helper(self.b(x), scale=3.0)


class ClosuresAndLambdas(Base):
    def forward(self, x):
        k = 2.0

        def f(y):
            if y.mean() > 0:
                return self.a(y) * k
            return self.b(y)

        g = lambda y: f(y) if y.max() > 0.5 else y
        return g(x) + f(x)


class SuperMethods(KeywordsAndDefaults):
    def forward(self, x):
        y = super().forward(x)
        return y if y.mean() > 0 else super().helper(y)


class ConditionalExpressionOnMethod(Base):
    paths = 1

    @property
    def th(self):
        return 0.1

    def score(self, x):
        return self.a(x).mean()

    def forward(self, x):
        return self.b(x) if self.score(x) > self.th else x


class DecisionInsideSequential(Base):
    class Gate(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(D, D)

        def forward(self, x):
            if x.sum() > 0:
                return self.l(x)
            return x

    def __init__(self):
        super().__init__()
        self.seq = nn.Sequential(
            DecisionInsideSequential.Gate(), nn.ReLU(), DecisionInsideSequential.Gate(), nn.Linear(D, D)
        )

    def forward(self, x):
        return self.seq(x)


class DecisionInsideHook(Base):
    def __init__(self):
        super().__init__()
        self.a.register_forward_hook(lambda m, i, o: o * 2 if o.sum() > 0 else None)

    def forward(self, x):
        return self.a(x)


class PartialsInDict(Base):
    def f(self, k, x):
        return x * k if x.sum() > 0 else x

    def forward(self, x):
        g = functools.partial(self.f, 3)
        fs = {"a": g, "b": self.a}
        return fs["a"](x) + fs["b"](x)


class StarArguments(Base):
    def g(self, *a, **k):
        if a[0].sum() > 0:
            return a[0] + k["b"]
        return a[1]

    def forward(self, x):
        t = (self.a(x), self.b(x))
        return self.g(*t, **{"b": self.c(x)})


class BoundedRecursion(Base):
    def r(self, x, d):
        if d == 0:
            return x
        if x.sum() > 0:
            return self.r(self.a(x), d - 1)
        return self.r(self.b(x), d - 1)

    def forward(self, x):
        return self.r(x, 4)


class DecoratedAndWith(Base):
    @torch.no_grad()
    def forward(self, x):
        with torch.no_grad():
            if x.sum() > 0:
                return self.a(x)
        return self.b(x)


class ReturnInsideWith(Base):
    class Ctx:
        def __enter__(self):
            self.n = 1
            return self

        def __exit__(self, *a):
            self.n = 2
            return False

    def forward(self, x):
        with ReturnInsideWith.Ctx() as c:
            for l in (self.a, self.b):
                x = l(x)
                if x.sum() > 0:
                    return (x, c.n)
                if x.max() < 0:
                    break
        return (x, c.n)


class ExitByException(Base):
    class Leave(Exception):
        def __init__(self, v):
            self.v = v

    def layer(self, x, l):
        x = l(x)
        if x.mean() > 0.05:
            raise ExitByException.Leave(x)
        return x

    def forward(self, x):
        try:
            for l in (self.a, self.b, self.c):
                x = self.layer(x, l)
        except ExitByException.Leave as e:
            return (e.v, 1)
        finally:
            y = 1
        return (x, 0)


class GeneratorMethod(Base):
    def ys(self, x):
        for l in (self.a, self.b, self.c):
            x = l(x)
            if x.sum() > 0:
                yield x

    def forward(self, x):
        r = x
        for y in self.ys(x):
            r = r + y
        return r


class Comprehensions(Base):
    def forward(self, x):
        ys = [l(x) if l(x).sum() > 0 else x for l in (self.a, self.b, self.c)]
        k = sum((1 for y in ys if y.mean() > 0))
        if any((y.max() > 1.0 for y in ys)):
            k += 10
        if all((y.min() < 0 for y in ys)):
            k += 100
        return (torch.stack(ys), k)


class ComprehensionsWithNamesOfGlobals(Base):
    def forward(self, x):
        sizes = [len for len in (1, 2)]
        makers = [lambda: max for max in (3, 4)]
        if x.sum() > 0:
            return self.a(x) * max(sizes) + len(makers)
        return self.b(x) * makers[0]()


class ComprehensionsWithNamesOfVariables(Base):
    def forward(self, x):
        i = j = 2

        def inner(y):
            steps = [lambda: i * j for i in range(3)]
            if y.sum() > 0:
                return y * i + steps[0]()
            return y - i

        steps = [lambda: j for j in range(3)]
        return inner(x) * j + steps[1]()


class GeneratorWithDecisions(Base):
    def results(self, x):
        for layer in (self.a, self.b, self.c):
            x = layer(x)
            if x.sum() > 0:
                x = x + 1
            yield x

    def forward(self, x):
        first, *others = self.results(x)
        return first, [torch.relu(other) for other in others]


class NumberHeldByAttribute(Base):
    def scale(self, y):
        return y * self.factor if isinstance(self.factor, float) else y

    def forward(self, x):
        self.factor = x.sum().item()
        return self.scale(self.a(x)) if x.max() > 1 else x


class NonlocalWithinCall(Base):
    def forward(self, x):
        calls = 0

        def double(y):
            nonlocal calls
            calls += 1
            return y * 2 if y.sum() > 0 else y

        def shift(y):
            nonlocal calls
            calls += 10
            return y + 1

        return shift(double(double(x))), calls
