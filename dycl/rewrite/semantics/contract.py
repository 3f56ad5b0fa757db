"""What the handlers of calls ask of the machine that runs the program."""

from collections.abc import Callable
from typing import Any, Protocol

from dycl.hcfg.types import Span
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.state.heap import Heap
from dycl.rewrite.state.pinned import Pinned


class Running(Protocol):
    """The machine, as far as the meaning of a call can depend on it."""

    recorder: Recorder
    pinned: Pinned
    heap: Heap
    nested: set[Any]
    """The code of the functions that the program makes."""
    note: Callable[[str, Span], None]
    """Tells the user of something that the compiled program leaves out."""

    @property
    def span(self) -> Span:
        """Where the program is now."""
        ...

    def in_own_code(self) -> bool:
        """Whether the program is inside of DyCL's own code: numbers that only the input determines have some."""
        ...

    @property
    def module(self) -> str | None:
        """The name of the module whose code is interpreted."""
        ...

    @property
    def in_stand_in(self) -> bool:
        """Whether the program is inside of what stands in for a builtin."""
        ...

    def number(self, value: Any) -> Any:
        """The value itself; a size that PyTorch handed out as a symbol as a host value."""
        ...

    def iterator(self, source: Any) -> Any:
        """An iterator over `source` that can be copied with the state."""
        ...

    def handled(self) -> BaseException | None:
        """The error that is being handled now."""
        ...

    def catches_errors(self) -> bool:
        """Whether a `try` around the current instruction may catch an error."""
        ...
