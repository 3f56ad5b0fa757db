"""What one block has recorded: its operations, and the constants that they use."""

from dataclasses import dataclass, field

import torch

from dycl.hcfg.subnet import Operation, Ref
from dycl.hcfg.types import Span, TensorType
from dycl.rewrite.record.aliases import Aliases, memory
from dycl.rewrite.record.complex_pairs import ComplexPairs


@dataclass(frozen=True, slots=True)
class Captured:
    """A constant that the block uses, with its value at that moment."""

    ref: Ref
    tensor: torch.Tensor
    value: torch.Tensor


@dataclass(slots=True)
class Recording:
    """What one block has recorded so far."""

    types: list[TensorType] = field(default_factory=list)
    inputs: list[Ref] = field(default_factory=list)
    weights: dict[int, Captured] = field(default_factory=dict)
    literals: dict[tuple[str, str], Ref] = field(default_factory=dict)
    captured: list[Captured] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    checks: list[tuple[Ref, str, str, Span]] = field(default_factory=list)
    refs: dict[int, tuple[Ref, torch.Tensor]] = field(default_factory=dict)
    twins: dict[int, torch.Tensor] = field(default_factory=dict)
    aliases: Aliases = field(default_factory=Aliases)
    complex_pairs: ComplexPairs = field(default_factory=ComplexPairs)

    def new_ref(self, value_type: TensorType) -> Ref:
        self.types.append(value_type)
        return Ref(len(self.types) - 1)

    def forget_tensors(self) -> None:
        """Keep only what was recorded: the block is done with the tensors it ran on."""
        self.refs.clear()
        self.twins.clear()
        self.aliases = Aliases()
        self.complex_pairs = ComplexPairs()

    def forget_constants(self, written: int) -> None:
        """Capture constants in this memory afresh when they are next used: they are about to change."""
        for key in [key for key, item in self.weights.items() if memory(item.tensor) == written]:
            self.captured.append(self.weights.pop(key))
