"""The modules that a model is made of, and their tensors: found without asking methods that the model may override."""

from collections.abc import Iterator

import torch
from torch import nn

from dycl.rewrite.signals import Refused


def modules_of(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """Every module by the first name that leads to it."""
    found: dict[int, tuple[str, nn.Module]] = {}
    left = [("", model)]
    while left:
        prefix, module = left.pop()
        if id(module) in found:
            continue
        require_python(module)
        found[id(module)] = (prefix, module)
        inner = [item for item in vars(module)["_modules"].items() if item[1] is not None]
        left.extend((f"{prefix}.{name}" if prefix else name, one) for name, one in reversed(inner))
    return list(found.values())


def require_python(module: nn.Module) -> None:
    """Refuse a module that TorchScript has made of one in Python: what it does is not told there any more."""
    if isinstance(module, torch.jit.ScriptModule):
        reason = f"a `{type(module).__name__}` of TorchScript has no source that can be read"
        raise Refused("DY003", reason, "use the module in Python that it was made from")


def tensors_of(model: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Every parameter, then every buffer, by the first name that leads to it."""
    seen: set[int] = set()
    modules = modules_of(model)
    for table in ("_parameters", "_buffers"):
        for prefix, module in modules:
            for name, tensor in vars(module)[table].items():
                if tensor is not None and id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield f"{prefix}.{name}" if prefix else name, tensor
