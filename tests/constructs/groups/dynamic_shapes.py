"""`dynamic_shapes`: sizes of the inputs that may differ from call to call."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim

from tests.constructs.construct import WIDTH, Base, bounded, refused, supported


class Batch(Base):
    dynamic_shapes = {"x": {0: Dim("batch", max=64)}}

    @staticmethod
    def inputs(generator):
        return (torch.randn(int(torch.randint(0, 5, (), generator=generator)), WIDTH, generator=generator),)


@supported("a batch of any size, 0 and 1 among them")
class AnyBatch(Batch):
    def forward(self, x):
        return self.a(x) if x.sum() > 0 else self.b(x)


@supported("tests of a size: `if x.shape[0] == 1`, `if len(x) > 3`", "a decision like any other")
class SizeTests(Batch):
    paths = 3

    def forward(self, x):
        if x.shape[0] == 1:
            return self.a(x)
        return x.mean(0) if len(x) > 2 else x


@supported("loops over a size: `for i in range(x.shape[0])`")
class SizeLoops(Batch):
    def forward(self, x):
        total = torch.zeros(WIDTH)
        for i in range(x.shape[0]):
            if x[i].sum() > 0:
                total = total + x[i]
        return total


@supported("a list with an item for each row: `torch.stack([f(row) for row in x])`")
class SizeLists(Batch):
    @staticmethod
    def inputs(generator):
        return (torch.randn(int(torch.randint(1, 5, (), generator=generator)), WIDTH, generator=generator),)

    def forward(self, x):
        return torch.stack([self.a(row) if row.sum() > 0 else row for row in x])


@supported('two tensors with the same open size, multiples: `2 * Dim("n")`')
class SameSize(Base):
    dynamic_shapes = {"x": {0: Dim("n")}, "y": {0: 2 * Dim("n")}}

    @staticmethod
    def inputs(generator):
        n = int(torch.randint(1, 5, (), generator=generator))
        return torch.randn(n, 3, generator=generator), torch.randn(2 * n, 3, generator=generator)

    def forward(self, x, y):
        return torch.cat([x, x]) + y if x.sum() > 0 else y


@supported("broadcasting between open sizes: `x + y` where one of them may be 1")
class Broadcasting(Base):
    dynamic_shapes = {"x": {0: Dim("n")}, "y": {0: Dim("m")}}

    @staticmethod
    def inputs(generator):
        n = int(torch.randint(1, 5, (), generator=generator))
        m = (1, n)[int(torch.randint(0, 2, (), generator=generator))]
        return torch.randn(n, 3, generator=generator), torch.randn(m, 3, generator=generator)

    def forward(self, x, y):
        return x + y if x.sum() > 0 else x


@supported("sizes in views and arithmetic: `x.reshape(n, -1)`, `x.shape[0] // 2`")
class SizeArithmetic(Batch):
    def forward(self, x):
        half = x.shape[0] // 2
        return x[:half].reshape(half, -1) if x.sum() > 0 else x.reshape(-1)


@supported("images of any size: convolution, max pooling, resampling")
class Images(Base):
    dynamic_shapes = {"x": {2: Dim("height", min=4), 3: Dim("width", min=4)}}

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)

    @staticmethod
    def inputs(generator):
        h, w = torch.randint(4, 9, (2,), generator=generator).tolist()
        return (torch.randn(1, 1, h, w, generator=generator),)

    def forward(self, x):
        y = F.max_pool2d(self.conv(x), 2)
        return F.interpolate(y, scale_factor=2) if x[0, 0, 0, 0] > 0 else y


@refused("a number of results that depends on a size: `x.split(2)`", "a loop over the rows")
class OpenSplit(Batch):
    def forward(self, x):
        pieces = x.split(2)  # DY008
        return pieces[0] if x.sum() > 0 else x


@supported("a rank that depends on a size: `x.squeeze(0)`")
class OpenSqueeze(Batch):
    def forward(self, x):
        return x.squeeze(0) if x.sum() > 0 else x


@refused("`dynamic_shapes` that the example does not fit")
class Unfit(Batch):
    dynamic_shapes = {"x": {0: Dim("batch", min=100)}}

    def forward(self, x):  # DY015
        return x if x.sum() > 0 else -x


@bounded("a size outside of the bounds of its `Dim`", "refused by the program, with `DY103`")
class OutOfBounds(Batch):
    @staticmethod
    def beyond():
        return (torch.zeros(65, WIDTH),)

    def forward(self, x):
        return self.a(x) if x.sum() > 0 else x
