"""Inputs and results."""

from collections import OrderedDict
from dataclasses import dataclass

import torch

from tests.constructs.construct import WIDTH, Base, bounded, refused, supported


def draw(generator):
    return torch.randn(WIDTH, generator=generator)


@supported("several tensors, of any element type and rank, empty ones too")
class Tensors(Base):
    @staticmethod
    def inputs(generator):
        return draw(generator), torch.randint(0, 5, (2, 2), generator=generator), torch.tensor(True), torch.zeros(0)

    def forward(self, x, n, flag, empty):
        return x * n.sum() if flag & (x.sum() > 0) else empty


@bounded("numbers and flags", "those of the example call; a tensor may differ")
class Numbers(Base):
    @staticmethod
    def inputs(generator):
        return draw(generator), 2, 0.5, True

    @staticmethod
    def beyond():
        return torch.zeros(WIDTH), 3, 0.5, True

    def forward(self, x, n, v, flag):
        return x * n if flag and x.sum() > v else -x


@bounded("texts and `None`", "those of the example call; others are refused with `DY103`")
class Texts(Base):
    @staticmethod
    def inputs(generator):
        return draw(generator), "hot", None

    @staticmethod
    def beyond():
        return torch.zeros(WIDTH), "cold", None

    def forward(self, x, mode, mask):
        return x if mode == "hot" and x.sum() > 0 and mask is None else -x


@supported("lists, tuples and dicts of these, nested")
class Nested(Base):
    @staticmethod
    def inputs(generator):
        return ({"x": [draw(generator), draw(generator)], "n": (1, 2.0)},)

    def forward(self, batch):
        x, y = batch["x"]
        return x * batch["n"][1] if x.sum() > y.sum() else y


@bounded(
    "the length of a list, the keys of a dict, the shape of a tensor", "those of the example call, or `dynamic_shapes`"
)
class Lengths(Base):
    @staticmethod
    def inputs(generator):
        return ([draw(generator), draw(generator)],)

    @staticmethod
    def beyond():
        return ([torch.zeros(WIDTH)],)

    def forward(self, items):
        return items[0] if items[1].sum() > 0 else items[1]


@dataclass
class Sample:
    x: torch.Tensor
    name: str


@supported("dataclasses, as arguments and as results")
class Dataclasses(Base):
    @staticmethod
    def inputs(generator):
        return (Sample(draw(generator), "a"),)

    def forward(self, sample):
        return Sample(sample.x * 2, "b") if sample.x.sum() > 0 else sample


@supported("defaults, `*args`, `**kwargs` of `forward`")
class Variadic(Base):
    @staticmethod
    def inputs(generator):
        return draw(generator), draw(generator)

    def forward(self, *tensors, scale=2.0, **options):
        return tensors[0] * scale if tensors[1].sum() > 0 else tensors[1]


@supported("one result on one path, several on another")
class Results(Base):
    def forward(self, x):
        return (x, {"k": [1, None, "text", 2.5, True]}) if x.sum() > 0 else None


@supported("numbers of the input as results: `int`, `float`, `bool`")
class NumberResults(Base):
    def forward(self, x):
        return (x.sum().item(), int(x.argmax())) if x.sum() > 0 else bool(x[0] > 0)


@supported("a result that is an input, a weight, the same tensor twice")
class SharedResults(Base):
    def forward(self, x):
        return (x, x) if x.sum() > 0 else self.a.weight.detach()


class Output(OrderedDict):
    @property
    def best(self):
        return self["x"]


@supported("an `OrderedDict` as a result")
class Ordered(Base):
    def forward(self, x):
        return OrderedDict(x=x) if x.sum() > 0 else OrderedDict(y=x)


class Plain:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return type(self) is type(other) and torch.equal(self.x, other.x)


@supported("an object of a class of your own as a result", "`dycl.load(types=[...])` brings the class back")
class ObjectResult(Base):
    def forward(self, x):
        return Plain(x) if x.sum() > 0 else None


@refused("a set as a result", "tuples, lists and dicts")
class SetResult(Base):
    def forward(self, x):
        return {1, 2} if x.sum() > 0 else x  # DY013


@refused("a generator as a result", "`list(...)`")
class GeneratorResult(Base):
    def forward(self, x):
        return (v * 2 for v in x) if x.sum() > 0 else x  # DY013


@refused("a set as an argument", "its parts")
class SetArgument(Base):
    @staticmethod
    def inputs(generator):
        return draw(generator), {1, 2}

    def forward(self, x, chosen):  # DY013
        return x if x.sum() > 0 else -x


@bounded("`torch.Size` as a result", "it comes back as a plain tuple")
class TorchTuples(Base):
    @staticmethod
    def expected(result):
        return tuple(result)

    def forward(self, x):
        return x.shape if x.sum() > 0 else x[:1].shape
