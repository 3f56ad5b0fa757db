"""Questions about one call of an ATen operation, asked before it is recorded."""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes

from dycl.rewrite.record.schemas import is_mutable, name_of, parameters
from dycl.rewrite.signals import Refused

# Operations that hand a tensor's value to Python: each is a decision.
READS_VALUE = {
    *("aten.item.default", "aten._local_scalar_dense.default", "aten.is_nonzero.default"),
    *("aten.equal.default", "aten.allclose.default"),
}
# Uninitialised memory has no place in a program that gives the same result twice.
UNINITIALISED = {
    "aten.empty.memory_format": torch.ops.aten.zeros.default,
    "aten.empty_like.default": torch.ops.aten.zeros_like.default,
    "aten.new_empty.default": torch.ops.aten.new_zeros.default,
}
# In evaluation they give their argument back, that very tensor.
DROPOUTS = {
    *("aten.dropout.default", "aten.feature_dropout.default"),
    *("aten.alpha_dropout.default", "aten.feature_alpha_dropout.default"),
}
ASSERTIONS = {"aten._assert_async.default", "aten._assert_async.msg"}
NOT_RECORDED = {"prim.device.default", "aten._assert_tensor_metadata.default"}


@functools.cache
def is_refused(call: Callable[[], torch.Tensor]) -> bool:
    """Whether this version of PyTorch raises an error for a call: it is asked once."""
    with _disable_current_modes():
        try:
            call()
        except RuntimeError:
            return True
    return False


def require_plain_layout(tensor: torch.Tensor, size: Any, stride: Any, storage_offset: Any = None) -> None:
    """Refuse `as_strided` unless it reads the tensor's own elements, which lie in memory in their order."""
    if storage_offset is not None or not tensor.is_contiguous():
        raise Refused("DY004", "`as_strided` reads memory whose order only PyTorch knows")


def require_kept_shape(
    func: OpOverload[Any, Any], tensor: torch.Tensor, outlives_call: Callable[[torch.Tensor], bool]
) -> None:
    """Refuse to change the shape of a tensor that outlives the call."""
    reshapes = torch.Tag.inplace_view in func.tags and func is not torch.ops.aten.detach_.default
    if reshapes and outlives_call(tensor):
        raise Refused("DY007", "the shape of a tensor that outlives the call is changed in place")


def require_castable(dtype: torch.dtype, target: torch.dtype) -> None:
    """Raise PyTorch's error if a result cannot be stored in a tensor of this type; on fake tensors it does not look."""
    if not torch.can_cast(dtype, target):
        raise RuntimeError(f"result type {dtype} can't be cast to the desired output type {target}")


# What is written where, by the operation that reads the same place.
SCATTERS: dict[str, OpOverload[Any, Any]] = {
    "aten.slice_scatter.default": torch.ops.aten.slice.Tensor,
    "aten.select_scatter.default": torch.ops.aten.select.int,
}


def require_filled(
    read: OpOverload[Any, Any], whole: torch.Tensor, part: torch.Tensor, *args: Any, **kwargs: Any
) -> None:
    """Raise PyTorch's error if a part has another shape than its place; on fake tensors PyTorch does not look."""
    numbers = (*whole.shape, *part.shape, *args, *kwargs.values())
    if all(number is None or isinstance(number, int) for number in numbers):
        with _disable_current_modes():
            place = read(torch.empty(whole.shape, device="meta"), *args, **kwargs).shape
        if place != part.shape:
            raise RuntimeError(
                f"expected src to have a size equal to the slice of self. src size = {list(part.shape)}, "
                f"slice size = {list(place)}"
            )


def overload_suffix(func: OpOverload[Any, Any]) -> str:
    """How the dispatcher names this overload behind the operation's name."""
    return f".{func._overloadname}" if func._overloadname != "default" else ""


def tensors_in(tree: Any) -> list[torch.Tensor]:
    """Every tensor in nested arguments or results."""
    found: list[torch.Tensor] = []
    left = [tree]
    while left:
        item = left.pop()
        if type(item) in _PLAIN:
            continue
        if isinstance(item, _SEQUENCES):
            left.extend(reversed(item))
        elif isinstance(item, torch.Tensor):
            found.append(item)
        elif isinstance(item, dict):
            left.extend(reversed(item.values()))
    return found


_SEQUENCES = (list, tuple)
# Most arguments are of these classes, and asking whether one is a tensor takes longer.
_PLAIN = frozenset((bool, int, float, str, type(None), torch.dtype, torch.device, torch.layout))


def with_tensors(tree: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """Nested arguments with every tensor changed."""
    if type(tree) in _PLAIN:
        return tree
    if isinstance(tree, torch.Tensor):
        return change(tree)
    if isinstance(tree, _SEQUENCES):
        return type(tree)([with_tensors(item, change) for item in tree])
    if isinstance(tree, dict):
        return {name: with_tensors(item, change) for name, item in tree.items()}
    return tree


def is_random(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call draws random numbers, which dropout in evaluation does not."""
    if torch.Tag.nondeterministic_seeded not in func.tags:
        return False
    taken = parameters(func)
    given = {**dict(zip(taken.names, taken.defaults, strict=True)), **taken.bound(args, kwargs)}
    if given.get("train", given.get("training", True)) is False or (name_of(func) in DROPOUTS and given["p"] == 0):
        return False
    return "dropout_p" not in taken.names or bool(given.get("dropout_p", 0.0))


def draws_from_anything(func: OpOverload[Any, Any]) -> bool:
    """Whether a draw never fails because of a tensor's values, as one by probabilities does: it may be left out."""
    return func._schema.name.partition("::")[2] in _DRAWS


_DRAWS = {
    *("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "rrelu", "rrelu_with_noise"),
    *("dropout", "native_dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "_fused_dropout"),
    *("scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu", "lstm", "gru", "rnn_tanh"),
    *("rnn_relu", "fractional_max_pool2d", "fractional_max_pool3d"),
}


def written_by(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """The tensors that a call writes to."""
    names = parameters(func).written
    normalises = func._schema.name.partition("::")[2] in _NORMS
    if not names and not normalises:
        return []
    bound = parameters(func).bound(args, kwargs)
    if normalises and bound.get("training", bound.get("use_input_stats")):
        names += ("running_mean", "running_var")  # of these the schema says nothing
    return [tensor for name in names for tensor in tensors_in(bound.get(name))]


_NORMS = {"batch_norm", "instance_norm", "native_batch_norm", "_batch_norm_impl_index", "cudnn_batch_norm"}


def require_no_hidden_write(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse a normalisation that updates its statistics, whether or not its result is used."""
    if not is_mutable(func) and written_by(func, args, kwargs):
        reason = f"`{func}`: normalisation updates its running statistics: the model is in training mode"
        raise Refused("DY004", reason, "call `model.eval()` first, and leave it so")
