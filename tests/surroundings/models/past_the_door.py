"""Writes that go past the classes which watch a module's tables, and to what is no attribute of a plain object."""

import collections
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F


class _Buffered(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("held", torch.zeros(2))


class BuffersCleared(_Buffered):
    def forward(self, x: Tensor) -> Any:
        if x[0] > 0:
            self._buffers.clear()
        return x + len(self._buffers)


class BuffersDeletedOneByOne(_Buffered):
    def forward(self, x: Tensor) -> Any:
        for name in list(self._buffers):
            del self._buffers[name]
        return (x if x[0] > 0 else -x), len(self._buffers)


class UnboundSetItem(_Buffered):
    refused = "DY007"

    def forward(self, x: Tensor) -> Any:
        dict.__setitem__(self._buffers, "held", x)
        return self._buffers["held"] if x[0] > 0 else x


class UnboundUpdate(nn.Module):
    refused = "DY007"

    def forward(self, x: Tensor) -> Any:
        dict.update(vars(self), new=1)
        return ("new" in vars(self), x) if x[0] > 0 else x


class AttributeOfTheObject(nn.Module):
    refused = "DY007"

    def forward(self, x: Tensor) -> Any:
        object.__setattr__(self, "new", 1)
        return "new" in vars(self), x if x[0] > 0 else -x


class FactoryOfDefaults(nn.Module):
    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.table = collections.defaultdict[str, Any](int)

    def forward(self, x: Tensor) -> Any:
        found = self.table["k"]
        self.table.clear()
        if x[0] > 0:
            self.table.default_factory = list
        return found


class ArgumentsOfAnError(nn.Module):
    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.error = ValueError("before")

    def forward(self, x: Tensor) -> Any:
        found = self.error.args[0]
        if x[0] > 0:
            self.error.args = ("after",)
        return found


class DerivativeOfATensor(nn.Module):
    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.held = torch.zeros(2)

    def forward(self, x: Tensor) -> Any:
        found = self.held.requires_grad
        if x[0] > 0:
            self.held.requires_grad_(True)
        return found


class ShapeOfAnArray(nn.Module):
    refused = "DY009"

    def __init__(self) -> None:
        super().__init__()
        self.array = np.ones((2, 2))

    def forward(self, x: Tensor) -> Any:
        self.array.shape = (4,)
        return x if x[0] > 0 else -x


class FlagsOfAnArray(ShapeOfAnArray):
    def forward(self, x: Tensor) -> Any:
        self.array[0, 0] = 5.0
        self.array.flags.writeable = False
        return x if x[0] > 0 else -x


class ResizedArray(ShapeOfAnArray):
    def forward(self, x: Tensor) -> Any:
        self.array.resize((1, 2), refcheck=False)
        return x if x[0] > 0 else -x


class StatisticsOfACallThatIsRefused(nn.Module):
    refused = "DY010"

    def __init__(self) -> None:
        super().__init__()
        self.mean, self.variance = nn.Buffer(torch.zeros(2)), nn.Buffer(torch.ones(2))

    def forward(self, x: Tensor) -> Any:
        return F.batch_norm(torch.stack([x, -x]), self.mean, self.variance, training=bool(x[0] > 0))


class CopiedIntoOrder(nn.Module):
    def forward(self, x: Tensor) -> Any:
        y = torch.stack([x, x + 1])
        turned, same = np.ascontiguousarray(y.numpy().T), np.ascontiguousarray(y.numpy())
        if x[0] > 0:
            turned += 1
            same *= 2
        else:
            y *= 3
        return y, turned, same
