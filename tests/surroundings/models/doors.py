"""Ways past an object's own attributes: its class and its dict, the process, caches, the model's own call."""

import decimal
import functools
import os
import sys
import threading
from typing import Any

import torch
from torch import Tensor, nn


class _One:
    value = 1


class _Two:
    value = 2


class ClassAssigned(nn.Module):
    """An object becomes one of another class."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.part = _One()

    def forward(self, x: Tensor) -> int:
        found = self.part.value
        if x.sum() > 0:
            self.part.__class__ = _Two  # type: ignore[assignment]
        return found


class DictAssigned(nn.Module):
    """The attributes of an object are replaced all at once."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.part = _One()

    def forward(self, x: Tensor) -> int:
        found = self.part.value
        if x.sum() > 0:
            self.part.__dict__ = {"value": 5}
        return found


class _Number(int):
    note = 0


class AttributeOfANumber(nn.Module):
    """A number of one's own class has attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.number = _Number(3)
        self.number.note = 0

    def forward(self, x: Tensor) -> int:
        found = self.number.note
        if x.sum() > 0:
            self.number.note = 1
        return found


class Environment(nn.Module):
    """A variable of the environment."""

    refused = "DY007"

    def forward(self, x: Tensor) -> bool:
        if x.sum() > 0:
            os.environ["DYCL_TEST_SURROUNDINGS"] = "1"
        return "DYCL_TEST_SURROUNDINGS" in os.environ


class DefaultType(nn.Module):
    """PyTorch's default element type, by a helper that is run natively."""

    refused = "DY007"

    def step(self) -> None:
        torch.set_default_dtype(torch.float64)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.step()
        return x + torch.ones(2)


class Precision(nn.Module):
    """The precision of decimal numbers."""

    refused = "DY007"

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            decimal.getcontext().prec = 5
        return decimal.getcontext().prec


class LibraryList(nn.Module):
    """A list that belongs to a library."""

    refused = "DY007"

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            sys.path.append("nowhere")
        return "nowhere" in sys.path


class CachedState(nn.Module):
    """A function whose results are cached sees what a call changes."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    @functools.lru_cache  # noqa: B019
    def look(self) -> int:
        return self.count

    def forward(self, x: Tensor) -> int:
        self.count = 1 if x.sum() > 0 else 2
        return self.look()


@functools.lru_cache
def _square(number: int) -> int:
    return number * number


class CacheLookedAt(nn.Module):
    """How often a cache was asked."""

    refused = "DY007"

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            _square(1)
        return _square.cache_info().hits


class Deleted(nn.Module):
    """An attribute that another call has set is deleted."""

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.found = 1
            return 0
        try:
            del self.found
        except AttributeError:
            return 2
        return 1


class Popped(nn.Module):
    """An attribute taken out of the module's `__dict__`, if it is there."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: Tensor) -> Any:
        self.calls += 1
        if x.sum() > 0:
            self.flag = True
        else:
            vars(self).pop("flag", None)
        try:
            del vars(self)["other" if self.calls % 2 else "flag"]
        except KeyError as error:
            return self.calls, hasattr(self, "flag"), str(error)
        return self.calls, hasattr(self, "flag")


class ForwardReplaced(nn.Module):
    """What the model itself does when it is called."""

    def other(self, x: Tensor) -> Tensor:
        return x * 2

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.forward = self.other  # type: ignore[method-assign]
        return x + 1


class HookOnItself(nn.Module):
    """A hook that the model sets on itself."""

    def __init__(self) -> None:
        super().__init__()
        self.handle: object = None

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0 and self.handle is None:
            self.handle = self.register_forward_hook(lambda module, inputs, output: output * 2)
        return x + 1


class Threaded(nn.Module):
    """A thread writes."""

    refused = "DY002"

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def write(self) -> None:
        self.count = 1 - self.count

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            thread = threading.Thread(target=self.write)
            thread.start()
            thread.join()
        return self.count


class HeldByAPartialCall(nn.Module):
    """A tensor that is written is also held where nothing else can stand for it."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.total = torch.zeros(2)
        self.add = functools.partial(torch.add, self.total)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.total.add_(1)
        return self.add(x)


class Transposed(nn.Module):
    """The shape of a tensor of the model is changed in place."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.zeros(2, 3)

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.table.t_()
        return self.table.shape[0]


class Swapped(nn.Module):
    """Two tensors change places."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = torch.ones(2), torch.zeros(2)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            torch.utils.swap_tensors(self.a, self.b)  # type: ignore[no-untyped-call]
        return x + self.a


class _Flag:
    def __init__(self) -> None:
        self.count = 0

    def __bool__(self) -> bool:
        return self.count > 1

    def __float__(self) -> float:
        return self.count * 0.5


class SpecialMethods(nn.Module):
    """What special methods give hangs on the state."""

    def __init__(self) -> None:
        super().__init__()
        self.flag = _Flag()

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.flag.count = (self.flag.count + 1) % 3
        if self.flag:
            return x * 2
        return x + float(self.flag)


class _Weighted(nn.Module):
    refused = "DY007"
    held: Any

    def __init__(self) -> None:
        super().__init__()
        self.weight: Any = nn.Parameter(torch.ones(2))
        self.register_buffer("held", torch.ones(2))
        self.layer: Any = nn.Linear(2, 2)


class BesideAParameter(_Weighted):
    """An attribute hides a parameter of the same name, until it is taken away."""

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.__dict__["weight"] = x * 3
        else:
            self.__dict__.pop("weight", None)
        return x + self.weight


class BesideAParameterOfAnother(_Weighted):
    """The same for a layer, which is asked for its parameters, too."""

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            vars(self.layer)["weight"] = self.layer.weight * 2
        return self.layer(x), sum(part.sum() for part in self.layer.parameters())


class BesideAModule(_Weighted):
    """An attribute hides a module of the same name."""

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.__dict__["layer"] = torch.relu
        return self.layer(x)


class BesideABuffer(_Weighted):
    """An attribute has hidden a buffer of the same name from the beginning, and is set."""

    def __init__(self) -> None:
        super().__init__()
        self.__dict__["held"] = torch.zeros(2)

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.held = self.held + 1
        return x + self.held


def _has_memory(x: Tensor) -> int:
    return 1 if x.data_ptr() else 0


class AskedForItsAddress(nn.Module):
    """A helper asks for the address of a tensor that depends on the input."""

    refused = "DY001"

    def forward(self, x: Tensor) -> Any:
        return x + _has_memory(x * 2) if x.sum() > 0 else x


class AskedForItsStorage(nn.Module):
    """The memory of a tensor that depends on the input is asked for its size."""

    refused = "DY001"

    def forward(self, x: Tensor) -> Any:
        y = x[1:]
        if x.sum() > 0:
            y = y + 1
        return y, y.untyped_storage().nbytes()
