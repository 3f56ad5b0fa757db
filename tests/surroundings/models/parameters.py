"""Parameters and buffers that a call writes: they stay what they are, by whatever way the model looks at them."""

import copy
from typing import Any

import torch
from torch import Tensor, nn


class _Weighted(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.shift = nn.Buffer(torch.zeros(2))

    def write(self, x: Tensor) -> None:
        """Change both where the input says so."""
        if x.sum() > 0:
            self.weight.data.mul_(0.5)
            self.shift.add_(1)


class WrittenIfItRequires(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(2)

    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            for parameter in self.norm.parameters():
                if parameter.requires_grad and isinstance(parameter, nn.Parameter):
                    parameter.data.add_(0.5)
        return self.norm(x + torch.arange(2.0))


class LookedAt(_Weighted):
    def forward(self, x: Tensor) -> Any:
        self.write(x)
        plain = self.weight * 2
        return (
            *(isinstance(self.weight, nn.Parameter), type(self.weight) is nn.Parameter, self.weight.requires_grad),
            *(isinstance(self.shift, nn.Buffer), isinstance(self.shift, nn.Parameter), self.shift.requires_grad),
            *(isinstance(plain, nn.Parameter), type(plain) is Tensor, plain + self.shift),
        )


class PutIntoAnother(_Weighted):
    def forward(self, x: Tensor) -> Any:
        self.write(x)
        module, other = nn.Module(), copy.deepcopy(self)
        module.weight = self.weight
        return len(list(module.parameters())), isinstance(other.weight, nn.Parameter), other.weight + x


class WithDerivatives(_Weighted):
    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.weight.grad = torch.ones(2)

    def forward(self, x: Tensor) -> Tensor:
        self.write(x)
        assert self.weight.grad is not None
        return x - self.weight.grad


class WithAnAttribute(_Weighted):
    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.shift.label = "bias"  # type: ignore[attr-defined]

    def forward(self, x: Tensor) -> Any:
        self.write(x)
        return getattr(self.shift, "label", None), x


class InferenceMode(nn.Module):
    refused = "DY004"

    def forward(self, x: Tensor) -> Tensor:
        return x + 1 if x.is_inference() or torch.is_inference_mode_enabled() else x


class AsView(nn.Module):
    refused = "DY004"

    def forward(self, x: Tensor) -> Tensor:
        part = (x * 1)[1:]
        return part.clone() if part._is_view() else part


class InMemory(nn.Module):
    refused = "DY004"

    def forward(self, x: Tensor) -> Any:
        part = (x * 1)[1:]
        return part.storage_offset() if x.sum() > 0 else 0


class Versions(nn.Module):
    refused = "DY004"

    def forward(self, x: Tensor) -> Any:
        part = x * 1
        return part._version, part._base is None


class ModuleDropped(nn.Module):
    """A module that only the first call uses."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.warm = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        if hasattr(self, "warm"):
            x = self.warm(x)
            del self.warm
        return x * 2 if x.sum() > 0 else x


class LayerDropped(nn.Module):
    """A list of modules gets shorter."""

    refused = "DY007"

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0 and len(self.layers) > 1:
            self.layers.pop(0)
        for layer in self.layers:
            x = layer(x)
        return x
