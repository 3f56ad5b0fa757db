"""Classes and objects."""

import enum
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import torch

from tests.constructs.construct import Base, refused, supported


@dataclass
class State:
    x: torch.Tensor
    steps: int = 0
    log: list = field(default_factory=list)


@supported("dataclasses: made, changed, `replace`, default factories, alive in a loop")
class Dataclass(Base):
    def forward(self, x):
        state = State(x)
        while state.x.norm() > 0.5:
            state = replace(state, x=state.x / 2, steps=state.steps + 1)
        return state


class Pair(NamedTuple):
    x: torch.Tensor
    best: int


@supported("named tuples: fields, `_replace`")
class Named(Base):
    def forward(self, x):
        pair = Pair(x, int(x.argmax()))
        return pair._replace(best=0) if pair.x.sum() > 0 else pair


class Counter:
    total = 0

    def __init__(self, start):
        self.n = start

    def up(self, by=1):
        self.n += by
        return self


@supported("objects of your own classes: attributes, methods, made inside of a call")
class Objects(Base):
    def forward(self, x):
        counter = Counter(0)
        for v in x:
            if v > 0:
                counter.up()
        return counter.n


@supported("special methods: `__add__`, `__gt__`, `__len__`, `__getitem__`")
class Special(Base):
    def forward(self, x):
        box = Box(x)
        if box > 0 and len(box) == 3:
            return (box + 1)[0]
        return box[1]


class Box:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Box(self.x + other)

    def __gt__(self, other):
        return self.x.sum() > other

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i]


@supported("`__bool__` with a decision in it")
class Bool(Base):
    def forward(self, x):
        return x if Positive(x) else -x


class Positive:
    def __init__(self, x):
        self.x = x

    def __bool__(self):
        return bool(self.x.sum() > 0)


class Mode(enum.Enum):
    HOT = 1
    COLD = 2


@supported("enums: as values, in `match`, as keys")
class Enums(Base):
    def forward(self, x):
        mode = Mode.HOT if x.sum() > 0 else Mode.COLD
        match mode:
            case Mode.HOT:
                return {Mode.HOT: x, Mode.COLD: -x}[mode]
            case _:
                return mode.value


@supported("`Mode(n)`: an enum's member by a number of the input")
class EnumByNumber(Base):
    def forward(self, x):
        return x if Mode(int(x.sum() > 0) + 1) is Mode.HOT else -x


@supported("properties, `__getattr__`, `__call__`")
class Attributes(Base):
    def forward(self, x):
        lazy = Lazy(x)
        return lazy.positive * 2 if lazy.anything > 0 else lazy()


class Lazy:
    def __init__(self, x):
        self.x = x

    @property
    def positive(self):
        return self.x if self.x[0] > 0 else -self.x

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.x.sum()

    def __call__(self):
        return self.x


class Items(list):
    def best(self):
        return max(self)


@supported("a subclass of `list`")
class Subclasses(Base):
    def forward(self, x):
        items = Items([0.0])
        if x.sum() > 0:
            items.append(1.0)
        return items.best()


@refused("comparisons that `@dataclass(order=True)` generates", "`__lt__` written out, or `key=`")
class Ordered(Base):
    def forward(self, x):
        return 1 if Score(x[0].item()) < Score(x[1].item()) else 0  # DY001


@dataclass(order=True)
class Score:
    value: float


@supported("`==` of tuples and lists that hold numbers of the input")
class Equality(Base):
    def forward(self, x):
        return (int(x.argmax()), 1) == (0, 1), [int(x.argmin())] == [2]


@refused("subclasses of `torch.Tensor`", "plain tensors")
class TensorSubclass(Base):
    def forward(self, x):
        y = x.as_subclass(Tagged)  # DY010
        return y.tagged() if x.sum() > 0 else y * 2


class Tagged(torch.Tensor):
    def tagged(self):
        return self * 3


@refused("objects of classes written in C: `array.array`, alive across a decision", "numbers and lists")
class Native(Base):
    def forward(self, x):
        import array

        values = array.array("d", [1.0])
        if x.sum() > 0:  # DY009
            values.append(2.0)
        return len(values)
