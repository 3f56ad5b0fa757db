"""Attribute access on modules, diverted to a table for the time of a compilation."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from torch import nn

from dycl.rewrite.own_thread import replaced
from dycl.rewrite.signals import Refused

ABSENT = object()


class Attributes(Protocol):
    """Who answers for attributes of modules."""

    def holds(self, module: nn.Module) -> bool:
        """Whether it answers for this module."""
        ...

    def find(self, module: nn.Module, name: str) -> Any:
        """An attribute that it has taken over; `ABSENT` if it is none."""
        ...

    def set(self, module: nn.Module, name: str, value: Any, plain: Callable[..., None]) -> None:
        """Set an attribute, by `plain` if it is none of its own."""
        ...

    def delete(self, module: nn.Module, name: str) -> None:
        """Delete an attribute."""
        ...


@contextmanager
def diverted(attributes: Attributes) -> Iterator[None]:
    """Let the thread that compiles set and delete attributes of modules in a table, from which all threads read."""
    set_plainly, delete_plainly, get_plainly = nn.Module.__setattr__, nn.Module.__delattr__, nn.Module.__getattr__

    def set_attribute(module: nn.Module, name: str, value: Any) -> None:
        attributes.set(module, name, value, set_plainly)

    def delete_attribute(module: nn.Module, name: str) -> None:
        has_deleter = hasattr(type(inspect.getattr_static(type(module), name, None)), "__delete__")
        if attributes.holds(module) and not has_deleter:
            if name in dict.keys(vars(module)["_modules"]):
                raise Refused("DY007", f"the module `{name}` is deleted during the call")
            attributes.delete(module, name)
        else:
            delete_plainly(module, name)

    def get_attribute(module: nn.Module, name: str) -> Any:
        found = attributes.find(module, name)
        return get_plainly(module, name) if found is ABSENT else found

    # Not by thread: the table has taken attributes over that other threads may ask for.
    nn.Module.__getattr__ = get_attribute  # type: ignore[method-assign]
    try:
        with replaced(
            [(nn.Module, "__setattr__", set_attribute), (nn.Module, "__delattr__", delete_attribute)],
        ):
            yield
    finally:
        nn.Module.__getattr__ = get_plainly  # type: ignore[method-assign]
