"""Numbers and dimensions that only the input determines, as PyTorch's symbols and as 0-d tensors of the block.

PyTorch's shape rules want symbols (`u0`), a sub-DNN wants tensors. A symbol is bound to where its value comes from:
a host value's 0-d tensor, or one dimension of a tensor. `materialise` turns any expression over symbols back into
recorded operations.
"""

import builtins
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import sympy  # type: ignore[import-untyped]
import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import (
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    in_kernel_invocation_manager,
)
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves

from dycl.hcfg.types import Dimension, HostKind, TensorType
from dycl.rewrite.record.contract import Records, Sym
from dycl.rewrite.record.errors.checked_before import checked_before
from dycl.rewrite.record.host_values import HostValue, lift
from dycl.rewrite.record.known_shapes import Kind
from dycl.rewrite.record.layouts import (
    Layout,
    Order,
    Repeated,
    in_order,
    may_be_repeated,
    repeated,
    widens,
    with_unknown_steps,
)
from dycl.rewrite.record.sizes.expressions import evaluated
from dycl.rewrite.record.sizes.sampled_shapes import Inferred, is_taken, samples
from dycl.rewrite.record.sizes.shape_rules import by_rule, is_pointwise, with_last_size
from dycl.rewrite.record.sizes.true_layouts import laid_out
from dycl.rewrite.signals import DecisionMet, Refused
from dycl.rewrite.tensor_types import dtype_name, torch_dtype

if TYPE_CHECKING:
    from dycl.rewrite.record.sizes.shape_env import WatchedShapeEnv

Source = torch.Tensor | tuple[torch.Tensor, int]
# A dimension that the user calls `u0` must not be taken for the symbol of that name.
_LIKE_A_SYMBOL = re.compile(r"(u|s|zf|zuf)\d+")
_LONGEST_NAME = 100
_CPU = torch.device("cpu")
_SYMBOLS = (torch.SymInt, torch.SymFloat, torch.SymBool)


