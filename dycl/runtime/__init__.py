"""Loads and runs compiled programs: numpy and one backend's runtime, never PyTorch."""

from dycl.runtime.errors import ArtefactError, DyclError, InputError, ModelError, SettingError
from dycl.runtime.program import Path, Program, Taken, Trace, load

__all__ = [
    "ArtefactError",
    "DyclError",
    "InputError",
    "ModelError",
    "Path",
    "Program",
    "SettingError",
    "Taken",
    "Trace",
    "load",
]
