"""Compare a program with its model on the example that it was compiled from."""

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from dycl.errors import CompileError
from dycl.rewrite.explore.diagnostics import own_mistake
from dycl.rewrite.normalise.source import span_of_function
from dycl.rewrite.state.heap.restored import left_as_it_was
from dycl.runtime import Program
from dycl.runtime.errors import DyclError

_TOLERANCE = 1e-3


class Disagreement(AssertionError):
    """A program gives another result than its model."""


def check(program: Program, model: nn.Module, method: str, args: Any, kwargs: Mapping[str, Any] | None) -> None:
    """Call both with copies of the example; CompileError if they do not agree. The model is left as it was."""
    positional = args if isinstance(args, tuple) else (args,)
    given = (positional, dict(kwargs or {}))
    compiled = _outcome(program, copy.deepcopy(given))
    with left_as_it_was(model), torch.no_grad():
        eager = _outcome(getattr(model, method) if method != "forward" else model, copy.deepcopy(given))
        try:
            # While the model is as the call left it: a result may be a view of its state.
            _compare(eager, compiled, "the result")
        except Disagreement as error:
            raise CompileError([own_mistake(error, (span_of_function(getattr(model, method)),))]) from error


def _outcome(callee: Any, given: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
    """What a call returns, or the error that it raises."""
    try:
        return callee(*given[0], **given[1])
    except Exception as error:
        return error


def _compare(eager: Any, compiled: Any, name: str) -> None:
    match eager:
        case torch.Tensor():
            _compare_tensors(eager, compiled, name)
        case Exception():
            # An error of another kind than Python's own, and one that a backend raises, is an error of DyCL's there.
            same = type(compiled) is type(eager) or isinstance(compiled, DyclError)
            _require(same, f"{name} is {compiled!r}, the model raises {type(eager).__name__}: {eager}")
        case dict():
            _require(isinstance(compiled, dict) and list(compiled) == list(eager), f"{name} has other keys")
            for key, value in eager.items():
                _compare(value, compiled[key], f"{name}[{key!r}]")
        case list() | tuple():
            kind = tuple if type(eager) is torch.Size else type(eager)
            _require(type(compiled) is kind, f"{name} is of type {type(compiled).__name__}")
            _require(len(compiled) == len(eager), f"{name} has {len(compiled)} items, the model's has {len(eager)}")
            for number, (left, right) in enumerate(zip(eager, compiled, strict=True)):
                _compare(left, right, f"{name}[{number}]")
        case np.ndarray() | np.generic():
            _require(type(compiled) is type(eager), f"{name} is of type {type(compiled).__name__}")
            _require(compiled.dtype == eager.dtype, f"{name} is of {compiled.dtype}, the model's is of {eager.dtype}")
            _compare_tensors(torch.as_tensor(eager), torch.as_tensor(compiled), name)
        case float():
            _compare_tensors(torch.tensor(eager), torch.as_tensor(compiled), name)
        case _ if dataclasses.is_dataclass(eager):
            _require(type(compiled) is type(eager), f"{name} is of type {type(compiled).__name__}")
            for field in dataclasses.fields(eager):
                _compare(getattr(eager, field.name), getattr(compiled, field.name), f"{name}.{field.name}")
        case _:
            _require(bool(compiled == eager), f"{name} is {compiled!r}, the model gives {eager!r}")


def _compare_tensors(eager: torch.Tensor, compiled: Any, name: str) -> None:
    _require(isinstance(compiled, torch.Tensor), f"{name} is {compiled!r}, the model gives a tensor")
    kinds = (compiled.dtype, tuple(compiled.shape)), (eager.dtype, tuple(eager.shape))
    _require(kinds[0] == kinds[1], f"{name} is of type and shape {kinds[0]}, the model's is {kinds[1]}")
    if not eager.is_floating_point() and not eager.is_complex():
        _require(torch.equal(eager, compiled), f"{name} has other elements than the model's")
        return
    scale = float(eager[eager.isfinite()].abs().max()) if bool(eager.isfinite().any()) else 1.0
    close = torch.isclose(eager, compiled, rtol=_TOLERANCE, atol=_TOLERANCE * max(1.0, scale), equal_nan=True)
    _require(bool(close.all()), f"{name} differs from the model's in {int((~close).sum())} of {close.numel()} elements")


def _require(holds: bool, told: str) -> None:
    if not holds:
        raise Disagreement(f"the program disagrees with the model on the example: {told}")
