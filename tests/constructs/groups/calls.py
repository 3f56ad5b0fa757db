"""Calls."""

import functools
import weakref

import torch
from torch import nn

from tests.constructs.construct import Base, bounded, refused, supported


def flipped(x, *, factor=1.0):
    return x * factor if x.sum() > 0 else -x


@supported("functions, methods, static methods, properties, with decisions in them")
class Functions(Base):
    @staticmethod
    def positive(x):
        return x.sum() > 0

    @property
    def factor(self):
        return 2.0

    def step(self, x):
        return self.a(x) if self.positive(x) else flipped(x, factor=self.factor)

    def forward(self, x):
        return self.step(x)


@supported("arguments by keyword, defaults, `*args`, `**kwargs`")
class Arguments(Base):
    def step(self, x, *more, scale=1.0, **options):
        if x.sum() > 0:
            return x * scale + sum(more)
        return x - options["shift"]

    def forward(self, x):
        return self.step(x, x[0], 2, shift=x[1], scale=3)


@supported("closures, `nonlocal`")
class Closures(Base):
    def forward(self, x):
        count = 0

        def step(y):
            nonlocal count
            if y.sum() > 0:
                count += 1
                return y - 1
            return y

        return step(step(x)), count


class Gate(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


@supported("modules inside of modules, `nn.Sequential`, `nn.ModuleDict`, a module called twice")
class Submodules(Base):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(self.a, Gate(), self.b)
        self.parts = nn.ModuleDict({"gate": Gate()})

    def forward(self, x):
        return self.parts["gate"](self.net(x)) + self.net(x)


@supported("forward hooks with decisions in them")
class Hooks(Base):
    def __init__(self):
        super().__init__()
        self.a.register_forward_hook(lambda module, args, result: result * 2 if result.sum() > 0 else result)

    def forward(self, x):
        return self.a(x)


@supported("`functools.partial`")
class Decorators(Base):
    def forward(self, x):
        return functools.partial(flipped, factor=3.0)(x)


@refused("`functools.lru_cache` around a decision on a tensor that it gets", "the function without the cache")
class Cached(Base):
    @functools.lru_cache
    def step(self, x):
        return x if x.sum() > 0 else -x

    def forward(self, x):
        return self.step(x)  # DY007


@supported("`functools.cache` and `lru_cache` around a function of numbers")
class CachedNumbers(Base):
    @staticmethod
    @functools.cache
    def mask(size):
        return torch.tril(torch.ones(size, size))

    def forward(self, x):
        return self.mask(x.shape[0]) @ x if x.sum() > 0 else -x


@bounded("recursion that counts down a number known while compiling", "200 calls inside each other")
class Recursion(Base):
    def step(self, x, depth):
        if depth == 0 or x.norm() < 0.5:
            return x
        return self.step(x / 2, depth - 1)

    def forward(self, x):
        return self.step(x, 50)


@refused("recursion that only the input ends, or deeper than 200 calls", "a loop, or a depth that is counted down")
class OpenRecursion(Base):
    def step(self, x):
        if x.norm() < 0.5:
            return x
        return self.step(x / 2)  # DY011

    def forward(self, x):
        return self.step(x)


@supported("`torch.utils.checkpoint.checkpoint` around a decision")
class Checkpoint(Base):
    def forward(self, x):
        from torch.utils.checkpoint import checkpoint

        return checkpoint(flipped, x, use_reentrant=False)


@supported("`torch.cond`, `torch.while_loop`")
class HigherOrder(Base):
    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))
        return torch.while_loop(lambda y: y.norm() > 1, lambda y: (y / 2,), (y,))


@supported("`torch.where` and `torch.vmap` in the place of a decision")
class Vmap(Base):
    paths = 1

    def forward(self, x):
        return torch.vmap(lambda v: torch.where(v > 0, v, -v))(x)


@refused("functions made by `eval`, with a decision in them", "a function in a file")
class NoSource(Base):
    step = staticmethod(eval("lambda x: x if x.sum() > 0 else -x"))

    def forward(self, x):
        return self.step(x)  # DY003


@supported("a class inside of `forward`")
class LocalClass(Base):
    def forward(self, x):
        class Scaled:
            factor = 2.0

        return x * Scaled.factor if x.sum() > 0 else -x


@supported("`torch.compiler.disable`, which does nothing")
class Compiled(Base):
    def forward(self, x):
        return torch.compiler.disable(flipped)(x)


@supported("functions with a custom `torch.autograd.Function`")
class CustomFunction(Base):
    def forward(self, x):
        return Doubled.apply(x) if x.sum() > 0 else x


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


class Callable:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return x * self.factor if x.sum() > 0 else x


@supported("objects with `__call__`, a dict of functions")
class CallableObjects(Base):
    def forward(self, x):
        steps = {"scale": Callable(2.0), "flip": flipped}
        return sum(step(x) for step in steps.values())


@supported("hooks that are set and removed during the call, around decisions: caches, features")
class HooksInCall(Base):
    def forward(self, x):
        cache, seen = {}, []

        def keep(module, args, result):
            cache[module] = result if module not in cache else cache[module] + result
            return cache[module]

        handles = [layer.register_forward_hook(keep) for layer in (self.a, self.b)]
        for _ in range(3):
            x = self.b(self.a(x))
            if x.sum() > 0:
                break
        for handle in handles:
            handle.remove()
        with self.a.register_forward_pre_hook(lambda module, args: seen.append(args[0])):
            x = self.a(x) if x.max() > 0.5 else x
        return x, self.a(x), seen, list(cache.values())


@supported("a hook that a call leaves behind, once")
class HookLeft(Base):
    def forward(self, x):
        if not self.a._forward_hooks:
            self.a.register_forward_hook(lambda module, args, result: result * 2)
        return self.a(x) if x.sum() > 0 else x


@supported("`weakref.ref` of a module or a class")
class WeakReferences(Base):
    def forward(self, x):
        layer = weakref.ref(self.a)
        return layer()(x) if x.sum() > 0 else x


@refused(
    "other weak references, `weakref.finalize`, `WeakKeyDictionary` and the like made by the call", "the object itself"
)
class WeakTensor(Base):
    def forward(self, x):
        y = x * 2
        reference = weakref.ref(y)  # DY009
        return reference() if x.sum() > 0 else y
