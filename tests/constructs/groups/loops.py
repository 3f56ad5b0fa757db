"""Loops."""

import functools
import itertools

import torch

from tests.constructs.construct import Base, bounded, refused, supported


@supported("`while` that the input ends")
class While(Base):
    def forward(self, x):
        while x.norm() > 0.5:
            x = x / 2
        return x


@supported("`break`, `continue`, and `else` of a loop")
class BreakContinue(Base):
    paths = 3

    def forward(self, x):
        for step in range(6):
            x = x * 0.8
            if x[0] > 0:
                x = x + 0.1
                continue
            if x.norm() < 0.5:
                break
        else:
            return self.a(x), step
        return x, step


@supported("`for` over layers, with an exit on the way")
class EarlyExit(Base):
    def forward(self, x):
        for depth, layer in enumerate(self.layers):
            x = layer(x)
            if x.max() > 0.5:
                break
        return x, depth


@supported("`for i in range(n)`, `n` from the input")
class RangeOfInput(Base):
    def forward(self, x):
        for i in range(int(x.abs().sum())):
            x = x + i
        return x


@supported("`range` with a start, an end and a step from the input")
class RangeWithStep(Base):
    def forward(self, x):
        total = 0
        n = int(x.abs().sum() * 2)
        for i in range(n, -1, -2):
            total += i
        for i in range(1, n, n // 2 + 1):
            total += i
        return total


@supported("`for i in range(100_000)`: many rounds that are known while compiling")
class LongLoop(Base):
    def forward(self, x):
        for i in range(100_000):
            if x.norm() < 0.1:
                break
            x = x * 0.99
        return x, i


@supported("`for` over a tensor, over `x.tolist()`")
class OverTensor(Base):
    def forward(self, x):
        total = 0.0
        for v in x:
            if v > 0:
                total = total + v
        for v in x.tolist():
            if v < 0:
                total = total - v
        return total


@supported("`enumerate`, `zip`, `reversed`, `sorted`, `map`, `filter` over what a decision is about")
class Iterators(Base):
    def forward(self, x):
        for i, (v, layer) in enumerate(zip(reversed(x.tolist()), self.layers)):
            if v > 0:
                x = layer(x) + i
        return x, sorted(filter(lambda v: v > 0, map(float, x)))


@supported("`[v for v in x if v > 0]`", "each combination has a path of its own")
class FilteringComprehension(Base):
    paths = 3

    def forward(self, x):
        return [v * 2 for v in x if v > 0]


@supported("`itertools`: `chain`, `product`, `accumulate`, `takewhile`")
class Itertools(Base):
    def forward(self, x):
        total = 0.0
        for v, w in itertools.product(x, itertools.chain(x[:1], x[1:2])):
            if v > w:
                total = total + v
        for v in itertools.takewhile(lambda v: v < 1, itertools.accumulate(x.tolist())):
            total = total + v
        return total


@supported("`itertools.count()` alive across a decision")
class Count(Base):
    def forward(self, x):
        steps = itertools.count()
        while x.norm() > 0.1:
            x = x / 2
            next(steps)
        return x * next(steps)


@supported("`functools.reduce` with a decision in the function")
class Reduce(Base):
    def forward(self, x):
        return functools.reduce(lambda a, b: a + b if a > b else b - a, x)


@supported("nested loops that the input ends")
class Nested(Base):
    def forward(self, x):
        rounds = 0
        while x.norm() > 1:
            while x[0].abs() > 0.5:
                x = x / 2
                rounds += 1
            x = x * 0.9
        return x, rounds


@supported("a loop in which a tensor grows: `x = torch.cat([x, y])`")
class GrowingTensor(Base):
    def forward(self, x):
        y = x
        while y.sum().abs() < 4 and len(y) < 20:
            y = torch.cat([y, x + 0.1])
        return y


@supported("`next(iterator, default)`, `iter(list)`")
class Next(Base):
    def forward(self, x):
        values = iter(x.tolist())
        first = next(values)
        if first > 0:
            first += next(values, 0.0)
        return first + sum(values)


@bounded("a text that is another one in each round", "100 different ones")
class Variants(Base):
    def forward(self, x):
        state = "0"
        while x.norm() > 0.5:
            state = str((int(state) + 1) % 100)
            x = x / 2
        return state


@refused("more than 100 different texts in the rounds of a loop", "a number")
class ManyVariants(Base):
    def forward(self, x):
        state = "0"
        while x.norm() > 0.5:  # DY011
            state = str((int(state) + 1) % 110)
            x = x / 2
        return state


@supported("numbers that change their kind on the way: `n = 0`, then `n = n + 0.5`")
class ChangingKind(Base):
    def forward(self, x):
        n = 0
        while x.norm() > 0.5:
            n = n + 0.5
            x = x / 2
        return n


@supported("a loop without an end for some inputs", "the program does not end for them either")
class NoEnd(Base):
    def forward(self, x):
        steps = 0
        while x.abs().sum() < 5:
            x = x * 2
            steps += 1
        return steps


@supported("`iter(function, sentinel)`")
class Sentinel(Base):
    def forward(self, x):
        items = [x.argmax().item(), 1, 2]
        return list(iter(items.pop, 0)) if x[0] > 0 else []
