"""Builtins and the standard library, on tensors and numbers of the input."""

import bisect
import copy
import heapq
import itertools
import json
import operator

from tests.constructs.construct import Base, refused, supported


@supported("`sorted(values)`, `values.sort()`, `reverse=True`, `key=` on lists of known length")
class Sorted(Base):
    def forward(self, x):
        values = x.tolist()
        values.sort(reverse=True)
        order = sorted(range(3), key=lambda i: values[i] if x[0] > 0 else -values[i])
        return values, order


@supported("`sorted` of tuples: `sorted([(v, i), ...])`")
class SortedTuples(Base):
    paths = 1

    def forward(self, x):
        pairs = sorted((v.item(), i) for i, v in enumerate(x))
        return [i for _, i in pairs]


@supported("`min`, `max` with `key=` and `default=`")
class MinMax(Base):
    def forward(self, x):
        best = max(range(3), key=lambda i: x[i])
        return self.layers[best](x), min((v for v in x if v > 0), default=None)


@supported("`sum`, `len`, `zip(strict=True)`, `tuple`, `dict` over values of the input")
class Builders(Base):
    def forward(self, x):
        pairs = dict(zip("abc", x.tolist(), strict=True))
        return sum(v for v in pairs.values() if v > 0), tuple(pairs), len(pairs)


@supported("`heapq.heappush`, `heapq.heappop`, `bisect.bisect`")
class Heap(Base):
    def forward(self, x):
        heap = []
        for i, v in enumerate(x.tolist()):
            heapq.heappush(heap, (v, i))
        return heapq.heappop(heap), bisect.bisect([-0.5, 0.5], x[0].item())


@supported("`copy.deepcopy` of lists and tensors")
class Copies(Base):
    def forward(self, x):
        items = [x, [x[0]]]
        other = copy.deepcopy(items)
        if x[0] > 0:
            other[1].append(x[1])
        return items, other


@supported("`operator.itemgetter`, `operator.methodcaller`")
class Getters(Base):
    def forward(self, x):
        pair = operator.itemgetter(0, 2)(x.tolist())
        return pair if pair[0] > pair[1] else operator.methodcaller("abs")(x)


@supported("`itertools.groupby`, `itertools.combinations`")
class Groups(Base):
    def forward(self, x):
        runs = [(key, len(list(group))) for key, group in itertools.groupby((x > 0).tolist())]
        return runs, max(v + w for v, w in itertools.combinations(x.tolist(), 2))


@supported("`isinstance(v, float)`, `type(v) is float` on a number of the input")
class Types(Base):
    def forward(self, x):
        v = x[0].item()
        return x if isinstance(v, float) and type(v) is float and v > 0 else -x


@supported("`repr` of what is known while compiling")
class Known(Base):
    def forward(self, x):
        return len(repr(self.a)) if x[0] > 0 else 0


@refused('the text of a tensor or float as a result: `f"{v:.2f}"`', "leave the text to the caller")
class Text(Base):
    def forward(self, x):
        return f"sum {x.sum():.2f}"  # DY013


@refused('a text of a number of the input as a result: `f"layer{n}"`', "the number")
class NumberText(Base):
    def forward(self, x):
        return f"layer{int(x.argmax())}"  # DY013


@refused("`json.dumps` of numbers of the input", "do this behind the compiled program")
class Json(Base):
    def forward(self, x):
        return json.dumps(x.tolist()) if x[0] > 0 else ""  # DY010


@supported("`getattr` with names known while compiling")
class Reflection(Base):
    def forward(self, x):
        name = "a" if x[0] > 0 else "b"
        return getattr(self, name)(x)


@refused("`eval` in `forward`", "plain code")
class Eval(Base):
    def forward(self, x):
        return eval("x if x.sum() > 0 else -x")  # DY002


@supported("`slice` objects, `...` and `None` as indices")
class SliceObjects(Base):
    def forward(self, x):
        part = slice(0, 2) if x[0] > 0 else slice(None, None, 2)
        return x[None, ..., part]


@supported("`locals()`")
class Locals(Base):
    def forward(self, x):
        y = x * 2
        return locals()["y"] if x.sum() > 0 else x
