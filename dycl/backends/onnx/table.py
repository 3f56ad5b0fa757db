"""The table of lowerings: which ATen operation is translated by which function."""

from collections.abc import Callable, Sequence

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.values import Value

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
