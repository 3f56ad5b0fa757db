"""Who else holds a tensor that a call writes, and what else leads to state: it is followed, or the write refused."""

import contextvars
import operator
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn


class _Written(nn.Module):
    """A buffer is written, and then read as something else has it."""

    refused: str | None = "DY007"
    total: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(2))
        self.hold(self.total)

    def hold(self, tensor: Any) -> None:
        """Let something else hold the buffer, too."""

    def read(self) -> Any:
        """The buffer, as that has it."""

    def forward(self, x: Tensor) -> Tensor:
        self.total += x
        difference: Tensor = self.total - self.read()
        return difference


def _held(
    name: str, hold: Callable[[Any, Any], None], read: Callable[[Any], Any], refused: str | None
) -> type[_Written]:
    methods = {"hold": hold, "read": read, "refused": refused, "__module__": __name__}
    return type(name, (_Written,), methods)


def _in_class(self: Any, tensor: Any) -> None:
    type(self).shared = tensor


def _of_class(self: Any) -> Any:
    return type(self).shared


def _in_set(self: Any, tensor: Any) -> None:
    self.held = {tensor}


def _of_set(self: Any) -> Any:
    return next(iter(self.held))


def _as_key(self: Any, tensor: Any) -> None:
    self.held = {tensor: 1}


def _weakly(self: Any, tensor: Any) -> None:
    self.held = weakref.ref(tensor)


def _called(self: Any) -> Any:
    return self.held()


def _on_a_tensor(self: Any, tensor: Any) -> None:
    self.weight = nn.Parameter(torch.ones(2))
    self.weight.average = tensor


def _of_a_tensor(self: Any) -> Any:
    return self.weight.average


def _as_derivative(self: Any, tensor: Any) -> None:
    self.weight = nn.Parameter(torch.ones(2))
    self.weight.grad = tensor


def _derivative(self: Any) -> Any:
    return self.weight.grad


def _in_array(self: Any, tensor: Any) -> None:
    self.held = np.empty(1, dtype=object)
    self.held[0] = tensor


def _first(self: Any) -> Any:
    return self.held[0]


def _in_caller(self: Any, tensor: Any) -> None:
    self.held = operator.methodcaller("add", tensor)


def _added(self: Any) -> Any:
    return self.held(torch.zeros(2))


def _in_variable(self: Any, tensor: Any) -> None:
    self.held = contextvars.ContextVar("held", default=tensor)


def _of_variable(self: Any) -> Any:
    return self.held.get()


def _in_error(self: Any, tensor: Any) -> None:
    self.held = ValueError(tensor)


def _of_error(self: Any) -> Any:
    return self.held.args[0]


def _in_namespace(self: Any, tensor: Any) -> None:
    self.held = types.ModuleType("namespace")
    self.held.tensor = tensor


def _of_namespace(self: Any) -> Any:
    return self.held.tensor


def _as_memory(self: Any, tensor: Any) -> None:
    self.held = tensor.untyped_storage()


def _of_memory(self: Any) -> Any:
    return torch.tensor([], dtype=torch.float32).set_(self.held)


def _in_list(self: Any, tensor: Any) -> None:
    self.held = [tensor]


HeldByClass = _held("HeldByClass", _in_class, _of_class, "DY007")
HeldBySet = _held("HeldBySet", _in_set, _of_set, "DY007")
HeldAsKey = _held("HeldAsKey", _as_key, _of_set, "DY007")
HeldWeakly = _held("HeldWeakly", _weakly, _called, "DY007")
HeldByTensor = _held("HeldByTensor", _on_a_tensor, _of_a_tensor, None)
HeldAsDerivative = _held("HeldAsDerivative", _as_derivative, _derivative, "DY007")
HeldByArray = _held("HeldByArray", _in_array, _first, "DY007")
HeldByCaller = _held("HeldByCaller", _in_caller, _added, "DY007")
HeldByVariable = _held("HeldByVariable", _in_variable, _of_variable, "DY007")
HeldByError = _held("HeldByError", _in_error, _of_error, "DY007")
HeldByNamespace = _held("HeldByNamespace", _in_namespace, _of_namespace, "DY007")
HeldAsMemory = _held("HeldAsMemory", _as_memory, _of_memory, "DY007")
HeldByList = _held("HeldByList", _in_list, _first, None)


class _Registry(type):
    made: ClassVar[list[int]] = []


