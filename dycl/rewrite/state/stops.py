"""Where a run of the machine stops, at a decision, at its end or at an error; and where an iterator does."""

from dataclasses import dataclass
from typing import Any

from dycl.hcfg.types import Span
from dycl.rewrite.normalise.instructions import Register
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.state.frames import RangeIterator


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way on from a decision: the top frame goes on at `position` with `writes` made."""

    case: bool | int
    position: int
    writes: dict[Register, Any]
    next_item: tuple[RangeIterator, Any] | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """The program needs `value` to go on; a switch with no fitting case raises `error`."""

    value: HostValue
    outcomes: tuple[Outcome, ...]
    error: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Returned:
    """The program is at its end."""

    value: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """The program raises an error that nothing in it catches."""

    error: BaseException
    places: tuple[Span, ...]


Stop = Decided | Returned | Raised


@dataclass(slots=True, eq=False)
class Stopped:
    """Stands for an iterator of the user's own that has come to its end, and what it gave then."""

    value: Any
