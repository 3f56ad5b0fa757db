"""Between NumPy's values and tensors: what NumPy answers for zeros, and results in the form of that answer."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

from dycl.hcfg.types import HostKind
from dycl.rewrite.record.host_arrays import TORCH_DTYPES, HostArray, current_recorder, refused
from dycl.rewrite.record.host_values import DTYPES, HostValue
from dycl.rewrite.record.number_classes import PYTHON_TYPES


def number_of_scalar(value: HostArray) -> HostValue:
    """The one element as the number that Python makes of it."""
    dtype = value.tensor.dtype
    kind: HostKind = "bool" if dtype == torch.bool else "float" if dtype.is_floating_point else "int"
    recorder = current_recorder()
    return HostValue(kind, recorder.number(value.tensor.to(DTYPES[kind])), recorder)


def symbol_of(value: Any) -> Any:
    """A NumPy scalar as the number that PyTorch takes it for."""
    return number_of_scalar(value).symbol() if type(value) is HostArray and value.scalar else value


@contextmanager
def quietly() -> Iterator[None]:
    """Let NumPy compute on zeros without a word, and without being recorded."""
    with _disable_current_modes(), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def ask(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy answers for zeros."""

    def called(size: int) -> Any:
        given = {name: stand_in(value, size) for name, value in kwargs.items()}
        return callee(*(stand_in(value, size) for value in args), **given)

    return answered(called, (args, kwargs))


def answered(call: Callable[[int], Any], given: Any) -> Any:
    """What NumPy answers, with some size in the place of open ones; an error is the model's own where none is open."""
    for size in _SIZES:
        try:
            with quietly():
                return call(size)
        except Exception:
            if not _is_open(given):
                raise
    raise refused("a call of NumPy's that fails for some sizes or numbers")


_SIZES = (1, 7, 60)


def _is_open(tree: Any) -> bool:
    """Whether a size or a number among these arguments is open."""
    if type(tree) is HostArray or isinstance(tree, torch.Tensor):
        shape = tree.tensor.shape if type(tree) is HostArray else tree.shape
        return (type(tree) is HostArray and tree.scalar) or not all(isinstance(size, int) for size in shape)
    if isinstance(tree, dict):
        return any(map(_is_open, tree.values()))
    if isinstance(tree, slice):
        return any(map(_is_open, (tree.start, tree.stop, tree.step)))
    return isinstance(tree, HostValue) or (isinstance(tree, list | tuple) and any(map(_is_open, tree)))


def stand_in(value: Any, size: int = 1) -> Any:
    """The same argument with zeros in the place of contents that only the input determines."""
    if type(value) is HostArray:
        return value.stand_in(0, size)
    if isinstance(value, HostValue):
        return PYTHON_TYPES[value.kind](1)
    if isinstance(value, torch.Tensor):
        return torch.zeros([known if isinstance(known, int) else size for known in value.shape], dtype=value.dtype)
    if type(value) in (list, tuple):
        return type(value)([stand_in(part, size) for part in value])
    return value


@contextmanager
def numpys_errors(**names: str) -> Iterator[None]:
    """Let checks raise what NumPy raises where PyTorch raises a RuntimeError, or others that are named."""
    recorder = current_recorder()
    outer, recorder.error_names = recorder.error_names, {"RuntimeError": "ValueError", **names}
    try:
        yield
    finally:
        recorder.error_names = outer


