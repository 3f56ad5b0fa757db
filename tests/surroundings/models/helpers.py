"""What nobody can copy is held by objects of the user's own, and used where no code of the model's names it."""

import functools
import itertools
import queue
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class _Schedule:
    """Gives the next of several numbers, by every way in which Python calls a method."""

    turns: ClassVar[Any] = itertools.count()

    def __init__(self) -> None:
        self.steps = itertools.cycle([1, 2, 3])

    def pick(self) -> int:
        return next(self.steps)

    def __call__(self, module: Any, args: Any, result: Any) -> Any:
        return result * next(self.steps)

    def __enter__(self) -> int:
        return next(self.steps)

    def __exit__(self, *args: object) -> None:
        return None

    @property
    def current(self) -> int:
        return next(self.steps)

    def key(self, number: int) -> int:
        return -number * next(self.steps)

    def turn(self) -> int:
        return int(next(self.turns)) % 2


class _Scheduled(nn.Module):
    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.schedule = _Schedule()


class ByMethod(_Scheduled):
    """A helper's method takes from an iterator."""

    def forward(self, x: Tensor) -> Tensor:
        step = self.schedule.pick()
        return x * step if x.sum() > 0 else x - step


class ByProperty(_Scheduled):
    """Its property does."""

    def forward(self, x: Tensor) -> Tensor:
        step = self.schedule.current
        return x * step if x.sum() > 0 else x - step


class ByContext(_Scheduled):
    """It does when it is entered."""

    def forward(self, x: Tensor) -> Tensor:
        with self.schedule as step:
            return x * step if x.sum() > 0 else x - step


class ByKey(_Scheduled):
    """It does for each item that is sorted."""

    def forward(self, x: Tensor) -> Tensor:
        first = sorted([1, 2, 3], key=self.schedule.key)[0]
        return x * first if x.sum() > 0 else x - first


class ByClass(_Scheduled):
    """The iterator hangs on the helper's class."""

    def forward(self, x: Tensor) -> Tensor:
        turn = self.schedule.turn()
        return x * turn if x.sum() > 0 else x - turn


class ByHook(nn.Module):
    """A hook takes from it, which PyTorch calls."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Identity()
        self.inner.register_forward_hook(_Schedule())

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.inner(x)
        return result if x.sum() > 0 else -result


class ByPartialCall(nn.Module):
    """A call that is half made holds it."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.pick: Any = functools.partial(next, itertools.cycle([1, 2]))

    def forward(self, x: Tensor) -> Tensor:
        step: int = self.pick()
        return x * step if x.sum() > 0 else x - step


_numbers = itertools.count()


@dataclass
class _Ticket:
    number: int = field(default_factory=lambda: next(_numbers))


@dataclass
class _QuickTicket:
    number: int = field(default_factory=_numbers.__next__)


class ByDefault(nn.Module):
    """What fills in a field takes from it."""

    refused = "DY007"

    def forward(self, x: Tensor) -> Tensor:
        number = _Ticket().number
        return x * number if x.sum() > 0 else x - number


class ByDefaultInC(nn.Module):
    """What fills in a field is the iterator's own method."""

    refused = "DY007"

    def forward(self, x: Tensor) -> Tensor:
        number = _QuickTicket().number
        return x * number if x.sum() > 0 else x - number


class _Feed:
    def __init__(self) -> None:
        self.batches: Iterator[Any] = iter(DataLoader(TensorDataset(torch.arange(20.0)), batch_size=2))
        self.waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number in range(20):
            self.waiting.put(number)

    def batch(self) -> Any:
        return next(self.batches)[0]

    def first(self) -> int:
        return self.waiting.get()


class BatchByBatch(nn.Module):
    """A library's own iterator has one of Python's inside."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.feed = _Feed()

    def forward(self, x: Tensor) -> Tensor:
        batch: Tensor = self.feed.batch()
        return x * batch if x.sum() > 0 else x - batch


class OneAfterAnother(nn.Module):
    """A queue loses what is taken from it."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.feed = _Feed()

    def forward(self, x: Tensor) -> Tensor:
        number = self.feed.first()
        return x * number if x.sum() > 0 else x - number


