"""The demo in a shorter version: it must find that the compiled program does what PyTorch does."""

from pathlib import Path

import pytest
import torch

import dycl
from dycl.demo import demonstrate
from dycl.demo.comparison import Comparison, Outcomes
from dycl.demo.digits import Digits, split_digits
from dycl.demo.model import EarlyExitNet
from dycl.demo.training import CANDIDATES, choose_threshold


def test_the_demo_finds_no_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    artefact = tmp_path / "digits.dycl"
    threads = torch.get_num_threads()
    comparison = demonstrate(epochs=4, rounds=1, save=artefact)
    shown = capsys.readouterr().out

    assert comparison.agrees
    assert (comparison.inconsistent_predictions, comparison.inconsistent_paths) == (0, 0)
    assert comparison.eager.exits.bincount(minlength=4).min() > 0
    assert comparison.compiled.accuracy(comparison.labels) > 0.9
    assert comparison.traced_wrong_exits > 0
    assert torch.get_num_threads() == threads

    assert "DyCL and PyTorch agree on every image." in shown
    assert "exit 4" in shown
    assert max(map(len, shown.replace(str(artefact), "").splitlines())) <= 100

    image = split_digits().test.images[:1]
    logits = dycl.load(artefact)(image)
    torch.testing.assert_close(logits, comparison.compiled.logits[:1], rtol=0, atol=0)


def outcomes(*exits: int, logit: float = 1.0) -> Outcomes:
    return Outcomes(torch.tensor([[logit, 0.0]] * len(exits)), torch.tensor(exits))


@pytest.mark.parametrize(
    ("compiled", "agrees"),
    [
        (outcomes(0, 1, 2), True),
        (outcomes(0, 1, 1), False),
        (outcomes(0, 1, 2, logit=-1.0), False),
        (outcomes(0, 1, 2, logit=1.001), False),
    ],
    ids=["equal", "another path", "another prediction", "more than rounding"],
)
def test_any_difference_counts(compiled: Outcomes, agrees: bool) -> None:
    eager = outcomes(0, 1, 2)
    comparison = Comparison(torch.zeros(3), 3, eager, compiled, outcomes(0, 0, 0))
    assert comparison.agrees is agrees
    assert comparison.traced_wrong_exits == 2


def test_a_threshold_is_chosen_even_if_an_exit_is_never_used() -> None:
    torch.manual_seed(0)
    model = EarlyExitNet().eval()
    for exit in model.exits:
        linear = exit[2]  # type: ignore[index]
        torch.nn.init.zeros_(linear.weight)
        torch.nn.init.zeros_(linear.bias)
    choice = choose_threshold(model, Digits(torch.rand(20, 1, 8, 8), torch.zeros(20, dtype=torch.int64)))
    assert choice.threshold in CANDIDATES
    assert choice.least_share == 0
