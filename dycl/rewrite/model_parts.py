"""The modules that a model is made of, and their tensors: found without asking methods that the model may override."""

from collections.abc import Iterator

import torch
from torch import nn


def modules_of(model: nn.Module, prefix: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, nn.Module]]:
    """Every module by the first name that leads to it."""
    seen = set() if seen is None else seen
    if id(model) in seen:
        return
    seen.add(id(model))
    yield prefix, model
    for name, inner in vars(model)["_modules"].items():
        if inner is not None:
            yield from modules_of(inner, f"{prefix}.{name}" if prefix else name, seen)


def tensors_of(model: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Every parameter, then every buffer, by the first name that leads to it."""
    seen: set[int] = set()
    for table in ("_parameters", "_buffers"):
        for prefix, module in modules_of(model):
            for name, tensor in vars(module)[table].items():
                if tensor is not None and id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield f"{prefix}.{name}" if prefix else name, tensor
