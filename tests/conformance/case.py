"""What a conformance case says: a program, the calls that are made of it, and what each of them must give."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dycl.runtime import Artefact


@dataclass(frozen=True, slots=True)
class Returns:
    """A call that returns `outputs`, the values of its `Return`; `path` is as in `b0=true b1=3 b2`."""

    inputs: Sequence[Any]
    outputs: Sequence[Any]
    path: str


@dataclass(frozen=True, slots=True)
class Raises:
    """A call that the model itself stops with an error, at a line of the imagined source file."""

    inputs: Sequence[Any]
    error: str
    message: str
    line: int


@dataclass(frozen=True, slots=True)
class Fails:
    """A call in which a sub-DNN fails."""

    inputs: Sequence[Any]
    subnet: str


@dataclass(frozen=True, slots=True)
class Breaks:
    """A call in which a sub-DNN gives something else than its signature promises, and the graph relies on that."""

    inputs: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Refused:
    """A call whose inputs are of a wrong type or size."""

    inputs: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Reset:
    """Not a call: the program forgets what it has kept."""


Call = Returns | Raises | Fails | Breaks | Refused | Reset


@dataclass(frozen=True, slots=True)
class Case:
    """A program and what its calls must give, one after the other."""

    name: str
    about: str
    artefact: Artefact
    calls: tuple[Call, ...]
