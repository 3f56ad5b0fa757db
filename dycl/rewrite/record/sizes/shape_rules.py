"""Shapes of operations on symbolic sizes that need neither a guess nor samples: they are plain for every size.

A rule gives tensors of the right type on fake ones, or `NotImplemented` where it does not apply. It takes for granted
that PyTorch takes the arguments, which `is_taken` says.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import sympy  # type: ignore[import-untyped]
import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes

from dycl.rewrite.record.schemas import name_of

NewSize = Callable[[], Any]
# What PyTorch's kernels for tensors without data, partly Python, raise for arguments that an operation does not take.
ATEN_ERRORS = (RuntimeError, IndexError, ValueError, TypeError, ArithmeticError, AssertionError)


def by_rule(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], new_size: NewSize) -> Any:
    """The operation's result on fake tensors, or `NotImplemented` if no rule says it."""
    rule = _RULES.get(name_of(func))
    if rule is not None:
        return rule(*args, **kwargs)
    return _pointwise(func, args, kwargs, new_size) if is_pointwise(func) else NotImplemented


@functools.cache
def is_pointwise(func: OpOverload[Any, Any]) -> bool:
    """Whether an operation computes each element from those at its place alone."""
    returns = func._schema.returns
    return torch.Tag.pointwise in func.tags and len(returns) == 1 and returns[0].alias_info is None


def _pointwise(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], new_size: NewSize) -> Any:
    tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
    shape = broadcast([tuple(tensor.shape) for tensor in tensors], new_size)
    try:
        given = tuple(map(_one_element, args))
        named = tuple((name, _one_element(value)) for name, value in kwargs.items())
        dtype = _dtype_of_result(func, given, named, torch.get_default_dtype())
    except ATEN_ERRORS:
        return NotImplemented  # the meta kernel cannot tell the type
    return torch.empty(shape, dtype=dtype)


class _One(NamedTuple):
    """One element of a tensor of so many dimensions, or a number: what an operation needs to know for its type."""

    kind: type | torch.dtype
    value: Any

    def made(self) -> Any:
        if isinstance(self.kind, type):
            return self.value
        return torch.empty((1,) * self.value, dtype=self.kind, device="meta")


@functools.lru_cache(maxsize=4096)
def _dtype_of_result(
    func: OpOverload[Any, Any], args: tuple[_One, ...], kwargs: tuple[tuple[str, _One], ...], default: torch.dtype
) -> torch.dtype:
    """The element type of a result, which hangs on the default one where whole numbers become others."""
    with _disable_current_modes():
        found: torch.Tensor = func(*(one.made() for one in args), **{name: one.made() for name, one in kwargs})
    return found.dtype


def _one_element(value: Any) -> _One:
    """A value of the same kind that an operation takes for its type alone."""
    if isinstance(value, torch.Tensor):
        return _One(value.dtype, value.dim())
    number = value.node.pytype(1) if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool) else value
    return _One(type(number), number)


def broadcast(shapes: Sequence[tuple[Any, ...]], new_size: NewSize) -> list[Any]:
    """The shape of tensors together; where two unknown sizes meet, either may be 1, so theirs is a new one."""
    rank = max(map(len, shapes), default=0)
    result: list[Any] = []
    for place in range(-rank, 0):
        sizes = [shape[place] for shape in shapes if len(shape) >= -place]
        known = [size for size in sizes if isinstance(size, int) and size != 1]
        unknown = {size.node.expr: size for size in sizes if not isinstance(size, int)}
        if len(set(known)) > 1:
            one, other = list(dict.fromkeys(known))[:2]
            where = f"at non-singleton dimension {rank + place}"
            raise RuntimeError(f"The size of tensor a ({one}) must match the size of tensor b ({other}) {where}")
        if known:
            result.append(known[0])
        elif not unknown:
            result.append(1)
        else:
            result.append(next(iter(unknown.values())) if len(unknown) == 1 else new_size())
    return result


