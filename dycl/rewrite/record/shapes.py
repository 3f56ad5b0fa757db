"""What operations give on fake tensors: types and shapes, no data."""

import functools
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import DynamicOutputShapeException, FakeTensor

from dycl.rewrite.record.known_shapes import remembered
from dycl.rewrite.record.memory.sharing import is_composite
from dycl.rewrite.record.operations import tensors_in, with_tensors
from dycl.rewrite.record.schemas import name_of
from dycl.rewrite.record.sizes.shape_rules import grouped_product
from dycl.rewrite.record.symbols import Symbols
from dycl.rewrite.tensor_types import tensor_type

_NO_VIEW = (
    "view size is not compatible with input tensor's size and stride "
    "(at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead."
)


class Shapes:
    """Runs operations on fake tensors; constants among their arguments are replaced by fake ones of their kind."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._stand_ins: dict[Any, torch.Tensor] = {}

    def of(self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], is_view: bool) -> Any:
        """What the operation gives, whatever the sizes that only the input determines turn out to be."""
        if not is_view:
            args, kwargs = with_tensors(args, self._stand_in), with_tensors(kwargs, self._stand_in)
        result = self._found(func, args, kwargs)
        return result if is_view or is_composite(func) else self._made_anew(result, (args, kwargs))

    def _made_anew(self, result: Any, given: Any) -> Any:
        """The results of an operation that computes, also where its rule for fake tensors gives an argument back."""
        if isinstance(result, tuple | list):
            return type(result)([self._made_anew(item, given) for item in result])
        if not any(result is tensor for tensor in tensors_in(given)):
            return result
        with self._symbols.fake_mode:
            return torch.empty_like(result)

    def _found(self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name_of(func) == "aten._grouped_mm.default":
            # PyTorch's own rule knows one element type only.
            with self._symbols.fake_mode:
                return grouped_product(*args, **kwargs)
        if self._symbols.concern((args, kwargs)):
            return self._symbols.result(func, args, kwargs)
        try:
            ask = functools.partial(self._symbols.plain_result, func, args, kwargs)
            return remembered(func, args, kwargs, self._symbols.fake_tensor_of_kind, ask)
        except DynamicOutputShapeException:
            self._symbols.allow()
            return self._symbols.result(func, args, kwargs)
        except ValueError as error:
            if name_of(func) != "aten.view.default":
                raise
            raise RuntimeError(_NO_VIEW) from error  # which is what it is in eager mode

    def empty(self, shape: list[Any], dtype: torch.dtype) -> torch.Tensor:
        """A fake tensor of this shape, whose sizes may be symbols."""
        with self._symbols.fake_mode:
            return torch.empty(shape, dtype=dtype)

    def _stand_in(self, tensor: torch.Tensor) -> torch.Tensor:
        """A fake tensor of a constant's kind, one a kind: converting each constant takes long."""
        if isinstance(tensor, FakeTensor):
            return tensor
        key = (tensor.dtype, tensor.shape, tensor.stride())
        if key not in self._stand_ins:
            self._stand_ins[key] = self._symbols.fake_tensor(tensor_type(tensor), tensor.stride())
        return self._stand_ins[key]
