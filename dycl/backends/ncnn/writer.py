"""Writing a sub-DNN as ncnn's layers: what each tensor is, and a layer at a time with its sizes."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from dycl.backends.errors import Untranslatable
from dycl.hcfg.module import operands
from dycl.hcfg.subnet import Argument, Operation, Ref, SubnetGraph
from dycl.runtime.ncnn.code import map_sizes
from dycl.runtime.ncnn.layers import LAYERS, Sizes, Unfit

Lowering = Callable[["Writer", Operation], "Given"]


@dataclass(frozen=True, slots=True)
class Map:
    """A value of the net: its number and its sizes."""

    value: int
    sizes: Sizes


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that is known while compiling."""

    number: float


@dataclass(frozen=True, slots=True)
class Weight:
    """A weight of the sub-DNN, by its place."""

    place: int


@dataclass(frozen=True, slots=True)
class Flag:
    """A map of one number, compared with a number or a weight."""

    value: int
    comparison: str
    other: Constant | Weight


Given = Map | Constant | Weight | Flag


class Writer:
    """The layers of one sub-DNN; `Untranslatable` if an operation has none."""

    def __init__(self, graph: SubnetGraph, lowerings: Mapping[str, Lowering]) -> None:
        self._graph = graph
        self.layers: list[Any] = []
        self._count = len(graph.inputs)
        self._given: dict[Ref, Given] = {ref: Weight(place) for place, ref in enumerate(graph.weights)}
        self._uses = Counter(ref for operation in graph.operations for ref in operands(operation))
        self._uses.update(graph.outputs)
        self._readers = {ref: operation for operation in graph.operations for ref in operands(operation)}
        self._fused: set[Ref] = set()
        self.operation = graph.operations[0]
        for value, ref in enumerate(graph.inputs):
            self._given[ref] = Map(value, self._sizes_of(ref))
        for operation in graph.operations:
            self.operation = operation
            (output,) = [ref for ref in operation.outputs if ref is not None][:1]
            if output in self._fused:
                continue
            if operation.target not in lowerings or len(operation.outputs) != 1:
                self.refuse(f"{operation.target} has no layer of ncnn")
            self.give(output, lowerings[operation.target](self, operation))
        self.outputs = [self._output(ref) for ref in graph.outputs]

    def refuse(self, reason: str) -> NoReturn:
        """Say that the operation at hand has no translation."""
        raise Untranslatable(reason, self.operation.span)

    # Reading.

    def _sizes_of(self, ref: Ref) -> Sizes:
        try:
            return map_sizes(self._graph.type_of(ref))
        except Unfit as unfit:
            self.refuse(str(unfit))

    def rank(self, argument: Argument) -> int:
        """How many dimensions a tensor has."""
        assert isinstance(argument, Ref)
        return len(self._graph.type_of(argument).shape)

    def shape(self, argument: Argument) -> tuple[Any, ...]:
        """The sizes of a tensor."""
        assert isinstance(argument, Ref)
        return self._graph.type_of(argument).shape

    def dtype(self, argument: Argument) -> str:
        """The element type of a tensor."""
        assert isinstance(argument, Ref)
        return self._graph.type_of(argument).dtype

    def given(self, argument: Argument) -> Given:
        """What an argument is; a number is a constant."""
        if isinstance(argument, Ref):
            return self._given[argument]
        if not isinstance(argument, int | float) or isinstance(argument, bool):
            self.refuse("an argument that is no tensor")
        return Constant(float(argument))

    def map(self, argument: Argument) -> Map:
        """A map, for an argument that must be one."""
        found = self.given(argument)
        if not isinstance(found, Map):
            self.refuse("a weight or a number in the place of a map")
        return found

    def image(self, argument: Argument) -> Map:
        """A map with channels, height and width."""
        found = self.map(argument)
        if self.rank(argument) != 4 or len(found.sizes) != 3:
            self.refuse("more than one image at a time")
        return found

    def weight(self, argument: Argument) -> int | None:
        """The place of a weight, or None."""
        if argument is None:
            return None
        found = self.given(argument)
        if not isinstance(found, Weight) or self.dtype(argument) != "float32":
            self.refuse("weights that are computed, or not in single precision")
        return found.place

    def whole(self, name: str) -> int:
        """A whole number among the arguments."""
        value = self.operation.arguments[name]
        if type(value) is not int:
            self.refuse(f"`{name}` is only known at run time")
        return value

    def pair(self, name: str) -> tuple[int, int]:
        """Two whole numbers among the arguments, for height and width."""
        value = self.operation.arguments[name]
        numbers = value if isinstance(value, tuple) else (value,)
        if not all(type(number) is int for number in numbers) or len(numbers) not in (1, 2):
            self.refuse(f"`{name}` is only known at run time")
        first, *rest = (number for number in numbers if isinstance(number, int))
        return first, rest[0] if rest else first

    def only_reader(self, ref: Ref, target: str, argument: str) -> Operation | None:
        """The operation of this kind that takes a tensor as that argument, if nobody else reads it."""
        reader = self._readers.get(ref)
        fits = reader is not None and reader.target == target and reader.arguments.get(argument) == ref
        return reader if fits and self._uses[ref] == 1 else None

    # Writing.

    def layer(
        self, kind: str, inputs: Sequence[Map], parameters: Mapping[int, int | float], recipes: Sequence[Any] = ()
    ) -> Map:
        """The map that a layer gives."""
        try:
            sizes = LAYERS[kind].sizes(parameters, [item.sizes for item in inputs])
        except Unfit as unfit:
            self.refuse(f"ncnn's {kind}: {unfit}")
        made = Map(self._count, sizes)
        told = {str(number): value for number, value in parameters.items()}
        self.layers.append([kind, [item.value for item in inputs], made.value, told, list(recipes)])
        self._count += 1
        return made

    def reshaped(self, item: Map, sizes: Sizes) -> Map:
        """The same elements as a map of other sizes."""
        if item.sizes == sizes:
            return item
        if math.prod(item.sizes) != math.prod(sizes) or len(sizes) > 3:
            self.refuse("another number of elements")
        return self.layer("Reshape", [item], dict(zip((0, 1, 2), reversed(sizes), strict=False)))

    def fuse(self, operation: Operation) -> Ref:
        """Let a layer do what another operation does, too; gives the result of that."""
        (output,) = operation.outputs
        assert output is not None
        self._fused.add(output)
        return output

    def give(self, ref: Ref, found: Given) -> None:
        """Take note of the result of an operation, as a map of the sizes that its type has."""
        if isinstance(found, Map) and self.dtype(ref) == "float32":
            found = self.reshaped(found, self._sizes_of(ref))
        self._given[ref] = found

    def _output(self, ref: Ref) -> Any:
        found = self._given[ref]
        if isinstance(found, Map) and found.value >= len(self._graph.inputs) and self.dtype(ref) == "float32":
            return found.value
        if not isinstance(found, Flag) or self._graph.type_of(ref).shape != ():
            self.refuse("an output that is no map and no flag")
        other = found.other.number if isinstance(found.other, Constant) else ["weight", found.other.place]
        return [found.value, found.comparison, other]
