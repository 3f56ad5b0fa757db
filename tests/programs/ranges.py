"""`range`, iteration and `itertools` with numbers that only the input determines, as users write them."""

import bisect
import functools
import heapq
import itertools
import operator

import torch

from tests.programs.base import Base


def _count(x):
    """A number from 0 to 4."""
    return int((x[0, :4] > 0).sum())


class ReversedRange(Base):
    def forward(self, x):
        total = 0
        for i in reversed(range(_count(x))):
            total = total * 3 + i
            x = x + i
        return x, total


class ReversedRangeWithStep(Base):
    def forward(self, x):
        total = 0
        for i in reversed(range(1, 2 * _count(x), 2)):
            total = total * 5 + i
        return total


class RangeWithHostStep(Base):
    def forward(self, x):
        total = 0
        for i in range(0, 7, _count(x) + 1):
            total = total * 3 + i
        for i in range(_count(x), -3, -_count(x) - 1):
            total = total * 3 + i
        return x * total


class RangeAsSequence(Base):
    paths = 1

    def forward(self, x):
        n = _count(x) + 2
        steps = range(1, n, 2)
        return steps[0], range(n)[-1], range(n)[1], len(range(n)), len(steps), len(range(n, 0, -1)), steps[-1]


class ContainedInRange(Base):
    def forward(self, x):
        n = _count(x)
        flags = n in range(1, 3), 2 in range(n), n in range(0, 10, 2), 2.5 in range(n), n not in range(n)
        return self.a(x) if n in range(2, 5) else x, flags


class EnumeratedHostRange(Base):
    def forward(self, x):
        total = 0
        for number, i in enumerate(range(1, _count(x) + 1), start=1):
            total += number * i
        for i, layer in zip(range(_count(x)), (self.a, self.b)):
            x = layer(x) + i
        for layer, i in zip((self.c, self.b), range(_count(x))):
            x = layer(x) * (i + 1)
        return x, total


class EnumeratedRows(Base):
    def forward(self, x):
        kept = x[x[:, 0] > 0]
        total = torch.zeros(8)
        for i, row in enumerate(kept):
            total = total + row * (i + 1)
        return total


class IslicedLayers(Base):
    def forward(self, x):
        for layer in itertools.islice((self.a, self.b, self.c), 1, 3):
            x = layer(x)
            if x.sum() > 0:
                break
        return x


class ChainedLayers(Base):
    def forward(self, x):
        for layer in itertools.chain([self.a], (self.b, self.c)):
            x = layer(x)
            if x.sum() > 0:
                x = -x
        for layer in itertools.chain.from_iterable([[self.a], [self.b]]):
            x = layer(x)
        return x


class ProductsAndRepeats(Base):
    def forward(self, x):
        for i, layer in itertools.product(range(2), (self.a, self.b)):
            if x.sum() > i:
                x = layer(x)
        for layer in itertools.repeat(self.c, 2):
            if x.mean() > 0:
                x = layer(x)
        return x


class PairsAndCycles(Base):
    def forward(self, x):
        for first, second in itertools.pairwise((self.a, self.b, self.c)):
            x = first(x) if x.sum() > 0 else second(x)
        for layer, _ in zip(itertools.cycle((self.a, self.b)), range(3)):
            if x.mean() > 0:
                x = layer(x)
        for layer, scale in itertools.zip_longest((self.a, self.b), (1.0,), fillvalue=2.0):
            x = layer(x) * scale
        return x


class Accumulated(Base):
    paths = 1

    def forward(self, x):
        values = x[0, :3].tolist()
        sums = list(itertools.accumulate(values))
        best = list(itertools.accumulate(values, max))
        return sums, best, list(itertools.accumulate([1, 2], operator.mul, initial=values[0]))


class TakenWhile(Base):
    def forward(self, x):
        values = x[0, :3].tolist()
        taken = list(itertools.takewhile(lambda v: v > 0, values))
        rest = list(itertools.dropwhile(lambda v: v > 0, values))
        return taken, rest, list(itertools.compress(range(3), [v > 0 for v in values]))


def _positive(values):
    for value in values:
        if value > 0:
            yield value


class GeneratorsThroughItertools(Base):
    def forward(self, x):
        values = x[0, :3].tolist()
        first = list(itertools.islice(_positive(values), 1))
        both = list(itertools.chain(_positive(values), _positive([-v for v in values])))
        return first, both, list(itertools.accumulate(_positive(values)))


class Starmap(Base):
    def forward(self, x):
        pairs = [(x[0], 2.0), (x[1], 3.0)]
        total = sum(itertools.starmap(lambda row, scale: row * scale if row.sum() > 0 else -row, pairs))
        return total, [list(group) for _, group in itertools.groupby([1, 1, 2])]


class Combinations(Base):
    def forward(self, x):
        total = x[0] * 0
        for first, second in itertools.combinations(range(3), 2):
            if x[first].sum() > x[second].sum():
                total = total + x[first]
        return total


class Heap(Base):
    def forward(self, x):
        heap = []
        for value in x[0, :3].tolist():
            heapq.heappush(heap, value)
        first = heapq.heappop(heap)
        replaced = heapq.heapreplace(heap, 0.5)
        return first, replaced, heapq.heappushpop(heap, 0.1), len(heap), heapq.nsmallest(1, heap)


class LargestOfAll(Base):
    def forward(self, x):
        values = x[0, :3].tolist()
        heap = list(values)
        heapq.heapify(heap)
        ranked = heapq.nlargest(2, range(3), key=lambda i: values[i])
        return heapq.nlargest(2, values), heapq.nsmallest(2, values), ranked, heap[0]


class BeamOfTuples(Base):
    def forward(self, x):
        beam = [(0.0, 0)]
        for step in range(2):
            grown = [(score + x[step, k].item(), k) for score, last in beam for k in range(2)]
            beam = heapq.nlargest(2, grown)
        return beam


class Bisected(Base):
    def forward(self, x):
        edges = [-1.0, 0.0, 1.0]
        v = x[0, 0].item()
        place = bisect.bisect(edges, v)
        ordered = sorted(x[1, :2].tolist())
        bisect.insort(ordered, v)
        return self.a(x) if place > 1 else x, place, bisect.bisect_left(edges, v), ordered


class Reduced(Base):
    def forward(self, x):
        values = x[0, :3].tolist()
        largest = functools.reduce(lambda a, b: a if a > b else b, values)
        return largest, functools.reduce(operator.add, values, 1.0), functools.reduce(max, values)


class Getters(Base):
    def forward(self, x):
        pairs = [(x[0, 0].item(), 1), (x[0, 1].item(), 0)]
        best = max(pairs, key=operator.itemgetter(0))
        shape = operator.attrgetter("shape")(x)
        total = operator.methodcaller("sum", 0)(x)
        return best, sorted(pairs, key=operator.itemgetter(1)), tuple(shape), total
