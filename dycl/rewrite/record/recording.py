"""What one block has recorded: its operations, and the constants that they use."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from dycl.hcfg.subnet import Argument, DTypeArgument, Operation, Ref
from dycl.hcfg.types import Span, TensorType
from dycl.rewrite.knowledge import Place
from dycl.rewrite.record.complex_numbers.pairs import ComplexPairs
from dycl.rewrite.record.memory.aliases import Aliases
from dycl.rewrite.record.memory.sharing import memory
from dycl.rewrite.tensor_types import tensor_type


@dataclass(frozen=True, slots=True)
class Captured:
    """A constant that the block uses, with its value at that moment."""

    ref: Ref
    tensor: torch.Tensor
    value: torch.Tensor


ARRIVES_AS = {"LinAlgError": "RuntimeError"}
"""What a program without PyTorch raises in the place of errors of PyTorch's own: the class of Python's behind them."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A check of the block: unless the flag holds, the program stops with the user's own error."""

    flag: Ref
    error: str
    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Guard:
    """The operations from `first` to `end` must not be computed unless a check holds."""

    check: int
    first: int
    end: int


@dataclass(slots=True)
class Recording:
    """What one block has recorded so far."""

    types: list[TensorType] = field(default_factory=list)
    inputs: list[Ref] = field(default_factory=list)
    weights: dict[int, Captured] = field(default_factory=dict)
    literals: dict[tuple[str, str], Ref] = field(default_factory=dict)
    captured: list[Captured] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    makers: dict[Ref, tuple[Operation, int]] = field(default_factory=dict)
    """Which operation made a tensor, and which of its results it is."""
    checks: list[Checked] = field(default_factory=list)
    looked_at: int = 0
    """How often elements or sizes were looked at, to see whether an operation raises an error."""
    guards: list[Guard] = field(default_factory=list)
    guarded: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """The checks that the operation waits for which made a tensor."""
    granted: dict[Any, int | None] = field(default_factory=dict)
    """What is known of sizes because it was checked, and by which check; None if that was a decision."""
    true_counts: dict[Ref, Any] = field(default_factory=dict)
    """How many elements of a mask are true, by the symbol that stands for it."""
    refs: dict[int, tuple[Ref, torch.Tensor]] = field(default_factory=dict)
    numbers: dict[Ref, torch.Tensor] = field(default_factory=dict)
    """The 0-d tensors of the numbers that Python or NumPy got from tensors: nothing writes to them."""
    twins: dict[int, torch.Tensor] = field(default_factory=dict)
    aliases: Aliases = field(default_factory=Aliases)
    complex_pairs: ComplexPairs = field(default_factory=ComplexPairs)
    places: dict[int, Place] = field(default_factory=dict)
    """Where the tensors that the block begins with hang."""

    def new_ref(self, value_type: TensorType) -> Ref:
        self.types.append(value_type)
        return Ref(len(self.types) - 1)

    def add(self, operation: Operation) -> None:
        self.operations.append(operation)
        self.makers.update((ref, (operation, place)) for place, ref in enumerate(operation.outputs) if ref is not None)

    def literal(self, tensor: torch.Tensor, span: Span) -> Ref:
        """A number known while compiling, written into the sub-DNN itself."""
        value_type = tensor_type(tensor)
        key = (value_type.dtype, repr(tensor.item()))
        if key not in self.literals:
            self.literals[key] = self.new_ref(value_type)
            arguments: dict[str, Argument] = {
                "size": (),
                "fill_value": tensor.item(),
                "dtype": DTypeArgument(value_type.dtype),
                "layout": None,
                "device": None,
                "pin_memory": None,
            }
            self.add(Operation("aten.full.default", arguments, (self.literals[key],), span))
        return self.literals[key]

    def guard(self, checks: Sequence[int], first: int) -> None:
        """Let the operations from `first` on, as many as there are by now, wait for these checks."""
        self.guards.extend(Guard(check, first, len(self.operations)) for check in dict.fromkeys(checks))

    def place_last_operation(self, span: Span) -> None:
        """Say where the operation stands that was added last, more exactly than the machine knows."""
        self.add(replace(self.operations.pop(), span=span))

    def forget_tensors(self) -> None:
        """Keep only what was recorded: the block is done with the tensors it ran on."""
        self.refs.clear()
        self.twins.clear()
        self.aliases = Aliases()
        self.complex_pairs = ComplexPairs()
        self.places.clear()
        self.granted.clear()
        self.true_counts.clear()

    def forget_constants(self, written: int) -> None:
        """Capture constants in this memory afresh when they are next used: they are about to change."""
        for key in [key for key, item in self.weights.items() if memory(item.tensor) == written]:
            self.captured.append(self.weights.pop(key))
        self.aliases.note_constant_written(written)
