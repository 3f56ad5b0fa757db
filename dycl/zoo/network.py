"""What the zoo knows of each of its networks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn

Size = Literal["small", "full"]
Inputs = tuple[torch.Tensor, ...]


@dataclass(frozen=True, slots=True)
class Network:
    """A network that decides while it runs: how to build it, what to feed it, and how to make its inputs differ.

    `build` gives the network with fresh weights, `draw` one random input. `calibrate` adjusts, on random inputs, what
    training would have adjusted: the statistics of its normalisations and the numbers that its decisions compare with.
    """

    name: str
    title: str
    source: str
    decides: str
    build: Callable[[Size], nn.Module]
    draw: Callable[[Size, torch.Generator], Inputs]
    calibrate: Callable[[Any, Sequence[Inputs]], None]
    calibrated_on: int = 64
    number: int | None = None
    """Its number in the DyCL paper, if it is one of the nine there."""
