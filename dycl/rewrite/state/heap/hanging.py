"""What hangs on a module: its attributes, its parts, and the tables that PyTorch keeps in it."""

from collections.abc import Iterator
from typing import Any

from torch import nn

from dycl.rewrite.state.heap.modules import INTERNALS, TABLES
from dycl.rewrite.state.heap.reach import PLAINEST
from dycl.rewrite.state.heap.surroundings import Surroundings

_OF_PYTORCH = INTERNALS - set(TABLES)


def hanging_on(module: nn.Module, surroundings: Surroundings) -> Iterator[tuple[Any, str]]:
    """What a module leads to; most of what PyTorch keeps in it is empty."""
    kind = type(module).__name__
    surroundings.note_tables(module)
    own = vars(module)
    surroundings.watch_tables({name: own[name] for name in own if name in _OF_PYTORCH})
    for name in [name for name in own if name not in INTERNALS]:
        value = own[name]
        if type(value) in PLAINEST:
            continue
        if type(value) is list:
            surroundings.unread.add(value, name)
        surroundings.tensors.note_replaceable((value,))
        yield value, f"{kind}.{name}"
    for tensor in (*module._parameters.values(), *module._buffers.values()):
        if tensor is not None:
            surroundings.memories.add(tensor)
            surroundings.watch_parts(tensor, kind)
    for name, value in vars(module)["_modules"].items():
        yield value, name
