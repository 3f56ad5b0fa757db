"""The compile-time half of backends: each turns a sub-DNN into code that its runtime half loads back."""

import threading
from importlib.metadata import entry_points
from typing import Protocol, runtime_checkable

from dycl.backends.ncnn import NcnnCompiler
from dycl.backends.tvm import TvmCompiler
from dycl.hcfg.subnet import SubnetGraph

ENTRY_POINT_GROUP = "dycl.compilers"

_BUILT_IN = ("ncnn", "onnxruntime", "openvino", "tvm")
_lock = threading.Lock()
_registered: dict[str, "Compiler"] = {}


@runtime_checkable
class Compiler(Protocol):
    """What the compiler asks of a backend."""

    name: str

    def supports(self, target: str) -> bool:
        """Whether the backend translates an ATen operation such as `aten.conv2d.default` whole."""
        ...

    def compile(self, graph: SubnetGraph) -> bytes:
        """The code of a sub-DNN; `backends.errors.Untranslatable` if an operation has no translation."""
        ...


def register_compiler(compiler: Compiler) -> None:
    """Nothing; `dycl.compile(..., backend=compiler.name)` uses `compiler` from now on, in this process.

    ValueError if another one was registered under this name before. The runtime half, which runs what it compiles, is
    registered by `dycl.runtime.register_backend`. May be called from any thread.
    """
    if not isinstance(compiler, Compiler):
        raise TypeError(f"{compiler!r} does not have the methods of dycl.backends.Compiler")
    with _lock:
        if compiler.name in _BUILT_IN or _registered.setdefault(compiler.name, compiler) is not compiler:
            raise ValueError(f"another backend is registered as {compiler.name!r}")


def find_compiler(name: str) -> Compiler:
    """The backend of this name; ValueError with the known names if there is none."""
    if name == "onnxruntime":
        from dycl.backends.onnxruntime import OnnxRuntimeCompiler

        return OnnxRuntimeCompiler()
    if name == "openvino":
        from dycl.backends.openvino import OpenVinoCompiler

        return OpenVinoCompiler()
    if name == "ncnn":
        return NcnnCompiler()
    if name == "tvm":
        return TvmCompiler()
    with _lock:
        registered = dict(_registered)
    if name in registered:
        return registered[name]
    found = {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in found:
        known = ", ".join(sorted((*_BUILT_IN, *registered, *found)))
        raise ValueError(f"there is no backend `{name}`; known are: {known}")
    compiler = found[name].load()()
    if not isinstance(compiler, Compiler):
        raise TypeError(f"the backend `{name}` does not have the methods of dycl.backends.Compiler")
    return compiler
