"""What sub-DNNs are tried with: values that they meet, others like them, and values at the edges."""

from collections.abc import Callable, Sequence

import torch

from dycl.hcfg.subnet import SubnetGraph

Values = list[torch.Tensor]

_LARGE = 1e3
_SEED = 20_231
_NUDGE = 2.0**-20
_OPEN = 3
"""What an open size is where nothing says what it may be."""


def samples(graph: SubnetGraph, met: Sequence[torch.Tensor]) -> dict[str, Values]:
    """The values that a sub-DNN was met with, and more of the same types and shapes, each set by a name.

    Whole numbers and flags stay as they are: what they mean, such as a place or a size, only the program knows.
    """
    made = {"met": list(met)}
    if any(tensor.is_floating_point() for tensor in met):
        made |= {name: _each(met, change) for name, change in _CHANGES.items()}
        if any(_looks_for_nan(operation.target) for operation in graph.operations):
            made["nan"] = _each(met, _with_nan)
    return made


def made_up(graph: SubnetGraph) -> Values:
    """Values of the types of a sub-DNN's inputs, for one that was never met with any: PyTorch may refuse them."""
    generator = torch.Generator().manual_seed(_SEED)
    values = []
    for ref in graph.inputs:
        kind = graph.type_of(ref)
        shape = [size if isinstance(size, int) else _OPEN for size in kind.shape]
        dtype = getattr(torch, kind.dtype)
        drawn = torch.randn(shape, generator=generator)
        values.append(drawn.to(dtype) if dtype.is_floating_point else torch.zeros(shape, dtype=dtype))
    return values


def _looks_for_nan(target: str) -> bool:
    return any(told in target for told in ("nan", "finite", "isinf"))


def _each(met: Sequence[torch.Tensor], change: Callable[[torch.Tensor], torch.Tensor]) -> Values:
    return [change(tensor) if tensor.is_floating_point() else tensor for tensor in met]


def _random(tensor: torch.Tensor) -> torch.Tensor:
    """Numbers of the same spread, drawn from a seed of their own."""
    generator = torch.Generator().manual_seed(_SEED)
    finite = tensor[tensor.isfinite()].float()
    spread = float(finite.square().mean().sqrt()) if finite.numel() else 0.0
    drawn = torch.randn(tensor.shape, generator=generator) * (spread or 1.0)
    return drawn.to(tensor.dtype)


def _with_nan(tensor: torch.Tensor) -> torch.Tensor:
    """The same with NaN in its midst."""
    changed = tensor.flatten().clone()
    changed[changed.numel() // 2 :][:1] = float("nan")
    return changed.reshape(tensor.shape)


def nudged(values: Sequence[torch.Tensor], seed: int) -> Values:
    """The same but for a little, by which nothing should change that is told with any certainty."""
    generator = torch.Generator().manual_seed(seed)
    return _each(values, lambda tensor: tensor * (1 + _NUDGE * _signs(tensor, generator)).to(tensor.dtype))


def _signs(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.randint(0, 2, tensor.shape, generator=generator) * 2.0 - 1.0


_CHANGES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "random": _random,
    "zeros": torch.zeros_like,
    "large": lambda tensor: tensor * _LARGE,
    "negative": lambda tensor: -tensor.abs(),
}
