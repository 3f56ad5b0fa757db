"""Backends by name: those that DyCL brings, those that a process registers, those that installed packages bring.

A package brings a backend as an entry point of the group `dycl.backends`: its name is the backend's, and what it points
to is an object with the methods of `Backend`.
"""

import threading
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, entry_points, version

from dycl.hcfg.verify import BACKEND_NAME
from dycl.runtime.backend import Backend
from dycl.runtime.errors import missing_backend
from dycl.runtime.ncnn.backend import NcnnBackend
from dycl.runtime.onnxruntime.backend import OnnxRuntimeBackend
from dycl.runtime.openvino.backend import OpenVinoBackend
from dycl.runtime.tvm.backend import TvmBackend

ENTRY_POINT_GROUP = "dycl.backends"

_lock = threading.Lock()
_registered: dict[str, Backend] = {
    "ncnn": NcnnBackend(),
    "onnxruntime": OnnxRuntimeBackend(),
    "openvino": OpenVinoBackend(),
    "tvm": TvmBackend(),
}


@dataclass(frozen=True, slots=True)
class KnownBackend:
    """What is known of a backend without loading it. `version` is None if it is not installed."""

    name: str
    version: str | None
    takes: str
    requirement: str = ""


_BROUGHT = (
    ("onnxruntime", "onnxruntime", "all that DyCL compiles: every element type, open sizes"),
    ("ncnn", "dycl[ncnn]", "single precision, known sizes, one sample: convolutions, pooling, dense layers"),
    ("openvino", "dycl[openvino]", "single precision, open sizes: convolutions, dense, attention and recurrent layers"),
    ("tvm", "dycl[tvm]", "single precision, known sizes: convolutions, pooling, dense layers, built when loaded"),
)
_PACKAGES = {"tvm": "apache-tvm"}


def known_backends() -> list[KnownBackend]:
    """The backends that DyCL brings, those of installed packages, and those that this process registered."""
    found = [
        KnownBackend(name, _version(_PACKAGES.get(name, name)), takes, requirement)
        for name, requirement, takes in _BROUGHT
    ]
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        package = entry.dist
        told = "?" if package is None else package.version
        found.append(KnownBackend(entry.name, told, f"brought by {entry.value.partition(':')[0]}"))
    with _lock:
        others = [name for name in _registered if name not in {one.name for one in found}]
    return [*found, *(KnownBackend(name, "here", "registered by this process") for name in others)]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


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


def is_brought(name: str) -> bool:
    """Whether DyCL itself brings the backend called `name`."""
    return name in {brought for brought, _, _ in _BROUGHT}


def is_registered_here(name: str) -> bool:
    """Whether only this process knows the backend called `name`: another one would not find it."""
    with _lock:
        return name in _registered and not is_brought(name)


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
