"""The four kinds of network that the compiler is for: path and numbers over 200 inputs each."""

import cProfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import dycl
from dycl.hcfg.nodes import targets
from tests.comparison import assert_same, run_eagerly, taken
from tests.programs import networks

FILE = networks.__file__


def _image() -> tuple[torch.Tensor, ...]:
    """A random image of random contrast and colour, so that gates and exits go both ways."""
    return (3 * torch.rand(()) * torch.randn(1, 3, 16, 16) + 2 * torch.randn(1, 3, 1, 1),)


def _vector() -> tuple[torch.Tensor, ...]:
    return (2 * torch.rand(()) * torch.randn(1, 16),)


def _talkative_decoder() -> nn.Module:
    """A decoder with weights large enough to say different things to different inputs."""
    torch.manual_seed(7)
    model: nn.Module = networks.GreedyDecoder(end=5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    return model


NETWORKS: list[tuple[Callable[[], nn.Module], Callable[[], tuple[torch.Tensor, ...]], int]] = [
    (networks.GatedResNet, _image, 10),
    (networks.EarlyExitNet, _image, 3),
    (networks.FixedPointSolver, _vector, 3),
    (_talkative_decoder, _vector, 10),
]


def _built(make: Callable[[], nn.Module]) -> nn.Module:
    torch.manual_seed(3)
    return make().eval()


@pytest.mark.parametrize(("make", "inputs", "least_paths"), NETWORKS)
def test_path_and_numbers_equal_eager_on_200_inputs(
    make: Callable[[], nn.Module], inputs: Callable[[], tuple[torch.Tensor, ...]], least_paths: int
) -> None:
    model = _built(make)
    program = dycl.compile(model, inputs())
    paths = set()
    for _ in range(200):
        example = inputs()
        try:
            expected, decisions = run_eagerly(model, example, FILE)
        except RuntimeError as error:
            with pytest.raises(RuntimeError) as raised:
                program(*example)
            assert str(raised.value) == str(error)
            continue
        trace = program.trace(*example)
        assert taken(trace) == decisions
        assert_same(expected, trace.outputs)
        paths.add((trace.path.blocks, tuple(taken.outcome for taken in trace.path.decisions)))
    assert len(paths) >= least_paths


def test_gated_net_makes_one_call_a_decision_and_one_more() -> None:
    program = dycl.compile(_built(networks.GatedResNet), _image())
    for _ in range(20):
        path = program.trace(*_image()).path
        assert len(path.decisions) == 16
        assert path.subnet_calls == len(path.decisions) + 1


def test_solver_is_one_loop() -> None:
    hcfg = dycl.compile(_built(networks.FixedPointSolver), _vector()).hcfg
    back_edges = [
        (name, target.block)
        for name, block in hcfg.blocks.items()
        for target in targets(block.terminator)
        if int(target.block[1:]) <= int(name[1:])
    ]
    assert len(hcfg.blocks) == 3
    assert len(hcfg.subnets) == 2
    assert len(back_edges) == 1


def test_work_of_rewriting_is_linear_in_the_number_of_decisions() -> None:
    def function_calls(gates: int) -> int:
        torch.manual_seed(0)
        model = networks.SmallGates(gates).eval()
        profile = cProfile.Profile()
        profile.enable()
        explanation = dycl.explain(model, (torch.randn(1, 8),))
        profile.disable()
        assert len(explanation.decisions) == 1
        return sum(entry.callcount for entry in profile.getstats())

    function_calls(10)
    assert function_calls(400) <= 10.5 * function_calls(40)


def test_compiling_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    model, example = _built(networks.GatedResNet), _image()
    for name in ("first", "second"):
        dycl.compile(model, example).save(tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_a_loaded_program_is_the_compiled_one(tmp_path: Path) -> None:
    model: Any = _built(networks.EarlyExitNet)
    program = dycl.compile(model, _image())
    program.save(tmp_path / "model.dycl")
    loaded = dycl.load(tmp_path / "model.dycl")
    for _ in range(10):
        example = _image()
        first, second = program(*example), loaded(*example)
        assert torch.equal(first[0], second[0])
        assert first[1] == second[1]


def test_a_model_in_training_mode_is_refused() -> None:
    model = networks.EarlyExitNet()
    with pytest.raises(dycl.CompileError, match=r"call `model\.eval\(\)` first") as refused:
        dycl.compile(model, _image())
    assert [problem.identifier for problem in refused.value.problems] == ["DY012"]
