"""Models that people could not deploy, compared with eager PyTorch."""

import copy

import torch

import dycl
from tests.comparison import assert_same
from tests.programs import showcase


def test_a_decoder_of_256_tokens_is_a_handful_of_subnets() -> None:
    torch.manual_seed(0)
    model = showcase.TransformerDecoder().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.7)
    program = dycl.compile(model, (torch.randint(4, 40, (1, 5)),))
    assert len(program.hcfg.subnets) <= 10
    lengths = set()
    for _ in range(50):
        prompt = torch.randint(4, 40, (1, 5))
        expected = model(prompt)
        assert torch.equal(program(prompt), expected)
        lengths.add(expected.shape[1])
    assert len(lengths) >= 5 and max(lengths) > 50


def test_two_of_eight_experts_over_32_tokens() -> None:
    torch.manual_seed(0)
    model = showcase.RoutedExperts().eval()
    program = dycl.compile(model, (torch.randn(32, 8),))
    hits = set()
    for number in range(100):
        x = torch.randn(32, 8) if number % 2 else torch.randn(1, 8) + 0.1 * torch.randn(32, 8)
        with torch.no_grad():
            assert_same(model(x), program(x))
        hits.add(len(program.trace(x).path.blocks))
    assert len(hits) >= 4


def test_a_gate_keeps_its_hidden_state() -> None:
    torch.manual_seed(0)
    model = showcase.RecurrentGate().eval()
    program = dycl.compile(model, (torch.randn(1, 6),))
    assert program.keeps_state
    for _ in range(5):
        fresh = copy.deepcopy(model)
        program.reset()
        for _ in range(20):
            x = 2 * torch.randn(1, 6)
            with torch.no_grad():
                assert_same(fresh(x), program(x))


def test_a_saved_program_starts_from_the_state_of_the_model(tmp_path: object) -> None:
    torch.manual_seed(0)
    model = showcase.RecurrentGate().eval()
    inputs = [torch.randn(1, 6) for _ in range(8)]
    with torch.no_grad():
        model(inputs[0])
    program = dycl.compile(model, (inputs[0],))
    program(inputs[1])
    path = f"{tmp_path}/gate.dycl"
    program.save(path)
    loaded = dycl.load(path)
    for x in inputs[2:]:
        with torch.no_grad():
            assert_same(model(x), loaded(x))


def test_a_solver_takes_the_same_steps() -> None:
    torch.manual_seed(0)
    model = showcase.AdaptiveSolver().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    program = dycl.compile(model, (torch.randn(1, 4),))
    counts = set()
    for _ in range(50):
        y = 3 * torch.rand(()) * torch.randn(1, 4)
        with torch.no_grad():
            expected = model(y)
        assert_same(expected, program(y))
        counts.add(expected[1:])
    assert len(counts) >= 5


def test_a_detector_returns_as_many_boxes_as_there_are() -> None:
    torch.manual_seed(0)
    model = showcase.Detector().eval()

    def inputs() -> tuple[torch.Tensor, torch.Tensor]:
        corner, size = 2 * torch.rand(12, 2), 0.2 + torch.rand(12, 2)
        return torch.cat([corner, corner + size], 1), torch.rand(12)

    program = dycl.compile(model, inputs())
    counts = set()
    for _ in range(100):
        example = inputs()
        expected = model(*example)
        assert_same(expected, program(*example))
        counts.add(len(expected[0]))
    assert len(counts) >= 4
