"""How far rounding alone moves the results of a program.

Most numbers of the programs are exact, but some go through `tanh` and the like, whose last bits differ from library to
library, and a program may then take a high power of them. How much such a difference may grow is found by trying:
eager PyTorch runs again with the last bits of every inexact number changed at random.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tests.comparison import assert_same

TRIALS = 3
MARGIN = 4
_LEAST, _MOST = 1e-5, 1e-2


class LastBits(TorchFunctionMode):
    """Changes the last bits of what operations compute; whole numbers stay, and so does what shares memory."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._generator = torch.Generator().manual_seed(seed)

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if not isinstance(result, torch.Tensor) or not result.is_floating_point():
            return result
        memory = result.untyped_storage().data_ptr()
        if any(isinstance(value, torch.Tensor) and value.untyped_storage().data_ptr() == memory for value in args):
            return result
        noise = torch.empty(result.shape).uniform_(-1, 1, generator=self._generator) * 2.0**-22
        return torch.where(result == result.round(), result, result * (1 + noise))


def assert_same_but_for_rounding(eager: Any, compiled: Any, run: Callable[[], Any]) -> None:
    """The compiled result is the eager one; where it is not, changed last bits move the eager one as far.

    `run` gives the eager result once more.
    """
    changed = None
    tolerance = _LEAST
    while not _same(eager, compiled, tolerance):
        changed = changed if changed is not None else [_with_changed_bits(run, seed) for seed in range(TRIALS)]
        if tolerance > _MOST or all(_same(eager, other, tolerance / MARGIN) for other in changed):
            assert_same(eager, compiled, tolerance)
        tolerance *= 2


def _with_changed_bits(run: Callable[[], Any], seed: int) -> Any:
    with torch.no_grad(), LastBits(seed):
        return run()


def _same(eager: Any, other: Any, tolerance: float) -> bool:
    try:
        assert_same(eager, other, tolerance)
    except AssertionError:
        return False
    return True
