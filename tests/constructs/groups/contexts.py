"""Context managers."""

import contextlib
import threading

import torch

from tests.constructs.construct import Base, refused, supported


@supported("`torch.no_grad()`, `torch.inference_mode()`, as `with` and as decorators")
class NoGrad(Base):
    @torch.no_grad()
    def step(self, x):
        return x if x.sum() > 0 else -x

    def forward(self, x):
        with torch.inference_mode():
            y = self.a(x) if x[0] > 0 else x
        return self.step(y)


@supported("your own, with `__enter__` and `__exit__`, around a decision")
class Own(Base):
    def forward(self, x):
        with Scale(2.0) as scale:
            y = x * scale.factor if x.sum() > 0 else x
        return y, scale.left


class Scale:
    def __init__(self, factor):
        self.factor, self.left = factor, False

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.left = True
        return True


@supported("an `__exit__` that swallows an error")
class Swallow(Base):
    def forward(self, x):
        with Scale(2.0):
            if x.sum() > 0:
                raise ValueError("swallowed")
            return x
        return -x


@contextlib.contextmanager
def scaled(log):
    log.append("in")
    try:
        yield 2.0
    finally:
        log.append("out")


@supported("`contextlib.contextmanager`, `suppress`, `nullcontext`")
class Contextlib(Base):
    def forward(self, x):
        log = []
        with scaled(log) as factor, contextlib.nullcontext():
            if x.sum() > 0:
                x = x * factor
        with contextlib.suppress(ValueError):
            if x[0] > 0:
                raise ValueError
            log.append("reached")
        return x, log


@supported("`contextlib.ExitStack` with a decision inside")
class Stack(Base):
    def forward(self, x):
        with contextlib.ExitStack() as stack:
            scale = stack.enter_context(Scale(2.0))
            y = x * scale.factor if x.sum() > 0 else x
        return y


@supported('`torch.autocast("cpu", enabled=False)`')
class AutocastOff(Base):
    def forward(self, x):
        with torch.autocast("cpu", enabled=False):
            return self.a(x) if x.sum() > 0 else x


@refused('`torch.autocast("cpu", dtype=torch.bfloat16)` around a decision', "`model.bfloat16()`")
class Autocast(Base):
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):  # DY002
            return self.a(x).dtype == torch.bfloat16 if x.sum() > 0 else x


@supported("`torch.profiler.record_function`")
class Profiler(Base):
    def forward(self, x):
        with torch.profiler.record_function("step"):
            return self.a(x) if x.sum() > 0 else x


@refused('`with torch.device("cpu")` around a decision', "`device=`")
class Device(Base):
    def forward(self, x):
        with torch.device("cpu"):  # DY002
            return x + torch.ones(3) if x.sum() > 0 else torch.zeros(3)


@refused("`torch.nn.attention.sdpa_kernel` around a decision", "the decision before it")
class Kernel(Base):
    def forward(self, x):
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):  # DY007
            y = torch.nn.functional.scaled_dot_product_attention(x[None], x[None], x[None])
            return y if x.sum() > 0 else x


@supported("a lock around a decision")
class Lock(Base):
    def forward(self, x):
        with threading.Lock():
            return x if x.sum() > 0 else -x
