"""Containers that hang on the model are written."""

import array
import collections
import copy
import io
import queue
import random
import re
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


class Array(nn.Module):
    """An array of NumPy's, cleared and written."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer = np.zeros(2, np.float32)

    def forward(self, x: Tensor) -> Tensor:
        self.buffer[:] = 0
        if x.sum() > 0:
            self.buffer[0] = 1
        return torch.from_numpy(self.buffer.copy())


class ByteArray(nn.Module):
    """A bytearray is written and written back."""

    def __init__(self) -> None:
        super().__init__()
        self.flags = bytearray(2)

    def forward(self, x: Tensor) -> int:
        was = self.flags[0]
        self.flags[0] = 1 if x.sum() > 0 else 0
        return was


class MachineArray(nn.Module):
    """An array of Python's remembers the last sign."""

    def __init__(self) -> None:
        super().__init__()
        self.flags = array.array("i", [0, 0])

    def forward(self, x: Tensor) -> int:
        was = self.flags[1]
        self.flags[1] = 1 if x.sum() > 0 else 0
        return was


class Bytes(nn.Module):
    """A view of bytes remembers the last sign."""

    def __init__(self) -> None:
        super().__init__()
        self.view = memoryview(bytearray(2))

    def forward(self, x: Tensor) -> int:
        was = self.view[0]
        self.view[0] = 1 if x.sum() > 0 else 0
        return was


class Large(nn.Module):
    """A list of many items, and a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.items = [0] * 20_000
        self.table = dict.fromkeys(range(20_000), 0)

    def forward(self, x: Tensor) -> tuple[int, int]:
        if x.sum() > 0:
            self.items[5] += 1
        else:
            self.table[7] += 1
        return self.items[5], self.table[7]


class Window(nn.Module):
    """A deque of a largest length."""

    def __init__(self) -> None:
        super().__init__()
        self.window: collections.deque[float] = collections.deque(maxlen=3)

    def forward(self, x: Tensor) -> list[float]:
        self.window.append(1.0 if x.sum() > 0 else 2.0)
        return list(self.window)


class Counted(nn.Module):
    """A Counter and a defaultdict."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: collections.Counter[str] = collections.Counter()
        self.more: dict[str, int] = collections.defaultdict(int)

    def forward(self, x: Tensor) -> Any:
        key = "up" if x.sum() > 0 else "down"
        self.counts.update([key])
        self.more[key] += 2
        return dict(self.counts), list(self.more.items())


class Ordered(nn.Module):
    """The order of a dict is part of it."""

    def __init__(self) -> None:
        super().__init__()
        self.table = collections.OrderedDict(a=1, b=2)
        self.plain = {"a": 1, "b": 2}

    def forward(self, x: Tensor) -> list[str]:
        if x.sum() > 0:
            self.table.move_to_end("a")
        else:
            self.plain["a"] = self.plain.pop("a")
        return [*self.table, *self.plain]


class Nested(nn.Module):
    """Lists in tuples, in keys' values, in sets of objects."""

    def __init__(self) -> None:
        super().__init__()
        self.pair = ([0], {"n": [0]})

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.pair[0][0] += 1
        else:
            self.pair[1]["n"][0] += 1
        return self.pair[0][0] * 10 + self.pair[1]["n"][0]


class Key:
    """An object that stands in a dict as a key."""

    def __init__(self) -> None:
        self.count = 0


class ObjectsAsKeys(nn.Module):
    """Keys and members of a frozenset can be changed themselves."""

    def __init__(self) -> None:
        super().__init__()
        self.table = {Key(): 1}
        self.members = frozenset([Key()])

    def forward(self, x: Tensor) -> int:
        key, member = next(iter(self.table)), next(iter(self.members))
        if x.sum() > 0:
            key.count += 1
        else:
            member.count += 1
        return key.count * 10 + member.count


