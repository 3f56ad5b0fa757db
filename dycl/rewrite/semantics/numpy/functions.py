"""NumPy's functions on arrays as tensor operations: reductions, ordering, joining, shapes.

Each has the parameters of the NumPy function that it stands for; an option that is not among them is refused. `result`
is the element type that NumPy gives the answer.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from dycl.rewrite.record.host_arrays import current_recorder, refused

Axis = int | tuple[int, ...] | None


def _axes(a: torch.Tensor, axis: Axis) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(a.dim()))
    return tuple(place % a.dim() for place in ((axis,) if isinstance(axis, int) else axis)) if a.dim() else ()


def _count(a: torch.Tensor, axes: Sequence[int]) -> Any:
    return math.prod(a.shape[axis] for axis in axes)


def _reduced(function: Callable[..., torch.Tensor], a: torch.Tensor, axis: Axis, keepdims: bool) -> torch.Tensor:
    axes = _axes(a, axis)
    return function(a, axes, keepdims) if axes else a.clone()


def _sum(result: torch.dtype, a: torch.Tensor, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    return _reduced(torch.sum, a.to(result), axis, keepdims)


def _product(
    result: torch.dtype, a: torch.Tensor, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False
) -> Any:
    value = a.to(result)
    for place in sorted(_axes(a, axis), reverse=True):
        value = torch.prod(value, place, keepdim=keepdims)
    return value


def _mean(result: torch.dtype, a: torch.Tensor, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    return _reduced(torch.mean, _precise(a, result), axis, keepdims)


def _precise(a: torch.Tensor, result: torch.dtype) -> torch.Tensor:
    """NumPy computes the mean of half precision in single precision."""
    return a.to(torch.float32 if result == torch.float16 else result)


def _variance(
    result: torch.dtype, a: torch.Tensor, axis: Axis = None, dtype: Any = None, *, ddof: int = 0, keepdims: bool = False
) -> Any:
    value, axes = _precise(a, result), _axes(a, axis)
    if not axes:
        return torch.zeros_like(value)
    away = value - torch.mean(value, axes, True)
    squares = torch.sum(away * away, axes, keepdims)
    return squares / max(_count(a, axes) - ddof, 0)


def _deviation(
    result: torch.dtype, a: torch.Tensor, axis: Axis = None, dtype: Any = None, *, ddof: int = 0, keepdims: bool = False
) -> Any:
    return torch.sqrt(_variance(result, a, axis, dtype, ddof=ddof, keepdims=keepdims))


def _largest(result: torch.dtype, a: torch.Tensor, axis: Axis = None, *, keepdims: bool = False) -> Any:
    return _reduced(_as_numbers(torch.amax), a, axis, keepdims)


def _smallest(result: torch.dtype, a: torch.Tensor, axis: Axis = None, *, keepdims: bool = False) -> Any:
    return _reduced(_as_numbers(torch.amin), a, axis, keepdims)


def _as_numbers(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def compute(a: torch.Tensor, *options: Any) -> torch.Tensor:
        return function(a.to(torch.uint8), *options).to(a.dtype) if a.dtype == torch.bool else function(a, *options)

    return compute


def _spread(result: torch.dtype, a: torch.Tensor, axis: Axis = None, *, keepdims: bool = False) -> Any:
    return _largest(result, a, axis, keepdims=keepdims) - _smallest(result, a, axis, keepdims=keepdims)


def _any_of(result: torch.dtype, a: torch.Tensor, axis: Axis = None, *, keepdims: bool = False) -> Any:
    return _reduced(torch.any, torch.ne(a, 0), axis, keepdims)


def _all_of(result: torch.dtype, a: torch.Tensor, axis: Axis = None, *, keepdims: bool = False) -> Any:
    return _reduced(torch.all, torch.ne(a, 0), axis, keepdims)


def _count_nonzero(result: torch.dtype, a: torch.Tensor, axis: Axis = None, *, keepdims: bool = False) -> Any:
    return _reduced(torch.sum, torch.ne(a, 0).to(torch.int64), axis, keepdims)


def _median(result: torch.dtype, a: torch.Tensor, axis: int | None = None, *, keepdims: bool = False) -> Any:
    place = 0 if axis is None else axis
    value = torch.sort((a.reshape(-1) if axis is None else a).to(result), dim=place).values
    size = value.shape[place]
    if not isinstance(size, int) or size == 0:
        raise refused("the median of a number of values that depends on the input")
    middle = (value.select(place, (size - 1) // 2) + value.select(place, size // 2)) / 2
    last = value.select(place, size - 1)
    middle = torch.where(torch.isnan(last), last, middle)
    if not keepdims:
        return middle
    return middle.reshape([1] * a.dim()) if axis is None else middle.unsqueeze(place)


def _norm(result: torch.dtype, x: torch.Tensor, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Any:
    value = x.to(result)
    vector = isinstance(axis, int) or (axis is None and x.dim() == 1)
    if ord is None or (ord == 2 and vector):
        return torch.sqrt(_reduced(torch.sum, value * value, axis, keepdims))
    if vector and ord in (1, np.inf, -np.inf):
        function: Any = {1: torch.sum, np.inf: torch.amax, -np.inf: torch.amin}[ord]
        value = torch.abs(value)
        if ord == np.inf:
            # Nothing is as large as 0.
            place = axis if isinstance(axis, int) else 0
            value = torch.cat([value, torch.zeros_like(value.sum(place, keepdim=True))], place)
        return _reduced(function, value, axis, keepdims)
    raise refused(f"the norm of order {ord} of an array with {x.dim()} dimensions")


def _place_of_largest(result: torch.dtype, a: torch.Tensor, axis: int | None = None, *, keepdims: bool = False) -> Any:
    return torch.argmax(_comparable(a), axis, keepdims)


def _place_of_smallest(result: torch.dtype, a: torch.Tensor, axis: int | None = None, *, keepdims: bool = False) -> Any:
    return torch.argmin(_comparable(a), axis, keepdims)


def _comparable(a: torch.Tensor) -> torch.Tensor:
    return a.to(torch.uint8) if a.dtype == torch.bool else a


def _sort(result: torch.dtype, a: torch.Tensor, axis: int | None = -1, kind: Any = None) -> Any:
    value = _comparable(a.reshape(-1) if axis is None else a)
    return torch.sort(value, dim=-1 if axis is None else axis, stable=True).values.to(result)


def _argsort(result: torch.dtype, a: torch.Tensor, axis: int | None = -1, kind: Any = None) -> Any:
    value = _comparable(a.reshape(-1) if axis is None else a)
    return torch.sort(value, dim=-1 if axis is None else axis, stable=True).indices


def _cumulative_sum(result: torch.dtype, a: torch.Tensor, axis: int | None = None, dtype: Any = None) -> Any:
    return torch.cumsum(a.reshape(-1).to(result) if axis is None else a.to(result), 0 if axis is None else axis)


def _cumulative_product(result: torch.dtype, a: torch.Tensor, axis: int | None = None, dtype: Any = None) -> Any:
    return torch.cumprod(a.reshape(-1).to(result) if axis is None else a.to(result), 0 if axis is None else axis)


def _difference(result: torch.dtype, a: torch.Tensor, n: int = 1, axis: int = -1) -> Any:
    if a.dtype == torch.bool:
        raise refused("`np.diff` of flags")
    for _ in range(n):
        size = a.shape[axis]
        a = a.narrow(axis, 1, size - 1) - a.narrow(axis, 0, size - 1)
    return a


def _choose(result: Any, condition: torch.Tensor, *values: torch.Tensor) -> Any:
    holds = torch.ne(condition, 0)
    if not values:
        return _nonzero(None, holds)
    return torch.where(holds, values[0].to(result), values[1].to(result))


def _clip(result: torch.dtype, a: torch.Tensor, a_min: Any = None, a_max: Any = None, **limits: Any) -> Any:
    low, high = limits.pop("min", a_min), limits.pop("max", a_max)
    if limits:
        raise refused(f"the option `{next(iter(limits))}` of `np.clip`")
    value = a.to(result)
    value = value.clone() if low is None else torch.maximum(value, _limit(low, result, is_upper=False))
    return value if high is None else torch.minimum(value, _limit(high, result, is_upper=True))


def _limit(limit: torch.Tensor, result: torch.dtype, is_upper: bool) -> torch.Tensor:
    """A limit in the result's type: one that no number of that type reaches is none, unless all of them do."""
    if result.is_floating_point or limit.is_floating_point() or torch.bool in (result, limit.dtype):
        return limit.to(result)
    ends = torch.iinfo(result)
    inside = torch.ge(limit, ends.min) if is_upper else torch.le(limit, ends.max)
    current_recorder().check(inside.all(), "OverflowError", "Python integer out of bounds")
    return torch.clamp(limit, ends.min, ends.max).to(result)


