"""What the runtime asks of a backend, and how a backend is found by the name that an artefact states.

A backend's runtime half turns an artefact's codes into calls. The values that pass between calls are its own affair:
the executor only hands them on. Third parties add a backend as an entry point of the group `dycl.backends`, whose value
is an object with the methods of `Backend`.
"""

from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Protocol, runtime_checkable

from dycl.hcfg.nodes import SubnetId, WeightId
from dycl.hcfg.types import DType
from dycl.runtime.artefact import ONNX_BACKEND, Artefact
from dycl.runtime.errors import ArtefactError
from dycl.runtime.weight_store import Array

ENTRY_POINT_GROUP = "dycl.backends"

Value = object
"""A tensor in the form in which a backend passes it from one sub-DNN to the next."""

Frame = list[Value]
"""The values of a block by number: its arguments, then the outputs of its steps."""

SubnetCall = Callable[[Frame], Sequence[Value]]
"""Runs a sub-DNN on values of a frame. The result is only indexed: ONNX Runtime's own vector is slow to iterate."""


class Engine(Protocol):
    """One artefact, loaded by a backend and ready to run. All methods may be called from several threads."""

    def subnet(self, subnet: SubnetId, inputs: Sequence[int]) -> SubnetCall:
        """The call that runs a sub-DNN on the values at `inputs` in a frame; SubnetFailure if the backend fails."""
        ...

    def weight(self, weight: WeightId) -> Value:
        """The value of a weight, which nobody may change."""
        ...

    def put(self, array: Array, dtype: DType) -> Value:
        """A value that holds a copy of `array`."""
        ...

    def take(self, value: Value, dtype: DType) -> Array:
        """The array that `value` holds; it keeps its memory alive and may share it with `value`."""
        ...

    def number(self, value: Value) -> bool | int | float:
        """The one number that `value` holds; ValueError if it holds more than one."""
        ...


class SubnetFailure(Exception):
    """A backend failed while it ran a sub-DNN; the message is its own."""


@runtime_checkable
class Backend(Protocol):
    """A backend's runtime half."""

    def open(self, artefact: Artefact, threads: int) -> Engine:
        """The engine that runs `artefact`; ArtefactError if its codes are not this backend's."""
        ...


def find_backend(name: str) -> Backend:
    """The runtime half of the backend called `name`."""
    if name == ONNX_BACKEND:
        # Imported here, so that a program of another backend runs where ONNX Runtime is not installed.
        from dycl.runtime.onnxruntime_backend import OnnxRuntimeBackend

        return OnnxRuntimeBackend()
    for entry_point in entry_points(group=ENTRY_POINT_GROUP):
        if entry_point.name == name:
            backend = entry_point.load()
            if not isinstance(backend, Backend):
                raise TypeError(f"the entry point {entry_point.value} of {ENTRY_POINT_GROUP} is not a backend")
            return backend
    raise ArtefactError(
        f"the artefact was compiled for the backend {name!r:.80}, which is not installed",
        help="install the package that provides this backend, or compile the model for another one",
        identifier="DY102",
    )
