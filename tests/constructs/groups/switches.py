"""Switches: one of several modules, items or attributes, chosen by a number of the input."""

from torch import nn

from tests.constructs.construct import Base, bounded, refused, supported


@supported("`self.layers[i](x)`, `i = int(x.argmax())`")
class ModuleByIndex(Base):
    def forward(self, x):
        return self.layers[int(x.argmax())](x)


@supported("`items[i]`, `items[-i]`, `items[i] = v`, `items.pop(i)` on a list of known length")
class ListByIndex(Base):
    def forward(self, x):
        i = int(x.argmax())
        items = [x, x * 2, "three"]
        items[i] = i
        return items[-i], items.pop(i), items


@bounded(
    "an index outside of the list, a key that is not in the dict", "`IndexError`, `KeyError`, in words of their own"
)
class OutOfRange(Base):
    def forward(self, x):
        return [x, -x][int(x.argmax())]


@supported("`table[i]` on a dict with whole numbers as keys")
class DictByNumber(Base):
    def forward(self, x):
        table = {0: self.a, 5: self.b, 10: self.c}
        return table[int(x.argmax()) * 5](x)


@supported("`self.heads[str(i)]`, `getattr(self, name)` with a name made of `i`")
class DictByText(Base):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleDict({str(i): layer for i, layer in enumerate(self.layers)})

    def forward(self, x):
        i = int(x.argmax())
        return self.heads[str(i)](x) + getattr(self, f"{'abc'[i]}")(x)


@supported("`(f, g)[x.sum() > 0]`, `{True: f, False: g}[flag]`")
class ByFlag(Base):
    def forward(self, x):
        return (self.a, self.b)[x.sum() > 0](x) + {True: 1, False: 2}[(x[0] > 0).item()]


@supported("a slice of a list: `self.layers[:n]`")
class BySlice(Base):
    paths = 3

    def forward(self, x):
        for layer in self.layers[: int(x.argmax()) + 1]:
            x = layer(x)
        return x


@supported("`list.index(value)`, `list.count(value)` with a value of the input")
class Index(Base):
    def forward(self, x):
        return [0, 2, 1].index(int(x.argmax())), [0, 0, 1].count(int(x.argmax()))


@supported("a new key of a dict with a bound: `found[n % 4] = x`")
class BoundedKey(Base):
    def forward(self, x):
        found = {}
        found[int(x.sum()) % 4] = x
        return found


@bounded("the numbers that such a key may be", "64 different ones")
class Cases(Base):
    paths = 2

    def forward(self, x):
        return {int(x[0] * 100) % 64: x}


@refused("a key with more than 64 values", "a tensor or a list that is indexed")
class ManyCases(Base):
    def forward(self, x):
        return {int(x[0] * 100) % 65: x}  # DY008


@refused("a new key of a dict without a bound", "`n % 4`, `min(max(n, 0), 3)`")
class OpenKey(Base):
    def forward(self, x):
        return {int(x.sum()): x}  # DY008


@refused("a float as a key: `table[x.sum().item()]`", "a whole number: `round(...)`")
class FloatKey(Base):
    def forward(self, x):
        return {0.5: x}[x.sum().item()]  # DY008


@refused("the text of a float as a key: `str(v)`", "`str` of a whole number")
class FloatText(Base):
    def forward(self, x):
        return {"0.0": x}[str(x.sum().item())]  # DY001


@supported("`x.gather`, `x[i]` with a number or tensor of the input")
class TensorIndex(Base):
    paths = 1

    def forward(self, x):
        return x[x.argmax()] + x.gather(0, x.argsort()) + x[int(x.argmin()) :].sum()
