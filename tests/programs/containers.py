"""Containers indexed, filled and searched by numbers that only the input determines, as users write them."""

import collections

import torch
from torch import nn

from tests.programs.base import WIDTH, Base


def _choice(x):
    """A number from 0 to 2."""
    return int((x[0, :2] > 0).sum())


class StoreIntoList(Base):
    def forward(self, x):
        slots = [x, -x, x * 2]
        slots[_choice(x)] = self.a(x)
        return slots


class AddIntoList(Base):
    paths = 1

    def forward(self, x):
        counts = [0, 0, 0]
        counts[_choice(x)] += 1
        counts[-_choice(x) - 1] += 2
        return counts


class StoreIntoDict(Base):
    def forward(self, x):
        found = {0: x, 1: -x}
        k = _choice(x) % 2
        found[k] += 1
        found[_choice(-x)] = self.a(x)
        return found


class GetFromDict(Base):
    def forward(self, x):
        scales = {0: 1.0, 2: 3.0}
        k = _choice(x)
        layer = {0: self.a, 1: self.b}.get(k)
        if layer is None:
            layer = self.c
        return layer(x) * scales.get(k, 0.5), k in scales, {0: "a"}.get(k, "b")


class KeysOfText(Base):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleDict({str(k): nn.Linear(WIDTH, WIDTH) for k in range(3)})

    def forward(self, x):
        k = _choice(x)
        layers = {f"layer{i}": i * 2.0 for i in range(3)}
        return self.heads[str(k)](x) * layers[f"layer{k}"]


class KeysOfTextWithDefault(Base):
    paths = 1

    def forward(self, x):
        k = _choice(x)
        scale = {"head_0": 2.0, "head_1": 3.0}.get("head_" + str(k), 1.0)
        name = "%d" % k
        return x * scale, name in {"0": 1, "1": 2}, f"{k}" == "1"


class AttributeByName(Base):
    def __init__(self):
        super().__init__()
        for i in range(3):
            setattr(self, f"head{i}", nn.Linear(WIDTH, WIDTH))

    def forward(self, x):
        return getattr(self, f"head{_choice(x)}")(x)


class PopAndInsert(Base):
    def forward(self, x):
        layers = [self.a, self.b, self.c]
        chosen = layers.pop(_choice(x))
        layers.insert(_choice(x) % 2, chosen)
        for layer in layers:
            x = layer(x)
        return chosen(x)


class DeleteByNumber(Base):
    def forward(self, x):
        rows = [x[0], x[1], x[2]]
        del rows[_choice(x)]
        return rows


class FindInList(Base):
    def forward(self, x):
        k = _choice(x)
        values = [0, 1, 2]
        return values.index(k), [k, 1, 1].count(k), x[0, :3].tolist().index(x[0, 1].item())


class RemoveFromList(Base):
    def forward(self, x):
        values = [0, 1, 2]
        values.remove(_choice(x))
        return values


class RepeatedList(Base):
    def forward(self, x):
        rows = [x[0]] * _choice(x)
        return rows, _choice(-x) * [1], (0,) * len(rows)


class SlicedList(Base):
    def forward(self, x):
        n = _choice(x)
        for layer in [self.a, self.b, self.c][:n]:
            x = layer(x)
        for layer in (self.a, self.b)[n:]:
            x = -layer(x)
        return x


class SlicedModules(Base):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([self.a, self.b, self.c])

    def forward(self, x):
        for layer in self.layers[: _choice(x)]:
            x = layer(x)
        return x


class Counted(Base):
    def forward(self, x):
        counts = collections.Counter()
        for row in x:
            counts[int((row > 0).sum()) // 4] += 1
        return dict(counts)


class GroupedByNumber(Base):
    def forward(self, x):
        groups = collections.defaultdict(list)
        for row in x:
            groups[int(row.sum() > 0)].append(row)
        return {k: len(rows) for k, rows in sorted(groups.items())}


class LastSeen(Base):
    def forward(self, x):
        recent = collections.deque(maxlen=2)
        for row in x:
            if row.sum() > 0:
                recent.append(row.sum().item())
        recent.appendleft(_choice(x))
        recent.rotate(1)
        return list(recent), len(recent)


Point = collections.namedtuple("Point", "x y")


class NamedNumbers(Base):
    def forward(self, x):
        point = Point(x[0, 0].item(), _choice(x))
        moved = point._replace(x=point.x + 1)
        if moved.x > 0:
            moved = moved._replace(y=moved.y + 1)
        return moved, point._asdict()["y"]


class OrderedByStep(Base):
    def forward(self, x):
        seen = collections.OrderedDict()
        for i, row in enumerate(x):
            if row.sum() > 0:
                seen[f"row{i}"] = row.sum().item()
        if seen:
            seen.move_to_end(next(iter(seen)))
        return list(seen), list(seen.values())


class MatrixOfNumbers(Base):
    def forward(self, x):
        k = _choice(x)
        grid = [[1, 2, 3], [4, 5, 6]]
        grid[k % 2][k] = 0
        return grid, grid[k % 2][k - 1]


class SetOfNumbers(Base):
    def forward(self, x):
        k = _choice(x)
        seen = {0, 5}
        seen.add(k)
        return sorted(seen), k in {1, 2}, len({_choice(x), 1})


class SwappedItems(Base):
    paths = 1

    def forward(self, x):
        values = [1, 2, 3]
        k = _choice(x)
        values[0], values[k] = values[k], values[0]
        return values


class MatchedStructures(Base):
    def forward(self, x):
        match [x, *[self.a, self.b]]:
            case [first, *layers, last]:
                for layer in layers:
                    first = layer(first) if first.sum() > 0 else first
                x = last(first)
        match {"kind": "scale", "by": x[0, 0].item(), "more": 1}:
            case {"kind": "shift", "by": by}:
                return x + by
            case {"kind": "scale", "by": by, **rest} if by > 0:
                return x * by, rest
            case {"kind": str() as kind}:
                return x, kind
        return None


class MatchedNumbers(Base):
    def forward(self, x):
        match (_choice(x), x[0, 2].item()):
            case (0, _):
                return self.a(x)
            case (1, v) if v > 0:
                return self.b(x) * v
            case (1 | 2 as k, float(v)):
                return x * k + v
        return None


class MatchedClass(Base):
    def forward(self, x):
        match Point(x[0, 0].item(), _choice(x)):
            case Point(v, 0):
                return x * v
            case Point(x=v, y=1):
                return x + v
            case Point():
                return -x
        return None


class LambdasOnOneLine(Base):
    def forward(self, x):
        first, second = (lambda v: v if v.sum() > 0 else -v), (lambda v: v * 2 if v.mean() > 0.1 else v)
        table = {"a": lambda v: v + 1 if v.max() > 1 else v, "b": lambda v: v - 1 if v.max() > 1 else v}
        return second(first(x)), table["a"](x), table["b"](x)
