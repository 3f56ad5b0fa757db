"""What the parts of recording, and the values that hang on it, ask of the recorder that they work for."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

import torch
import torch._dynamo  # fake tensors ask for it, and an import that is interrupted halfway stays broken
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensorMode

from dycl.hcfg.subnet import Argument, Ref
from dycl.hcfg.types import TensorType
from dycl.rewrite.record.number_classes import LargeNumbers

Sym = torch.SymInt | torch.SymFloat | torch.SymBool


@dataclass(frozen=True, slots=True)
class ArrayOperations:
    """What NumPy's functions, operators, methods and indexing mean for arrays that only the input determines."""

    function: Callable[[Any, Any, Any], Any]
    operator: Callable[[Any, Any, Any], Any]
    in_place: Callable[[Any, Any, Any, Any], Any]
    method: Callable[[Any, str, Any, Any], Any]
    get_item: Callable[[Any, Any], Any]
    set_item: Callable[[Any, Any, Any], None]


class Records(Protocol):
    """A recorder. Inside `with recorder:` operations are recorded, also those of its own making."""

    large_numbers: LargeNumbers
    error_names: Mapping[str, str]
    """Which errors a check raises in the place of others, where another library would."""
    fake_mode: FakeTensorMode
    arrays: ArrayOperations

    def __enter__(self) -> Any: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any: ...

    def on(self) -> AbstractContextManager[None]:
        """Record inside the `with` block, whether or not recording is on already."""
        ...

    def ref(self, tensor: torch.Tensor, of_size: bool = False) -> Ref:
        """The ref of a tensor in the current recording; if it is about its size, whatever was written to it since."""
        ...

    def track(self, tensor: torch.Tensor, ref: Ref) -> None:
        """Let a tensor mean what `ref` stands for."""
        ...

    def type_of(self, tensor: torch.Tensor) -> TensorType:
        """The type of a tensor, symbolic dimensions named by their expression."""
        ...

    def bind(self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Argument]:
        """The call's arguments by the names of the operation's schema, defaults filled in."""
        ...

    def append(self, target: str, arguments: Mapping[str, Argument], results: Sequence[torch.Tensor]) -> None:
        """Record an operation that gives `results`."""
        ...

    def take_apart(self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The operation by smaller ones, or `NotImplemented`."""
        ...

    def is_dynamic(self, tensor: torch.Tensor) -> bool:
        """Whether only the input determines this tensor's value."""
        ...

    def number(self, tensor: torch.Tensor, is_place: bool = False) -> torch.Tensor:
        """The 0-d tensor of what one element holds now, which nothing writes later; a place is for an index alone."""
        ...

    def element_bounds(self, tensor: torch.Tensor) -> tuple[float, float] | None:
        """The least and the greatest number that a tensor can hold; None if that is not known."""
        ...

    def lies_within(self, index: torch.Tensor, low: Any, size: Any) -> bool:
        """Whether the elements are known to be from `low`, which is 0 or `-size`, to `size`, without it."""
        ...

    def check(
        self, condition: torch.Tensor, error: str, message: str, guards: bool = False, is_limit: bool = False
    ) -> int | None:
        """Let the program stop with the user's own error unless `condition` holds when it runs.

        If it guards, the operation at hand comes after. A limit is DyCL's own: no model catches what it raises. Gives
        the check's number, unless it is a decision.
        """
        ...

    @property
    def catches_errors(self) -> Callable[[], bool]:
        """Asks whether the program may catch an error that is raised now."""
        ...

    def waiting_like(self, tensor: torch.Tensor) -> AbstractContextManager[None]:
        """Let what is recorded inside the `with` block wait for the checks that what made a tensor waits for."""
        ...

    def require_size(self, condition: Any, error: str, message: str, guards: bool = True) -> None:
        """Check `condition`, an expression of sizes, unless it always holds."""
        ...

    def count_true(self, mask: torch.Tensor) -> Any:
        """How many elements of a mask are true: a number, or the symbol for it."""
        ...

    def materialise(self, value: Sym) -> torch.Tensor:
        """The 0-d tensor that holds the value of a symbolic expression."""
        ...

    def symbol_of(self, tensor: torch.Tensor) -> Sym:
        """The symbol that stands for a host value's 0-d tensor where PyTorch wants a number."""
        ...

    def relate(self, result: torch.Tensor, function: Callable[[Any, Any], Any], left: Any, right: Any) -> None:
        """Remember how a whole number came about, so that of `a` and `a + 1` the difference is known."""
        ...

    def share_outside(self, tensor: torch.Tensor) -> None:
        """Note that a list got a copy of this tensor, where Python would have put the tensor itself."""
        ...

    def entangle(self, source: torch.Tensor, copy: torch.Tensor) -> None:
        """Note that a copy of `source` stands where the program has the same memory: neither may be written."""
        ...

    def stands_for_another(self, tensor: torch.Tensor) -> bool:
        """Whether this is such a copy."""
        ...

    def views_are_written(self, sharing: list[torch.Tensor]) -> None:
        """React to a write to memory that these tensors, alive since before a decision, share."""
        ...

    def kept_tensor_is_written(self, tensor: torch.Tensor) -> None:
        """React to a write to a tensor that outlives the call."""
        ...
