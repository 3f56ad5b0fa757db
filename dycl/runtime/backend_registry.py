"""Backends by name: those that DyCL brings, those that a process registers, those that installed packages bring.

A package brings a backend as an entry point of the group `dycl.backends`: its name is the backend's, and what it points
to is an object with the methods of `Backend`.
"""

import threading
from importlib.metadata import entry_points

from dycl.hcfg.verify import BACKEND_NAME
from dycl.runtime.backend import Backend
from dycl.runtime.errors import missing_backend
from dycl.runtime.ncnn.backend import NcnnBackend
from dycl.runtime.onnxruntime.backend import OnnxRuntimeBackend
from dycl.runtime.openvino.backend import OpenVinoBackend

ENTRY_POINT_GROUP = "dycl.backends"

_lock = threading.Lock()
_registered: dict[str, Backend] = {
    "ncnn": NcnnBackend(),
    "onnxruntime": OnnxRuntimeBackend(),
    "openvino": OpenVinoBackend(),
}


def register_backend(name: str, backend: Backend) -> None:
    """Nothing; sub-DNNs for the backend `name` are run by `backend` from now on, in this process.

    ValueError if another backend was registered under this name before: programs may be running on it. May be called
    from any thread, and goes before the entry points of installed packages.
    """
    if not BACKEND_NAME.fullmatch(name):
        raise ValueError(f"a backend cannot be called {name!r}: a name has lower-case letters, digits, - and _")
    if not isinstance(backend, Backend):
        raise TypeError(f"{backend!r} does not have the methods of dycl.runtime.Backend")
    with _lock:
        if _registered.setdefault(name, backend) is not backend:
            raise ValueError(f"another backend is registered as {name!r}")


def find_backend(name: str) -> Backend:
    """The runtime half of the backend called `name`; ArtefactError (DY102) if there is none here."""
    with _lock:
        registered = _registered.get(name)
    if registered is not None:
        return registered
    for entry_point in entry_points(group=ENTRY_POINT_GROUP):
        if entry_point.name == name:
            backend = entry_point.load()
            if not isinstance(backend, Backend):
                raise TypeError(f"the entry point {entry_point.value} of {ENTRY_POINT_GROUP} is not a backend")
            return backend
    raise missing_backend(name)
