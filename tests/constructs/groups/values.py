"""Values that differ by path."""

from collections import Counter, defaultdict, deque
from types import SimpleNamespace

import torch

from tests.constructs.construct import Base, supported


@supported("tensors of other shapes, ranks and element types")
class OtherShapes(Base):
    def forward(self, x):
        if x.sum() > 0:
            y = x[None].expand(2, -1)
        else:
            y = x > 0
        return y.sum()


@supported("a tensor on one path, `None`, a number or a text on the other")
class OtherKinds(Base):
    paths = 3

    def forward(self, x):
        extra = None
        if x[0] > 0:
            extra = self.a(x)
        elif x[1] > 0:
            extra = "text"
        return extra


@supported("results with other nesting: a tuple, a list, a dict, `None`")
class OtherResults(Base):
    paths = 3

    def forward(self, x):
        if x[0] > 0:
            return x, [x.max()]
        return {"x": x} if x[1] > 0 else None


@supported("lists that are longer on one path: `append`, `insert`, `pop`, `del`")
class Lists(Base):
    paths = 3

    def forward(self, x):
        items = [x, 1]
        for v in x:
            if v > 0:
                items.append(v)
        if x[0] > 0:
            items.insert(0, items.pop())
            del items[1]
        return items


@supported("dicts with other keys: `d[key] = v`, `d.pop`, `d.setdefault`, `d | e`")
class Dicts(Base):
    paths = 4

    def forward(self, x):
        found = {"x": x}
        if x[0] > 0:
            found["first"] = x[0]
        if x[1] > 0:
            found.setdefault("second", []).append(x[1])
        if x[2] > 0:
            found = found | {"x": found.pop("x") * 2}
        return found


@supported("sets of numbers known while compiling: `add`, `|`, `in`")
class Sets(Base):
    paths = 3

    def forward(self, x):
        seen = set()
        for i, v in enumerate(x):
            if v > 0:
                seen.add(i)
        return x * len(seen), sorted(seen | {7}), 1 in seen


@supported("`deque`, `defaultdict`, `Counter`")
class Collections(Base):
    paths = 3

    def forward(self, x):
        window, groups, counts = deque(maxlen=2), defaultdict(list), Counter()
        for v in x:
            if v > 0:
                window.append(v)
                groups["up"].append(v)
                counts["up"] += 1
        return list(window), dict(groups), counts["up"]


@supported("`SimpleNamespace` whose attributes differ")
class Records(Base):
    def forward(self, x):
        record = SimpleNamespace(best=x.max())
        if x[0] > 0:
            record.extra = 1
        return vars(record)


@supported("a module or a function in a variable")
class Modules(Base):
    def forward(self, x):
        layer, after = self.a, torch.relu
        if x.sum() > 0:
            layer, after = self.b, torch.tanh
        return after(layer(x))


@supported('texts: `mode = "hot" if x.sum() > 0 else "cold"`, and what is done with them')
class Texts(Base):
    def forward(self, x):
        mode = "hot" if x.sum() > 0 else "cold"
        return {"mode": f"{mode:>6}", "scaled": x * len(mode)} if mode.startswith("h") else mode.upper()


@supported("a variable that only one path sets", "`UnboundLocalError` where eager has it")
class Unbound(Base):
    def forward(self, x):
        if x.sum() > 0:
            y = x
        return y


@supported("`del name`")
class Delete(Base):
    def forward(self, x):
        y = x * 2
        if x.sum() > 0:
            del y
            return x
        return y


@supported("unpacking: `a, *rest = items`, `[*items]`, `{**d}`")
class Unpacking(Base):
    def forward(self, x):
        items = [x[0], x[1]]
        if x.sum() > 0:
            items.append(x[2])
        first, *rest = items
        return {**{"first": first}, "rest": torch.stack([*rest, first])}


@supported("slices of lists, `items[::-1]`, `items[1:] = other`")
class ListSlices(Base):
    def forward(self, x):
        items = x.tolist()
        if items[0] > 0:
            items[1:] = [0.0]
        return items[::-1]


@supported("a list of texts that depends on many flags", "each combination is compiled: keep them few")
class Forms(Base):
    paths = 4

    def forward(self, x):
        names = []
        for i, v in enumerate(x.repeat(2)):
            if v > 0:
                names.append(f"item{i}")
        return names


@supported(
    "assignments to several targets, swaps, annotations: `a = b = v`, `x[0], x[1] = x[1], x[0]`, `y: Tensor = x`"
)
class Targets(Base):
    def forward(self, x):
        (a, b), c = (x[0], x[1]), x[2]
        a = b = a + 1 if c > 0 else b
        a += 1
        y: torch.Tensor = x.clone()
        y[0], y[1] = x[1], x[0]
        return a, b, y


@supported("options of a call that differ: `x.sum(**options)`")
class CallOptions(Base):
    def forward(self, x):
        options = {"dim": 0}
        if x[0] > 0:
            options["keepdim"] = True
        return x.sum(**options)


@supported("what a tensor is: `x.dtype`, `x.device`, `x.ndim`, `x.stride()`", "known while compiling")
class Properties(Base):
    def forward(self, x):
        y = x if x.sum() > 0 else x[None].double()
        return y.ndim * 2 if y.dtype == torch.float32 and y.device.type == "cpu" else y.stride()
