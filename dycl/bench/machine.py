"""What the figures were measured on."""

import os
import platform
from importlib.metadata import version

from dycl.runtime.choice import processor
from dycl.version import __version__


def description() -> dict[str, str]:
    """The machine and the versions that matter, as texts."""
    return {
        "processor": processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": _memory(),
        "system": platform.platform(terse=True),
        "Python": platform.python_version(),
        "PyTorch": version("torch"),
        "ONNX Runtime": version("onnxruntime"),
        "DyCL": __version__,
    }


def _memory() -> str:
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return f"{pages * size / 2**30:.0f} GiB"
