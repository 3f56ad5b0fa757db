"""Run a model in eager PyTorch and leave everything as it was."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from dycl.rewrite.state.heap.contents import values_of
from dycl.rewrite.state.heap.hanging import hanging_on
from dycl.rewrite.state.heap.modules import Modules
from dycl.rewrite.state.heap.surroundings import Surroundings
from dycl.rewrite.state.pinned import Pinned


@contextmanager
def left_as_it_was(model: nn.Module) -> Iterator[None]:
    """Undo afterwards what is done to the model and to all that it leads to, and draw no random numbers from others."""
    modules = Modules()

    def found(module: nn.Module) -> Iterator[tuple[Any, str]]:
        modules.add(module)
        yield from hanging_on(module, surroundings)

    surroundings = Surroundings(Pinned(), found)
    surroundings.watch(model, type(model).__name__)
    held = itertools.chain.from_iterable(values_of(watched.first) for watched in surroundings.containers)
    hanging = (tensor for _, _, tensor in modules.tensors())
    tensors = {id(value): value for value in itertools.chain(held, hanging) if isinstance(value, torch.Tensor)}
    copies = [(tensor, tensor.detach().clone()) for tensor in tensors.values()]
    try:
        with torch.random.fork_rng(devices=[]), surroundings.caches.kept():
            yield
    finally:
        modules.restore()
        surroundings.restore()
        for tensor, copy in copies:
            if not torch.equal(tensor, copy):
                tensor.detach().copy_(copy)
