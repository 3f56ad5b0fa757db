"""Every construct that programs use, against eager PyTorch on many inputs."""

import copy
import inspect
from types import ModuleType
from typing import Any

import pytest
import torch

import dycl
from tests.comparison import assert_same
from tests.programs import (
    arrays,
    calls,
    conditions,
    containers,
    loops,
    masks,
    numbers,
    ranges,
    tensor_arguments,
    values,
)
from tests.programs.base import Base


def _programs(module: ModuleType) -> list[Any]:
    classes = inspect.getmembers(module, inspect.isclass)
    return [cls for _, cls in classes if issubclass(cls, Base) and "forward" in vars(cls)]


MODULES = (arrays, calls, conditions, containers, loops, masks, numbers, ranges, tensor_arguments, values)


# PyTorch's tensors are behind NumPy's newest way to make arrays of them.
@pytest.mark.filterwarnings("ignore:__array:DeprecationWarning")
@pytest.mark.parametrize("program", [program for module in MODULES for program in _programs(module)])
def test_program_does_what_eager_does(program: Any) -> None:
    torch.manual_seed(1)
    model = program().eval()
    generator = torch.Generator().manual_seed(0)
    before = _snapshot(model)
    compiled = dycl.compile(model, program.inputs(generator))
    assert _snapshot(model) == before
    paths = set()
    for _ in range(40):
        inputs = program.inputs(generator)
        with torch.no_grad():
            expected = model(*copy.deepcopy(inputs))
        trace = compiled.trace(*inputs)
        assert_same(expected, trace.outputs)
        paths.add((trace.path.blocks, tuple(taken.outcome for taken in trace.path.decisions)))
    assert len(paths) >= program.paths


def _snapshot(model: torch.nn.Module) -> list[Any]:
    """Everything about a model that a compilation could disturb."""
    return [
        (
            name,
            module.training,
            {key: id(value) for key, value in vars(module).items()},
            [(key, id(value)) for key, value in (*module._parameters.items(), *module._buffers.items())],
            list(module._forward_hooks),
            [bytes(tensor.detach().numpy().tobytes()) for tensor in module.parameters(recurse=False)],
        )
        for name, module in model.named_modules()
    ]