class _Tables:
    def __init__(self) -> None:
        self.table = functools.lru_cache(None)(self._table)
        self.counts = functools.lru_cache(None)(self._counts)

    def _table(self, size: int) -> Tensor:
        return torch.arange(size).float()

    def _counts(self) -> list[int]:
        return [0]

    def halved(self, x: Tensor) -> Tensor:
        table = self.table(x.shape[-1])
        table *= 0.5
        return x + table

    def counted(self) -> int:
        counts = self.counts()
        counts[0] = 1 - counts[0]
        return counts[0]


class CachedTensorIsChanged(nn.Module):
    """A helper changes a tensor of which Python keeps the only copy."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.tables = _Tables()

    def forward(self, x: Tensor) -> Tensor:
        y = self.tables.halved(x)
        return y if y.sum() > 0 else -y


class CachedListIsChanged(nn.Module):
    """A helper changes a list of which Python keeps the only copy."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = _Tables()

    def forward(self, x: Tensor) -> Tensor:
        return x + self.tables.counted() if x.sum() > 0 else x


class _Owner:
    pass


class _Holder:
    def __init__(self) -> None:
        self.owner: _Owner | None = _Owner()
        self.reference = weakref.ref(self.owner)

    def drop(self) -> None:
        self.owner = None

    def is_gone(self) -> int:
        return int(self.reference() is None)


class DroppedByAHelper(nn.Module):
    """A helper drops what it refers to weakly."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.holder = _Holder()

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.holder.drop()
        return x + self.holder.is_gone()


class _Part:
    """Something that holds other things."""

    first: Any
    second: Any
    third: Any


def _far_away(holder: Any) -> int:
    return int(next(holder.first.second.third.steps))


class FarAway(nn.Module):
    """A helper gets at an iterator by many attributes."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.outer: Any = _Part()
        self.outer.first = _Part()
        self.outer.first.second = _Part()
        self.outer.first.second.third = _Schedule()

    def forward(self, x: Tensor) -> Any:
        return x * _far_away(self.outer) if x.sum() > 0 else x


def _of_setting(settings: Any) -> int:
    return int(settings.schedule.pick())


class PutElsewhere(_Scheduled):
    """What holds an iterator is hung on something else, which a helper gets."""

    def __init__(self) -> None:
        super().__init__()
        self.settings: Any = _Part()

    def forward(self, x: Tensor) -> Any:
        self.settings.schedule = self.schedule
        return x * _of_setting(self.settings) if x.sum() > 0 else x


def _by_any_name(parts: tuple[str, str]) -> int:
    return int(next(getattr(_Schedule, "".join(parts))))


class OfAClassByAnyName(nn.Module):
    """A helper asks a class for an iterator, by a name that stands nowhere."""

    refused = "DY007"

    def forward(self, x: Tensor) -> Any:
        return x * _by_any_name(("tur", "ns")) if x.sum() > 0 else x


class _Pace(float):
    steps: ClassVar[Any] = itertools.cycle([1, 2, 3])

    def __radd__(self, other: Any) -> Any:
        return other + next(_Pace.steps)


class OfANumber(nn.Module):
    """A number of the user's own class takes from an iterator when something is added to it."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.pace, self.other = _Pace(1.0), itertools.count()

    def forward(self, x: Tensor) -> Any:
        return 2 + self.pace + x if x.sum() > 0 else x


@functools.cache
def _counted(size: int) -> list[int]:
    return [size]


def _count_up(size: int) -> int:
    counted = _counted(size)
    counted.append(size)
    raise ValueError(len(counted))


class CachedThenError(nn.Module):
    """A helper changes a cached result, and then fails."""

    refused = "DY011"

    def forward(self, x: Tensor) -> Any:
        try:
            _count_up(1)
        except ValueError as error:
            return x + error.args[0] if x.sum() > 0 else x
        return x
