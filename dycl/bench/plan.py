"""Which networks to measure, and how."""

from collections.abc import Sequence

from dycl.bench.settings import Settings
from dycl.zoo import Size

__all__ = ["Settings", "quick", "whole"]

_INPUTS = {"small": 1000, "full": 100}
_TIMED = {"small": 50, "full": 10}


def quick(names: Sequence[str], backends: Sequence[str]) -> list[Settings]:
    """A first look at small networks."""
    return [
        Settings(name, "small", 1, backend, inputs=100, timed=5, seconds=1.0, patience=20.0)
        for name in names
        for backend in backends
    ]


def whole(
    names: Sequence[str],
    sizes: Sequence[Size],
    backends: Sequence[str],
    threads: Sequence[int],
    *,
    inputs: int | None,
    seconds: float,
    patience: float,
) -> list[Settings]:
    """Every network in every size, on every backend, with every number of threads.

    All inputs are compared with the first number of threads, and those that are timed with the others. Small networks
    run with the first alone: they are too small for several.
    """
    return [
        Settings(
            name,
            size,
            count,
            backend,
            (inputs or _INPUTS[size]) if count == threads[0] else _TIMED[size],
            _TIMED[size],
            seconds,
            patience,
        )
        for size in sizes
        for name in names
        for backend in backends
        for count in (threads if size == "full" else threads[:1])
    ]