class Symbols:
    """The symbols of one block and where their values come from."""

    def __init__(self, fake_mode: FakeTensorMode, asked_by_program: Callable[[], bool]) -> None:
        self.fake_mode, self._asked_by_program = fake_mode, asked_by_program
        # Kinds of results are remembered for less, and an answer from PyTorch's cache would not say what it assumes.
        fake_mode.cache_enabled = False
        self.start()

    def start(self) -> None:
        """Forget the last block's symbols."""
        self._sources: dict[sympy.Symbol, Source] = {}
        self._dimensions: dict[str, torch.SymInt] = {}
        self._names: dict[sympy.Symbol, sympy.Symbol] = {}
        self._short_names: dict[str, str] = {}
        self._of_host_value: dict[int, tuple[Sym, torch.Tensor]] = {}
        self._relations: dict[int, tuple[torch.Tensor, Callable[[Any, Any], Any], Any, Any]] = {}

    def allow(self) -> None:
        """Let fake tensors have symbolic sizes. Done when first needed: the import behind it takes seconds."""
        if self.fake_mode.shape_env is None:
            from dycl.rewrite.record.sizes.shape_env import WatchedShapeEnv

            self.fake_mode.shape_env = WatchedShapeEnv(self._asked_by_program)
            self.fake_mode.static_shapes = False

    @property
    def _shape_env(self) -> "WatchedShapeEnv":
        self.allow()
        return cast("WatchedShapeEnv", self.fake_mode.shape_env)

    def fake_tensor(self, value_type: TensorType, layout: Layout) -> torch.Tensor:
        """A fake tensor of this type; its named dimensions become symbols bound to it."""
        dtype = torch_dtype(value_type.dtype)
        if all(isinstance(number, int) for number in (*value_type.shape, *(layout or ()))):
            sizes = cast("tuple[int, ...]", value_type.shape)
            places = cast("tuple[int, ...]", in_order(sizes) if layout is None else tuple(layout))
            return self.fake_tensor_of_kind(Kind(sizes, places, dtype))
        shape = [self._dimension(size) if isinstance(size, str) else size for size in value_type.shape]
        self.allow()
        with _disable_current_modes(), self.fake_mode:
            if layout is None:
                tensor = torch.empty(shape, dtype=dtype)
            elif isinstance(layout, Order):
                turned = torch.empty([shape[axis] for axis in layout.axes], dtype=dtype)
                tensor = turned.permute([layout.axes.index(axis) for axis in range(len(shape))])
            elif isinstance(layout, Repeated):
                tensor = repeated(torch.empty_strided(shape, [self._shape_env.size() for _ in shape], dtype=dtype))
            else:
                strides = [self._shape_env.size() if stride is None else stride for stride in layout]
                tensor = torch.empty_strided(shape, strides, dtype=dtype)
        self._bind_dimensions(tensor)
        return tensor

    def fake_tensor_of_kind(self, kind: Kind, shown: torch.Tensor | None = None) -> torch.Tensor:
        """A fake tensor of known sizes, in memory of its own or in that of another one.

        It is made directly: going through PyTorch's dispatcher takes ten times as long.
        """
        with torch._C._DisableTorchDispatch():
            plain = torch.empty_strided(kind.shape, kind.strides, dtype=kind.dtype, device="meta")
            if shown is not None:
                with in_kernel_invocation_manager(self.fake_mode):
                    plain.set_(shown.untyped_storage(), kind.offset, kind.shape, kind.strides)
            return FakeTensor(self.fake_mode, plain, _CPU)

    def _dimension(self, name: str) -> torch.SymInt:
        if name not in self._dimensions:
            symbol = self._shape_env.size()
            self._dimensions[name] = symbol
            if not _LIKE_A_SYMBOL.fullmatch(name):
                self._names[symbol.node.expr] = sympy.Symbol(name)
        return self._dimensions[name]

    def _bind_dimensions(self, tensor: torch.Tensor) -> None:
        for axis, size in enumerate(tensor.shape):
            if isinstance(size, torch.SymInt) and isinstance(size.node.expr, sympy.Symbol):
                self._sources.setdefault(size.node.expr, (tensor, axis))

    def type_of(self, tensor: torch.Tensor) -> TensorType:
        """The type of a tensor, symbolic dimensions named by their expression."""
        self._bind_dimensions(tensor)
        return TensorType(dtype_name(tensor.dtype), tuple(map(self.dimension, tensor.shape)))

    def dimension(self, size: Any) -> Dimension:
        """A size as types have it."""
        constant = size if isinstance(size, int) else size.node.maybe_as_int()
        return self._name(size.node.expr) if constant is None else constant

    def _name(self, expression: Any) -> str:
        """What a symbolic size is called in types: the same for equal expressions, different for all others."""
        name = str(expression.xreplace(self._names))
        if len(name) <= _LONGEST_NAME:
            return name
        return self._short_names.setdefault(name, f"size {len(self._short_names)}")

    def has_symbol(self, tree: Any) -> bool:
        """Whether a number that only the input determines stands anywhere in `tree`."""
        if isinstance(tree, _SYMBOLS):
            return True
        if isinstance(tree, (list, tuple)):
            return any(map(self.has_symbol, tree))
        return isinstance(tree, dict) and any(map(self.has_symbol, tree.values()))

    def concern(self, tree: Any) -> bool:
        """Whether a symbol stands anywhere in `tree`, also as a size of a tensor."""
        if self.fake_mode.shape_env is None:
            return False
        if isinstance(tree, torch.Tensor):
            return any(not isinstance(size, int) for size in (*tree.shape, *tree.stride()))
        if isinstance(tree, list | tuple):
            return any(self.concern(item) for item in tree)
        if isinstance(tree, dict):
            return any(self.concern(item) for item in tree.values())
        return isinstance(tree, torch.SymInt | torch.SymFloat | torch.SymBool)

    def plain_result(self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What an operation gives on fake tensors of known sizes, where nothing has to be assumed.

        Raises DynamicOutputShapeException if the sizes of its result depend on the elements of its arguments.
        """
        if torch.Tag.dynamic_output_shape in func.tags:
            raise DynamicOutputShapeException(func)
        if self.fake_mode.shape_env is None:
            with self.fake_mode:
                return func(*args, **kwargs)
        met = DecisionMet.met
        try:
            with self._shape_env.watched() as assumed, self.fake_mode:
                result = func(*args, **kwargs)
        except DecisionMet:
            DecisionMet.met = met
            raise DynamicOutputShapeException(func) from None
        if assumed:
            raise DynamicOutputShapeException(func)
        return result

    def relate(self, result: torch.Tensor, function: Callable[[Any, Any], Any], left: Any, right: Any) -> None:
        """Remember how a whole number came about, so that of `a` and `a + 1` the difference is known."""
        self._relations[id(result)] = (result, function, left, right)

    def of_host_value(self, tensor: torch.Tensor) -> Sym:
        """The symbol that stands for a host value's 0-d tensor where PyTorch wants a number."""
        known = self._of_host_value.get(id(tensor))
        if known is None:
            symbol: Sym
            relation = self._relations.get(id(tensor))
            if relation is not None:
                _, function, *numbers = relation
                left, right = (item.symbol() if isinstance(item, HostValue) else item for item in numbers)
                self._of_host_value[id(tensor)] = (function(left, right), tensor)
                return self._of_host_value[id(tensor)][0]
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

    def as_size(self, tensor: torch.Tensor) -> Sym:
        """The symbol that stands for a 0-d tensor which is not negative, where it is a size."""
        symbol = self._shape_env.size()
        self._sources[symbol.node.expr] = tensor
        self._of_host_value[id(tensor)] = (symbol, tensor)
        return symbol

    def materialise(self, value: Sym, recorder: Records) -> torch.Tensor:
        """The 0-d tensor that holds the value of a symbolic expression."""
        for symbol, tensor in self._of_host_value.values():
            if symbol is value or symbol.node.expr == value.node.expr:
                return tensor
        kind: HostKind = "bool" if value.node.is_bool() else "float" if value.node.is_float() else "int"
        with recorder.on(), checked_before():
            tensor = lift(evaluated(value.node.expr, self._value(recorder)), kind, recorder).tensor
        self._of_host_value[id(tensor)] = (value, tensor)
        return tensor

    def _value(self, recorder: Records) -> Callable[[sympy.Symbol], HostValue]:
        def value_of(symbol: sympy.Symbol) -> HostValue:
            tensor = self._symbol(symbol, recorder)
            return HostValue("float" if tensor.is_floating_point() else "int", tensor, recorder)

        return value_of

    def flag(self, condition: Any, error: str, message: str, recorder: Records) -> torch.Tensor | None:
        """Whether a condition on sizes holds, as a tensor; None if it always does, the error if it never does."""
        bounds = {symbol: self._bounds(symbol, recorder) for symbol in condition.free_symbols}
        if isinstance(condition, sympy.And):
            condition = sympy.And(*(part for part in condition.args if not self._shape_env.known(part, bounds)))
        known = condition is sympy.true or self._shape_env.known(condition, bounds)
        if known:
            return None
        if known is not None:
            kind: type[Exception] = getattr(builtins, error)
            raise kind(message)
        with recorder.on(), checked_before():
            return lift(evaluated(condition, self._value(recorder)), "bool", recorder).tensor

    def _bounds(self, symbol: sympy.Symbol, recorder: Records) -> tuple[int, int] | None:
        """The least and the greatest number that a symbol can stand for, if the block's own operations tell."""
        source = self._sources.get(symbol)
        bounds = recorder.element_bounds(source) if isinstance(source, torch.Tensor) and symbol.is_integer else None
        return (int(bounds[0]), int(bounds[1])) if bounds and all(map(math.isfinite, bounds)) else None

    def _symbol(self, symbol: sympy.Symbol, recorder: Records) -> torch.Tensor:
        source = self._sources.get(symbol)
        if source is None:
            raise Refused("DY008", f"the size `{symbol}` comes from another block or call")
        if isinstance(source, torch.Tensor):
            return source.to(torch.int64) if source.dtype == torch.bool else source
        tensor, axis = source
        size = self.fake_tensor(TensorType("int64", ()), None)
        recorder.append("aten.sym_size.int", {"self": recorder.ref(tensor, of_size=True), "dim": axis}, [size])
        self._sources[symbol] = size
        return size

    @contextmanager
    def nothing_assumed(self, name: str) -> Iterator[None]:
        """Refuse if what runs inside the `with` block takes something for granted of a size that it does not know."""
        if self.fake_mode.shape_env is None:
            yield
            return
        with self._shape_env.watched() as assumed:
            yield
        if assumed:
            raise Refused("DY008", f"`{name}` is computed in a way that depends on a size of the input")

    def result(self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What an operation gives on fake tensors, whatever the symbolic sizes among its arguments turn out to be."""
        result = self._shaped(func, args, kwargs)
        if widens(func) and may_be_repeated(args[0], result.shape):
            with self.fake_mode:
                return with_unknown_steps(args[0], result, self._shape_env.size)
        return laid_out(func, args, kwargs, result, self.fake_mode, self._shape_env.size)

    def _shaped(self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with self.fake_mode:
            ruled = by_rule(func, args, kwargs, self._shape_env.size)
        fits = ruled is NotImplemented or is_pointwise(func) or is_taken(func, args, kwargs)
        if fits and ruled is not NotImplemented:
            return ruled
        args = with_last_size(func, args)
        with self._shape_env.watched() as assumed:
            guess, error = self._guessed(func, args, kwargs)
        if error is None and not assumed and fits:
            return guess
        found = samples(func, args, kwargs, guessed=error is None)
        if not found or not fits:
            if isinstance(error, DecisionMet):
                raise Refused("DY008", "the operation needs to know a size that only the input determines")
            if error is not None:
                raise error
            if not fits:
                raise Refused("DY010", f"PyTorch takes these arguments of `{func}` for no size that was tried")
            return guess
        guesses = None if error is not None else tuple(guess) if isinstance(guess, tuple | list) else (guess,)
        inferred = Inferred(found, guesses, self._shape_env.size)
        if inferred.guess_stands:
            return guess
        leaves = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        tensors = list({id(tensor): tensor for tensor in leaves}.values())
        results = [self._inferred_tensor(inferred, number, tensors) for number in range(len(inferred.shapes))]
        many = len(func._schema.returns) != 1 or isinstance(func._schema.returns[0].type, torch.ListType)
        return results if many else results[0]

    def _guessed(
        self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, BaseException | None]:
        """What PyTorch's own rules for symbolic sizes say, or why they do not."""
        met = DecisionMet.met
        try:
            with self.fake_mode, enable_python_dispatcher():
                return func(*args, **kwargs), None
        except (Exception, DecisionMet) as error:
            DecisionMet.met = met
            return None, error

    def _inferred_tensor(self, inferred: Inferred, number: int, tensors: Sequence[torch.Tensor]) -> torch.Tensor:
        shape, dtype = inferred.shapes[number], inferred.found[0].results[number].dtype
        sources = inferred.sources(number)
        with self.fake_mode:
            tensor = torch.empty(shape, dtype=dtype)
            source = sources.pop() if len(sources) == 1 else None
            return tensor if source is None else torch.as_strided(tensors[source], shape, tensor.stride())
