"""Settings of the process that Python code can ask for, and that a call must leave as they are."""

import decimal
import gc
import os
import sys
from collections.abc import Callable
from typing import Any

import torch

from dycl.rewrite.state.heap.guards import Guard


def setting_guards() -> list[Guard]:
    """A guard for each setting that a program can change past all objects."""
    return [_guard(*setting) for setting in _SETTINGS]


def _guard(name: str, read: Callable[[], Any], write: Callable[[Any], Any]) -> Guard:
    before = read()

    def restore() -> None:
        if read() != before:
            write(before)

    return Guard(lambda: None if read() == before else name, restore)


def _precision() -> tuple[int, str]:
    context = decimal.getcontext()
    return context.prec, context.rounding


def _set_precision(told: tuple[int, str]) -> None:
    context = decimal.getcontext()
    context.prec, context.rounding = told


def _environment() -> dict[str, str]:
    return dict(os.environ)


def _set_environment(told: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(told)


def _print_options() -> dict[str, Any]:
    return dict(vars(torch._tensor_str.PRINT_OPTS))


def _set_print_options(told: dict[str, Any]) -> None:
    vars(torch._tensor_str.PRINT_OPTS).update(told)


def _collect_garbage(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()


_SETTINGS: tuple[tuple[str, Callable[[], Any], Callable[[Any], Any]], ...] = (
    ("PyTorch's default element type", torch.get_default_dtype, torch.set_default_dtype),
    ("how deep calls may be nested", sys.getrecursionlimit, sys.setrecursionlimit),
    ("the precision of decimal numbers", _precision, _set_precision),
    ("the variables of the environment", _environment, _set_environment),
    ("the folder that the process is in", os.getcwd, os.chdir),
    ("how PyTorch writes tensors out", _print_options, _set_print_options),
    ("how many threads PyTorch uses", torch.get_num_threads, torch.set_num_threads),
    ("whether Python collects garbage", gc.isenabled, _collect_garbage),
)
