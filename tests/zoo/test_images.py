"""The zoo's networks for images: compiled, they do what eager PyTorch does, on many paths."""

from pathlib import Path

import pytest
import torch

import dycl
from dycl import zoo
from dycl.bench.comparing import relative_error
from dycl.bench.eager_path import difference, eager_path
from dycl.rewrite.normalise.source import full_path
from dycl.zoo.images.shallow_deep import SHARES, ShallowDeep, measure

NAMES = [
    "shallowdeep-mobilenet",
    "shallowdeep-vgg",
    "shallowdeep-resnet",
    "shallowdeep-wideresnet",
    "skipnet-rnn",
    "skipnet-gates",
    "blockdrop",
    "ranet",
]
INPUTS = 60


@pytest.mark.parametrize("name", NAMES)
def test_compiled_network_takes_the_paths_of_eager_pytorch(name: str) -> None:
    model = zoo.load(name)
    inputs = zoo.inputs(name, count=INPUTS, seed=3)
    program = dycl.compile(model, inputs[0])
    files = {full_path(block.terminator.span.file) for block in program.hcfg.blocks.values()}
    paths = set()
    for given in inputs:
        with torch.no_grad(), eager_path(files) as path:
            eager = model(*given)
        trace = program.trace(*given)
        assert difference(path, trace.path, files) is None
        assert relative_error(eager, trace.outputs) <= 1e-5
        paths.add(tuple((taken.span, taken.outcome) for taken in trace.path.decisions))
    assert len(paths) >= 5


def test_weights_and_inputs_are_seeded() -> None:
    first, second = zoo.load("blockdrop").state_dict(), zoo.load("blockdrop").state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    (one,), (other,) = zoo.inputs("blockdrop", count=2, seed=5)
    assert not torch.equal(one, other)
    assert torch.equal(one, zoo.inputs("blockdrop", count=1, seed=5)[0][0])


def test_a_users_own_weights_are_taken_thresholds_included(tmp_path: Path) -> None:
    model = zoo.load("shallowdeep-resnet")
    assert isinstance(model, ShallowDeep)
    model.thresholds.fill_(0.25)
    torch.save(model.state_dict(), tmp_path / "weights.pt")
    loaded = zoo.load("shallowdeep-resnet", "small", weights=tmp_path / "weights.pt")
    assert isinstance(loaded, ShallowDeep)
    assert loaded.thresholds.tolist() == [0.25] * len(SHARES)


def test_an_unknown_name_or_size_is_refused() -> None:
    with pytest.raises(ValueError, match="has no network 'resnet'; it has shallowdeep-mobilenet"):
        zoo.load("resnet")
    with pytest.raises(ValueError, match="the size is 'big'"):
        zoo.load("ranet", "big")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES[:4])
def test_internal_classifiers_stand_where_the_compute_says(name: str) -> None:
    model = zoo.network(name).build("small")
    assert isinstance(model, ShallowDeep)
    (image,) = zoo.inputs(name)[0]
    costs, _ = measure([*model.segments, model.rest], image)
    for number, share in enumerate(SHARES, 1):
        assert share <= sum(costs[:number]) / sum(costs) < share + 0.15
