"""DyCL compiles PyTorch models that make decisions while they run into programs that need no PyTorch."""

from typing import TYPE_CHECKING, Any

from dycl.runtime import ArtefactError, DyclError, InputError, ModelError, Path, Program, Trace, load
from dycl.version import __version__

if TYPE_CHECKING:
    from dycl.compiler import compile
    from dycl.errors import CompileError
    from dycl.report import Explanation, explain

__all__ = [
    "ArtefactError",
    "CompileError",
    "DyclError",
    "Explanation",
    "InputError",
    "ModelError",
    "Path",
    "Program",
    "Trace",
    "__version__",
    "compile",
    "explain",
    "load",
]

_NEED_TORCH = {
    "compile": "dycl.compiler",
    "CompileError": "dycl.errors",
    "explain": "dycl.report",
    "Explanation": "dycl.report",
}


def __getattr__(name: str) -> Any:
    """The names that need PyTorch, imported when first asked for: running an artefact does without them."""
    import importlib

    from dycl.collection import collection_put_off

    if name not in _NEED_TORCH:
        raise AttributeError(f"module 'dycl' has no attribute '{name}'")
    try:
        with collection_put_off():
            module = importlib.import_module(_NEED_TORCH[name])
    except ModuleNotFoundError as error:
        if error.name in ("torch", "onnx"):
            raise ImportError(f"dycl.{name} needs {error.name}: pip install 'dycl[compile]'") from error
        raise
    return getattr(module, name)
