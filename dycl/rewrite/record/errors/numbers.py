"""What PyTorch refuses because of a number that only the input determines: one that does not fit, a step of 0.

While compiling, PyTorch sees a symbol and takes it for a number that is fine. So the operation gets a check, which it
comes after.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.operations import is_refused

_SYMBOLS = (torch.SymInt, torch.SymFloat)


def _require(recorder: Records, condition: Tensor, message: str, guards: bool = True) -> None:
    recorder.check(condition, "RuntimeError", message, guards)


def _tensor(recorder: Records, number: Any) -> Tensor:
    return recorder.materialise(number) if isinstance(number, _SYMBOLS) else torch.tensor(number, dtype=_type(number))


def _type(number: Any) -> torch.dtype:
    return torch.float64 if isinstance(number, float) else torch.int64


def require_fit(recorder: Records, number: Any, dtype: torch.dtype, guards: bool = True) -> None:
    """Check that a number can be converted to an element type, as PyTorch does for numbers that are stored."""
    if not isinstance(number, _SYMBOLS) or dtype in (torch.bool, torch.float64) or dtype.is_complex:
        return
    if dtype == torch.int64 and isinstance(number, torch.SymInt):
        return
    value = recorder.materialise(number)
    if dtype.is_floating_point:
        inside = torch.logical_not(torch.gt(torch.abs(value), torch.finfo(dtype).max))
        fits = torch.logical_or(inside, torch.isinf(value)) if isinstance(number, torch.SymFloat) else inside
    else:
        limits = torch.iinfo(dtype)
        low = limits.min if limits.min else -limits.max  # PyTorch lets negative numbers wrap around
        fits = torch.logical_and(torch.ge(value, low), torch.le(value, limits.max))
    name = str(dtype).removeprefix("torch.")
    _require(recorder, fits, f"value cannot be converted to type {name} without overflow", guards)


def _stored(place: int, *names: str) -> Callable[..., Any]:
    """A number that becomes an element of a tensor like the first."""

    def rule(recorder: Records, tensor: Tensor, *args: Any, dtype: torch.dtype | None = None, **kwargs: Any) -> Any:
        numbers = [*args[place - 1 :], *(kwargs[name] for name in names if name in kwargs)]
        for number in numbers:
            require_fit(recorder, number, dtype or tensor.dtype)
        return ()

    return rule


def _full(recorder: Records, size: Any, value: Any, *, dtype: torch.dtype | None = None, **_: Any) -> Any:
    if dtype is not None:
        require_fit(recorder, value, dtype)
    elif isinstance(value, torch.SymFloat):
        require_fit(recorder, value, torch.get_default_dtype())
    return ()


def _clamped(recorder: Records, tensor: Tensor, *bounds: Any, **named: Any) -> Any:
    """Bounds are converted to the result's type, which is that of the tensor unless a float meets whole numbers."""
    for bound in (*bounds, *named.values()):
        if tensor.is_floating_point() or isinstance(bound, torch.SymInt):
            require_fit(recorder, bound, tensor.dtype)
    return ()


def _chosen(recorder: Records, condition: Tensor, first: Any, second: Any) -> Any:
    """A number among the elements of a tensor has its type, unless it is a float among whole numbers."""
    tensor, number = (first, second) if isinstance(first, Tensor) else (second, first)
    floating = isinstance(number, torch.SymFloat) and not tensor.is_floating_point()
    require_fit(recorder, number, torch.get_default_dtype() if floating else tensor.dtype)
    return ()


def _counted(recorder: Records, *bounds: Any, **_: Any) -> Any:
    """The bounds of a range; where all are whole numbers and the step is known, `size_errors` looks at them."""
    start, end, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    given = (start, end, step)
    if isinstance(step, int) and all(isinstance(bound, int | torch.SymInt) for bound in given):
        return ()
    first, last, stride = (_tensor(recorder, bound) for bound in given)
    if isinstance(step, _SYMBOLS):
        _require(recorder, torch.ne(stride, 0), "step must be nonzero")
    if isinstance(step, torch.SymFloat) and is_refused(_count_by_infinity):  # from PyTorch 2.15 on
        _require(recorder, torch.isfinite(stride), "step must be finite")
    for bound, value in ((start, first), (end, last)):
        if isinstance(bound, torch.SymFloat):
            _require(recorder, torch.isfinite(value), "unsupported range")
    upwards = torch.logical_and(torch.gt(stride, 0), torch.ge(last, first))
    downwards = torch.logical_and(torch.lt(stride, 0), torch.le(last, first))
    message = "upper bound and lower bound inconsistent with step sign"
    _require(recorder, torch.logical_or(upwards, downwards), message)
    return ()


def _count_by_infinity() -> Tensor:
    return torch.arange(0.0, 5.0, float("inf"))


def _power(recorder: Records, base: Tensor, exponent: Any) -> Any:
    if isinstance(exponent, torch.SymInt) and not base.is_floating_point():
        message = "Integers to negative integer powers are not allowed."
        _require(recorder, torch.ge(recorder.materialise(exponent), 0), message)
    return ()


def _shrunk(recorder: Records, tensor: Tensor, bound: Any = 0.5) -> Any:
    if isinstance(bound, _SYMBOLS):
        value, most = recorder.materialise(bound), torch.finfo(tensor.dtype).max
        inside = torch.logical_and(torch.ge(value, 0), torch.le(value, most))
        _require(recorder, inside, f"lambda must be in range [0, {most}]")
    return ()


def not_below_zero(recorder: Records, number: Any, message: str) -> None:
    """Check that a number is not negative."""
    if isinstance(number, torch.SymInt):
        _require(recorder, torch.ge(recorder.materialise(number), 0), message)


def _probabilities(recorder: Records, tensor: Tensor, target: Tensor, *_: Any, **__: Any) -> Any:
    for name, values in (("input", tensor), ("target", target)):
        inside = torch.logical_and(torch.ge(values, 0), torch.le(values, 1)).all()
        message = f"all elements of {name} should be between 0 and 1"
        if recorder.is_dynamic(inside):
            recorder.check(inside, "RuntimeError", message)
        elif not inside:
            raise RuntimeError(message)
    return ()


RULES: dict[str, Callable[..., Any]] = {
    "aten.fill.Scalar": _stored(1, "value"),
    "aten.fill_.Scalar": _stored(1, "value"),
    "aten.full_like.default": _stored(1, "fill_value"),
    "aten.new_full.default": _stored(2, "fill_value"),
    "aten.full.default": _full,
    "aten.masked_fill.Scalar": _stored(2, "value"),
    "aten.masked_fill_.Scalar": _stored(2, "value"),
    "aten.where.ScalarOther": _chosen,
    "aten.where.ScalarSelf": _chosen,
    "aten.constant_pad_nd.default": _stored(2, "value"),
    **{f"aten.{name}.default": _clamped for name in ("clamp", "clamp_", "clamp_min", "clamp_max", "hardtanh")},
    **{f"aten.arange.{form}": _counted for form in ("default", "start", "start_step")},
    "aten.pow.Tensor_Scalar": _power,
    "aten.pow_.Scalar": _power,
    "aten.softshrink.default": _shrunk,
    "aten.binary_cross_entropy.default": _probabilities,
}