def _rounded(result: torch.dtype, a: torch.Tensor, decimals: int = 0) -> Any:
    if not a.is_floating_point():
        if decimals < 0:
            raise refused("`np.round` of whole numbers to tens or hundreds")
        return a.to(result)
    power = 10.0 ** abs(decimals)
    if decimals == 0:
        return torch.round(a)
    return torch.round(a * power) / power if decimals > 0 else torch.round(a / power) * power


def _nonzero(result: Any, a: torch.Tensor) -> Any:
    if not a.dim():
        raise refused("`nonzero` of an array without dimensions")
    return tuple(torch.nonzero(torch.ne(a, 0)).unbind(1))


def _flat_nonzero(result: Any, a: torch.Tensor) -> Any:
    return torch.nonzero(torch.ne(a.reshape(-1), 0)).reshape(-1)


def _argwhere(result: Any, a: torch.Tensor) -> Any:
    return torch.nonzero(torch.ne(a, 0))


def _unique(result: Any, ar: torch.Tensor, return_inverse: bool = False, return_counts: bool = False) -> Any:
    if ar.is_floating_point():
        raise refused("`np.unique` of floats, among which it takes all NaN for one,")
    found = torch.unique(_comparable(ar), sorted=True, return_inverse=return_inverse, return_counts=return_counts)
    values = found[0] if isinstance(found, tuple) else found
    rest = tuple(found[1:]) if isinstance(found, tuple) else ()
    return (values.to(ar.dtype), *rest) if rest else values.to(ar.dtype)