def with_last_size(func: OpOverload[Any, Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a view with the size that is left out, -1, filled in if it is plain: 6n elements as (3, -1)."""
    if name_of(func) not in _VIEWS or len(args) != 2 or -1 not in [size for size in args[1] if isinstance(size, int)]:
        return args
    rest = math.prod(size for size in args[1] if not isinstance(size, int) or size != -1)
    if isinstance(rest, int) and rest <= 0:
        return args
    last: Any = math.prod(args[0].shape) // rest
    if isinstance(last, int) or any(
        type(part).__name__ == "FloorDiv" for part in sympy.preorder_traversal(last.node.expr)
    ):
        return args
    return (args[0], [last if isinstance(size, int) and size == -1 else size for size in args[1]])


_VIEWS = {f"aten.{name}.default" for name in ("view", "reshape", "_unsafe_view")}


def _like_first(first: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    return torch.empty(first.shape, dtype=first.dtype)


def _rms_norm(first: torch.Tensor, shape: Any, weight: torch.Tensor | None = None, eps: float | None = None) -> Any:
    return _like_first(first) if weight is None or weight.dtype == first.dtype else NotImplemented


def _softmax(first: torch.Tensor, dim: int, dtype: torch.dtype | None = None) -> torch.Tensor:
    return torch.empty(first.shape, dtype=dtype or first.dtype)


def _linear(inputs: torch.Tensor, weight: torch.Tensor, bias: Any = None) -> Any:
    if weight.dim() != 2 or inputs.dim() < 2:
        return NotImplemented
    return torch.empty((*inputs.shape[:-1], weight.shape[0]), dtype=inputs.dtype)


def _attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    if _sizes(query)[:-2] != _sizes(key)[:-2]:
        return NotImplemented
    return torch.empty((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)


def _recurrent(inputs: torch.Tensor, states: Any, *args: Any) -> tuple[torch.Tensor, ...]:
    """PyTorch would run a recurrent layer step by step to find these."""
    listed = states if isinstance(states, list | tuple) else [states]
    ways = 2 if args[5] else 1
    outputs = torch.empty((*inputs.shape[:-1], listed[0].shape[-1] * ways), dtype=inputs.dtype)
    return (outputs, *(torch.empty(state.shape, dtype=state.dtype) for state in listed))


def grouped_product(
    first: torch.Tensor, second: torch.Tensor, offs: Any = None, bias: Any = None, out_dtype: Any = None
) -> torch.Tensor:
    """The result of `_grouped_mm`: groups are an axis of what they do not cut into pieces."""
    groups = (
        ()
        if (first.dim(), second.dim()) in ((2, 3), (3, 2))
        else (offs.shape[0] if offs is not None else first.shape[0],)
    )
    return torch.empty((*groups, first.shape[-2], second.shape[-1]), dtype=out_dtype or first.dtype)


def _all_or_any(first: torch.Tensor) -> torch.Tensor:
    return torch.empty((), dtype=torch.uint8 if first.dtype == torch.uint8 else torch.bool)


def _picked(first: torch.Tensor, indices: Sequence[torch.Tensor | None]) -> Any:
    """What lies at places along one axis, or along several side by side that indices of one shape point into."""
    axes = [axis for axis, index in enumerate(indices) if index is not None]
    given = [index for index in indices if index is not None]
    is_plain = all(index.dtype in (torch.int64, torch.int32) for index in given)
    if not is_plain or len(set(map(_sizes, given))) != 1 or len(indices) > first.dim():
        return NotImplemented
    if axes != list(range(axes[0], axes[-1] + 1)):
        return NotImplemented
    shape = (*first.shape[: axes[0]], *given[0].shape, *first.shape[axes[-1] + 1 :])
    return torch.empty(shape, dtype=first.dtype)


def _repeated(first: torch.Tensor, repeats: Any, dim: int | None = None, *, output_size: Any = None) -> Any:
    if dim is None or dim not in _axes(first) or not isinstance(repeats, int) or repeats < 0 or output_size is not None:
        return NotImplemented
    shape = list(first.shape)
    shape[dim] = shape[dim] * repeats
    return torch.empty(shape, dtype=first.dtype)


def _joined(tensors: Sequence[torch.Tensor], dim: int = 0) -> Any:
    if dim not in _axes(tensors[0]) or len({tensor.dtype for tensor in tensors}) != 1:
        return NotImplemented
    axis = dim % tensors[0].dim()
    if len({(*shape[:axis], None, *shape[axis + 1 :]) for shape in map(_sizes, tensors)}) != 1:
        return NotImplemented
    shape = list(tensors[0].shape)
    shape[axis] = sum(tensor.shape[axis] for tensor in tensors)
    return torch.empty(shape, dtype=tensors[0].dtype)


def _axes(tensor: torch.Tensor) -> range:
    return range(-tensor.dim(), tensor.dim())


def _sizes(tensor: torch.Tensor) -> tuple[Any, ...]:
    """The sizes of a tensor as they can be compared: two symbolic ones are the same or not known to be."""
    return tuple(size if isinstance(size, int) else size.node.expr for size in tensor.shape)


def _single(first: torch.Tensor, size: Any) -> Any:
    """The one element of a tensor of open size, which PyTorch's own rule would leave its axes."""
    return NotImplemented if len(size) or not first.dim() else torch.as_strided(first, (), ())


_RULES: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(_VIEWS, _single),
    "aten.linear.default": _linear,
    "aten.all.default": _all_or_any,
    "aten.any.default": _all_or_any,
    "aten.index.Tensor": _picked,
    "aten.repeat_interleave.self_int": _repeated,
    "aten.cat.default": _joined,
    "aten.layer_norm.default": _like_first,
    "aten.rms_norm.default": _rms_norm,
    "aten.batch_norm.default": _like_first,
    "aten.group_norm.default": _like_first,
    "aten.instance_norm.default": _like_first,
    "aten.softmax.int": _softmax,
    "aten.log_softmax.int": _softmax,
    "aten.dropout.default": _like_first,
    "aten.roll.default": _like_first,
    "aten.flip.default": _like_first,
    "aten.tril.default": _like_first,
    "aten.triu.default": _like_first,
    "aten.scaled_dot_product_attention.default": _attention,
    "aten.lstm.input": _recurrent,
    "aten.gru.input": _recurrent,
    "aten.rnn_tanh.input": _recurrent,
    "aten.rnn_relu.input": _recurrent,
}
