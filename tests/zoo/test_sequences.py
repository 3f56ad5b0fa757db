"""Networks of the zoo that read or write sequences: compiled, they give what eager PyTorch gives, by many paths."""

import pytest
import torch

import dycl
from dycl.zoo.network import Inputs, Network
from dycl.zoo.sequences.captioning import CAPTIONING_GOOGLENET, CAPTIONING_RESNEXT
from dycl.zoo.sequences.early_exit_encoder import EARLY_EXIT_ENCODER
from dycl.zoo.sequences.layer_skipping_decoder import LAYER_SKIPPING_DECODER
from dycl.zoo.sequences.moe_decoder import MOE_DECODER
from dycl.zoo.sequences.translation import TRANSLATION
from tests.comparison import assert_same

_QUICK = (CAPTIONING_RESNEXT, CAPTIONING_GOOGLENET, TRANSLATION, EARLY_EXIT_ENCODER)
_SLOW = (MOE_DECODER, LAYER_SKIPPING_DECODER)


def _drawn(network: Network, count: int, seed: int) -> list[Inputs]:
    generator = torch.Generator().manual_seed(seed)
    return [network.draw("small", generator) for _ in range(count)]


@pytest.mark.parametrize(
    "network",
    [pytest.param(network, id=network.name) for network in _QUICK]
    + [pytest.param(network, id=network.name, marks=pytest.mark.slow) for network in _SLOW],
)
def test_compiled_gives_what_eager_gives_by_many_paths(network: Network) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = network.build("small").eval()
    network.calibrate(model, _drawn(network, network.calibrated_on, seed=1))
    inputs = _drawn(network, 20, seed=2)
    program = dycl.compile(model, inputs[0])
    paths = set()
    for given in inputs:
        with torch.no_grad():
            eager = model(*given)
        run = program.trace(*given)
        assert_same(eager, run.outputs)
        paths.add(tuple((decision.span.line, decision.outcome) for decision in run.path.decisions))
    assert len(paths) >= 5


@pytest.mark.parametrize("network", [pytest.param(network, id=network.name) for network in _QUICK + _SLOW])
def test_what_decisions_compare_with_is_in_the_weights(network: Network) -> None:
    model = network.build("small").eval()
    network.calibrate(model, _drawn(network, network.calibrated_on, seed=1))
    again = network.build("small").eval()
    again.load_state_dict(model.state_dict())
    for given in _drawn(network, 5, seed=2):
        with torch.no_grad():
            assert_same(model(*given), again(*given), tolerance=0.0)
