"""Arrays made of values that only the input determines, and questions about whole arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from dycl.rewrite.record.host_arrays import TORCH_DTYPES, HostArray, current_recorder, refused
from dycl.rewrite.record.host_values import HostValue, kind_of
from dycl.rewrite.record.sizes.needs import at_least, is_size
from dycl.rewrite.semantics.numpy.forms import ask, is_known, require_fit, symbol_of, tensor_of


def _array(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> HostArray:
    """`np.array` and its like."""
    data, *rest = args
    options = dict(zip(("dtype",), rest, strict=False)) | kwargs
    copy = options.pop("copy", callee is np.array)
    dtype = options.pop("dtype", None)
    if options or copy not in (True, False, None):
        raise refused(f"an option of `np.{callee.__name__}`")
    answer = ask(np.asarray, (data,), {} if dtype is None else {"dtype": dtype})
    if answer.dtype not in TORCH_DTYPES:
        raise refused(f"an array of type `{answer.dtype}`")
    wanted = TORCH_DTYPES[answer.dtype]
    require_fit(data, answer.dtype)
    if type(data) is HostArray and not data.scalar and data.tensor.dtype == wanted and copy is not True:
        return data
    tensor = tensor_of(data)
    if tensor.dtype != wanted:
        return HostArray(tensor.to(wanted))
    shared = isinstance(data, torch.Tensor) or type(data) is HostArray
    return HostArray(tensor.clone() if copy is True or not shared else tensor)


def _contiguous(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> HostArray:
    """`np.ascontiguousarray`, which copies what does not lie in order, and has one dimension at least."""
    made = _array(callee, args, kwargs)
    if made.tensor.dim() and made.tensor.is_contiguous() and not current_recorder().stands_for_another(made.tensor):
        return made
    return HostArray(made.tensor.reshape(made.shape or (1,)).clone(memory_format=torch.contiguous_format))


def _filled(fill: int | None) -> Callable[..., Any]:
    def make(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> HostArray:
        shape, *rest = args
        sizes = tuple(shape) if isinstance(shape, list | tuple) else (shape,)
        answer = ask(callee, (tuple(1 for _ in sizes), *rest), kwargs)
        require_fit(rest[:1], answer.dtype, casts=True)
        value = tensor_of(rest[0]) if fill is None else torch.tensor(fill)
        symbols = [_symbol(size) for size in sizes]
        for symbol in symbols:
            at_least(current_recorder(), symbol, 0, "ValueError", "negative dimensions are not allowed")
        return HostArray(value.to(TORCH_DTYPES[answer.dtype]).expand(symbols).clone())

    return make


def _arange(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> HostArray:
    answer = ask(callee, args, kwargs)
    if answer.dtype not in TORCH_DTYPES or any(
        kind_of(value) != "int" and type(value) is not HostArray for value in args
    ):
        raise refused("`np.arange` with these bounds")
    symbols = [_symbol(value) for value in args]
    start, stop, step = (0, symbols[0], 1) if len(symbols) == 1 else (*symbols, 1)[:3]
    return HostArray(torch.arange(start, _end(start, stop, step), step).to(TORCH_DTYPES[answer.dtype]))


def _symbol(number: Any) -> Any:
    return number.symbol() if isinstance(number, HostValue) else symbol_of(number)


def _end(start: Any, stop: Any, step: Any) -> Any:
    """Where numbers end that are counted: at once, where PyTorch would complain that the end lies behind the start."""
    recorder = current_recorder()
    upwards = isinstance(start, int) and start <= 0 and isinstance(step, int) and step > 0
    if upwards and isinstance(stop, torch.SymInt) and is_size(recorder, stop):
        return stop
    first, last, stride = (
        recorder.materialise(bound) if isinstance(bound, torch.SymInt) else torch.tensor(bound)
        for bound in (start, stop, step)
    )
    if isinstance(step, torch.SymInt):
        recorder.check(torch.ne(stride, 0), "ZeroDivisionError", "division by zero")
    end = torch.where(torch.gt(stride, 0), torch.maximum(first, last), torch.minimum(first, last))
    return recorder.symbol_of(end)


def _allclose(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> HostValue:
    left, right = (tensor_of(value) for value in args[:2])
    wanted = torch.promote_types(torch.promote_types(left.dtype, right.dtype), torch.float32)
    options = dict(zip(("rtol", "atol", "equal_nan"), args[2:], strict=False)) | kwargs
    close = torch.isclose(left.to(wanted), right.to(wanted), **options)
    return HostValue("bool", close.all(), current_recorder())


def _array_equal(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs or len(args) != 2:
        raise refused("an option of `np.array_equal`")
    left, right = (tensor_of(value) for value in args)
    if not is_known(left) or not is_known(right):
        raise refused("`np.array_equal` of arrays whose sizes depend on the input")
    if left.shape != right.shape:
        return False
    return HostValue("bool", torch.eq(left, right).all(), current_recorder())


MAKERS: dict[Any, Callable[..., Any]] = {
    np.array: _array,
    np.asarray: _array,
    np.asanyarray: _array,
    np.ascontiguousarray: _contiguous,
    np.zeros: _filled(0),
    np.ones: _filled(1),
    np.full: _filled(None),
    np.arange: _arange,
    np.allclose: _allclose,
    np.array_equal: _array_equal,
    np.shape: lambda callee, args, kwargs: args[0].shape if hasattr(args[0], "shape") else tensor_of(args[0]).shape,
    np.ndim: lambda callee, args, kwargs: tensor_of(args[0]).dim(),
    np.size: lambda callee, args, kwargs: tensor_of(args[0]).numel(),
}
