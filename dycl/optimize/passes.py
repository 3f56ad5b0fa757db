"""What a pass is: a name, a function from module to module, and what it requires and ensures."""

from collections.abc import Callable
from dataclasses import dataclass

from dycl.hcfg.module import Module


@dataclass(frozen=True, slots=True)
class Property:
    """Something that holds for a module or does not; `violation` says where it does not, or gives None."""

    name: str
    violation: Callable[[Module], str | None]


@dataclass(frozen=True, slots=True)
class Pass:
    """A change of the program that nobody who runs it can notice, except by the time it takes.

    `run` never changes the module it is given. Every module is verified before and after; beyond that the pass relies
    on what `requires` names, and what `ensures` names holds of its result.
    """

    name: str
    summary: str
    run: Callable[[Module], Module]
    requires: tuple[Property, ...] = ()
    ensures: tuple[Property, ...] = ()