def _concatenate(result: torch.dtype, arrays: Sequence[torch.Tensor], axis: int | None = 0) -> Any:
    parts = [part.to(result) for part in arrays]
    return torch.cat([part.reshape(-1) for part in parts]) if axis is None else torch.cat(parts, axis)


def _stack(result: torch.dtype, arrays: Sequence[torch.Tensor], axis: int = 0) -> Any:
    return torch.stack([part.to(result) for part in arrays], axis)


def _stack_rows(result: torch.dtype, tup: Sequence[torch.Tensor]) -> Any:
    return torch.cat([part.to(result) if part.dim() > 1 else part.to(result).reshape(1, -1) for part in tup], 0)


def _stack_columns(result: torch.dtype, tup: Sequence[torch.Tensor]) -> Any:
    parts = [part.to(result) if part.dim() else part.to(result).reshape(1) for part in tup]
    return torch.cat(parts, 0 if parts[0].dim() == 1 else 1)


def _dot(result: torch.dtype, a: torch.Tensor, b: torch.Tensor) -> Any:
    left, right = a.to(result), b.to(result)
    if not left.dim() or not right.dim():
        return left * right
    if right.dim() > 2:
        raise refused("`np.dot` with an array of more than two dimensions")
    return torch.matmul(left, right)


def _outer(result: torch.dtype, a: torch.Tensor, b: torch.Tensor) -> Any:
    return a.to(result).reshape(-1, 1) * b.to(result).reshape(1, -1)


def _reshape(result: Any, a: torch.Tensor, shape: Any, *more: Any) -> Any:
    sizes = (shape, *more) if not isinstance(shape, tuple | list) else tuple(shape)
    return a.reshape(sizes)


def _ravel(result: Any, a: torch.Tensor) -> Any:
    return a.view(-1) if a.is_contiguous() else a.reshape(-1).clone()


def flatten(result: Any, a: torch.Tensor) -> Any:
    """`a.flatten()`, which no function of NumPy does."""
    return a.reshape(-1).clone()


def _transpose(result: Any, a: torch.Tensor, axes: Any = None, *more: Any) -> Any:
    if axes is None:
        return a.permute(*reversed(range(a.dim())))
    return a.permute(*((axes, *more) if isinstance(axes, int) else axes))


def _squeeze(result: Any, a: torch.Tensor, axis: Axis = None) -> Any:
    return a.squeeze() if axis is None else a.squeeze(axis)


