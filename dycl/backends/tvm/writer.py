"""Writing a sub-DNN as operations on numbered values, each with the type that it gives."""

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from dycl.backends.errors import Untranslatable
from dycl.hcfg.subnet import Argument, DTypeArgument, Operation, Ref, SubnetGraph
from dycl.runtime.tvm.kinds import FLOATS, KINDS, Shape, Tensor, Unfit, bounded, tensor_of

Lowering = Callable[["Writer", Operation], "int | Sequence[int]"]


class Writer:
    """The operations of one sub-DNN; `Untranslatable` if one of PyTorch's has no translation."""

    def __init__(self, graph: SubnetGraph, lowerings: Mapping[str, Lowering]) -> None:
        self._graph = graph
        self.steps: list[Any] = []
        self._tensors: list[Tensor] = []
        self._values: dict[Ref, int] = {}
        self._weights = range(len(graph.inputs), len(graph.inputs) + len(graph.weights))
        self.operation = graph.operations[0]
        for ref in (*graph.inputs, *graph.weights):
            self._values[ref] = len(self._tensors)
            self._tensors.append(self.told(ref))
        for operation in graph.operations:
            self.operation = operation
            if operation.target not in lowerings:
                self.refuse(f"{operation.target} has no translation for TVM")
            made = lowerings[operation.target](self, operation)
            found = [made] if isinstance(made, int) else made
            for output, value in zip(operation.outputs, found, strict=False):
                if output is not None:
                    self._give(output, value)
        self.outputs = [self._values[ref] for ref in graph.outputs]

    def refuse(self, reason: str) -> NoReturn:
        """Say that the operation at hand has no translation."""
        raise Untranslatable(reason, self.operation.span)

    def told(self, ref: Ref) -> Tensor:
        """The type of a tensor of the sub-DNN's."""
        try:
            return tensor_of(self._graph.type_of(ref))
        except Unfit as unfit:
            self.refuse(str(unfit))

    def _give(self, ref: Ref, value: int) -> None:
        if self._tensors[value] != self.told(ref):
            self.refuse(f"{self._tensors[value]} in the place of {self.told(ref)}")
        self._values[ref] = value

    # Reading.

    def tensor(self, value: int) -> Tensor:
        """The type of a value."""
        return self._tensors[value]

    def shape(self, value: int) -> Shape:
        """The sizes of a value."""
        return self._tensors[value].shape

    def value(self, name: str) -> int:
        """The tensor that an argument is."""
        return self.of(self.operation.arguments[name])

    def of(self, argument: Argument) -> int:
        """The value of a tensor."""
        if not isinstance(argument, Ref):
            self.refuse("an argument that is no tensor")
        return self._values[argument]

    def weight(self, name: str) -> int:
        """The weight that an argument is."""
        found = self.value(name)
        if found not in self._weights:
            self.refuse("weights that are computed")
        return found

    def whole(self, name: str) -> int:
        """A whole number among the arguments."""
        value = self.operation.arguments[name]
        if type(value) is not int:
            self.refuse(f"`{name}` is only known at run time")
        return value

    def wholes(self, name: str) -> Shape:
        """Whole numbers among the arguments; a single one, too."""
        value = self.operation.arguments[name]
        numbers = value if isinstance(value, tuple) else (value,)
        if not all(type(number) is int for number in numbers):
            self.refuse(f"`{name}` is only known at run time")
        return tuple(number for number in numbers if isinstance(number, int))

    def pair(self, name: str) -> Shape:
        """Two whole numbers among the arguments, for height and width."""
        found = self.wholes(name)
        if len(found) not in (1, 2):
            self.refuse(f"`{name}` is not for height and width")
        return found if len(found) == 2 else found * 2

    def real(self, name: str) -> float:
        """A number among the arguments."""
        value = self.operation.arguments[name]
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            self.refuse(f"`{name}` is only known at run time")
        return float(value)

    def axis(self, name: str, rank: int) -> int:
        """A dimension among the arguments, counted from the first."""
        found = self.whole(name)
        if not -rank <= found < rank:
            self.refuse("a dimension of a number")
        return found % rank

    def axes(self, name: str, rank: int) -> list[int]:
        """Dimensions among the arguments; all of them if there are none."""
        if self.operation.arguments[name] in (None, ()):
            return list(range(rank))
        if rank == 0:
            self.refuse("a dimension of a number")
        return sorted(axis % rank for axis in self.wholes(name))

    def dtype(self, name: str) -> str | None:
        """An element type among the arguments."""
        told = self.operation.arguments.get(name)
        return told.dtype if isinstance(told, DTypeArgument) else None

    def result(self) -> Tensor:
        """The type of what the operation at hand gives."""
        ref = self.operation.outputs[0]
        assert ref is not None
        return self.told(ref)

    # Writing.

    def step(self, kind: str, operands: Sequence[int], **attributes: Any) -> int:
        """The value that an operation gives."""
        try:
            made = bounded(KINDS[kind].gives([self._tensors[value] for value in operands], attributes))
        except Unfit as unfit:
            self.refuse(f"{kind}: {unfit}")
        self.steps.append([kind, list(operands), attributes])
        self._tensors.append(made)
        return len(self._tensors) - 1

    def number(self, value: float, dtype: str) -> int:
        """A number as a tensor of this type, rounded as PyTorch does."""
        if dtype in FLOATS:
            value = float(value)
            if dtype == "float32" and math.isfinite(value):
                value = _single(value)
        elif dtype == "bool":
            value = bool(value)
        elif value != int(value):
            self.refuse("a fraction among whole numbers")
        else:
            value = int(value)
        return self.step("constant", (), value=value, dtype=dtype)

    def cast(self, value: int, dtype: str) -> int:
        """The value in another type."""
        return value if self._tensors[value].dtype == dtype else self.step("cast", (value,), dtype=dtype)

    def reshaped(self, value: int, shape: Sequence[int]) -> int:
        """The value with other sizes."""
        return value if self.shape(value) == tuple(shape) else self.step("reshape", (value,), shape=list(shape))

    def sliced(self, value: int, axis: int, start: int, count: int, step: int = 1) -> int:
        """A part of a value."""
        return self.step("slice", (value,), axis=axis, start=start, count=count, step=step)


def _single(value: float) -> float:
    try:
        found: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.inf
    return found
