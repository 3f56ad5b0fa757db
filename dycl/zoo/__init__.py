"""Networks that decide while they run, written as published, to measure compilers on.

model = dycl.zoo.load("skipnet-rnn", "small")
(image,) = dycl.zoo.inputs("skipnet-rnn", "small")[0]
program = dycl.compile(model, (image,))
"""

from dycl.zoo.catalogue import NETWORKS
from dycl.zoo.loading import inputs, load, network
from dycl.zoo.network import Inputs, Network, Size

__all__ = ["NETWORKS", "Inputs", "Network", "Size", "inputs", "load", "network"]