def tensor_of(value: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
    """The contents of anything that NumPy takes for an array."""
    if type(value) is HostArray or isinstance(value, HostValue):
        tensor = value.tensor
    elif isinstance(value, torch.Tensor):
        tensor = value
    elif isinstance(value, list | tuple) and _has_host(value):
        element = TORCH_DTYPES[ask(np.asarray, (value,), {}).dtype]
        tensor = torch.stack([tensor_of(part, element) for part in value])
    else:
        array = np.array(value)
        if array.dtype not in TORCH_DTYPES:
            raise refused(f"an array of type `{array.dtype}`")
        tensor = torch.from_numpy(array)
    return tensor if dtype is None else tensor.to(dtype)


def require_fit(tree: Any, element: Any, casts: bool = False) -> None:
    """Let the program raise NumPy's error where a number of Python's does not fit an element type of whole numbers.

    Where NumPy `casts`, any float will do. What it makes of a float of its own that does not fit hangs on how it came
    there and on the processor, so that is a limit.
    """
    if isinstance(tree, list | tuple):
        for part in tree:
            require_fit(part, element, casts)
        return
    if TORCH_DTYPES.get(element) not in _WHOLE:
        return
    limits = np.iinfo(element)
    if issubclass(type(tree), float) and not casts:
        fitting = int(tree)  # which raises Python's own errors
        np.array(fitting, element)
    elif type(tree) is int and not limits.min <= tree <= limits.max:
        raise OverflowError(f"Python integer {tree} out of bounds for {element}")
    elif isinstance(tree, HostValue) and tree.kind == "int" and element != np.int64:
        inside = torch.logical_and(torch.ge(tree.tensor, limits.min), torch.le(tree.tensor, limits.max))
        current_recorder().check(inside, "OverflowError", f"Python integer out of bounds for {element}")
    elif isinstance(tree, HostValue) and tree.kind == "float" and not casts:
        is_number = torch.logical_not(torch.isnan(tree.tensor))
        current_recorder().check(is_number, "ValueError", "cannot convert float NaN to integer")
        current_recorder().check(
            _fits(tree.tensor, limits), "OverflowError", f"Python float out of bounds for {element}"
        )
    elif type(tree) is HostArray and tree.scalar and tree.dtype.kind == "f" and not casts:
        message = f"a NumPy float that is no whole number in the range of {element}"
        current_recorder().check(_fits(tree.tensor, limits), "OverflowError", message, is_limit=True)


def _fits(numbers: torch.Tensor, limits: "np.iinfo[Any]") -> torch.Tensor:
    """Whether floats are in the range of whole numbers when what is behind the point is dropped."""
    numbers = numbers.to(torch.float64)
    return torch.logical_and(torch.gt(numbers, limits.min - 1.0), torch.lt(numbers, limits.max + 1.0))


_WHOLE = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def _has_host(tree: Any) -> bool:
    if isinstance(tree, list | tuple):
        return any(_has_host(part) for part in tree)
    return type(tree) is HostArray or isinstance(tree, HostValue | torch.Tensor)


def wrapped(answer: Any, value: Any) -> Any:
    """A result in the form of NumPy's own: array, scalar, tensor, or a tuple of them."""
    if isinstance(answer, tuple):
        return tuple(wrapped(part, item) for part, item in zip(answer, value, strict=True))
    if isinstance(answer, torch.Tensor):
        return value.to(answer.dtype).reshape(answer.shape) if is_known(value) else value.to(answer.dtype)
    if not isinstance(answer, np.ndarray | np.generic):
        raise refused(f"a result of type `{type(answer).__name__}`")
    if answer.dtype not in TORCH_DTYPES:
        raise refused(f"an array of type `{answer.dtype}`")
    if isinstance(answer, np.generic):
        return HostArray(current_recorder().number(value.to(TORCH_DTYPES[answer.dtype])), True)
    return HostArray(value if value.dtype == TORCH_DTYPES[answer.dtype] else value.to(TORCH_DTYPES[answer.dtype]))


def is_known(tensor: torch.Tensor) -> bool:
    """Whether all sizes of a tensor are known while compiling."""
    return all(isinstance(size, int) for size in tensor.shape)


def is_flag(value: Any) -> bool:
    """Whether this is one of NumPy's two flags, `np.True_` and `np.False_`, known or not."""
    if type(value) is HostArray:
        return value.scalar and value.tensor.dtype == torch.bool
    return isinstance(value, np.bool_)
