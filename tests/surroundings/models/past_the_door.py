"""Writes that go past the classes which watch a module's tables, and to what is no attribute of a plain object."""

import collections
import io
import sys
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


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


class _Raises(nn.Module):
    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.error = ValueError("once")


class AskedHowRaised(_Raises):
    """An error from before the call is raised, and asked whether it was."""

    def forward(self, x: Tensor) -> Any:
        was_raised = self.error.__traceback__ is not None
        if x.sum() > 0:
            try:
                raise self.error
            except ValueError:
                x = x + 1
        return x + 10 if was_raised else x


class AskedForContext(_Raises):
    """An error from before the call is raised while another one is handled, and asked for that."""

    def forward(self, x: Tensor) -> Any:
        during = self.error.__context__ is not None
        if x.sum() > 0:
            try:
                try:
                    raise KeyError
                except KeyError:
                    raise self.error  # noqa: B904
            except ValueError:
                x = x + 1
        return x + 10 if during else x


def _raised_and_caught(error: ValueError) -> int:
    try:
        raise error
    except ValueError:
        return 1


class RaisedByHelper(_Raises):
    """A helper raises an error from before the call, which is asked later how it was raised."""

    def forward(self, x: Tensor) -> Any:
        was_raised = self.error.__traceback__ is not None
        if x.sum() > 0:
            x = x + _raised_and_caught(self.error)
        return x + 10 if was_raised else x


class RaisedOnly(nn.Module):
    """An error from before the call is raised and caught, and nobody asks how."""

    def __init__(self) -> None:
        super().__init__()
        self.error = ValueError("once")

    def forward(self, x: Tensor) -> Any:
        try:
            if x.sum() > 0:
                raise self.error
        except ValueError as error:
            return x + len(error.args)
        return x


class Closed(nn.Module):
    """A file in memory that was there before the call is closed."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.notes = io.StringIO("notes")

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.notes.close()
        return x + 10 if self.notes.closed else x


class Released(nn.Module):
    """A view of memory that was there before the call is released."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.view = memoryview(bytearray(3))

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.view.release()
        return x


class AskedForModules(nn.Module):
    """A module is imported on one path, and which modules there are is asked for."""

    refused = "DY007"

    def forward(self, x: Tensor) -> Any:
        was_there = "nturl2path" in sys.modules
        if x.sum() > 0:
            import nturl2path  # noqa: F401
        return x + 10 if was_there else x


class _Counts(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls += 1
        return func(*args, **(kwargs or {}))


class _Dispatches(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.calls = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls += 1
        return func(*args, **(kwargs or {}))


class OwnFunctionMode(nn.Module):
    """A mode of the user's own looks at all functions that are called."""

    refused = "DY002"

    def forward(self, x: Tensor) -> Any:
        with _Counts() as mode:
            x = x + 1 if x.sum() > 0 else x
        return x + mode.calls


def _dispatched(x: Tensor) -> Any:
    with _Dispatches() as mode:
        x = x * 2
    return x + mode.calls


class OwnDispatchMode(nn.Module):
    """A helper has a mode of the user's own look at all operations."""

    refused = "DY002"

    def forward(self, x: Tensor) -> Any:
        return _dispatched(x) if x.sum() > 0 else x


class SetByObject(nn.Module):
    """An attribute is set as `object` does, and read by every door."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            object.__setattr__(self, "count", self.count + 2)
        return vars(self)["count"], self.__dict__["count"], self.count


class ModuleSetByObject(nn.Module):
    """A module is put past the tables."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.layer: Any = None

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            object.__setattr__(self, "layer", nn.ReLU())
        return x if self.layer is None else self.layer(x)


class SetByItself(nn.Module):
    """A module whose own `__setattr__` goes past PyTorch's for some names."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "count":
            object.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.count = self.count + 1
        return self.__dict__["count"], vars(self).get("count"), x * self.count
