"""State is read otherwise than by the attribute's name."""

import copy
import inspect
import types
from typing import Any

import torch
from torch import Tensor, nn


class InDictionary(nn.Module):
    """Whether an attribute is set, asked of the model's dictionary."""

    h: Tensor

    def forward(self, x: Tensor) -> Tensor:
        if "h" not in self.__dict__:
            self.h = x
        elif x.sum() > 0:
            self.h = self.h + x
        return self.h


class Vars(nn.Module):
    """An attribute by `vars`, and by the dictionary's methods."""

    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        before = vars(self).get("h", x * 0)
        if x.sum() > 0:
            self.h = before + x
        return before, len([name for name in self.__dict__ if name == "h"])


class SetInDictionary(nn.Module):
    """An attribute is set, and deleted, in the dictionary."""

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.__dict__["h"] = getattr(self, "h", x * 0) + x
        else:
            self.__dict__.pop("h", None)
        h: Tensor = getattr(self, "h", x)
        return h


class Updated(nn.Module):
    """Attributes are set by `update`, and read by going through all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = 1, 2

    def forward(self, x: Tensor) -> dict[str, Any]:
        if x.sum() > 0:
            self.__dict__.update(b=self.b + 1)
        return {name: value for name, value in vars(self).items() if name in "ab"}


class OrderOfNames(nn.Module):
    """In which order attributes were set."""

    def forward(self, x: Tensor) -> list[str]:
        if x.sum() > 0:
            self.zeta = 1
        else:
            self.alpha = 2
        return [name for name in self.__dict__ if name in ("zeta", "alpha")]


class ObjectsSetter(nn.Module):
    """PyTorch's own way to set attributes is passed by."""

    def __init__(self) -> None:
        super().__init__()
        self.h = 0

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            object.__setattr__(self, "h", self.h + 1)
        return self.h


class ObjectsGetter(nn.Module):
    """And to get them."""

    def __init__(self) -> None:
        super().__init__()
        self.h = 0

    def forward(self, x: Tensor) -> tuple[int, int]:
        if x.sum() > 0:
            self.h += 1
        return object.__getattribute__(self, "h"), inspect.getattr_static(self, "h")


class Buffers(nn.Module):
    """Buffers by all of their doors."""

    def __init__(self) -> None:
        super().__init__()
        self.b: Tensor
        self.register_buffer("b", torch.zeros(2))
        self.register_buffer("c", torch.ones(2))

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.b = self.b + x
        else:
            self._buffers["c"] = self.get_buffer("c") * 2
        named = {name: buffer * 1 for name, buffer in self.named_buffers()}
        return named, sum(b.sum() for b in self.buffers()), self.state_dict()["b"] * 1, self.get_buffer("c") * 1


class BufferIsNone(nn.Module):
    """A buffer without a tensor is not in the state's dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.b: Tensor | None
        self.register_buffer("b", torch.zeros(2))

    def forward(self, x: Tensor) -> tuple[bool, bool]:
        if x.sum() > 0:
            self.b = None
        return "b" in self.state_dict(), self.b is None


class NoBuffer(nn.Module):
    """A buffer cannot be a number."""

    def __init__(self) -> None:
        super().__init__()
        self.b: Any
        self.register_buffer("b", torch.zeros(2))

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            try:
                self.b = 3
            except TypeError:
                return 7
        return 1


class LoadedState(nn.Module):
    """State is loaded in the call."""

    def __init__(self) -> None:
        super().__init__()
        self.b: Tensor
        self.register_buffer("b", torch.zeros(2))

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.load_state_dict({"b": self.b + x})
        return self.b * 1


class RegisteredInCall(nn.Module):
    """A buffer that only the call makes."""

    b: Tensor

    def forward(self, x: Tensor) -> Tensor:
        if not hasattr(self, "b"):
            self.register_buffer("b", x.clone())
        if x.sum() > 0:
            self.b = self.b + 1
        return self.b


class Parameters(nn.Module):
    """Parameters that the call writes, by their doors."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2))

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            with torch.no_grad():
                self.weight.add_(x)
        return [(name, value * 1) for name, value in self.named_parameters()], sum(p.sum() for p in self.parameters())


class Copied(nn.Module):
    """A copy of the model has its state."""

    def __init__(self) -> None:
        super().__init__()
        self.h = torch.zeros(2)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.h = self.h + x
        return copy.copy(self).h


