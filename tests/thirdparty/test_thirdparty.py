"""Each model, compiled as it is, equals eager PyTorch on every input, and the inputs take different ways."""

import copy

import pytest
import torch

import dycl
from tests.comparison import assert_same
from tests.thirdparty.case import Case, cases_of, topics


@pytest.mark.parametrize("case", [case for topic in topics() for case in cases_of(topic)], ids=str)
def test_the_compiled_model_equals_eager_pytorch(case: Case) -> None:
    model, inputs = case.build()
    program = dycl.compile(model, copy.deepcopy(inputs[0]))
    paths = set()
    for given in inputs:  # in step, since some models keep state from call to call
        with torch.no_grad():
            eager = model(*copy.deepcopy(given))
        trace = program.trace(*copy.deepcopy(given))
        assert_same(eager, trace.outputs, case.tolerance)
        paths.add(tuple(decision.outcome for decision in trace.path.decisions))
    assert len(paths) >= case.paths
