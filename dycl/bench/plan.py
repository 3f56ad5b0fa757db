"""Which networks to measure, and how."""

from collections.abc import Sequence

from dycl.bench.settings import Settings
from dycl.zoo import Size

__all__ = ["Settings", "quick", "whole"]

_INPUTS = {"small": 1000, "full": 100}
_TIMED = {"small": 50, "full": 20}


def quick(names: Sequence[str], backends: Sequence[str]) -> list[Settings]:
    """A first look at small networks."""
    return [
        Settings(name, "small", 1, backend, inputs=100, timed=10, seconds=2.0, patience=12.0)
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
    """Every network in every size, on every backend, with every number of threads."""
    return [
        Settings(name, size, count, backend, inputs or _INPUTS[size], _TIMED[size], seconds, patience)
        for size in sizes
        for name in names
        for backend in backends
        for count in threads
    ]