class _Registered(metaclass=_Registry):
    pass


class OfAMetaclass(nn.Module):
    """A list that the class of a class has."""

    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        if x.sum() > 0 and len(_Registered.made) < 3:
            _Registered.made.append(1)
        return x, len(_Registered.made)

    @staticmethod
    def reset() -> None:
        _Registry.made.clear()


class OnAParameter(nn.Module):
    """A dict that hangs on a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.weight.notes = {"uses": 0}  # type: ignore[attr-defined]

    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        notes: dict[str, int] = self.weight.notes  # type: ignore[attr-defined]
        notes["uses"] += 1
        return x * self.weight, notes["uses"]


class InAVariable(nn.Module):
    """A list that a variable of the context holds."""

    def __init__(self) -> None:
        super().__init__()
        self.variable: contextvars.ContextVar[list[int]] = contextvars.ContextVar("variable")
        self.variable.set([0])

    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        found = self.variable.get()
        if x.sum() > 0:
            found[0] += 1
        return x, found[0]


class InErrorsAndSlices(nn.Module):
    """Lists inside an error and a slice."""

    def __init__(self) -> None:
        super().__init__()
        self.error, self.part = ValueError([0]), slice([0], None)

    def forward(self, x: Tensor) -> tuple[int, int]:
        self.error.args[0][0] += 1
        self.part.start[0] += 2 if x.sum() > 0 else 1
        return self.error.args[0][0], self.part.start[0]


class InANamespace(nn.Module):
    """A list that a module of one's own making holds."""

    def __init__(self) -> None:
        super().__init__()
        self.space = types.ModuleType("space")
        self.space.items = [0]  # type: ignore[attr-defined]

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.space.items[0] = 1 - self.space.items[0]
        found: int = self.space.items[0]
        return found


class Imported(nn.Module):
    """A module is first imported by the call, and keeps what is done to it."""

    def forward(self, x: Tensor) -> int:
        from tests.surroundings import imported_late

        if x.sum() > 0:
            imported_late.ITEMS[0] = 1 - imported_late.ITEMS[0]
        return imported_late.ITEMS[0]

    @staticmethod
    def reset() -> None:
        sys.modules.pop("tests.surroundings.imported_late", None)


class LeftLocked(nn.Module):
    """A lock that a call leaves held."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()

    def forward(self, x: Tensor) -> tuple[Tensor, bool]:
        return x, self.lock.acquire(blocking=False)


class Locked(nn.Module):
    """A lock that a call holds for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.lock, self.count = threading.Lock(), 0

    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        with self.lock:
            self.count += 1
        return x if x.sum() > 0 else -x, self.count


class Seeded(nn.Module):
    """A source of random numbers gets another seed."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.source = torch.Generator().manual_seed(1)

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.source.manual_seed(self.source.initial_seed() + 1)
        return self.source.initial_seed()


class _Shared:
    attributes: ClassVar[dict[str, int]] = {}

    def __init__(self) -> None:
        self.__dict__ = self.attributes


class OneDict(nn.Module):
    """Objects that a call makes have their attributes in one dict, which was there before."""

    def forward(self, x: Tensor) -> bool:
        one = _Shared()
        if x.sum() > 0:
            vars(one)["count"] = 1
        return hasattr(_Shared(), "count")

    @staticmethod
    def reset() -> None:
        _Shared.attributes.clear()


class Deleter(nn.Module):
    """A property of a module is deleted, by its own way."""

    def __init__(self) -> None:
        super().__init__()
        self.value = 0

    @property
    def shown(self) -> int:
        return self.value if self.value < 5 else 5

    @shown.deleter
    def shown(self) -> None:
        self.value = -1

    def forward(self, x: Tensor) -> int:
        self.value = self.value + 2
        if x.sum() > 0:
            del self.shown
        return self.shown


class DecidingProperty(nn.Module):
    """A property decides by what the call has set."""

    @property
    def sign(self) -> int:
        if self.positive:
            return 1
        return -1

    def forward(self, x: Tensor) -> int:
        self.positive = bool(x.sum() > 0)
        return self.sign


class IsItsArgument(nn.Module):
    """Dropout in evaluation gives back the very tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x: Tensor) -> tuple[Tensor, bool]:
        doubled = x * 2
        return doubled if x.sum() > 0 else x, self.drop(doubled) is doubled
