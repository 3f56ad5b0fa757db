"""The table of lowerings: which ATen operation is translated by which function."""

from collections.abc import Callable, Sequence

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.values import Value, wider

Lowering = Callable[[Builder, Arguments], Value | Sequence[Value]]

LOWERINGS: dict[str, Lowering] = {}


def lowers(*targets: str) -> Callable[[Lowering], Lowering]:
    """Enter the decorated function as the translation of these operations."""

    def enter(lowering: Lowering) -> Lowering:
        for target in targets:
            assert target not in LOWERINGS, f"two lowerings for {target}"
            LOWERINGS[target] = lowering
        return lowering

    return enter


def in_single_precision(lowering: Lowering) -> Lowering:
    """Let the decorated function compute in float32 what PyTorch does for half precision: with numbers as they are.

    A number that half precision cannot hold is no infinity then, nor is a small one zero.
    """
    return _widened(lowering, rounds=False)


def in_single_precision_of_rounded(lowering: Lowering) -> Lowering:
    """The same, for operations of which PyTorch rounds the numbers to half precision first."""
    return _widened(lowering, rounds=True)


def _widened(lowering: Lowering, rounds: bool) -> Lowering:
    def wide(b: Builder, a: Arguments) -> Value | Sequence[Value]:
        if a.result.dtype == wider(a.result.dtype):
            return lowering(b, a)
        results = lowering(b, a.in_single_precision(rounds))
        if isinstance(results, Value):
            return b.cast(results, a.result.dtype)
        return [b.cast(value, kind.dtype) for value, kind in zip(results, a.results, strict=True)]

    return wide
