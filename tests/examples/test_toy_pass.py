"""The example of a pass of one's own does what it says."""

from collections import Counter
from pathlib import Path

import torch

import dycl
from dycl.backends import find_compiler
from dycl.compiler import called
from dycl.optimize.pipeline import PASSES, optimize
from dycl.rewrite import rewrite
from examples import toy_pass
from tests.comparison import Calls


def _model() -> torch.nn.Module:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(torch.relu(x))
        return torch.relu(y) + 1 if x.sum() > 0 else torch.relu(y)

    return Calls(function).eval()


def test_it_changes_the_module_and_not_the_results() -> None:
    x = torch.tensor([1.0, -2.0, 3.0])
    compiler = find_compiler("onnxruntime")
    before = rewrite(_model(), called(_model(), x, None, None, "forward"), compiler.supports).module
    after = optimize(before, (*PASSES, toy_pass.ONE_RELU))
    relus = [
        Counter(item.target for net in module.subnets.values() for item in net.graph.operations)[toy_pass.RELU]
        for module in (before, after)
    ]
    assert relus == [4, 3]
    program = dycl.compile(_model(), x, passes=[toy_pass.ONE_RELU])
    for given in (x, -x):
        torch.testing.assert_close(program(given), _model()(given))


def test_it_is_small() -> None:
    assert len(Path(toy_pass.__file__).read_text(encoding="utf-8").splitlines()) < 60
