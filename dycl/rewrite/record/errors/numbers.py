"""What PyTorch refuses because of a number that only the input determines: a step of 0, a negative exponent.

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
    **{f"aten.arange.{form}": _counted for form in ("default", "start", "start_step")},
    "aten.pow.Tensor_Scalar": _power,
    "aten.pow_.Scalar": _power,
    "aten.softshrink.default": _shrunk,
    "aten.binary_cross_entropy.default": _probabilities,
}
