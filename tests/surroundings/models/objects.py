"""Objects that hang on the model are written: attributes, slots, attributes of containers."""

import dataclasses
import enum
import fractions
import functools
import logging
import threading
import types
from typing import Any

import torch
from torch import Tensor, nn


class _Slots:
    __slots__ = ("count", "items")

    def __init__(self) -> None:
        self.count = 0
        self.items = [0]


class Slots(nn.Module):
    """An object without a dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.counter = _Slots()

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.counter.count += 1
        else:
            self.counter.items[0] += 1
        return self.counter.count * 10 + self.counter.items[0]


class _SlotsAndMore(_Slots):
    more: int


class SlotsAndDictionary(nn.Module):
    """An object with both."""

    def __init__(self) -> None:
        super().__init__()
        self.counter: Any = _SlotsAndMore()
        self.counter.more = 0

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.counter.count += 1
        else:
            self.counter.more += 1
        return int(self.counter.count * 10 + self.counter.more)


@dataclasses.dataclass(slots=True)
class _Memory:
    last: Tensor | None = None


class SlotThatIsATensor(nn.Module):
    """A dataclass with slots keeps a tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = _Memory()

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.memory.last = x if self.memory.last is None else self.memory.last + x
        return x if self.memory.last is None else self.memory.last


class SlotNotSet(nn.Module):
    """A slot is deleted and set again."""

    def __init__(self) -> None:
        super().__init__()
        self.counter = _Slots()

    def forward(self, x: Tensor) -> bool:
        if x.sum() > 0:
            self.counter.count = 1
        elif hasattr(self.counter, "count"):
            del self.counter.count
        return hasattr(self.counter, "count")


class _List(list[int]):
    seen = 0


class _Dict(dict[str, int]):
    seen = 0


class AttributesOfContainers(nn.Module):
    """Subclasses of list and dict with attributes of their own, first set in the call."""

    def __init__(self) -> None:
        super().__init__()
        self.items, self.table = _List([0]), _Dict(a=0)

    def forward(self, x: Tensor) -> list[int]:
        if x.sum() > 0:
            self.items.seen += 1
            self.table["a"] += 1
        else:
            self.table.seen += 1
            self.items[0] += 1
        return [*self.items, self.items.seen, self.table["a"], self.table.seen]


class _State(enum.Enum):
    IDLE = 1
    BUSY = 2


class Enumeration(nn.Module):
    """A member of an enumeration stands for the state."""

    def __init__(self) -> None:
        super().__init__()
        self.state = _State.IDLE

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.state = _State.BUSY if self.state is _State.IDLE else _State.IDLE
        return int(self.state.value)


class ThreadLocal(nn.Module):
    """Attributes of the thread."""

    def __init__(self) -> None:
        super().__init__()
        self.local = threading.local()
        self.local.count = 0

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.local.count += 1
        return int(self.local.count)


class Namespace(nn.Module):
    """A namespace inside a namespace."""

    def __init__(self) -> None:
        super().__init__()
        self.settings = types.SimpleNamespace(inner=types.SimpleNamespace(count=0))

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.settings.inner.count += 1
        return int(self.settings.inner.count)


class PropertyWithSetter(nn.Module):
    """A property sets what it stands for."""

    def __init__(self) -> None:
        super().__init__()
        self._steps = 0

    @property
    def steps(self) -> int:
        """The steps so far."""
        return self._steps

    @steps.setter
    def steps(self, value: int) -> None:
        self._steps = value

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.steps += 1
        return self.steps


def _part() -> Any:
    part: Any = nn.Identity()
    part.seen = [0]
    return part


class OfAPartOfPyTorch(nn.Module):
    """Attributes of PyTorch's own modules."""

    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.part = _part()

    def forward(self, x: Tensor) -> tuple[float, int, bool]:
        if x.sum() > 0:
            self.drop.p = 1 - self.drop.p / 2
            self.part.seen[0] += 1
        else:
            self.drop.train(not self.drop.training)
        return self.drop.p, self.part.seen[0], self.drop.training


class Hook(nn.Module):
    """A hook keeps what it sees in the module that it hangs on."""

    def __init__(self) -> None:
        super().__init__()
        self.part: Any = nn.Identity()

        def keep(module: Any, args: Any, result: Tensor) -> None:
            module.last = result

        self.part.register_forward_hook(keep)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.part(x)
        last: Tensor = getattr(self.part, "last", x * 0)
        return last


class HookRegistered(nn.Module):
    """A hook is registered in the call and removed again, with a decision between."""

    def __init__(self) -> None:
        super().__init__()
        self.part = nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        seen: list[Tensor] = []
        handle = self.part.register_forward_hook(lambda module, args, result: seen.append(result))
        y = self.part(x)
        if x.sum() > 0:
            y = y + 1
        handle.remove()
        result: Tensor = self.part(y) + seen[0]
        return result


class Derivatives(nn.Module):
    """Whether derivatives are taken of a parameter."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2))

    def forward(self, x: Tensor) -> bool:
        if x.sum() > 0:
            self.weight.requires_grad_(not self.weight.requires_grad)
        return self.weight.requires_grad


class DerivativesOfAll(nn.Module):
    """Whether the parameters require derivatives is changed, going through them by a generator of PyTorch's."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            for parameter in self.parameters():
                parameter.requires_grad_(False)
        return x


class OtherElementType(nn.Module):
    """A layer is converted to another element type during the call."""

    refused = "DY009"

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.linear.double()
        return x


class _CountingHandler(logging.Handler):
    """A handler that counts messages."""

    count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1


class OwnHandler(nn.Module):
    """A handler of the user's own writes what the model reads."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.handler, self.logger = _CountingHandler(), logging.Logger("own")
        self.logger.addHandler(self.handler)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.logger.warning("positive")
        return x + self.handler.count


class _TellsOnce(logging.Logger):
    """A logger with a method that says a thing once."""

    @functools.cache  # noqa: B019
    def warning_once(self, text: str) -> None:
        self.warning(text)


class LoggedOnce(nn.Module):
    """A logger's method of the user's own, whose results are cached."""

    def __init__(self) -> None:
        super().__init__()
        self.logger = _TellsOnce("own")
        self.logger.addHandler(logging.NullHandler())
        self.logger.isEnabledFor(logging.WARNING)  # it keeps its answers

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.logger.warning_once("positive")
            return x + 1
        return x


class Logged(nn.Module):
    """Messages are dropped, and a logger says whether it would have them."""

    def __init__(self) -> None:
        super().__init__()
        self.logger = logging.Logger("own", logging.WARNING)
        self.logger.addHandler(logging.NullHandler())
        for level in (logging.DEBUG, logging.WARNING, logging.ERROR):
            self.logger.isEnabledFor(level)  # it keeps its answers

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.logger.warning("positive")
        return x + int(self.logger.isEnabledFor(logging.ERROR)) + int(self.logger.isEnabledFor(logging.DEBUG))


class Written(nn.Module):
    """An object of Python's own library has fields, too."""

    def __init__(self) -> None:
        super().__init__()
        self.third: Any = fractions.Fraction(1, 3)

    def forward(self, x: Tensor) -> float:
        if x.sum() > 0:
            self.third._numerator = 3 - self.third._numerator
        return float(self.third)


class SwitchesItselfOff(nn.Module):
    """A flag that is switched off by the input: later calls hand their inputs on as they are."""

    def __init__(self) -> None:
        super().__init__()
        self.is_on = True

    def forward(self, x: Tensor) -> Tensor:
        if self.is_on:
            y = x * 2
            if y.sum() > 0:
                self.is_on = False
            return y
        return x
