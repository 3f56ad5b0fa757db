"""The lowerings, one module a topic. Importing this package fills the table."""

import importlib
import pkgutil

from dycl.backends.onnx.table import LOWERINGS

__all__ = ["LOWERINGS"]

for _topic in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_topic}")