class _Inner(nn.Module):
    hidden: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        if self.hidden is None:
            self.hidden = x
        elif x.sum() > 0:
            self.hidden = self.hidden + x
        return self.hidden


class DefaultOnTheClass(nn.Module):
    """Two models of a class that has the attribute's first value."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = _Inner(), _Inner()

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.a(x)
        hidden = self.a.hidden
        return self.b(x * 2), x if hidden is None else hidden, hasattr(_Inner, "hidden"), _Inner.hidden is None


class BackToTheClass(nn.Module):
    """An attribute that hides the class's is deleted."""

    steps = 0

    def forward(self, x: Tensor) -> tuple[int, int]:
        if x.sum() > 0:
            self.steps = self.steps + 5
        elif "steps" in self.__dict__:
            del self.steps
        return self.steps, type(self).steps


class OwnLookup(nn.Module):
    """A model that answers for attributes itself."""

    def __init__(self) -> None:
        super().__init__()
        self.h = 0

    def __getattr__(self, name: str) -> Any:
        return super().__getattr__(name) if name.startswith("_") else 40

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.h += 1
        else:
            self.other = 1
        return self.h, self.other, self.third


class Everywhere(nn.Module):
    """Every module below is given a mark."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList([nn.Identity(), nn.Identity()])

    def forward(self, x: Tensor) -> list[int]:
        if x.sum() > 0:
            self.apply(lambda module: setattr(module, "mark", getattr(module, "mark", 0) + 1))
        return [getattr(module, "mark", 0) for module in self.modules()]


class _WithBuffer(nn.Module):
    """A model with buffers."""

    table: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.register_buffer("table", torch.ones(2))
        self.register_buffer("other", torch.ones(2))
        self.count = 0


class WhereBufferLives(_WithBuffer):
    """A buffer that is set stays among the buffers; one that is deleted and set does not."""

    def forward(self, x: Tensor) -> tuple[Tensor, bool, bool, list[str], list[str]]:
        if x.sum() > 0:
            self.table = x
        elif hasattr(self, "table"):
            del self.table
        among = [name for name, _ in self.named_buffers()]
        return x, "table" in self.__dict__, "table" in self._buffers, among, list(self.state_dict())


class RegisteredAgain(_WithBuffer):
    """A buffer is deleted and registered again: it stands behind the others, and in no state."""

    def forward(self, x: Tensor) -> tuple[Tensor, list[str], list[str]]:
        if x.sum() > 0:
            del self.table
            self.register_buffer("table", x * 2, persistent=False)
        return x + self.table, list(self.state_dict()), [name for name, _ in self.named_buffers()]


class NewBuffer(nn.Module):
    """A buffer is made by setting an attribute."""

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.table = nn.Buffer(x.clone())
        return x + len(self._buffers)


class NoParameter(_WithBuffer):
    """PyTorch refuses what is no parameter, and the model goes on."""

    def forward(self, x: Tensor) -> Tensor:
        try:
            if x.sum() > 0:
                self.linear.weight = x
        except TypeError:
            return x * 5
        return x


class LocalDictionary(_WithBuffer):
    """The model's dictionary, or its buffers, are held by a local variable."""

    def forward(self, x: Tensor) -> Tensor:
        own, buffers = self.__dict__, self._buffers
        if x.sum() > 0:
            self.count += 1
            self.table = x * 3
        table = buffers["table"]
        assert table is not None
        count: int = own["count"]
        return table + count


class DictionaryHeld(_WithBuffer):
    """The model holds its own dictionary under another name, and sets an attribute."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.names = self.__dict__

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.count += 1
        count: int = self.names["count"]
        return x + count


class DictionaryWritten(DictionaryHeld):
    """The dictionary is written by its other name."""

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.names["count"] += 1
        return x + self.count


class BuffersHeldByProxy(_WithBuffer):
    """The table of buffers can be read by another name."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.tables = types.MappingProxyType(self._buffers)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.table = x * 3
        table = self.tables["table"]
        assert table is not None
        return x + table


class PutBack(nn.Module):
    """The model's dictionary is put back as it was, PyTorch's own tables included."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.linear = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        before = dict(vars(self))
        if x.sum() > 0:
            self.count += 1
            self.temporary = x
        else:
            self.__dict__.update(before, count=self.count + 10)
        new = sorted(set(vars(self)) - set(before))
        for name in new:
            delattr(self, name)
        return x + self.count, len(new)
