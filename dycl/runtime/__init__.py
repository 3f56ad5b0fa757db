"""Loads and runs compiled programs: numpy and the runtimes of their backends, never PyTorch.

Beside what a user needs, here is what others build on: `Backend` and what belongs to it for those who bring a backend,
`Host` and what belongs to it for those who bring another way to run the graph.
"""

from dycl.runtime.artefact import Artefact
from dycl.runtime.backend import Backend, CompiledSubnet, Engine, SubnetFailure, SubnetSignature
from dycl.runtime.backend_registry import register_backend
from dycl.runtime.engines import ArrayEngine
from dycl.runtime.errors import ArtefactError, ChoiceWarning, DyclError, InputError, ModelError
from dycl.runtime.host import CallResult, Host, OpenProgram, Visit
from dycl.runtime.program import Path, Program, Taken, Trace, load
from dycl.runtime.python_host import PythonHost

__all__ = [
    "ArrayEngine",
    "Artefact",
    "ArtefactError",
    "Backend",
    "CallResult",
    "ChoiceWarning",
    "CompiledSubnet",
    "DyclError",
    "Engine",
    "Host",
    "InputError",
    "ModelError",
    "OpenProgram",
    "Path",
    "Program",
    "PythonHost",
    "SubnetFailure",
    "SubnetSignature",
    "Taken",
    "Trace",
    "Visit",
    "load",
    "register_backend",
]
