"""NumPy's element-wise functions as tensor operations, in NumPy's own element types."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

Compute = Callable[..., torch.Tensor]


def _is_bool(tensor: torch.Tensor) -> bool:
    return tensor.dtype == torch.bool


def _add(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return torch.logical_or(left, right) if _is_bool(left) else torch.add(left, right)


def _multiply(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return torch.logical_and(left, right) if _is_bool(left) else torch.mul(left, right)


def _without_zeros(function: Compute) -> Compute:
    """Division of whole numbers, where NumPy answers a division by zero with zero."""

    def divide(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        if left.is_floating_point():
            return function(left, right)
        zero = torch.eq(right, 0)
        result = function(left, torch.where(zero, torch.ones_like(right), right))
        return torch.where(zero, torch.zeros_like(result), result)

    return divide


def _sign(number: torch.Tensor) -> torch.Tensor:
    signs = torch.sign(number)
    return torch.where(torch.isnan(number), number, signs) if number.is_floating_point() else signs


def _maximum(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return torch.logical_or(left, right) if _is_bool(left) else torch.maximum(left, right)


def _minimum(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return torch.logical_and(left, right) if _is_bool(left) else torch.minimum(left, right)


def _unchanged(number: torch.Tensor) -> torch.Tensor:
    return number.clone()


def _whole_or(function: Compute) -> Compute:
    """Rounding leaves whole numbers alone."""
    return lambda number: function(number) if number.is_floating_point() else number.clone()


def _never(number: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(number, dtype=torch.bool)


def _of_float(function: Compute, otherwise: Compute = _never) -> Compute:
    return lambda number: function(number) if number.is_floating_point() else otherwise(number)


def _always(number: torch.Tensor) -> torch.Tensor:
    return torch.ones_like(number, dtype=torch.bool)


def _cube_root(number: torch.Tensor) -> torch.Tensor:
    return torch.copysign(torch.pow(torch.abs(number), 1 / 3), number)


UFUNCS: dict[Any, Compute] = {
    np.add: _add,
    np.subtract: torch.sub,
    np.multiply: _multiply,
    np.true_divide: torch.div,
    np.floor_divide: _without_zeros(torch.floor_divide),
    np.remainder: _without_zeros(torch.remainder),
    np.fmod: _without_zeros(torch.fmod),
    np.power: torch.pow,
    np.float_power: torch.pow,
    np.negative: torch.neg,
    np.positive: _unchanged,
    np.absolute: lambda number: number.clone() if _is_bool(number) else torch.abs(number),
    np.fabs: torch.abs,
    np.sign: _sign,
    np.square: lambda number: _multiply(number, number),
    np.sqrt: torch.sqrt,
    np.cbrt: _cube_root,
    np.exp: torch.exp,
    np.exp2: torch.exp2,
    np.expm1: torch.expm1,
    np.log: torch.log,
    np.log2: torch.log2,
    np.log10: torch.log10,
    np.log1p: torch.log1p,
    np.sin: torch.sin,
    np.cos: torch.cos,
    np.tan: torch.tan,
    np.arcsin: torch.asin,
    np.arccos: torch.acos,
    np.arctan: torch.atan,
    np.arctan2: torch.atan2,
    np.sinh: torch.sinh,
    np.cosh: torch.cosh,
    np.tanh: torch.tanh,
    np.hypot: torch.hypot,
    np.degrees: lambda number: number * (180.0 / np.pi),
    np.rad2deg: lambda number: number * (180.0 / np.pi),
    np.radians: lambda number: number * (np.pi / 180.0),
    np.deg2rad: lambda number: number * (np.pi / 180.0),
    np.maximum: _maximum,
    np.minimum: _minimum,
    np.fmax: lambda left, right: torch.fmax(left, right) if left.is_floating_point() else _maximum(left, right),
    np.fmin: lambda left, right: torch.fmin(left, right) if left.is_floating_point() else _minimum(left, right),
    np.floor: _whole_or(torch.floor),
    np.ceil: _whole_or(torch.ceil),
    np.trunc: _whole_or(torch.trunc),
    np.rint: _whole_or(torch.round),
    np.isnan: _of_float(torch.isnan),
    np.isinf: _of_float(torch.isinf),
    np.isfinite: _of_float(torch.isfinite, _always),
    np.signbit: _of_float(torch.signbit),
    np.copysign: torch.copysign,
    np.equal: torch.eq,
    np.not_equal: torch.ne,
    np.less: torch.lt,
    np.less_equal: torch.le,
    np.greater: torch.gt,
    np.greater_equal: torch.ge,
    np.logical_and: torch.logical_and,
    np.logical_or: torch.logical_or,
    np.logical_xor: torch.logical_xor,
    np.logical_not: torch.logical_not,
    np.bitwise_and: torch.bitwise_and,
    np.bitwise_or: torch.bitwise_or,
    np.bitwise_xor: torch.bitwise_xor,
    np.invert: torch.bitwise_not,
    np.left_shift: torch.bitwise_left_shift,
    np.right_shift: torch.bitwise_right_shift,
    np.matmul: torch.matmul,
}
