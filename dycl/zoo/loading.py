"""Networks of the zoo by name: seeded weights, or a user's own."""

from pathlib import Path

import torch
from torch import nn

from dycl.zoo.catalogue import NETWORKS
from dycl.zoo.network import Inputs, Network, Size

SEED = 20230717
_CALIBRATION = SEED + 1  # what calibration sees is not what measurement sees


def network(name: str) -> Network:
    """The network of this name."""
    if name not in NETWORKS:
        raise ValueError(f"the zoo has no network {name!r}; it has {', '.join(NETWORKS)}")
    return NETWORKS[name]


def load(name: str, size: Size = "small", weights: str | Path | None = None) -> nn.Module:
    """The network, ready to run, with seeded weights or those of the file `weights`.

    `size` is "small", for tests, or "full", as published. `weights` is what `torch.save(model.state_dict(), path)`
    wrote; the thresholds of the decisions are part of it.
    """
    if size not in ("small", "full"):
        raise ValueError(f"the size is {size!r}, it must be 'small' or 'full'")
    entry = network(name)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        model = entry.build(size).eval()
    if weights is not None:
        model.load_state_dict(torch.load(weights, weights_only=True))
        return model
    entry.calibrate(model, _drawn(entry, size, entry.calibrated_on, _CALIBRATION))
    return model


def inputs(name: str, size: Size = "small", count: int = 1, seed: int = 0) -> list[Inputs]:
    """Random inputs of the network, each a tuple of arguments; the same seed gives the same inputs."""
    return _drawn(network(name), size, count, seed)


def _drawn(entry: Network, size: Size, count: int, seed: int) -> list[Inputs]:
    generator = torch.Generator().manual_seed(seed)
    return [entry.draw(size, generator) for _ in range(count)]
