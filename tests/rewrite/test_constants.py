"""The tensors that a program holds."""

import torch

from dycl.rewrite.assemble.constants import Constants


def test_each_tensor_has_the_name_of_its_content() -> None:
    """Also where the tensor before it is gone and has left it its place in memory."""
    constants = Constants({})
    for number in (0, 1, 0, 2, 0, 1, 3):
        name = constants.name(torch.tensor(number))
        assert constants.tensors[name].item() == number
    assert len(constants.tensors) == 4
