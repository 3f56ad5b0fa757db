"""Shapes that depend on data."""

import torch
import torch.nn.functional as F

from tests.constructs.construct import WIDTH, Base, bounded, refused, supported


class Wide(Base):
    @staticmethod
    def inputs(generator):
        return (torch.randn(8, WIDTH, generator=generator),)


@supported("`x[x > 0]`, `torch.masked_select`")
class Mask(Base):
    def forward(self, x):
        y = x[x > 0]
        return y * 2 if y.sum() > 1 else torch.masked_select(x, x < 0)


@supported("`x.nonzero()`, `torch.where(condition)`")
class Nonzero(Wide):
    def forward(self, x):
        rows = x.sum(1).gt(0).nonzero()[:, 0]
        if len(rows) > 3:
            return x[rows]
        return torch.where(x > 0)[0]


@supported("`x.unique()`, with counts")
class Unique(Wide):
    def forward(self, x):
        values, counts = x.round().unique(return_counts=True)
        return values[counts.argmax()] if len(values) > 4 else counts


@supported("tests of such a length: `if y.numel() == 0`, `if y.shape[0] > 1`")
class Length(Base):
    paths = 3

    def forward(self, x):
        y = x[x > 0.3]
        if y.numel() == 0:
            return None
        return y.mean() if y.shape[0] > 1 else y


@supported("`torch.zeros(n)`, `torch.arange(n)`, `x.new_ones(n)`, `n` from the input")
class Creation(Base):
    def forward(self, x):
        n = int(x.abs().sum())
        y = torch.arange(n).float() + x.new_ones(n)
        return y if n > 2 else torch.zeros(n, 2)


@supported("`x[:n]`, `x[n:]`, `x.narrow(0, 0, n)`, `n` from the input")
class Slices(Base):
    def forward(self, x):
        n = int(x.argmax())
        y = x[:n]
        return torch.cat([y, x[n:] * 2]) if n > 0 else x.narrow(0, 0, n + 1)


@supported("`x.repeat(n)`, `x.expand(n, -1)`, `F.pad(x, (0, n))`")
class Repeat(Base):
    def forward(self, x):
        n = int(x.argmax())
        return x.repeat(n + 1) if x[0] > 0 else F.pad(x.expand(n, -1), (0, n))


@bounded("an operation that fails for some values: `x[x > 0].reshape(-1, 2)`", "raises `dycl.ModelError`, `DY104`")
class Reshape(Base):
    def forward(self, x):
        y = x[x > 0]
        return y.reshape(-1, 2) if x.sum() > 0 else y


@supported("layers on such tensors: `self.a(x[mask])`, attention, `softmax`")
class Layers(Wide):
    def forward(self, x):
        kept = x[x.sum(1) > 0]
        y = F.scaled_dot_product_attention(kept, kept, kept)
        return self.a(y).softmax(-1) if len(kept) > 3 else y


@supported("`x[mask] = y`, `x[rows] += 1`, `index_add`, where rows depend on data")
class Assignment(Wide):
    def forward(self, x):
        y = x.clone()
        rows = (x.sum(1) > 0).nonzero()[:, 0]
        y[rows] = self.a(x[rows])
        y[y < 0] = 0.0
        return y if len(rows) > 3 else y.index_add(0, rows, x[rows])


@refused(
    "`torch.split(x, n)` into a number of results that depends on data",
    "`torch.tensor_split` by a fixed number",
)
class Split(Base):
    def forward(self, x):
        return torch.split(x, int(x.argmax()) + 1)  # DY008


@refused("the dimension of an operation: `x.sum(dim=n)`", "`if` between the dimensions")
class Dimension(Base):
    @staticmethod
    def inputs(generator):
        return (torch.randn(WIDTH, WIDTH, generator=generator),)

    def forward(self, x):
        return x.sum(dim=int(x.sum() > 0))  # DY001


@supported("`for v in y`, where the length of `y` depends on data")
class OverMask(Base):
    def forward(self, x):
        total = 0.0
        for v in x[x > 0]:
            total = total + v * 2
        return total


@supported("`y.tolist()` of a length that depends on data, as a result")
class ToList(Base):
    def forward(self, x):
        return x[x > 0].tolist() if x.sum() > 0 else []


@supported("`y.shape`, `y.size()`, `y.numel()` as numbers: `x / y.numel()`, `y.shape[0] * 2`")
class Sizes(Base):
    def forward(self, x):
        y = x[x > 0]
        return x / (y.numel() + 1) if y.size(0) % 2 else y.shape[0] * 2


@supported("a list of tensors of different sizes from a loop with a bound, then `torch.cat`")
class SizesInList(Base):
    def forward(self, x):
        found = []
        for number in range(3):
            kept = x[x > 0.5 * number - 0.5]
            if kept.numel() > 0:
                found.append(kept)
        return (found, torch.cat(found)) if found else None


@refused("a list of tensors of different sizes from a loop without a bound", "a bound")
class SizesInOpenList(Base):
    def forward(self, x):
        found = []
        while x.sum() < 5:  # DY011
            found.append(x[x > 0])
            x = x + 0.1
        return found
