"""Which tensors and numbers the block at hand knows, and by which refs its operations name them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

from dycl.hcfg.subnet import Ref
from dycl.hcfg.types import Span, TensorType
from dycl.rewrite.record.contract import Sym
from dycl.rewrite.record.layouts import Layout
from dycl.rewrite.record.number_classes import LargeNumbers
from dycl.rewrite.record.recording import Recording
from dycl.rewrite.record.symbols import Symbols


class Tracked(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """What stands for values in `self.recording`: refs of tensors, symbols of sizes, weights for constants."""

    def __init__(self, locate: Callable[[], Span]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.locate = locate
        self.fake_mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.symbols = Symbols(self.fake_mode, lambda: self in _get_current_dispatch_mode_stack())
        self.large_numbers = LargeNumbers(lambda: None, lambda: True)
        self.model_memory: set[int] = set()
        self.recording = Recording()

    def type_of(self, tensor: torch.Tensor) -> TensorType:
        """The type of a tensor, symbolic dimensions named by their expression."""
        return self.symbols.type_of(tensor)

    def symbol_of(self, tensor: torch.Tensor) -> Sym:
        """The symbol that stands for a host value's 0-d tensor where PyTorch wants a number."""
        return self.symbols.of_host_value(tensor)

    def relate(self, result: torch.Tensor, function: Callable[[Any, Any], Any], left: Any, right: Any) -> None:
        """Remember how a whole number came about, so that of `a` and `a + 1` the difference is known."""
        self.symbols.relate(result, function, left, right)

    def share_outside(self, tensor: torch.Tensor) -> None:
        """Note that a list got a copy of this tensor, where Python would have put the tensor itself."""
        self.recording.aliases.share_outside(tensor)

    def entangle(self, source: torch.Tensor, copy: torch.Tensor) -> None:
        """Note that a copy of `source` stands where the program has the same memory: neither may be written."""
        self.recording.aliases.entangle(source, copy)

    def stands_for_another(self, tensor: torch.Tensor) -> bool:
        """Whether this is such a copy."""
        return self.recording.aliases.stands_for_another(tensor)

    def on(self) -> AbstractContextManager[Any]:
        """Record inside the `with` block, whether or not recording is on already."""
        return nullcontext() if self in _get_current_dispatch_mode_stack() else self

    def parameter(self, value_type: TensorType, layout: Layout = None) -> torch.Tensor:
        """A fake tensor that stands for a value the block receives."""
        tensor = self.symbols.fake_tensor(value_type, layout)
        self.recording.inputs.append(self._new_ref(tensor))
        return tensor

    def _new_ref(self, tensor: torch.Tensor) -> Ref:
        ref = self.recording.new_ref(self.type_of(tensor))
        self.track(tensor, ref)
        return ref

    def track(self, tensor: torch.Tensor, ref: Ref) -> None:
        self.recording.refs[id(tensor)] = (ref, tensor)

    def is_dynamic(self, tensor: torch.Tensor) -> bool:
        """Whether only the input determines this tensor's value."""
        if isinstance(tensor, FakeTensor) or id(tensor) in self.recording.refs:
            return True
        view = self.recording.aliases.views.get(id(tensor))
        return view is not None and self.is_dynamic(view.parent)
