"""Complex numbers as pairs: what a block does with them is recorded on real tensors with a last axis of two.

A complex tensor that depends on the input is an empty fake one; beside it stands its pair, an ordinary tensor of the
block. Views of complex tensors are views of their pairs, so `view_as_real` and `view_as_complex` change nothing but the
type. A complex tensor lives within its block: it cannot be a result, nor outlast a decision.
"""

from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes

from dycl.rewrite.record.complex_numbers.functions import FUNCTIONS
from dycl.rewrite.record.complex_numbers.rules import COMPLEX, MAKERS, PLAIN_SHAPES, REAL, RULES, Call, Pair
from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.memory.aliases import plain_form
from dycl.rewrite.record.operations import require_castable
from dycl.rewrite.record.schemas import is_mutable, name_of
from dycl.rewrite.signals import Refused

OUTLASTS = "a complex tensor is a result, or outlasts a decision"
HINT = "pass its real and imaginary part on, `torch.view_as_real(x)`"


class ComplexPairs:
    """The complex tensors of one block and their pairs."""

    def __init__(self) -> None:
        self._pairs: dict[int, tuple[Tensor, Tensor]] = {}
        self._conjugated = False
        """Whether a conjugate was taken, which in PyTorch is a view, and here a copy."""

    def concern(self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether an operation takes or makes complex numbers."""
        return name_of(func) in MAKERS or _is_complex(args) or (bool(kwargs) and _is_complex(kwargs))

    def record(
        self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], recorder: Records
    ) -> Any:
        """Record an operation on the pairs of its arguments."""
        if torch.Tag.inplace_view in func.tags:
            return self._reshape(func, args, kwargs, recorder)
        if is_mutable(func):
            return self._write(func, args, kwargs, recorder)
        if name_of(func) == "aten._conj.default":
            self._conjugated = True
        rule = RULES.get(name_of(func)) or FUNCTIONS.get(name_of(func))
        if rule is None:
            smaller = recorder.take_apart(func, args, kwargs)
            if smaller is NotImplemented:
                raise Refused("DY004", f"`{func}` of complex numbers has no translation")
            return smaller
        with recorder:
            result = rule(Call(self.of, recorder, func, args, kwargs), *args, **kwargs)
        if isinstance(result, list | tuple):
            return [self._complex(pair, recorder) for pair in result]
        return self._complex(result.pair, recorder) if isinstance(result, Pair) else result

    def _write(
        self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], recorder: Records
    ) -> Any:
        """Record an operation that changes a tensor in place: its pair gets the pair of the plain form's result."""
        target = args[0]
        written = func._schema.arguments[0].alias_info
        known = id(target) in self._pairs and written is not None and written.is_write
        if not known or self._conjugated:
            raise Refused("DY004", f"`{func}` changes a complex tensor in place")
        pair = self.of(target)
        with recorder:
            value = plain_form(func)(*args, **kwargs)
            require_castable(value.dtype, target.dtype)
            pair.copy_(self.of(value.to(target.dtype)))
        return target

    def _reshape(
        self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], recorder: Records
    ) -> Any:
        """Record an operation that changes a complex tensor's own shape (`transpose_`)."""
        base = func._schema.name.removeprefix("aten::").removesuffix("_")
        plain = PLAIN_SHAPES.get(base)
        if plain is None or not isinstance(args[0], FakeTensor):
            raise Refused("DY004", f"`{func}` changes a complex tensor in place")
        with recorder:
            moved = plain(*args, **kwargs)
        with _disable_current_modes(), recorder.fake_mode:
            func(*args, **kwargs)
        self._pairs[id(args[0])] = (args[0], self.of(moved))
        return args[0]

    def _complex(self, pair: Tensor, recorder: Records) -> Tensor:
        """A complex tensor with this pair."""
        steps = pair.stride()
        even = steps[-1] == 1 and all(isinstance(step, int) and step % 2 == 0 for step in steps[:-1])
        with _disable_current_modes(), recorder.fake_mode:
            whole = torch.empty(pair.shape[:-1], dtype=COMPLEX[pair.dtype])
            if even:
                whole = torch.empty_strided(whole.shape, [step // 2 for step in steps[:-1]], dtype=whole.dtype)
        self._pairs[id(whole)] = (whole, pair)
        return whole

    def of(self, tensor: Tensor) -> Tensor:
        """The pair of a complex tensor; of a constant, a constant, taken afresh since it may have been written."""
        known = self._pairs.get(id(tensor))
        if known is not None:
            return known[1]
        if tensor.dtype not in REAL:
            raise Refused("DY004", f"tensors of type `{tensor.dtype}` are not supported")
        if isinstance(tensor, FakeTensor):
            raise Refused("DY004", OUTLASTS, HINT)
        with _disable_current_modes():
            return torch.view_as_real(tensor.resolve_conj()).clone()


_NEVER_COMPLEX = frozenset((bool, int, float, str, type(None)))


def _is_complex(tree: Any) -> bool:
    if isinstance(tree, (list, tuple)):
        return any(map(_is_complex, tree))
    if type(tree) in _NEVER_COMPLEX:
        return False
    if isinstance(tree, Tensor):
        return tree.is_complex()
    if isinstance(tree, torch.dtype):
        return tree.is_complex
    if isinstance(tree, dict):
        return any(map(_is_complex, tree.values()))
    return isinstance(tree, complex)
