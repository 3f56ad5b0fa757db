"""Between NumPy's values and tensors: what NumPy answers for zeros, and results in the form of that answer."""

import warnings
from collections.abc import Iterator
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
    """What NumPy answers for zeros; an error that it raises is the model's own."""
    with quietly():
        return callee(*(stand_in(value) for value in args), **{name: stand_in(v) for name, v in kwargs.items()})


def stand_in(value: Any) -> Any:
    """The same argument with zeros in the place of contents that only the input determines."""
    if type(value) is HostArray:
        return value.stand_in(0)
    if isinstance(value, HostValue):
        return PYTHON_TYPES[value.kind](1)
    if isinstance(value, torch.Tensor):
        return torch.zeros([size if isinstance(size, int) else 1 for size in value.shape], dtype=value.dtype)
    if type(value) in (list, tuple):
        return type(value)([stand_in(part) for part in value])
    return value


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
