"""Numbers written into arrays of NumPy: what does not fit is an error of Python's, what has other forms is NumPy's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

_WRONG = (ValueError, OverflowError, TypeError, RuntimeError)


def _array(x: Tensor, dtype: Any) -> Any:
    return x.clamp(-5, 5).numpy().astype(dtype)


def _written(array: Any, index: Any, value: Any) -> Any:
    array[index] = value
    return array


def _filled(array: Any, value: Any) -> Any:
    array.fill(value)
    return array


def _rule(write: Callable[[Tensor, float], Any], *values: float) -> Callable[[Tensor], Any]:
    """A program that writes one of three numbers, which hangs on the input."""

    def rule(x: Tensor) -> Any:
        value = torch.tensor([values[0], 0.0, values[1], 0.0, values[2]])[x[0].long() + 1].item()
        try:
            return write(x, value)
        except _WRONG as error:
            return type(error).__name__

    return rule


_NONE, _FAR = (float("nan"), float("inf"), -0.5), (1e30, -300.7, 300.2)

an_element = _rule(lambda x, value: _written(_array(x, np.int64), 0, value), *_NONE)
an_element_far = _rule(lambda x, value: _written(_array(x, np.int64), 0, value), *_FAR)
a_narrow_element = _rule(lambda x, value: _written(_array(x, np.int8), 1, value), *_FAR)
a_flag = _rule(lambda x, value: _written(_array(x, np.bool_), 0, value), *_NONE)
a_slice = _rule(lambda x, value: _written(_array(x, np.uint8), slice(0, 2), value), *_FAR)
items_of_a_list = _rule(lambda x, value: _written(_array(x, np.int64), slice(0, 2), [value, 1.5]), *_NONE)
where_a_mask_is = _rule(lambda x, value: _written(_array(x, np.int64), _array(x, np.int64) > 0, value), *_NONE)
all_elements = _rule(lambda x, value: _filled(_array(x, np.int32), value), *_FAR)
made_of_numbers = _rule(lambda x, value: np.array([value, 1], dtype=np.int16), *_FAR)
made_of_no_numbers = _rule(lambda x, value: np.asarray([value], dtype=np.int64), *_NONE)
a_scalar = _rule(lambda x, value: np.int64(value), *_NONE)
a_narrow_scalar = _rule(lambda x, value: np.int32(value), 1e12, -5.5, 7.0)
a_tensor = _rule(lambda x, value: torch.tensor([value, 1], dtype=torch.int64), *_NONE)
a_narrow_tensor = _rule(lambda x, value: torch.tensor(value, dtype=torch.int8), *_FAR)
an_old_tensor = _rule(lambda x, value: torch.LongTensor([value]), *_NONE)


def known_numbers(x: Tensor) -> Any:
    found: list[Any] = []
    for dtype in (np.int64, np.int8, np.uint8, np.bool_):
        for value in (float("nan"), float("inf"), 1e30, 300.7, -5.5):
            try:
                found.append(_written(np.zeros(2, dtype) + _array(x, dtype), 0, value))
            except _WRONG as error:
                found.append(type(error).__name__)
    return found if x.sum() > 0 else found[::-1]


def shared_with_an_array(x: Tensor) -> Any:
    array = (x * 2).numpy()
    shared, other = torch.Tensor(array), torch.FloatTensor(array)
    array[0] = 9
    if x.sum() > 0:
        other.add_(1)
    return shared, other, torch.from_numpy(array)


def not_shared_with_an_array(x: Tensor) -> Any:
    array = (x * 2).numpy().astype(np.float64)
    made = torch.Tensor(array)
    array[0] = 9
    return made if x.sum() > 0 else made + 1


def whole_numbers_shared(x: Tensor) -> Any:
    array = x.long().numpy()
    shared = torch.LongTensor(array)
    if x.sum() > 0:
        array[:] = 7
    return shared
