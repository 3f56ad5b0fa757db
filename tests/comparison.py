"""Compare a compiled program with eager PyTorch: nesting, kinds, numbers and the path itself."""

import dataclasses
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

import dycl


def assert_same(eager: Any, compiled: Any, tolerance: float = 1e-5) -> None:
    """The compiled result has the nesting, types and values of the eager one, up to `tolerance` of its scale."""
    if isinstance(eager, torch.Tensor):
        assert isinstance(compiled, torch.Tensor)
        assert (compiled.dtype, compiled.shape) == (eager.dtype, eager.shape)
        if eager.is_floating_point() and eager.numel():
            scale = max(1.0, float(eager.abs().max()))
            assert float((eager - compiled).abs().max()) <= tolerance * scale
        else:
            assert torch.equal(eager, compiled)
        return
    assert type(compiled) is type(eager)
    if isinstance(eager, dict):
        assert list(compiled) == list(eager)
        for key in eager:
            assert_same(eager[key], compiled[key], tolerance)
    elif isinstance(eager, tuple | list):
        assert len(compiled) == len(eager)
        for left, right in zip(eager, compiled, strict=True):
            assert_same(left, right, tolerance)
    elif dataclasses.is_dataclass(eager):
        for field in dataclasses.fields(eager):
            assert_same(getattr(eager, field.name), getattr(compiled, field.name), tolerance)
    elif isinstance(eager, np.ndarray):
        assert (compiled.dtype, compiled.shape) == (eager.dtype, eager.shape)
        assert np.allclose(eager, compiled, rtol=tolerance, atol=tolerance, equal_nan=True)
    elif isinstance(eager, float | np.floating):
        assert abs(eager - compiled) <= tolerance * max(1.0, abs(float(eager)))
    else:
        assert compiled == eager


class EagerPath(TorchFunctionMode):
    """Records the line and outcome of every decision on a tensor while a model runs in eager PyTorch."""

    def __init__(self, filename: str) -> None:
        super().__init__()
        self.filename = filename
        self.decisions: list[tuple[int, bool]] = []

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is torch.Tensor.__bool__:
            frame = sys._getframe(1)
            while frame.f_code.co_filename != self.filename:
                assert frame.f_back is not None
                frame = frame.f_back
            self.decisions.append((frame.f_lineno, bool(result)))
        return result


class Calls(nn.Module):
    """A function as a model."""

    def __init__(self, function: Callable[[torch.Tensor], object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> object:
        return self.function(x)


def run_eagerly(model: nn.Module, inputs: tuple[Any, ...], filename: str) -> tuple[Any, list[tuple[int, bool]]]:
    """The model's result and the decisions on the way, in eager PyTorch."""
    with torch.no_grad(), EagerPath(filename) as path:
        result = model(*inputs)
    return result, path.decisions


def taken(trace: dycl.Trace) -> list[tuple[int, bool]]:
    """The decisions of a compiled run in the form of `run_eagerly`."""
    return [(decision.span.line, bool(decision.outcome)) for decision in trace.path.decisions]


class CallsWithTwo(nn.Module):
    """A function of two tensors as a model."""

    def __init__(self, function: Callable[[torch.Tensor, torch.Tensor], object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> object:
        return self.function(x, y)


def outcome_of(function: Callable[..., Any], *args: Any) -> Any:
    """The result, or the kind of error."""
    try:
        return function(*args)
    except Exception as error:
        return next(kind for kind in (IndexError, ValueError, RuntimeError) if isinstance(error, kind))
