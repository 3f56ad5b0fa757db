"""Generators."""

from tests.constructs.construct import Base, refused, supported


@supported("a generator function with decisions, in a `for` loop")
class Generator(Base):
    def states(self, x):
        while x.norm() > 0.5:
            yield x
            x = x / 2

    def forward(self, x):
        total = x * 0
        for state in self.states(x):
            total = total + state
        return total


@supported("`generator.send(value)`")
class Send(Base):
    def states(self):
        total = 0
        while True:
            v = yield total
            if v > 0:
                total = total + v

    def forward(self, x):
        states = self.states()
        next(states)
        for v in x:
            total = states.send(v)
        return total


@supported("generator expressions with decisions: `sum(v for v in x if v > 0)`, `next(...)`")
class Expression(Base):
    def forward(self, x):
        return sum(v for v in x if v > 0), next((i for i, v in enumerate(x) if v > 0), -1)


@supported("a generator expression inside another, and functions in code that Python leaves out (after `return`)")
class Nested(Base):
    def forward(self, x):
        if sum(v for v in (2 * w for w in x) if v > 0) > 1:
            return x
        else:
            return (lambda t: t * 2)(x)
        return (lambda t: t * 3)(x)


@supported("comprehensions of lists and dicts, nested and with conditions")
class Comprehensions(Base):
    def forward(self, x):
        return {i: [w for w in x.tolist() if w > v] for i, v in enumerate(x.tolist()) if v < 0.5}


@supported("a `for` loop over an object of a class with `__next__`")
class Iterator(Base):
    def forward(self, x):
        total = 0
        for v in Halves(x.norm()):
            total = total + v
        return total


class Halves:
    def __init__(self, v):
        self.v = v

    def __iter__(self):
        return self

    def __next__(self):
        if self.v < 0.3:
            raise StopIteration
        self.v = self.v / 2
        return self.v


@supported("a generator with decisions, handed to a class written in C: `deque(generator)`")
class HandedToC(Base):
    def states(self, x):
        for v in x:
            if v > 0:
                yield v

    def forward(self, x):
        import collections

        return len(collections.deque(self.states(x)))


@supported("`yield from`, and the value that the inner generator returns")
class YieldFrom(Base):
    def inner(self, x):
        if x[0] > 0:
            yield x * 2
        return 3

    def outer(self, x):
        count = yield from self.inner(x)
        yield x * count

    def forward(self, x):
        return list(self.outer(x))
