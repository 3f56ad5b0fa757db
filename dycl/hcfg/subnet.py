"""A sub-DNN before a backend compiles it: a straight line of ATen operations, as plain data.

Nothing here needs PyTorch. Operations are named as PyTorch names them (`aten.conv2d.default`); the arguments are
bound to the names of the operation's schema, defaults filled in, so a backend reads `arguments["stride"]`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from dycl.hcfg.types import Dimension, DType, Span, TensorType


@dataclass(frozen=True, slots=True, repr=False)
class Ref:
    """A tensor inside a sub-DNN; where an argument is a number that only the input determines, its 0-d tensor."""

    index: int

    def __repr__(self) -> str:
        return f"Ref(index={self.index})"  # a dataclass looks out for itself among its fields, which takes long


@dataclass(frozen=True, slots=True)
class DTypeArgument:
    """An element type passed as an argument."""

    dtype: DType


Argument = Ref | DTypeArgument | int | float | bool | str | None | tuple["Argument", ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """One ATen operation. `outputs` has one entry a result; None where the result is not a tensor."""

    target: str
    arguments: Mapping[str, Argument]
    outputs: tuple[Ref | None, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class SubnetGraph:
    """A static graph. `types[ref.index]` is the type of a ref; `weights` are constants bound from outside."""

    inputs: tuple[Ref, ...]
    weights: tuple[Ref, ...]
    operations: tuple[Operation, ...]
    outputs: tuple[Ref, ...]
    types: tuple[TensorType, ...]
    _structure: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def ends(self) -> tuple[tuple[Ref, ...], tuple[Ref, ...]]:
        """What goes in and what comes out."""
        return self.inputs, self.outputs

    def type_of(self, ref: Ref) -> TensorType:
        """The type of the tensor that `ref` stands for."""
        return self.types[ref.index]


def structure(graph: SubnetGraph) -> str:
    """A digest that is equal for graphs that differ in places in the source and names of dimensions only."""
    if not graph._structure:
        graph._structure.append(_digest(graph))
    return graph._structure[0]


def _digest(graph: SubnetGraph) -> str:
    names: dict[str, str] = {}

    def numbered(size: Dimension) -> Dimension:
        return names.setdefault(size, f"d{len(names)}") if isinstance(size, str) else size

    types = [(kind.dtype, [numbered(size) for size in kind.shape]) for kind in graph.types]
    operations = [(item.target, sorted(item.arguments.items()), item.outputs) for item in graph.operations]
    text = repr((graph.inputs, graph.weights, graph.outputs, types, operations))
    return hashlib.sha256(text.encode()).hexdigest()
