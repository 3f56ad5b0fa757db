"""The tensors that a program holds."""

import torch

import dycl
from dycl.rewrite.assemble.constants import Constants
from tests.comparison import Calls


def test_each_tensor_has_the_name_of_its_content() -> None:
    """Also where the tensor before it is gone and has left it its place in memory."""
    constants = Constants({})
    for number in (0, 1, 0, 2, 0, 1, 3):
        name = constants.name(torch.tensor(number))
        assert constants.tensors[name].item() == number
    assert len(constants.tensors) == 4


def test_a_constant_of_one_element_is_kept_across_a_decision_whatever_its_stride_is() -> None:
    def scaled(x: torch.Tensor) -> torch.Tensor:
        column = torch.full((1, 4), 2.0)[:, 0]
        return x * column if x.sum() > 0 else column

    program = dycl.compile(Calls(scaled).eval(), (torch.ones(3),))
    assert program(torch.ones(3)).tolist() == [2.0, 2.0, 2.0]
    assert program(-torch.ones(3)).tolist() == [2.0]
