"""Whether a construct is what its row says: supported and bounded ones against PyTorch, refused ones by their lines."""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch

import dycl
from tests.comparison import assert_same
from tests.constructs.construct import Base, Construct

CALLS = 12


def check(construct: Construct) -> None:
    """The model compiles and agrees with eager PyTorch, or is refused at the lines that say so."""
    torch.manual_seed(1)
    model = construct.model().train(construct.model.in_training)
    generator = torch.Generator().manual_seed(0)
    if construct.status == "refused":
        check_refusal(construct, model, generator)
    else:
        assert construct.refusals == []
        check_program(construct, model, generator)


def check_refusal(construct: Construct, model: Base, generator: torch.Generator) -> None:
    """`compile` and `explain` report the same problems, at the lines that carry their identifiers."""
    inputs = model.inputs(generator)
    with pytest.raises(dycl.CompileError) as error:
        dycl.compile(model, copy.deepcopy(inputs), dynamic_shapes=model.dynamic_shapes)
    problems = error.value.problems
    assert sorted({(problem.identifier, problem.span.line) for problem in problems}) == sorted(construct.refusals)
    assert {Path(problem.span.file).stem for problem in problems} == {type(model).__module__.rpartition(".")[2]}
    assert dycl.explain(model, inputs, dynamic_shapes=model.dynamic_shapes).problems == problems


def check_program(construct: Construct, model: Base, generator: torch.Generator) -> None:
    """A series of calls gives what a copy of the model gives in eager PyTorch, on as many paths as expected."""
    eager = copy.deepcopy(model)
    inputs = model.inputs(generator)
    program = dycl.compile(model, copy.deepcopy(inputs), dynamic_shapes=model.dynamic_shapes)
    explanation = dycl.explain(model, inputs, dynamic_shapes=model.dynamic_shapes)
    assert (explanation.problems, len(explanation.notes)) == ((), model.notes)
    paths: set[tuple[Any, ...]] = set()
    for _ in range(CALLS):
        inputs = model.inputs(generator)
        expected = _outcome(eager, copy.deepcopy(inputs))
        if isinstance(expected, Exception):
            with pytest.raises((type(expected), dycl.ModelError)) as raised:
                program(*inputs)
            if construct.status == "supported":
                assert (raised.type, str(raised.value)) == (type(expected), str(expected))
            paths.add((raised.type,))
        else:
            trace = program.trace(*inputs)
            assert_same(model.expected(expected), trace.outputs)
            paths.add((trace.path.blocks, tuple(taken.outcome for taken in trace.path.decisions)))
    assert len(paths) >= model.paths
    outside = model.beyond()
    if outside is not None:
        with pytest.raises(dycl.DyclError):
            program(*outside)


def _outcome(model: Base, inputs: tuple[Any, ...]) -> Any:
    """What a call returns, or the error that it raises."""
    with torch.no_grad():
        try:
            return model(*inputs)
        except Exception as error:
            return error
