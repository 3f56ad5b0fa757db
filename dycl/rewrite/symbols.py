"""Numbers and dimensions that only the input determines, as PyTorch's symbols and as 0-d tensors of the block.

PyTorch's shape rules want symbols (`u0`), a sub-DNN wants tensors. A symbol is bound to where its value comes from:
a host value's 0-d tensor, or one dimension of a tensor. `materialise` turns any expression over symbols back into
recorded operations.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import sympy  # type: ignore[import-untyped]
import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import _disable_current_modes

from dycl.hcfg.subnet import Argument, Operation
from dycl.hcfg.types import Dimension, TensorType
from dycl.rewrite.signals import Refused
from dycl.rewrite.tensor_types import dtype_name, torch_dtype

if TYPE_CHECKING:
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    from dycl.rewrite.recorder import Recorder

Sym = torch.SymInt | torch.SymFloat | torch.SymBool
Source = torch.Tensor | tuple[torch.Tensor, int]


class Symbols:
    """The symbols of one block and where their values come from."""

    def __init__(self, fake_mode: FakeTensorMode) -> None:
        self.fake_mode = fake_mode
        self.start()

    def start(self) -> None:
        """Forget the last block's symbols."""
        self._sources: dict[sympy.Symbol, Source] = {}
        self._dimensions: dict[str, torch.SymInt] = {}
        self._of_host_value: dict[int, tuple[Sym, torch.Tensor]] = {}

    def allow(self) -> None:
        """Let fake tensors have symbolic sizes. Done when first needed: the import behind it takes seconds."""
        if self.fake_mode.shape_env is None:
            from torch.fx.experimental.symbolic_shapes import ShapeEnv

            self.fake_mode.shape_env = ShapeEnv()
            self.fake_mode.static_shapes = False

    @property
    def _shape_env(self) -> "ShapeEnv":
        self.allow()
        shape_env = self.fake_mode.shape_env
        assert shape_env is not None
        return shape_env

    def fake_tensor(self, value_type: TensorType, strides: Sequence[int] | None) -> torch.Tensor:
        """A fake tensor of this type; its named dimensions become symbols bound to it."""
        dtype = torch_dtype(value_type.dtype)
        if not any(isinstance(size, str) for size in value_type.shape):
            return self._fake_tensor_of_known_shape(value_type, strides)
        shape = [self._dimension(size) if isinstance(size, str) else size for size in value_type.shape]
        with _disable_current_modes(), self.fake_mode:
            if strides is not None and len(strides) == len(shape):
                tensor = torch.empty_strided(shape, tuple(strides), dtype=dtype)
            else:
                tensor = torch.empty(shape, dtype=dtype)
        self._bind_dimensions(tensor)
        return tensor

    def _fake_tensor_of_known_shape(self, value_type: TensorType, strides: Sequence[int] | None) -> torch.Tensor:
        """A fake tensor made directly: going through PyTorch's dispatcher takes ten times as long."""
        dtype = torch_dtype(value_type.dtype)
        with _disable_current_modes():
            plain = torch.empty(value_type.shape, dtype=dtype, device="meta")  # type: ignore[arg-type]
            if strides is not None and tuple(strides) != plain.stride():
                plain = torch.empty_strided(value_type.shape, tuple(strides), dtype=dtype, device="meta")  # type: ignore[arg-type]
            return FakeTensor(self.fake_mode, plain, torch.device("cpu"))

    def _dimension(self, name: str) -> torch.SymInt:
        if name not in self._dimensions:
            symbol = self._shape_env.create_unbacked_symint()
            torch._check(symbol >= 0)  # type: ignore[no-untyped-call]
            self._dimensions[name] = symbol
        return self._dimensions[name]

    def _bind_dimensions(self, tensor: torch.Tensor) -> None:
        for axis, size in enumerate(tensor.shape):
            if isinstance(size, torch.SymInt) and isinstance(size.node.expr, sympy.Symbol):
                self._sources.setdefault(size.node.expr, (tensor, axis))

    def type_of(self, tensor: torch.Tensor) -> TensorType:
        """The type of a tensor, symbolic dimensions named by their expression."""
        self._bind_dimensions(tensor)
        shape: list[Dimension] = []
        for size in tensor.shape:
            constant = size if isinstance(size, int) else size.node.maybe_as_int()
            shape.append(str(size.node.expr) if constant is None else constant)
        return TensorType(dtype_name(tensor.dtype), tuple(shape))

    def has_symbol(self, tree: Any) -> bool:
        """Whether a number that only the input determines stands anywhere in `tree`."""
        if isinstance(tree, torch.SymInt | torch.SymFloat | torch.SymBool):
            return True
        if isinstance(tree, list | tuple):
            return any(self.has_symbol(item) for item in tree)
        return isinstance(tree, dict) and any(self.has_symbol(item) for item in tree.values())

    def has_symbolic_size(self, args: tuple[Any, ...]) -> bool:
        """Whether a tensor among these arguments has a size that only the input determines."""
        tensors = [value for value in args if isinstance(value, torch.Tensor)]
        return any(not isinstance(size, int) for tensor in tensors for size in tensor.shape)

    def of_host_value(self, tensor: torch.Tensor) -> Sym:
        """The symbol that stands for a host value's 0-d tensor where PyTorch wants a number."""
        known = self._of_host_value.get(id(tensor))
        if known is None:
            symbol: Sym
            if tensor.dtype == torch.float64:
                symbol = self._shape_env.create_unbacked_symfloat()
            elif tensor.dtype == torch.bool:
                symbol = self._shape_env.create_unbacked_symbool()
            else:
                symbol = self._shape_env.create_unbacked_symint()
            known = (symbol, tensor)
            self._of_host_value[id(tensor)] = known
            expression = symbol.node.expr
            self._sources[next(iter(expression.free_symbols))] = tensor
        return known[0]

    def materialise(self, value: Sym, recorder: "Recorder") -> torch.Tensor:
        """The 0-d tensor that holds the value of a symbolic expression."""
        for symbol, tensor in self._of_host_value.values():
            if symbol is value or symbol.node.expr == value.node.expr:
                return tensor
        return self._expression(value.node.expr, recorder)

    def _expression(self, expression: Any, recorder: "Recorder") -> torch.Tensor:
        if isinstance(expression, sympy.Symbol):
            return self._symbol(expression, recorder)
        if expression.is_Integer:
            return torch.tensor(int(expression))
        operands = [self._expression(argument, recorder) for argument in expression.args]
        combine = _COMBINE.get(type(expression).__name__)
        if combine is None:
            raise Refused("DY008", f"the size `{expression}` has no translation")
        with recorder.on():
            result = operands[0]
            for operand in operands[1:]:
                result = combine(result, operand)
        return result

    def _symbol(self, symbol: sympy.Symbol, recorder: "Recorder") -> torch.Tensor:
        source = self._sources.get(symbol)
        if source is None:
            raise Refused("DY008", f"the size `{symbol}` comes from another block or call")
        if isinstance(source, torch.Tensor):
            return source
        tensor, axis = source
        size = self.fake_tensor(TensorType("int64", ()), None)
        ref = recorder.recording.new_ref(TensorType("int64", ()))
        arguments: dict[str, Argument] = {"self": recorder.ref(tensor), "dim": axis}
        recorder.recording.operations.append(Operation("aten.sym_size.int", arguments, (ref,), recorder.locate()))
        recorder.track(size, ref)
        self._sources[symbol] = size
        return size


def _like_first(first: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    return torch.empty_like(first)


def _attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    return query.new_empty((*query.shape[:-1], value.shape[-1]))


# PyTorch's own shape rules for these ask whether symbolic sizes are equal, which nobody can say.
SYMBOLIC_SHAPES: dict[str, Callable[..., torch.Tensor]] = {
    "aten.scaled_dot_product_attention.default": _attention,
    "aten.batch_norm.default": _like_first,
    "aten.group_norm.default": _like_first,
    "aten.instance_norm.default": _like_first,
    "aten.roll.default": _like_first,
}

_COMBINE: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "Add": torch.add,
    "Mul": torch.mul,
    "FloorDiv": torch.floor_divide,
    "PythonMod": torch.remainder,
    "Mod": torch.remainder,
    "Max": torch.maximum,
    "Min": torch.minimum,
}
