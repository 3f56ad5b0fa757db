"""State: what one call leaves for the next."""

import collections

import torch
from torch import nn

from tests.constructs.construct import WIDTH, Base, bounded, refused, supported

_seen = []
_last = None


@supported("an attribute that the next call reads: `self.calls += 1`, `self.last = x`")
class Attribute(Base):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.last = None

    def forward(self, x):
        self.calls += 1
        if self.last is not None and x.sum() > self.last.sum():
            x = x + self.last
        self.last = x
        return x, self.calls


@supported("an attribute that only this call reads: `self.cache = x`")
class Scratch(Base):
    def forward(self, x):
        self.scratch = x * 2
        return self.scratch if x.sum() > 0 else x


@supported("a buffer: `self.total += x`, `self.total = y`")
class Buffer(Base):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(WIDTH))

    def forward(self, x):
        if x.sum() > 0:
            self.total += x
        else:
            self.total = self.total * 0.5
        return self.total.clone()


@supported("a parameter changed in place: `self.a.bias.data.add_(1)`")
class Parameter(Base):
    def forward(self, x):
        if x.sum() > 0:
            self.a.bias.data.add_(1)
        return self.a(x)


@supported("a `deque(maxlen=3)` on the model")
class Window(Base):
    def __init__(self):
        super().__init__()
        self.window = collections.deque(maxlen=3)

    def forward(self, x):
        self.window.append(x)
        return sum(self.window) if x[0] > 0 else x


@refused("a list on the model that grows with every call", "drop what is old; a buffer")
class GrowingState(Base):
    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, x):
        self.seen.append(x)
        return x if x.sum() > len(self.seen) else -x  # DY011


@supported("a KV cache: a tensor on the model that grows by `torch.cat`, and is reset")
class GrowingTensorState(Base):
    def __init__(self):
        super().__init__()
        self.cache = None

    def forward(self, x):
        self.cache = x[None] if self.cache is None else torch.cat([self.cache, x[None]])
        if self.cache.sum() > 1:
            self.cache = None
            return x
        return self.cache.mean(0)


@supported("an attribute of a submodule")
class Submodule(Base):
    def __init__(self):
        super().__init__()
        self.a.uses = 0

    def forward(self, x):
        if x.sum() > 0:
            self.a.uses += 1
        return x * self.a.uses


@refused("a module that is replaced: `self.head = nn.Identity()`", "an `if` between modules")
class Replaced(Base):
    def forward(self, x):
        if x.sum() > 0:
            self.a = nn.Identity()  # DY007
        return self.a(x)


@refused("`global name` and an assignment to it", "an attribute of the model")
class Global(Base):
    def forward(self, x):
        global _last  # DY007
        _last = x
        return x if x.sum() > 0 else -x


@supported("a list of the Python module that a call changes: `_seen.append(1)`")
class GlobalList(Base):
    def forward(self, x):
        if len(_seen) < 3 and x.sum() > 0:
            _seen.append(1)
        return len(_seen)


@supported("an attribute of a class: `type(self).calls += 1`")
class ClassAttribute(Base):
    calls = 0

    def forward(self, x):
        type(self).calls += 1
        return x if x.sum() > 0 else -x


@supported("a default argument that a call changes: `def f(x, seen=[])`")
class Default(Base):
    def step(self, x, seen=[0]):
        seen[0] += 1
        return seen[0] if x.sum() > 0 else -1

    def forward(self, x):
        return self.step(x)


@supported("a variable of a function around the model's: `nonlocal` across calls")
class Nonlocal(Base):
    def __init__(self):
        super().__init__()
        count = 0

        def step():
            nonlocal count
            count += 1
            return count

        self.step = step

    def forward(self, x):
        return x * self.step() if x.sum() > 0 else x


@bounded("a list that the caller passes in and the model changes", "the caller's list stays as it is")
class ArgumentList(Base):
    @staticmethod
    def inputs(generator):
        return (torch.randn(WIDTH, generator=generator), [1])

    def forward(self, x, seen):
        seen.append(2)
        return x * len(seen) if x.sum() > 0 else -x


@bounded("an input changed in place: `x.add_(1)`", "the caller's tensor keeps its values")
class ArgumentTensor(Base):
    def forward(self, x):
        x.add_(1)
        return x * 2 if x.sum() > 3 else x
