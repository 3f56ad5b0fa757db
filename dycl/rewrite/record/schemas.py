"""What an operation's schema says, read once: PyTorch makes its description anew each time it is asked."""

import functools
from dataclasses import dataclass
from typing import Any

from torch._ops import OpOverload


@dataclass(frozen=True, slots=True)
class Parameters:
    """An operation's parameters in their order, their defaults (None where there is none), and which are written."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    defaults: tuple[Any, ...]
    written: tuple[str, ...]

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments that a call gives, by name."""
        return {**dict(zip(self.names, args, strict=False)), **kwargs}


@functools.cache
def name_of(func: OpOverload[Any, Any]) -> str:
    """What the backends call an operation: `aten.conv2d.default`."""
    return str(func)


@functools.cache
def parameters(func: OpOverload[Any, Any]) -> Parameters:
    """What the schema says of an operation's parameters."""
    arguments = func._schema.arguments
    return Parameters(
        tuple(item.name for item in arguments),
        tuple(str(item.type) for item in arguments),
        tuple(item.default_value if item.has_default_value() else None for item in arguments),
        tuple(item.name for item in arguments if item.alias_info is not None and item.alias_info.is_write),
    )


@functools.cache
def is_mutable(func: OpOverload[Any, Any]) -> bool:
    """Whether an operation writes to an argument."""
    return bool(func._schema.is_mutable)
