"""What PyTorch refuses because of sizes that do not fit: a check where only the input determines whether they do.

The backend would fail in its own words, or compute something: the bias alone, where a layer gets nothing. So each
operation says what it needs of the sizes of its arguments. What is known to hold for every size, as of a size and
itself, costs nothing; the rest becomes checks of the block, which come before the operation.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.errors.caught_sizes import require_agreement
from dycl.rewrite.record.errors.norms import attention, by_channel, compared, in_groups, normalised, told_apart
from dycl.rewrite.record.operations import tensors_in
from dycl.rewrite.record.schemas import is_mutable, name_of
from dycl.rewrite.record.sizes import needs
from dycl.rewrite.record.sizes.asked_needs import require_asked
from dycl.rewrite.record.sizes.index_sizes import BY_VALUE, INDEXED
from dycl.rewrite.record.sizes.needs import as_meant, at_least, covers, divides, equal, expression, spreads, together
from dycl.rewrite.record.sizes.sampled_shapes import can_always_be_viewed, symbols_in
from dycl.rewrite.record.sizes.window_sizes import WINDOWS
from dycl.rewrite.signals import Refused


def depends_on_values(name: str) -> bool:
    """Whether sizes may not fit though all of them are known: a mask chooses as much as its elements say."""
    return name in BY_VALUE


def require_fitting(
    func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], recorder: Records, asks: bool
) -> tuple[Any, ...]:
    """Let the program raise PyTorch's error for sizes that an operation does not take; gives the same arguments.

    With `asks`, PyTorch is asked what an operation needs of which no rule is known.
    """
    rule = _RULES.get(name_of(func))
    if rule in (_reshaped, _viewed, _unflattened, _expanded):
        return (*args[:-1], rule(recorder, *args)) if not kwargs else args
    if rule is _joined:
        return (_joined(recorder, *args, **kwargs), *args[1:])
    if rule is not None:
        require_agreement(rule, func, args, kwargs, recorder)
        rule(recorder, *args, **kwargs)
    elif torch.Tag.pointwise in func.tags or name_of(func) in _POINTWISE:
        _pointwise(recorder, *args, **kwargs)
    elif asks and func.namespace == "aten" and not is_mutable(func):
        require_asked(func, args, kwargs, recorder)
    return args


def _pointwise(recorder: Records, *args: Any, **kwargs: Any) -> None:
    tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
    if len(tensors) > 1:
        together(recorder, [tensor.shape for tensor in tensors])


def _stacked(recorder: Records, tensors: Sequence[Tensor], dim: int = 0) -> None:
    for tensor in tensors[1:]:
        if tensor.dim() == tensors[0].dim():
            for pair in zip(tensors[0].shape, tensor.shape, strict=True):
                equal(recorder, *pair, "stack expects each tensor to be equal size")


def _joined(recorder: Records, tensors: Sequence[Tensor], dim: int = 0) -> list[Tensor]:
    """What is joined: PyTorch leaves out a tensor of one dimension that is empty."""
    most = max(tensor.dim() for tensor in tensors)
    left_out = [tensor for tensor in tensors if tensor.dim() == 1 < most and not isinstance(tensor.shape[0], int)]
    for tensor in left_out:
        error = "IndexError" if tensor is tensors[0] and dim not in (0, -1) else "RuntimeError"
        equal(recorder, tensor.shape[0], 0, "Tensors must have same number of dimensions", error)
    first, *others = [tensor for tensor in tensors if tensor.dim() == most]
    message = f"Sizes of tensors must match except in dimension {dim % max(most, 1)}."
    for tensor, axis in itertools.product(others, range(most)):
        if axis != dim % most:
            equal(recorder, first.shape[axis], tensor.shape[axis], message)
    return [tensor for tensor in tensors if not any(tensor is other for other in left_out)]


def _masked(recorder: Records, tensor: Tensor, mask: Tensor, source: Tensor | None = None) -> None:
    """A tensor and its mask go together; of a source `values` asks that it has enough elements."""
    together(recorder, [tensor.shape, mask.shape])


def _beside(recorder: Records, tensors: Sequence[Tensor]) -> None:
    _joined(recorder, tensors, 1 if tensors[0].dim() > 1 else 0)


def _below(recorder: Records, tensors: Sequence[Tensor]) -> None:
    message = "Sizes of tensors must match except in dimension 0."
    for tensor in tensors[1:]:
        if tensor.dim() and tensors[0].dim():
            equal(recorder, tensors[0].shape[-1], tensor.shape[-1], message)


def _linear(recorder: Records, inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> None:
    equal(recorder, inputs.shape[-1], weight.shape[-1], "mat1 and mat2 shapes cannot be multiplied")


def _matmul(recorder: Records, first: Tensor, second: Tensor) -> None:
    if not first.dim() or not second.dim():
        return
    rows = second.shape[-2] if second.dim() > 1 else second.shape[0]
    equal(recorder, first.shape[-1], rows, "mat1 and mat2 shapes cannot be multiplied")
    together(recorder, [first.shape[:-2], second.shape[:-2]])


def _batched(recorder: Records, first: Tensor, second: Tensor) -> None:
    _matmul(recorder, first, second)
    equal(recorder, first.shape[0], second.shape[0], "batch1 and batch2 must have same number of batches")


def _added(product: Callable[..., None], shape: Callable[[Tensor, Tensor], Sequence[Any]]) -> Callable[..., None]:
    def rule(recorder: Records, added: Tensor, first: Tensor, second: Tensor, **_: Any) -> None:
        product(recorder, first, second)
        spreads(recorder, added.shape, shape(first, second))

    return rule


def _einsum(recorder: Records, equation: str, operands: Sequence[Tensor], **_: Any) -> None:
    terms = equation.replace(" ", "").split("->")[0].split(",")
    sizes: dict[str, list[Any]] = {}
    rests: list[Sequence[Any]] = []
    for term, operand in zip(terms, operands, strict=False):
        front, dots, back = term.partition("...")
        own: dict[str, Any] = {}
        for letter, size in (
            *zip(front, operand.shape, strict=False),
            *zip(back[::-1], operand.shape[::-1], strict=False),
        ):
            if letter in own:
                equal(recorder, own[letter], size, f"einsum(): subscript {letter} is repeated for another size")
            own[letter] = size
        for letter, size in own.items():
            sizes.setdefault(letter, []).append(size)
        if dots:
            rests.append(operand.shape[len(front) : operand.dim() - len(back)])
    for found in sizes.values():
        together(recorder, [(size,) for size in found])
    together(recorder, rests)


def _distances(recorder: Records, first: Tensor, second: Tensor, *_: Any, **__: Any) -> None:
    equal(recorder, first.shape[-1], second.shape[-1], "X1 and X2 must have the same number of columns.")
    together(recorder, [first.shape[:-2], second.shape[:-2]])


def _expanded(recorder: Records, tensor: Tensor, size: Sequence[Any], **_: Any) -> Any:
    kept = [old for old, _ in _matched(tensor.shape, size)]
    size = as_meant(recorder, size, lambda place: kept[place], needs.NEGATIVE)
    wanted = [old if isinstance(new, int) and new == -1 else new for old, new in _matched(tensor.shape, size)]
    for new in size:
        at_least(recorder, new, -1, "RuntimeError", needs.NEGATIVE)
    spreads(recorder, tensor.shape, wanted)
    return size


def _matched(shape: Sequence[Any], size: Sequence[Any]) -> list[tuple[Any, Any]]:
    """The sizes of a tensor beside those that it is expanded to, from the last to the first of those."""
    olds: list[Any] = [None] * (len(size) - len(shape)) + list(shape)
    return list(zip(olds, size, strict=False))


def _expanded_as(recorder: Records, tensor: Tensor, other: Tensor) -> None:
    spreads(recorder, tensor.shape, other.shape)


def _unique_along(recorder: Records, tensor: Tensor, dim: int, *_: Any, **__: Any) -> None:
    message = "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
    for axis, size in enumerate(tensor.shape):
        if axis != dim % tensor.dim():
            at_least(recorder, size, 1, "RuntimeError", message)


def _reshaped(recorder: Records, tensor: Tensor, size: Any) -> Any:
    size = as_meant(recorder, size, lambda place: _left_over(tensor.numel(), size, place), needs.INVALID)
    return covers(recorder, math.prod(map(expression, tensor.shape)), size)


def _left_over(count: Any, sizes: Sequence[Any], place: int) -> Any:
    """What -1 at this place stands for; None if another one is left to find out."""
    if any(isinstance(size, int) and size == -1 for size in sizes):
        return None
    rest = math.prod(size for other, size in enumerate(sizes) if other != place)
    return count // torch.sym_max(rest, 1)  # type: ignore[no-untyped-call]


def _viewed(recorder: Records, tensor: Tensor, size: Any) -> Any:
    _require_view(tensor, size)
    return _reshaped(recorder, tensor, size)


def _require_view(tensor: Tensor, size: Any) -> None:
    if symbols_in(tensor) and not can_always_be_viewed(tensor, size):
        reason = "`view` takes this tensor for some sizes only, since its elements do not lie in order"
        raise Refused("DY006", reason, "use `reshape`")


def _as_other(rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda recorder, tensor, other: rule(recorder, tensor, other.shape)


def _unflattened(recorder: Records, tensor: Tensor, dim: int, sizes: Sequence[Any]) -> Any:
    sizes = as_meant(recorder, sizes, lambda place: _left_over(tensor.shape[dim], sizes, place), needs.INVALID)
    return covers(recorder, expression(tensor.shape[dim]), sizes)


def _split(recorder: Records, tensor: Tensor, sizes: Sequence[Any], dim: int = 0) -> None:
    for size in sizes:
        at_least(
            recorder, size, 0, "RuntimeError", "split_with_sizes expects split_sizes have only non-negative entries"
        )
    message = "split_with_sizes expects split_sizes to sum exactly to the size of the dimension"
    equal(recorder, sum(map(expression, sizes)), tensor.shape[dim], message)


def _unfolded(recorder: Records, tensor: Tensor, dim: int, size: Any, step: Any) -> None:
    if tensor.dim():
        message = f"maximum size for tensor at dimension {dim % tensor.dim()} is smaller than the window"
        at_least(recorder, tensor.shape[dim], size, "RuntimeError", message)


def _greatest(recorder: Records, tensor: Tensor, k: Any, dim: int = -1, *_: Any, **__: Any) -> None:
    at_least(recorder, k, 0, "RuntimeError", "selected index k out of range")
    at_least(recorder, tensor.shape[dim] if tensor.dim() else 1, k, "RuntimeError", "selected index k out of range")


def _kth(recorder: Records, tensor: Tensor, k: Any, dim: int = -1, keepdim: bool = False) -> None:
    size = tensor.shape[dim] if tensor.dim() else 1
    at_least(recorder, size, 1, "IndexError", "kthvalue(): Expected reduction dim to have non-zero size.")
    at_least(recorder, k, 1, "RuntimeError", "kthvalue(): selected number k out of range for the dimension")
    at_least(recorder, size, k, "RuntimeError", "kthvalue(): selected number k out of range for the dimension")


def _found(all_error: str, along_error: str = "IndexError") -> Callable[..., None]:
    """The greatest or least of no elements does not exist; without a dimension that is another error for some."""

    def rule(recorder: Records, tensor: Tensor, dim: Any = None, *_: Any, **__: Any) -> None:
        if dim is None or dim == []:
            count = math.prod(map(expression, tensor.shape))
            message = "Expected reduction dim to be specified for input.numel() == 0."
            at_least(recorder, count, 1, all_error, message)
            return
        for axis in [dim] if isinstance(dim, int) else dim:
            if tensor.dim():
                message = f"Expected reduction dim {axis % tensor.dim()} to have non-zero size."
                at_least(recorder, tensor.shape[axis], 1, along_error, message)

    return rule


def _normed(recorder: Records, tensor: Tensor, order: Any = 2, dim: Any = None, *_: Any, **__: Any) -> None:
    """The norms of no elements are 0, but those that name the greatest or least, or divide by the elements."""
    if isinstance(order, int | float) and (order < 0 or order == math.inf):
        _found("RuntimeError", "RuntimeError")(recorder, tensor, dim)


def _most_frequent(recorder: Records, tensor: Tensor, dim: int = -1, keepdim: bool = False) -> None:
    _found("IndexError")(recorder, tensor, dim)


def _nothing(recorder: Records, *_: Any, **__: Any) -> None:
    """Of sizes nothing is needed: `values` looks at the indices."""


def _prelu(recorder: Records, tensor: Tensor, weight: Tensor) -> None:
    if weight.dim() == 1 and tensor.dim() > 1:
        spreads(recorder, weight.shape, (tensor.shape[1],))


def _halved(recorder: Records, tensor: Tensor, dim: int = -1) -> None:
    divides(recorder, 2, expression(tensor.shape[dim]), "Halving dimension must be even")


def _square(recorder: Records, tensor: Tensor, *_: Any, **__: Any) -> None:
    if tensor.dim() > 1:
        equal(recorder, tensor.shape[-2], tensor.shape[-1], "linalg: A must be batches of square matrices")


def _recurrent(recorder: Records, inputs: Tensor, states: Any, *rest: Any) -> None:
    if inputs.dim() == 3 and len(rest) > 6:
        steps, batch = inputs.shape[1 if rest[6] else 0], inputs.shape[0 if rest[6] else 1]
        at_least(recorder, steps, 1, "RuntimeError", "Expected sequence length to be larger than 0 in RNN")
        equal(recorder, inputs.shape[-1], rest[0][0].shape[1], "input.size(-1) must be equal to input_size")
        for state in tensors_in(states):
            equal(recorder, batch, state.shape[1], "Expected hidden size to fit the batch")


def _made(place: int) -> Callable[..., None]:
    """Sizes of a new tensor, which may come from numbers."""

    def rule(recorder: Records, *args: Any, **_: Any) -> None:
        for size in itertools.chain.from_iterable(
            item if isinstance(item, list | tuple) else [item] for item in args[place : place + 1]
        ):
            at_least(recorder, size, 0, "RuntimeError", "Trying to create tensor with negative dimension")

    return rule


def _square_made(recorder: Records, *sizes: Any, **_: Any) -> None:
    for size in sizes:
        at_least(recorder, size, 0, "RuntimeError", "n must be greater or equal to 0")


def _counted(recorder: Records, *bounds: Any, **_: Any) -> None:
    start, end, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if not all(isinstance(bound, int | torch.SymInt) for bound in (start, end, step)) or not isinstance(step, int):
        return
    low, high = (start, end) if step > 0 else (end, start)
    message = "upper bound and lower bound inconsistent with step sign"
    at_least(recorder, high, low, "RuntimeError", message)


_POINTWISE = {
    f"aten.{name}"
    for name in (
        *("__and__.Tensor", "__or__.Tensor", "divide.Tensor", "divide.Tensor_mode", "floor_divide.default"),
        *("multiply.Tensor", "rsub.Tensor", "masked_fill.Tensor", "where.ScalarOther", "where.ScalarSelf"),
        *("masked_select.default"),
    )
}
_SQUARES = ("_linalg_det", "_linalg_slogdet", "_linalg_eigh", "_linalg_solve_ex", "linalg_inv_ex", "linalg_cholesky_ex")

_RULES: dict[str, Callable[..., Any]] = {
    **{f"aten.{name}.default": _joined for name in ("cat", "concat", "concatenate")},
    "aten.stack.default": _stacked,
    "aten.masked_scatter.default": _masked,
    "aten.masked_select.default": _masked,
    "aten.hstack.default": _beside,
    "aten.vstack.default": _below,
    "aten.linear.default": _linear,
    **{f"aten.{name}.default": _matmul for name in ("matmul", "mm", "mv", "dot", "vdot")},
    "aten.bmm.default": _batched,
    "aten.addmm.default": _added(_matmul, lambda first, second: (first.shape[0], second.shape[1])),
    "aten.addmv.default": _added(_matmul, lambda first, second: (first.shape[0],)),
    "aten.addbmm.default": _added(_batched, lambda first, second: (first.shape[1], second.shape[2])),
    "aten.baddbmm.default": _added(_batched, lambda first, second: (*first.shape[:2], second.shape[2])),
    "aten.einsum.default": _einsum,
    "aten.cdist.default": _distances,
    "aten._cdist_forward.default": _distances,
    "aten.scaled_dot_product_attention.default": attention,
    "aten.expand.default": _expanded,
    "aten.broadcast_to.default": _expanded,
    "aten.expand_as.default": _expanded_as,
    "aten.view.default": _viewed,
    "aten.unique_dim.default": _unique_along,
    **{f"aten.{name}.default": _reshaped for name in ("reshape", "_unsafe_view")},
    "aten.view_as.default": _as_other(_viewed),
    "aten.reshape_as.default": _as_other(_reshaped),
    "aten.unflatten.int": _unflattened,
    **{f"aten.{name}": _split for name in ("split.sizes", "split_with_sizes.default")},
    "aten.unfold.default": _unfolded,
    "aten.topk.default": _greatest,
    "aten.kthvalue.default": _kth,
    **{f"aten.{name}.default": _found("IndexError") for name in ("argmax", "argmin")},
    **{f"aten.{name}.default": _found("RuntimeError") for name in ("amax", "amin", "max", "min", "aminmax")},
    "aten.linalg_vector_norm.default": _normed,
    **{f"aten.{name}.dim": _found("IndexError") for name in ("max", "min", "median", "nanmedian")},
    "aten.mode.default": _most_frequent,
    "aten.layer_norm.default": normalised,
    "aten.native_layer_norm.default": normalised,
    "aten.rms_norm.default": normalised,
    "aten.batch_norm.default": by_channel,
    "aten.instance_norm.default": by_channel,
    "aten.group_norm.default": in_groups,
    "aten.cosine_similarity.default": compared,
    "aten.cross_entropy_loss.default": told_apart,
    "aten.prelu.default": _prelu,
    "aten.embedding.default": _nothing,
    "aten.glu.default": _halved,
    **{f"aten.{name}.default": _square for name in _SQUARES},
    **{f"aten.{name}.input": _recurrent for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")},
    **{f"aten.{name}.default": _made(0) for name in ("zeros", "ones", "full")},
    **{f"aten.{name}.default": _made(1) for name in ("new_zeros", "new_ones", "new_full", "repeat", "tile")},
    "aten.linspace.default": _made(2),
    "aten.eye.default": _square_made,
    "aten.eye.m": _square_made,
    **{f"aten.arange.{form}": _counted for form in ("default", "start", "start_step")},
    **INDEXED,
    **WINDOWS,
}
