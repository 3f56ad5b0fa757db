"""Spiking networks: what a neuron has gathered stays on it from step to step and from call to call."""

import snntorch
import torch
from torch import nn

from tests.thirdparty.case import INPUTS, case


def stimuli(*shape):
    return [(torch.randn(*shape) * (1 + 0.3 * index),) for index in range(INPUTS)]


@case("snntorch", "Leaky, Synaptic with hidden state", decides="nothing; keeps its state across calls", paths=1)
def leaky():
    net = nn.Sequential(
        nn.Linear(4, 8),
        snntorch.Leaky(beta=0.9, init_hidden=True),
        nn.Linear(8, 3),
        snntorch.Synaptic(alpha=0.9, beta=0.8, init_hidden=True, output=True),
    )
    return net, stimuli(2, 4)


class UntilItFires(nn.Module):
    """Show the input again until an output neuron fires: the answer's time depends on the input."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        for step in range(8):
            spikes = self.net(x)
            if spikes.any():
                return spikes, step
        return spikes, None


@case("snntorch", "Leaky, until the first spike", decides="when it fires; keeps its state across calls")
def first_spike():
    net = nn.Sequential(
        nn.Linear(4, 8),
        snntorch.Leaky(beta=0.9, init_hidden=True),
        nn.Linear(8, 3),
        snntorch.Leaky(beta=0.8, threshold=0.5, init_hidden=True),
    )
    return UntilItFires(net), stimuli(1, 4)
