"""What has no place in an artefact."""

import asyncio
import logging
import os
import random
import sys
import time
import warnings

import torch
import torch.nn.functional as F

from tests.constructs.construct import WIDTH, Base, bounded, refused, supported

LOGGER = logging.getLogger(__name__)
THRESHOLD = 0.0


@bounded("`print`", "left out: the program prints nothing; `dycl.explain` notes where")
class Print(Base):
    notes = 1

    def forward(self, x):
        if x.sum() > 1e9:
            print("large", x.sum())
        return x if x.sum() > 0 else -x


@bounded('`logging`: `logger.debug("sum %s", x.sum())`', "left out")
class Logging(Base):
    notes = 1

    def forward(self, x):
        LOGGER.debug("sum %s", x.sum())
        return x if x.sum() > 0 else -x


@bounded("`warnings.warn`", "left out")
class Warnings(Base):
    notes = 1

    def forward(self, x):
        if x.sum() > 1e9:
            warnings.warn("large")
        return x if x.sum() > 0 else -x


@refused("random numbers: `torch.randn_like(x)`", "pass the numbers in")
class Random(Base):
    def forward(self, x):
        return x + torch.randn_like(x) if x.sum() > 0 else x  # DY005


@refused("`random.random()`", "pass the numbers in")
class PythonRandom(Base):
    def forward(self, x):
        return x * random.random() if x.sum() > 0 else x  # DY005


@refused("`F.dropout(x)` with its default `training=True`", "`F.dropout(x, training=self.training)`")
class Dropout(Base):
    def forward(self, x):
        return F.dropout(x) if x.sum() > 0 else x  # DY005


@supported("dropout in `eval` mode, `if self.training`")
class EvalMode(Base):
    def forward(self, x):
        if self.training:
            raise RuntimeError
        return F.dropout(x, training=self.training) if x.sum() > 0 else -x


@refused("a model in training mode", "`model.eval()`")
class Training(Base):
    in_training = True

    def forward(self, x):  # DY012
        return x if x.sum() > 0 else -x


@refused("derivatives: `torch.autograd.grad`", "the derivative as a formula")
class Gradient(Base):
    def forward(self, x):
        with torch.enable_grad():
            y = x.detach().requires_grad_()
            (gradient,) = torch.autograd.grad((y**2).sum(), y)  # DY002
        return gradient if x.sum() > 0 else x


@refused("`torch.func.grad`", "the derivative as a formula")
class FunctionalGradient(Base):
    def forward(self, x):
        return torch.func.grad(lambda y: (y**2).sum())(x) if x.sum() > 0 else x  # DY002


@refused("reading a file: `open(path)`", "read it in `__init__`")
class File(Base):
    def forward(self, x):
        with open(os.devnull) as file:  # DY002
            return x if x.sum() > 0 and not file.read() else -x


@refused("writing a file: `torch.save`", "return the value")
class WriteFile(Base):
    def forward(self, x):
        if x.sum() > 0:
            torch.save(x, os.devnull)  # DY002
        return x


@bounded("`os.environ`, and globals of a Python module", "as they are while compiling")
class Environment(Base):
    def forward(self, x):
        return x if x.sum() > THRESHOLD + len(os.environ.get("NOT_SET", "")) else -x


@refused("`async def`", "a plain function")
class Coroutine(Base):
    async def step(self, x):  # DY002
        return x if x.sum() > 0 else -x

    def forward(self, x):
        return asyncio.run(self.step(x))


@supported("an operation of your own, made of PyTorch's: `torch.library.custom_op`")
class CustomOperation(Base):
    def forward(self, x):
        return _doubled(x) if x.sum() > 0 else x


@torch.library.custom_op("dycl_constructs::doubled", mutates_args=())
def _doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@_doubled.register_fake
def _(x):
    return torch.empty_like(x)


@refused("an operation without a translation: `torch.linalg.eigvals`", "operations that [have one](errors/DY004.md)")
class Untranslated(Base):
    @staticmethod
    def inputs(generator):
        return (torch.randn(WIDTH, WIDTH, generator=generator),)

    def forward(self, x):
        return torch.linalg.eigvals(x).real if x.sum() > 0 else x  # DY004


@refused("`sys.exit()`", "`raise`")
class Exit(Base):
    def forward(self, x):
        if x.sum() > 0:
            sys.exit(1)  # DY002
        return x


@refused("the time: `time.time()`, `datetime.now()`", "pass it in")
class Time(Base):
    def forward(self, x):
        return time.time() if x.sum() > 0 else 0.0  # DY005
