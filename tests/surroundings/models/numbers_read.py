"""Numbers that Python or NumPy got from a tensor stay what they are, whatever is written to the tensor later."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


class Step(nn.Module):
    """The place of a token, by a counter that is kept from call to call."""

    step: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("step", torch.zeros((), dtype=torch.long))

    def forward(self, x: Tensor) -> Tensor:
        place = int(self.step)
        self.step += 1
        return x + place


class FirstCall(nn.Module):
    """A decision on such a number."""

    count: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.long))

    def forward(self, x: Tensor) -> Tensor:
        count = self.count.item()
        self.count += 1
        return x * 100 if count == 0 else x


class EachRound(nn.Module):
    """The number is another one in each round."""

    def forward(self, x: Tensor) -> list[Any]:
        count = torch.zeros((), dtype=torch.long)
        found: list[Any] = []
        for place in range(2):
            count += (x[place] > 0).long()
            found.append(count.item())
        while count > 0:
            left = count.item()
            count -= 1
            found.append(left)
        return found


class Swapped(nn.Module):
    """Two elements change places, by way of Python."""

    def forward(self, x: Tensor) -> tuple[Tensor, list[Any], bool]:
        values, flag = x.double() * torch.tensor([1.0, 2.0]), x > 0
        first, held = values[0].item(), bool(flag[0])
        values[0] = values[1].item()
        values[1] = first
        listed = values.tolist()
        values += 1
        flag.logical_not_()
        return values, listed, held


class MadeOfNumbers(nn.Module):
    """What is made of a number has memory of its own."""

    def forward(self, x: Tensor) -> tuple[Any, ...]:
        number = int(x.argmax()) + int(x.sum() > 0)
        one, other, filled = torch.tensor(number), torch.as_tensor(number), torch.full((1,), number)
        one += 5
        other += 7
        filled += 9
        return number, one, other, filled


class NumPysNumbers(nn.Module):
    """NumPy's scalars are numbers, too."""

    def forward(self, x: Tensor) -> tuple[Any, ...]:
        array = x.numpy() * np.array([1, 2], np.float32)
        array[0], array[1] = array[1], array[0]
        best = array[0]
        if x.sum() > 0:
            array[0] = 9
        found = []
        for value in array:
            found.append(float(value))
            array += 1
        first, *rest = array
        array *= 2
        return float(best), found, float(first), float(rest[0]), torch.from_numpy(array)


class TurnedRound(nn.Module):
    """What NumPy shows the other way round lies in the same memory."""

    refused = "DY006"

    def forward(self, x: Tensor) -> Tensor:
        array = (x * 2).numpy()
        turned = np.flip(array)
        array += 1
        return torch.from_numpy(turned.copy())


class RowAddedTo(nn.Module):
    """A row, an element or a part that the input chooses is changed in place."""

    counts: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("counts", torch.zeros(2))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        place = (x + self.counts).argmin()
        self.counts[place] += 1
        rows, number = torch.stack([x, x + 1]), int(x.sum() > 0)
        rows[place] *= 2
        rows[number, place] -= 3
        rows[number : number + 1] += 4
        return self.counts.clone(), rows


class ArrayOfABase(nn.Module):
    """A tensor made in the call is written as an array behind a decision, and a view of it sees that."""

    def forward(self, x: Tensor) -> Any:
        made = torch.zeros(2)
        view = made[1:]
        if x.sum() > 0:
            made.numpy()[1] = 5
        return x + made, view * 1


class ArrayOfAView(nn.Module):
    """The same by the view, which the tensor sees."""

    def forward(self, x: Tensor) -> Any:
        made = torch.zeros(2)
        view = made.view(2, 1)
        if x.sum() > 0:
            np.add(view.numpy(), 3, out=view.numpy())
        return x + made, view * 1


class ElementsOfWhatTheInputChanged(nn.Module):
    """A tensor that was known until the input was added to it is changed element by element."""

    refused = "DY004"

    def forward(self, x: Tensor) -> Any:
        made = torch.ones(2)
        made.add_(x)
        made.apply_(lambda element: element + 1)
        return made if x.sum() > 0 else x


class MemoryOfWhatTheInputChanged(nn.Module):
    """The same past all of PyTorch's operations."""

    refused = "DY001"

    def forward(self, x: Tensor) -> Any:
        made = torch.ones(2)
        made.add_(x)
        made.untyped_storage().fill_(0)  # type: ignore[attr-defined]
        return made if x.sum() > 0 else x
