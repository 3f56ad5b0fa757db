"""What a program asks of a host: to run an artefact's graph, call by call.

A host is whatever follows the graph of docs/artefact.md: the Python executor, which is the reference, or a library that
runs the whole artefact by itself. A program matches a call's arguments, hands the host plain arrays, and arranges the
arrays that come back, so hosts know nothing of signatures, containers or PyTorch. tests/conformance has cases that
every host must pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dycl.hcfg.nodes import BlockId
from dycl.runtime.artefact import Artefact
from dycl.runtime.weight_store import Array

Outcome = bool | int | None


@dataclass(frozen=True, slots=True)
class Visit:
    """One block on a path, and how its decision went; None where it had none to make.

    What a path says of places in the source and of sub-DNN calls follows from the graph.
    """

    block: BlockId
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a call gave: the block that returned, the values that it returned, and what the next call begins with.

    `outputs` are in the order of that block's `Return.values`, a host value as a 0-d array, bfloat16 as uint16. They
    are the caller's from now on: writable, and apart from everything that the host still uses. `kept` is the host's own
    affair; None says that the call leaves what is kept as it was. `error` is the model's own, where its call ends with
    one after it has changed what is kept.
    """

    block: BlockId
    outputs: Sequence[Array]
    kept: object | None
    error: Exception | None = None


class OpenProgram(Protocol):
    """An artefact that a host has opened. It may be called from several threads at the same time."""

    def run(self, inputs: Sequence[Array], kept: object | None = None, path: list[Visit] | None = None) -> CallResult:
        """What the graph gives for `inputs`, which are of the types of its inputs and are not changed.

        `kept` is what an earlier call gave to begin with, None for a program that was never called; the same one may be
        used several times. The blocks that are visited are appended to `path`, the one that returns included.

        Raises the model's own error where the graph says so (`user_errors.user_error`) and keeps nothing, ModelError
        where a sub-DNN fails, ArtefactError where a sub-DNN breaks the promise of its signature.
        """
        ...


@runtime_checkable
class Host(Protocol):
    """Opens artefacts."""

    def open(self, artefact: Artefact, threads: int) -> OpenProgram:
        """The program that runs `artefact`, each sub-DNN on up to `threads` threads.

        The artefact is well formed, but no backend has seen its codes: nothing of it may run before all of them are
        checked. ArtefactError if one does not pass or needs a backend that is not here (DY102).
        """
        ...
