"""The compile-time half of backends: each turns a sub-DNN into code that its runtime half loads back."""

from importlib.metadata import entry_points
from typing import Protocol, runtime_checkable

from dycl.hcfg.subnet import SubnetGraph

ENTRY_POINT_GROUP = "dycl.compilers"


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


def find_compiler(name: str) -> Compiler:
    """The backend of this name; ValueError with the known names if there is none."""
    from dycl.backends.onnxruntime import OnnxRuntimeCompiler

    if name == OnnxRuntimeCompiler.name:
        return OnnxRuntimeCompiler()
    found = {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in found:
        known = ", ".join(sorted((OnnxRuntimeCompiler.name, *found)))
        raise ValueError(f"there is no backend `{name}`; known are: {known}")
    compiler = found[name].load()()
    if not isinstance(compiler, Compiler):
        raise TypeError(f"the backend `{name}` does not have the methods of dycl.backends.Compiler")
    return compiler
