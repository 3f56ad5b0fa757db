"""One container from before the call, with what it held."""

from dataclasses import dataclass
from typing import Any

from dycl.rewrite.state.heap.tally import Tally


@dataclass
class Watched:
    """A container or plain object from before the call: what it held then, and holds where a call begins."""

    container: Any
    first: Any
    at_start: Any
    name: str

    @property
    def can_be_tallied(self) -> bool:
        """Whether it can be compared together with many others."""
        return Tally.takes(self.container, self.first)
