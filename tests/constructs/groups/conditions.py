"""Conditions."""

import operator

import torch

from tests.constructs.construct import WIDTH, Base, supported


@supported("`if` on a tensor of one element: `if x.sum() > 0`")
class Tensor(Base):
    def forward(self, x):
        if x.sum() > 0:
            return self.a(x)
        return self.b(x)


@supported("`if x.sum().item() > 0`, `if float(x.sum()) > 0`, `bool(...)`")
class Item(Base):
    def forward(self, x):
        if x.sum().item() > 0:
            x = self.a(x)
        if float(x[0]) > 0 and bool(x[1] > 0):
            x = self.b(x)
        return x


@supported("`elif` chains and nested `if`")
class Chain(Base):
    paths = 4

    def forward(self, x):
        s = x.sum()
        if s > 1:
            y = self.a(x)
        elif s > 0:
            y = self.b(x) if x[0] > 0 else x
        elif s > -1:
            y = self.c(x)
        else:
            y = -x
        return y


@supported("`and`, `or`, `not`, with their values: `x.sum() > 0 and x.max()`")
class Connectives(Base):
    paths = 3

    def forward(self, x):
        top = x[0] > 0 and x.max()
        low = not (x[1] > 0) or x[2] > 0
        return x * top + (1 if low else 2)


@supported("comparisons in a chain: `0 < s < 1`")
class ChainedComparison(Base):
    def forward(self, x):
        s = x.sum().item()
        return self.a(x) if 0 < s < 2 else x


@supported("`x if condition else y`")
class Conditional(Base):
    def forward(self, x):
        return (self.a if x.mean() > 0 else self.b)(x)


@supported("`:=` inside a condition")
class Walrus(Base):
    def forward(self, x):
        if (s := x.sum()) > 0:
            return x * s
        return x - s


@supported("`torch.any`, `torch.all`, `torch.equal`, `torch.allclose`, `torch.is_nonzero`")
class TorchTests(Base):
    paths = 3

    def forward(self, x):
        if torch.any(x > 1):
            x = x - 1
        if torch.all(x > -1) or torch.equal(x, x.abs()):
            x = self.a(x)
        if torch.allclose(x.round(), x.abs().round()) or torch.is_nonzero(x[0].round()):
            return x
        return -x


@supported("`any(...)`, `all(...)` over tensors, numbers or a generator expression")
class AnyAll(Base):
    def forward(self, x):
        if any(v > 1 for v in x):
            return self.a(x)
        if all([v.item() > -1 for v in x]):
            return self.b(x)
        return x


@supported("`in`, `not in` a tuple or dict known while compiling")
class Membership(Base):
    def forward(self, x):
        n = int(x.sum().abs())
        if n in (0, 2):
            return self.a(x)
        return x if n not in {1: "one"} else -x


@supported("`item in tensor`")
class MembershipInTensor(Base):
    def forward(self, x):
        return self.a(x) if 1 in x.round() else x


@supported("`is None`, `isinstance`", "known while compiling, on each path anew")
class Identity(Base):
    def forward(self, x):
        found = x.max() if x[0] > 0 else None
        if found is None:
            return -x
        return x * found if isinstance(found, torch.Tensor) else x


@supported("`match` on numbers, tuples and mappings, with guards")
class Match(Base):
    paths = 3

    def forward(self, x):
        match (int(x.argmax()), {"up": x[0] > 0}):
            case (0, _):
                return self.a(x)
            case (1 | 2 as k, {"up": up}) if up:
                return x * k
            case _:
                return -x


@supported("`assert condition`")
class Assert(Base):
    def forward(self, x):
        assert x.sum() > 0, "not positive"
        return self.a(x)


@supported("a flag kept in a dict and tested later")
class Flags(Base):
    def forward(self, x):
        flags = {"a": x[0] > 0, "b": (x[1] > 0).item()}
        y = self.a(x)
        if flags["a"]:
            y = y + 1
        if flags["b"]:
            y = y * 2
        return y


@supported("tests of each row of a batch, one at a time: `for row in x: if row.sum() > 0`")
class Rows(Base):
    paths = 4

    @staticmethod
    def inputs(generator):
        return (torch.randn(2, WIDTH, generator=generator),)

    def forward(self, x):
        return torch.stack([self.a(row) if row.sum() > 0 else self.b(row) for row in x])


@supported("the operators of `operator`: `operator.gt(s, 0)`")
class Operator(Base):
    def forward(self, x):
        return self.a(x) if operator.gt(x.sum(), 0) else operator.neg(x)


@supported("a condition that fails: `if x > 0` for a tensor of several elements", "raises what PyTorch raises")
class Ambiguous(Base):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return x if x > 0 else -x


@supported("NaN and infinity in a comparison")
class NotANumber(Base):
    @staticmethod
    def inputs(generator):
        choice = int(torch.randint(0, 4, (), generator=generator))
        return (torch.tensor([(float("nan"), float("inf"), -float("inf"), 1.0)[choice], 1.0, 2.0]),)

    def forward(self, x):
        s = x.sum().item()
        if s != s:
            return "nan"
        return "large" if s > 1e30 else "small" if s < -1e30 else "number"


@supported("`hasattr(self, name)`")
class HasAttribute(Base):
    def forward(self, x):
        return x if hasattr(self, "missing") or x[0] > 0 else -x
