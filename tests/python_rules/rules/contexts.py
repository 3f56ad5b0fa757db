"""What `with` gives, and context managers that are made from others."""

import contextlib
import threading
import traceback
import warnings
from typing import Any

import torch
from torch import Tensor

from tests.python_rules.rule import refused


class _Three(contextlib.nullcontext[Any]):
    def __enter__(self) -> Any:
        return 3


class _Swallowing(contextlib.suppress):
    hit = False

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        self.hit = kind is ValueError
        return super().__exit__(kind, error, trace) or self.hit


class _Counting(torch.no_grad):
    def __enter__(self) -> None:
        super().__enter__()


class _Where:
    where = ""

    def __enter__(self) -> "_Where":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        self.where = trace.tb_frame.f_code.co_name if kind is ValueError else "nowhere"
        return kind is ValueError


def what_with_gives(x: Tensor) -> Any:
    held: dict[str, Any] = {}
    with torch.no_grad() as first, torch.enable_grad() as second, torch.inference_mode() as third:
        y = x + 1
    with threading.Lock() as lock, threading.RLock() as held["other"], warnings.catch_warnings() as caught:
        y = y * 2 if x[0] > 0 else y
    with contextlib.nullcontext(7) as seven, contextlib.suppress(KeyError) as nothing:
        y = y + 1
    return y, first, second, third, lock, held, caught, seven, nothing


def made_from_others(x: Tensor) -> Any:
    with _Three() as three:
        y = x + 1
    with _Swallowing(KeyError) as _:
        if x[0] > 0:
            raise ValueError
        y = y * 2
    return y, three


@refused("DY002")
def made_from_a_mode(x: Tensor) -> Any:
    with _Counting():
        return x if x[0] > 0 else -x


@refused("DY002")
def recorded_warnings(x: Tensor) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        y = x + 1 if x[0] > 0 else x
    return y, "some" if caught else "none"


@refused("DY002")
def warnings_as_errors(x: Tensor) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            if x[0] > 0:
                warnings.warn("now", stacklevel=1)
        except UserWarning as error:
            return str(error)
    return "none"


@refused("DY002")
def frame_of_a_traceback(x: Tensor) -> Any:
    with _Where() as found:
        if x[0] > 0:
            raise ValueError
    return found.where


@refused("DY002")
def names_in_a_traceback(x: Tensor) -> Any:
    try:
        if x[0] > 0:
            raise ValueError
    except ValueError as error:
        return [entry.name for entry in traceback.extract_tb(error.__traceback__)]
    return []
