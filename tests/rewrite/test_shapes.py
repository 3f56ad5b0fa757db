"""Programs whose sizes only the input determines, against eager PyTorch on many sizes, 1 among them."""

import inspect
from typing import Any

import pytest
import torch

import dycl
from tests.comparison import assert_same
from tests.programs import shapes
from tests.programs.shapes import Sized

PROGRAMS = [
    cls for _, cls in inspect.getmembers(shapes, inspect.isclass) if issubclass(cls, Sized) and cls is not Sized
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_does_what_eager_does_for_every_size(program: Any) -> None:
    torch.manual_seed(1)
    model = program().eval()
    generator = torch.Generator().manual_seed(0)
    example = program.inputs(generator, *program.sizes[-1])
    compiled = dycl.compile(model, example, dynamic_shapes=program.shapes)
    for batch, time in (*program.sizes, *program.empty_sizes):
        for _ in range(3):
            inputs = program.inputs(generator, batch, time)
            with torch.no_grad():
                expected = model(*inputs)
            assert_same(expected, compiled(*inputs))


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_example_sizes_do_not_matter(program: Any) -> None:
    torch.manual_seed(1)
    model = program().eval()
    generator = torch.Generator().manual_seed(0)
    graphs = set()
    for size in (program.sizes[0], program.sizes[-1]):
        example = program.inputs(generator, *size)
        graphs.add(repr(dycl.compile(model, example, dynamic_shapes=program.shapes).hcfg.blocks))
    assert len(graphs) == 1
