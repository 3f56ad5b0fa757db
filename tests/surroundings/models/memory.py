"""Models whose tensors share memory, or whose memory is written past PyTorch's operations."""

import functools
from typing import Any

import numpy as np
import torch
import torch.utils.dlpack
from torch import Tensor, nn


class _Buffered(nn.Module):
    """A model with a buffer."""

    b: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("b", torch.ones(2))


class FilledByOut(_Buffered):
    """A buffer is filled with what is known while compiling."""

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            torch.add(torch.ones(2), 2.0, out=self.b)
        return x + self.b


class ComputedByOut(_Buffered):
    """A buffer gets the result of an operation on constants."""

    def forward(self, x: Tensor) -> Tensor:
        torch.mul(torch.ones(2), 2, out=self.b)
        return x + self.b


class ManyAtOnce(_Buffered):
    """Several tensors are written by one operation."""

    refused = "DY007|DY004"

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            torch._foreach_add_([self.b], 1.0)
        return x + self.b


class ThroughNumpy(_Buffered):
    """A buffer is written through the array that shares its memory."""

    refused = "DY007"

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.b.numpy()[0] = 5
        return x + self.b


class ElementByElement(_Buffered):
    """A function of the user's is applied to every element of a buffer."""

    refused = "DY007"

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.b.apply_(lambda value: value + 1)
        return x + self.b


class ArrayAcrossADecision(_Buffered):
    """An array that shares a buffer's memory is written behind a decision."""

    refused = "DY009|DY007"

    def forward(self, x: Tensor) -> Tensor:
        array = self.b.numpy()
        if x.sum() > 0:
            array[0] += 1
        return x + self.b


class ReadThroughNumpy(_Buffered):
    """An array that shares a buffer's memory is only read."""

    def forward(self, x: Tensor) -> Tensor:
        total = float(self.b.numpy().sum())
        if x.sum() > 0:
            return x + total
        return x - total


class ArrayOfTheModel(nn.Module):
    """The model has an array and a tensor that share memory."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.array = np.zeros(2, np.float32)
        self.tensor = torch.from_numpy(self.array)

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.tensor.add_(1)
        return x + float(self.array[0])


class ArrayIsWritten(_Buffered):
    """The model has an array that shares a buffer's memory, and writes to it."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.array = self.b.numpy()

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.array[0] = 4
        return self.b + x


class InAList(nn.Module):
    """A list holds the memory of a parameter by another name."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.biases = [self.linear.bias.data]

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.biases[0].add_(1)
        return self.linear(x)


class InAPartialCall(_Buffered):
    """A partial call holds a view of a buffer."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.add = functools.partial(torch.add, self.b.view(2))

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.b.add_(1)
        return self.add(x)


class ViewThatIsReplaced(_Buffered):
    """An attribute is a view of a buffer until it is replaced."""

    refused = "DY006|DY007"

    def __init__(self) -> None:
        super().__init__()
        self.view: Tensor | None = self.b.view(2)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            self.view = None
        elif self.view is not None:
            self.view.add_(1)
        return x + self.b


class TransposedAtFirst(nn.Module):
    """What is kept lies otherwise in memory in the first call than in the next."""

    refused = "DY006"

    def __init__(self) -> None:
        super().__init__()
        self.last = torch.zeros(2, 2).t()

    def forward(self, x: Tensor) -> Tensor:
        self.last.reshape(-1).add_(1)
        total = self.last.sum()
        self.last = x * torch.ones(2, 1)
        return total


class UnusedStatistics(nn.Module):
    """Statistics are updated by a normalisation whose result nobody uses."""

    refused = "DY004"

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(2)

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.norm.train()
            self.norm(torch.stack([x, x + 1]))
            self.norm.eval()
        return self.norm(x[None])


def _part_of(array: Any) -> Any:
    """A view of what nobody else holds."""
    return array[:2]


class OwnerOfAView(nn.Module):
    """What a view belongs to is written past the view."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.part = _part_of(np.zeros(3))

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.part.base[2] += 1
        return float(self.part.base[2])


class OwnerOfAMemoryview(nn.Module):
    """The same for Python's own views."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.part = _part_of(memoryview(bytearray(4)))

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.part.obj[3] = 1
        return self.part.obj[3]


class ViewsOwnElements(nn.Module):
    """A view is written whose owner nobody asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.part = np.zeros(4).reshape(2, 2)

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.part[0, 1] = (self.part[0, 1] + 1) % 3
        return float(self.part[0, 1])


class Record(nn.Module):
    """A record of an array is a scalar that can be written."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.record: Any = np.zeros(2, dtype=[("count", "i4")])[0]

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.record["count"] += 1
        return int(self.record["count"])


