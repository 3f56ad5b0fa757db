"""Record the ATen operations of one block while Python runs the user's code on fake tensors.

The recorder is a dispatch mode below autograd, so composite operations (`linear`, `lstm`,
`scaled_dot_product_attention`) arrive whole. An operation the backend does not know is taken apart into smaller
ones; operations on constants alone are computed at once, so constants propagate by being values.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor

from dycl.hcfg.subnet import Argument, DTypeArgument, Operation, Ref
from dycl.hcfg.types import Span
from dycl.rewrite.normalise.native_places import native_places
from dycl.rewrite.record.complex_numbers.pairs import HINT, OUTLASTS
from dycl.rewrite.record.contract import ArrayOperations, Sym
from dycl.rewrite.record.decompositions import Decompositions
from dycl.rewrite.record.element_bounds import Bounds, Walk
from dycl.rewrite.record.errors.checked_before import needs_no_checks
from dycl.rewrite.record.errors.element_types import kind_of_call, require_computed
from dycl.rewrite.record.errors.elements import require_looked_at
from dycl.rewrite.record.errors.nothing import require_taken_of_nothing
from dycl.rewrite.record.errors.ranks import require_ranks
from dycl.rewrite.record.errors.sizes import depends_on_values, require_fitting
from dycl.rewrite.record.errors.values import has_rule, is_assertion, require_valid
from dycl.rewrite.record.known_shapes import Kind
from dycl.rewrite.record.memory.sharing import gives_view, memory
from dycl.rewrite.record.operations import (
    DROPOUTS,
    NOT_RECORDED,
    READS_VALUE,
    SCATTERS,
    UNINITIALISED,
    draws_from_anything,
    is_random,
    require_filled,
    require_kept_shape,
    require_no_hidden_write,
    require_plain_layout,
    tensors_in,
    with_tensors,
    written_by,
)
from dycl.rewrite.record.recording import ARRIVES_AS, Captured, Checked, Recording
from dycl.rewrite.record.schemas import is_mutable, name_of, parameters
from dycl.rewrite.record.shapes import Shapes
from dycl.rewrite.record.sizes.open_sizes import spelled_out
from dycl.rewrite.record.sizes.true_counts import chosen_by
from dycl.rewrite.record.tracked import Tracked
from dycl.rewrite.signals import CheckMet, DecisionMet, Refused
from dycl.rewrite.tensor_types import dtype_name, tensor_type


class Recorder(Tracked):  # type: ignore[no-untyped-call]
    """Records into `self.recording`; one recorder serves a whole compilation, one recording a block."""

    def __init__(self, supports: Callable[[str], bool], locate: Callable[[], Span], arrays: ArrayOperations) -> None:
        super().__init__(locate)
        self.supports, self.arrays = supports, arrays
        self.catches_errors: Callable[[], bool] = lambda: False
        self.error_names: Mapping[str, str] = {}
        self.keep_tensor: Callable[[torch.Tensor], None] = lambda tensor: None
        self.is_kept: Callable[[torch.Tensor], bool] = lambda tensor: False
        self.lies_outside: Callable[[Any], bool] = lambda value: False
        self.views_written: Callable[[list[torch.Tensor]], None] = lambda tensors: None
        self.checks_passed, self.at_end, self.draw_name = 0, False, ""
        self.places: Callable[[], tuple[Span, ...]] = tuple
        self.draws: dict[Span, tuple[tuple[Span, ...], str]] = {}  # the calls that led there, and what to say of it
        self._guarding: list[int] = []  # the checks that hold the operation at hand back
        self._shapes = Shapes(self.symbols)
        self._decompositions = Decompositions()

    def start(self) -> None:
        """Begin a new block's recording."""
        self.recording = Recording()
        self.at_end = False
        self.symbols.start()

    def materialise(self, value: Sym) -> torch.Tensor:
        """The 0-d tensor that holds the value of a symbolic expression."""
        return self.symbols.materialise(value, self)

    def ref(self, tensor: torch.Tensor, of_size: bool = False) -> Ref:
        """The ref of a tensor in the current recording; a constant becomes one of the block's weights."""
        if not (of_size and id(tensor) in self.recording.refs):
            self.recording.aliases.refresh(tensor, self)
        known = self.recording.refs.get(id(tensor))
        if known is not None:
            return known[0]
        if isinstance(tensor, FakeTensor):
            other = Refused("DY008", "a tensor from another block or call is used here")
            raise Refused("DY004", OUTLASTS, HINT) if tensor.is_complex() else other
        weight = self.recording.weights.get(id(tensor))
        if weight is None:
            owned = memory(tensor) in self.model_memory
            if not owned and tensor.dim() == 0:
                return self.recording.literal(tensor, self.locate())
            weight = Captured(self.recording.new_ref(tensor_type(tensor)), tensor, tensor if owned else tensor.clone())
            self.recording.weights[id(tensor)] = weight
        return weight.ref

    def number(self, tensor: torch.Tensor, is_place: bool = False) -> torch.Tensor:
        """The 0-d tensor of what one element holds now, which nothing writes later; a place is for an index alone."""
        if not self.is_dynamic(tensor):
            return tensor.reshape(()).clone()
        with self.on():
            ref = self.ref(tensor.reshape(()) if tensor.dim() else tensor)
        known = self.recording.numbers.get(ref)
        if known is None:
            known = self.recording.numbers[ref] = self.symbols.fake_tensor_of_kind(Kind((), (), tensor.dtype))
            self.track(known, ref)
        return known if is_place else self.large_numbers.meet(known, self.element_bounds)

    def element_bounds(self, tensor: torch.Tensor) -> Bounds | None:
        """The least and the greatest number that a tensor can hold; None if that is not known."""
        if not self.is_dynamic(tensor):
            return (float(tensor.min()), float(tensor.max())) if tensor.numel() else (0.0, 0.0)
        return Walk(self.recording.types, self.recording.makers).of(self.ref(tensor))

    def lies_within(self, index: torch.Tensor, low: Any, size: Any) -> bool:
        """Whether the elements are known to be from `low`, which is 0 or `-size`, to `size`, without it."""
        walk = Walk(self.recording.types, self.recording.makers, numbers_only=False)
        return walk.lies_within(self.ref(index), low, self.symbols.dimension(size))

    def check(
        self, condition: torch.Tensor, error: str, message: str, guards: bool = False, is_limit: bool = False
    ) -> int | None:
        """Let the program stop with the user's own error unless `condition` holds when it runs."""
        error = self.error_names.get(error, error)
        self.recording.looked_at += 1
        if not is_limit:
            if self.checks_passed:
                self.checks_passed -= 1
                return None
            if self.catches_errors() and not self.at_end:
                raise CheckMet(condition, error, message)
        self.recording.checks.append(Checked(self.ref(condition), ARRIVES_AS.get(error, error), message, self.locate()))
        number = len(self.recording.checks) - 1
        if guards:
            self._guarding.append(number)
        return number

    @contextmanager
    def waiting_like(self, tensor: torch.Tensor) -> Iterator[None]:
        """Let what is recorded inside the `with` block wait for the checks that what made a tensor waits for."""
        first = len(self.recording.operations)
        yield
        self.recording.guard(self.recording.guarded.get(id(tensor), ()), first)

    def require_size(self, condition: Any, error: str, message: str, guards: bool = True) -> None:
        """Check `condition`, an expression of sizes, unless it always holds."""
        granted = self.recording.granted
        if condition not in granted:
            if self.at_end:
                return
            flag = self.symbols.flag(condition, error, message, self)
            granted[condition] = None if flag is None else self.check(flag, error, message)
        number = granted[condition]
        if number is not None and guards:
            self._guarding.append(number)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """PyTorch wraps what a mode does to keep `torch.compile` away, which is not at work here: it takes long."""
        return False

    def __torch_dispatch__(
        self, func: OpOverload[Any, Any], types: Sequence[type], args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs, name = kwargs or {}, name_of(func)
        if name == "aten.lift_fresh.default":
            self.own(args[0])
            return args[0]
        if name in NOT_RECORDED:
            return func(*args, **kwargs)
        if name in UNINITIALISED:
            with self:
                kwargs.pop("memory_format", None)
                return UNINITIALISED[name](*args, **kwargs)
        if is_random(func, args, kwargs):
            return self._draw(func, args, kwargs)
        if name in DROPOUTS:
            return args[0]
        if is_assertion(name, args, self):
            return None
        tensors = tensors_in((args, kwargs))
        is_dynamic = any(map(self.is_dynamic, tensors))
        if name in READS_VALUE and is_dynamic:
            what = "the truth of a tensor" if name == "aten.is_nonzero.default" else "a value"
            raise DecisionMet(f"{what} that only the input determines")
        if not is_dynamic and not self.symbols.has_symbol((args, kwargs)):
            return self._compute_constant(func, args, kwargs)
        require_ranks(func, args, kwargs)
        if self.recording.complex_pairs.concern(func, args, kwargs):
            return self.recording.complex_pairs.record(func, args, kwargs, self)
        asks = not self._decompositions.within_known
        kind = kind_of_call(func, args, kwargs) if asks else None
        if tensors and asks:
            require_computed(func, args, kwargs, kind)
            require_taken_of_nothing(func, args, kwargs)
        require_no_hidden_write(func, args, kwargs)
        if needs_no_checks():
            return self._recorded(func, name, args, kwargs)
        outer, self._guarding, looked_at = self._guarding, [], self.recording.looked_at
        try:
            if depends_on_values(name) or self.symbols.concern((args, kwargs)):
                args = require_fitting(func, args, kwargs, self, asks)
            if has_rule(name):
                self.recording.looked_at += 1
            args = require_valid(func, args, kwargs, self, asks)
        finally:
            guarding, self._guarding = self._guarding, outer
        first = len(self.recording.operations)
        result = self._recorded(func, name, args, kwargs)
        self.recording.guard(guarding, first)
        if guarding:
            self.recording.guarded |= {id(tensor): tuple(guarding) for tensor in tensors_in(result)}
        if asks and self.recording.looked_at == looked_at:
            require_looked_at(func, args, kwargs, kind)
        return result

    def _recorded(self, func: OpOverload[Any, Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record an operation in the spelling that the backend takes."""
        spelled = spelled_out(name, args, kwargs, self)
        if spelled is not NotImplemented:
            return spelled
        if not self.supports(name):
            smaller = self.take_apart(func, args, kwargs)
            if smaller is not NotImplemented:
                return self.recording.aliases.settle(func, args, kwargs, smaller, self)
        return self._record(func, args, kwargs)

    def _draw(self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a draw of random numbers, which is refused later if anything depends on it."""
        if is_mutable(func) or not draws_from_anything(func):
            raise Refused("DY005", f"`{func}` draws random numbers")
        places = (*self.places(), *native_places()) or (self.locate(),)
        reason, self.draw_name = self.draw_name or f"`{func}` draws random numbers", ""
        self.draws[places[-1]] = (places, reason)
        result = self._record_plain(func, args, kwargs)
        self.recording.place_last_operation(places[-1])
        return result

    def _compute_constant(self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for tensor in written_by(func, args, kwargs):
            require_kept_shape(func, tensor, self.is_kept)
            self.recording.aliases.require_writable(tensor, self)
            self.recording.forget_constants(memory(tensor))
        result = func(*args, **kwargs)
        self.recording.aliases.note_views(func, args, kwargs, result, lambda tensor: tensor)
        known = {memory(tensor) for tensor in tensors_in((args, kwargs))}
        for tensor in tensors_in(result):
            if memory(tensor) not in known:
                self.own(tensor)
        return result

    def views_are_written(self, sharing: list[torch.Tensor]) -> None:
        """React to a write to memory that these tensors, alive since before a decision, share."""
        self.views_written(sharing)
        raise Refused("DY006", "a tensor is changed in place while a view of it, taken before a decision, is alive")

    def kept_tensor_is_written(self, tensor: torch.Tensor) -> None:
        """React to a write to a tensor that outlives the call: it is part of the state that the program keeps."""
        self.keep_tensor(tensor)
        raise Refused("DY007", "a tensor that outlives the call is changed in place")

    def own(self, tensor: torch.Tensor) -> None:
        """Note that the program itself made this constant, so it may be written in place."""
        self.recording.aliases.own_memory[memory(tensor)] = tensor

    def take_apart(self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The operation by smaller ones, or `NotImplemented`."""
        with self, self.symbols.nothing_assumed(name_of(func)):
            return self._decompositions.result(func, args, kwargs)

    def _record(self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if is_mutable(func):
            return self.recording.aliases.mutate(func, args, kwargs, self)
        if not self.supports(name_of(func)):
            raise Refused("DY004", f"the backend has no translation for `{func}`")
        if name_of(func) == "aten.as_strided.default":
            require_plain_layout(*args, **kwargs)
        if name_of(func) in SCATTERS:
            require_filled(SCATTERS[name_of(func)], *args, **kwargs)
        return self._record_plain(func, args, kwargs)

    def _record_plain(self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        arguments = self.bind(func, args, kwargs)
        result = self._shapes_only(func, args, kwargs)
        self.append(name_of(func), arguments, result if isinstance(result, tuple | list) else (result,))
        self.recording.aliases.note_views(func, args, kwargs, result, self.twin)
        return result

    def _shapes_only(self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The operation on fake tensors: types and shapes, no data. A view of a twin shows what it views."""
        is_view = gives_view(func)

        def twin(tensor: torch.Tensor) -> torch.Tensor:
            return self.twin(tensor) if is_view or self.is_dynamic(tensor) else tensor

        chosen = chosen_by(func, args)
        if chosen is None or not self.is_dynamic(chosen.mask):
            return self._shapes.of(func, with_tensors(args, twin), with_tensors(kwargs, twin), is_view)
        counts, mask = self.recording.true_counts, self.ref(chosen.mask)
        if mask in counts:
            return self._shapes.empty(chosen.shape(counts[mask]), chosen.dtype)
        result = self._shapes.of(func, with_tensors(args, twin), with_tensors(kwargs, twin), is_view)
        counts[mask] = result.shape[chosen.dimension]
        return result

    def count_true(self, mask: torch.Tensor) -> Any:
        """How many elements of a mask are true: a number, or the symbol for it."""
        if not self.is_dynamic(mask):
            return int(mask.count_nonzero())
        counts, ref = self.recording.true_counts, self.ref(mask)
        if ref not in counts:
            with self.on():
                counts[ref] = self.symbols.as_size(torch.count_nonzero(mask))
        return counts[ref]

    def twin(self, tensor: torch.Tensor) -> torch.Tensor:
        """The fake tensor that a real one, once written with dynamic values, stands for in this block."""
        if isinstance(tensor, FakeTensor):
            return tensor
        if id(tensor) not in self.recording.twins:
            # A view of an ordinary tensor must be one, or PyTorch refuses to keep track of its versions.
            with torch.inference_mode(tensor.is_inference()):
                self.recording.twins[id(tensor)] = self.symbols.fake_tensor(tensor_type(tensor), tensor.stride())
        return self.recording.twins[id(tensor)]

    def bind(self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Argument]:
        """The call's arguments by the names of the operation's schema, defaults filled in."""
        taken = parameters(func)
        given = taken.bound(args, kwargs)
        named = zip(taken.names, taken.defaults, strict=True)
        return {name: self._argument(given.get(name, default)) for name, default in named}

    def _argument(self, value: Any) -> Argument:
        match value:
            case None | bool() | int() | float() | str():
                return value
            case torch.Tensor():
                return self.ref(value)
            case torch.dtype():
                return DTypeArgument(dtype_name(value))
            case torch.SymInt() | torch.SymFloat() | torch.SymBool():
                return self.ref(self.materialise(value))
            case torch.device() | torch.layout() | torch.memory_format():
                return None
            case list() | tuple():
                return tuple(self._argument(item) for item in value)
            case _:
                raise Refused("DY004", f"an operation takes an argument of type `{type(value).__name__}`")

    def append(self, target: str, arguments: Mapping[str, Argument], results: Sequence[Any]) -> None:
        """Record an operation that gives `results`; those that are tensors get a ref."""
        outputs = tuple([self._new_ref(item) if isinstance(item, torch.Tensor) else None for item in results])
        self.recording.add(Operation(target, arguments, outputs, self.locate()))