class Collected(nn.Module):
    """Lists that are only added to, for somebody outside: they grow, and no result depends on it."""

    def __init__(self) -> None:
        super().__init__()
        self.saved_actions: list[tuple[Tensor, float]] = []
        self.rewards: list[float] = []

    def forward(self, x: Tensor) -> Tensor:
        for step in range(3):
            probability = torch.sigmoid(x.sum() + step)
            if probability > 0.5:
                x = x * 2
            self.saved_actions.append((probability, step / 2))
            self.rewards.extend([1.0 if x.sum() > 0 else 0.0])
        return x


class CollectedAndCounted(nn.Module):
    """One that is looked at grows without a bound."""

    refused = "DY011"

    def __init__(self) -> None:
        super().__init__()
        self.log: list[float] = []

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.log.append(1.0)
        return len(self.log)


class CollectedUnderTwoNames(nn.Module):
    """So does one that is looked at under another name."""

    refused = "DY011"

    def __init__(self) -> None:
        super().__init__()
        self.log: list[float] = []
        self.other = self.log

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.log.append(1.0)
        return len(self.other)


class Text(nn.Module):
    """A file in memory is written to."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.log = io.StringIO()

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.log.write("up")
        return len(self.log.getvalue())


class Queue(nn.Module):
    """A queue that cannot be looked into."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.queue: queue.SimpleQueue[int] = queue.SimpleQueue()

    def forward(self, x: Tensor) -> int:
        if x.sum() > 0:
            self.queue.put(1)
        return self.queue.qsize()


class Generator(nn.Module):
    """A generator from before the call is gone on with."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.numbers = (number for number in range(100))

    def forward(self, x: Tensor) -> int:
        return next(self.numbers) if x.sum() > 0 else -1


class Mapped(nn.Module):
    """So is an iterator, by code that runs natively."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.digits = map(int, "123456789")

    def draw(self) -> int:
        return next(self.digits)

    def forward(self, x: Tensor) -> int:
        return self.draw() if x.sum() > 0 else -1


class Draws(nn.Module):
    """A source of random numbers of the model's own."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.source = random.Random(3)

    def forward(self, x: Tensor) -> float:
        return self.source.random() if x.sum() > 0 else 0.0


class NumpyDraws(nn.Module):
    """One of NumPy's."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.source = np.random.default_rng(3)

    def forward(self, x: Tensor) -> float:
        return float(self.source.random()) if x.sum() > 0 else 0.0


class CopiedBefore(nn.Module):
    """A copy of a list is made before the list changes."""

    def __init__(self) -> None:
        super().__init__()
        self.counts = [0, [1]]

    def forward(self, x: Tensor) -> Any:
        before: Any = copy.deepcopy(self.counts)
        inner: Any = self.counts[1]
        if x.sum() > 0:
            inner[0] += 1
        count: int = before[1][0] + 10 * inner[0]
        return x + count


class CopiedDeeply(nn.Module):
    """A buffer and what a layer keeps are copied deeply, and the layer is written."""

    scale: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.register_buffer("scale", torch.ones(2))
        self.best: Any = None

    def forward(self, x: Tensor) -> Tensor:
        scale = copy.deepcopy(self.scale)
        if x.sum() > 0:
            scale.add_(1)
            self.best = copy.deepcopy(self.linear.state_dict())
        with torch.no_grad():
            self.linear.bias.add_(1)
        bias: Tensor = self.linear.bias if self.best is None else self.best["bias"]
        return x * scale * self.scale + bias


class CounterOfNumPy(nn.Module):
    """An array of NumPy's that is another one after each call: its elements are part of the state's structure."""

    refused = "DY011"

    def __init__(self) -> None:
        super().__init__()
        self.counts = np.zeros(2)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.counts[0] += 1
        return x + float(self.counts[0])


class PatternsOfTexts(nn.Module):
    """Python keeps the patterns that it has compiled, which is nobody's state."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.count += len(re.sub("a", lambda match: "zz", "aab"))
        return x + self.count if re.match("a+b", "aab") else x