class NotesOfAnElementType(nn.Module):
    """An element type holds what its maker gave it."""

    def __init__(self) -> None:
        super().__init__()
        self.kind: Any = np.dtype("i4", metadata={"seen": [0]})

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            self.kind.metadata["seen"][0] = (self.kind.metadata["seen"][0] + 1) % 3
        return self.kind.metadata["seen"][0]


class _WithArray(nn.Module):
    """A model that keeps an array."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = np.zeros(2, dtype=np.float32)


class ArrayWrapped(_WithArray):
    """A tensor in the memory of an array that is kept gets what depends on the input."""

    refused = "DY006"

    def forward(self, x: Tensor) -> Tensor:
        wrapped = torch.from_numpy(self.kept)
        wrapped += x
        if wrapped.sum() > 5:
            wrapped.zero_()
        return wrapped * 1


class CopiedIntoArray(_WithArray):
    """An array is filled by a tensor in its memory, and then decided on."""

    refused = "DY006"

    def forward(self, x: Tensor) -> Tensor:
        torch.from_numpy(self.kept).copy_(x)
        return x * 2 if self.kept.sum() > 0 else x


class ArrayOfKnownTensor(nn.Module):
    """An array and a tensor of the call's own lie in one memory across a decision."""

    refused = "DY009"

    def forward(self, x: Tensor) -> Any:
        made = torch.zeros(2)
        shown = made.numpy()
        if x.sum() > 0:
            made.add_(1)
        else:
            shown[0] = 5
        return made, torch.from_numpy(shown.copy())


class TensorOfKnownArray(nn.Module):
    """The same, the other way round."""

    refused = "DY009"

    def forward(self, x: Tensor) -> Tensor:
        made = np.zeros(2, dtype=np.float32)
        shown = torch.from_numpy(made)
        if x.sum() > 0:
            made[0] = 3
        return shown


class WrittenBeforeTheDecision(nn.Module):
    """What depends on the input is written to a tensor whose array is read later."""

    refused = "DY006"

    def forward(self, x: Tensor) -> Tensor:
        made = torch.ones(2)
        shown = made.numpy()
        made.add_(x)
        return x * shown[0] if x.sum() > 0 else x


class BytesAndArray(nn.Module):
    """An array lies in the memory of a bytearray."""

    refused = "DY009"

    def forward(self, x: Tensor) -> Tensor:
        made = bytearray(b"abc")
        shown = np.frombuffer(made, dtype=np.uint8)
        if x.sum() > 0:
            made[0] = 65
        return x * int(shown[0])


class BytesAndTensor(nn.Module):
    """A tensor lies in the memory of a bytearray."""

    refused = "DY009"

    def forward(self, x: Tensor) -> Any:
        made = bytearray(8)
        shown = torch.frombuffer(made, dtype=torch.float32)
        if x.sum() > 0:
            shown.add_(1)
        return shown, made[2]


class GivenAway(nn.Module):
    """Another tensor in the same memory is made past all operations."""

    refused = "DY006"

    def forward(self, x: Tensor) -> Tensor:
        made = torch.ones(2)
        other = torch.utils.dlpack.from_dlpack(made)
        if x.sum() > 0:
            other.add_(1)
        return made


class ArrayReadOnce(nn.Module):
    """A tensor made of an array that is gone may live across a decision, and be changed there."""

    def forward(self, x: Tensor) -> Tensor:
        table = torch.from_numpy(np.arange(2, dtype=np.float32))
        if x.sum() > 0:
            table = table + x
        return table * 2


class TurnedOver(nn.Module):
    """A tensor that calls turn over in place has the sizes of its new shape."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: Tensor | None = None

    def forward(self, x: Tensor) -> Any:
        if self.kept is None:
            self.kept = x.expand(3, 2) * 1
        if x.sum() > 0:
            self.kept.t_()
        self.kept += 1
        return "tall" if self.kept.shape[0] == 3 else "wide", self.kept.shape[1], len(self.kept), self.kept * 1


class FilledByAVector(nn.Module):
    """A function of PyTorch's gives a tensor of the call another memory."""

    refused = "DY009"

    def forward(self, x: Tensor) -> Tensor:
        made = x + 1
        if x.sum() > 0:
            nn.utils.vector_to_parameters(x * 3, [made])
        return made * 1


class SetByItsDescriptor(nn.Module):
    """A tensor gets another memory by what Python calls for an assignment."""

    refused = "DY009"

    def forward(self, x: Tensor) -> Tensor:
        made = x + 1
        torch.Tensor.data.__set__(made, x * 5)  # type: ignore[attr-defined]
        return made * 1
