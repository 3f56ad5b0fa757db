"""What a call makes anew each time and nothing but its text tells apart: ranges, limits of types, classes with arguments."""

from typing import Any

import numpy as np
import torch
from torch import Tensor


def ranges_that_are_equal_keep_their_ends(x: Tensor) -> Any:
    window = range(0, 5, 2) if x[0] > 0 else range(0, 6, 2)
    y = x * 2
    if y[1] > 0:
        y = y + 1
    return window.stop, window == range(0, 5, 2), list(window), y


def limits_of_element_types_outlast_decisions(x: Tensor) -> Any:
    floats, whole = torch.finfo(x.dtype), torch.iinfo(torch.int8)
    steps = 0
    while x.sum() < 9:
        x, steps = x + 1 + floats.eps, steps + whole.max
    return x.clamp(max=floats.max), steps, floats == torch.finfo(torch.float32)


def classes_with_arguments_are_the_same_each_time(x: Tensor) -> Any:
    kind, step = list[int], np.dtype("float32")
    while x.sum() < 9:
        x, kind, step = x + 1, int | str, np.dtype("float32")
    return x, kind == (int | str), step.itemsize
