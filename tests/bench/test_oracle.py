"""The oracle: one path as one graph."""

import pytest
import torch

import dycl
from dycl import zoo
from dycl.backends import find_compiler
from dycl.bench.comparing import relative_error
from dycl.bench.oracle import oracle
from dycl.rewrite.example.call import example_call


@pytest.mark.parametrize("name", ["shallowdeep-vgg", "skipnet-rnn", "blockdrop", "captioning-googlenet"])
def test_oracle_gives_what_eager_pytorch_gives_for_its_input(name: str) -> None:
    model = zoo.load(name)
    for given in zoo.inputs(name, count=3, seed=4):
        program = oracle(model, example_call(model, given, {}, None), given, find_compiler("onnxruntime"), 1)
        with torch.no_grad():
            assert relative_error(model(*given), program(*given)) <= 1e-5
        assert len(program.hcfg.blocks) == 1
        assert len(program.hcfg.subnets) == 1


def test_oracle_is_wrong_for_an_input_that_takes_another_path() -> None:
    model = zoo.load("shallowdeep-vgg")
    inputs = zoo.inputs("shallowdeep-vgg", count=20, seed=4)
    program = dycl.compile(model, inputs[0])
    exits = [program(*given)[1] for given in inputs]
    other = next(number for number, exit in enumerate(exits) if exit != exits[0])
    first = oracle(model, example_call(model, inputs[0], {}, None), inputs[0], find_compiler("onnxruntime"), 1)
    assert relative_error(program(*inputs[other]), first(*inputs[other])) > 1e-2