def _swapaxes(result: Any, a: torch.Tensor, axis1: int, axis2: int) -> Any:
    return a.transpose(axis1, axis2)


def _expand_dims(result: Any, a: torch.Tensor, axis: int) -> Any:
    return a.unsqueeze(axis)


def _repeat(result: Any, a: torch.Tensor, repeats: int, axis: int | None = None) -> Any:
    if not isinstance(repeats, int):
        raise refused("`np.repeat` by an array")
    return torch.repeat_interleave(a.reshape(-1) if axis is None else a, repeats, 0 if axis is None else axis)


def _tile(result: Any, A: torch.Tensor, reps: Any) -> Any:
    return torch.tile(A, (reps,) if isinstance(reps, int) else tuple(reps))


def _flip(result: Any, m: torch.Tensor, axis: Axis = None) -> Any:
    turned = torch.flip(m, _axes(m, axis))
    current_recorder().entangle(m, turned)  # NumPy would show the same memory
    return turned


def _take(result: Any, a: torch.Tensor, indices: torch.Tensor, axis: int | None = None) -> Any:
    source, place = (a.reshape(-1), 0) if axis is None else (a, axis % a.dim())
    places = indices.reshape(-1).to(torch.int64)
    places = torch.where(torch.lt(places, 0), places + source.shape[place], places)
    chosen = torch.index_select(source, place, places)
    return chosen.reshape(*source.shape[:place], *indices.shape, *source.shape[place + 1 :])


def _like(fill: float) -> Callable[..., Any]:
    def make(result: torch.dtype, a: torch.Tensor, dtype: Any = None) -> Any:
        return torch.full_like(a, fill, dtype=result)

    return make


def _full_like(result: torch.dtype, a: torch.Tensor, fill_value: torch.Tensor, dtype: Any = None) -> Any:
    return fill_value.to(result).expand(a.shape).clone()


def _copy(result: Any, a: torch.Tensor) -> Any:
    return a.clone()


def _histogram_of_numbers(result: Any, x: torch.Tensor, weights: None = None, minlength: int = 0) -> Any:
    if weights is not None or not isinstance(x.shape[0], int) or x.shape[0] == 0:
        raise refused("`np.bincount` of a number of values that depends on the input, or with weights,")
    recorder = current_recorder()
    recorder.check(torch.ge(x, 0).all(), "ValueError", "'list' argument must have no negative elements")
    size = torch.clamp(x.to(torch.int64).max() + 1, min=minlength)
    count: Any = recorder.symbol_of(size)
    numbers = torch.arange(count)
    return torch.eq(x.to(torch.int64).reshape(-1, 1), numbers.reshape(1, -1)).sum(0)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _sum,
    np.prod: _product,
    np.mean: _mean,
    np.var: _variance,
    np.std: _deviation,
    np.max: _largest,
    np.amax: _largest,
    np.min: _smallest,
    np.amin: _smallest,
    np.ptp: _spread,
    np.any: _any_of,
    np.all: _all_of,
    np.count_nonzero: _count_nonzero,
    np.median: _median,
    np.linalg.norm: _norm,
    np.argmax: _place_of_largest,
    np.argmin: _place_of_smallest,
    np.sort: _sort,
    np.argsort: _argsort,
    np.cumsum: _cumulative_sum,
    np.cumprod: _cumulative_product,
    np.diff: _difference,
    np.where: _choose,
    np.clip: _clip,
    np.round: _rounded,
    np.around: _rounded,
    np.nonzero: _nonzero,
    np.flatnonzero: _flat_nonzero,
    np.argwhere: _argwhere,
    np.unique: _unique,
    np.concatenate: _concatenate,
    np.stack: _stack,
    np.vstack: _stack_rows,
    np.hstack: _stack_columns,
    np.dot: _dot,
    np.outer: _outer,
    np.reshape: _reshape,
    np.ravel: _ravel,
    np.transpose: _transpose,
    np.squeeze: _squeeze,
    np.swapaxes: _swapaxes,
    np.expand_dims: _expand_dims,
    np.repeat: _repeat,
    np.tile: _tile,
    np.flip: _flip,
    np.take: _take,
    np.zeros_like: _like(0),
    np.ones_like: _like(1),
    np.full_like: _full_like,
    np.copy: _copy,
    np.bincount: _histogram_of_numbers,
}
