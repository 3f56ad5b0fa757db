"""Models that `torch.compile` wraps: what is wrapped is compiled, in every place where a wrapper can stand."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import dycl
from tests.comparison import assert_same


class Gate(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.layer(x)
        return y * 2 if y.sum() > 0 else y


class Inside(nn.Module):
    """Wrapped modules in a list, behind a method that runs natively, and a wrapped method."""

    def __init__(self) -> None:
        super().__init__()
        gate: Any = torch.compile(Gate())
        self.gates = nn.Sequential(gate, nn.ReLU())
        self.plain: Any = torch.compile(nn.Linear(4, 4), fullgraph=True)
        self.wrapped = torch.compile(self.method)
        self.function = torch.compile(doubled, dynamic=True)

    def method(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.max() > 1 else x

    def native(self, x: torch.Tensor) -> Any:
        return self.plain(x) * 3

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(self.native(self.gates(self.wrapped(x))))


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if x.sum() > 0 else x


def decorated() -> nn.Module:
    class Decorated(Gate):
        @torch.compile
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x)

    return Decorated()


def in_place() -> nn.Module:
    model = Gate()
    model.compile()
    return model


def called_before() -> Any:
    model: Any = torch.compile(Gate(), backend="eager")
    model(torch.ones(4))
    return model


MODELS: list[Callable[[], Any]] = [
    lambda: torch.compile(Gate()),
    Inside,
    decorated,
    in_place,
    called_before,
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", MODELS)
def test_a_wrapped_model_gives_what_the_model_gives(make: Callable[[], Any]) -> None:
    torch.manual_seed(0)
    model = make().eval()
    program = dycl.compile(model, (torch.zeros(4),))
    paths = set()
    with torch.compiler.set_stance("force_eager"), torch.no_grad():
        for _ in range(20):
            x = torch.randn(4)
            trace = program.trace(x)
            assert_same(model(x), trace.outputs)
            paths.add(trace.path.blocks)
    assert len(paths) > 1


class _Added(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


class _Around(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner
        self.more = [inner]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.inner(x)
        return result if x.sum() > 0 else self.more[0](-x)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("around", [_Around, lambda inner: inner], ids=["inside", "itself"])
@pytest.mark.parametrize(
    "made", [torch.jit.script, lambda model: torch.jit.trace(model, torch.ones(2))], ids=["script", "trace"]
)
def test_a_module_of_torchscript_is_refused(around: Any, made: Any) -> None:
    with pytest.raises(dycl.CompileError, match=r"DY003.*TorchScript"):
        dycl.compile(around(made(_Added().eval())).eval(), torch.ones(2))
