"""Everything that can be reached from a model, written down so that two times can be compared."""

import gc
import sys
import types
from typing import Any

import numpy as np
import torch
from torch import nn

_PASSED_BY = (types.FrameType, types.TracebackType, types.CodeType, types.ModuleType)


def everything_around(model: nn.Module) -> dict[int, tuple[Any, Any]]:
    """Each object that the model, its classes and their modules lead to, with what it is made of now."""
    waiting: list[Any] = [model, vars(sys.modules[type(model).__module__])]
    found: dict[int, tuple[Any, Any]] = {}
    while waiting:
        value = waiting.pop()
        if id(value) in found or isinstance(value, _PASSED_BY) or _is_of_a_library(value):
            continue
        parts = _parts(value)
        found[id(value)] = (value, _written_down(value, parts))
        waiting.extend(parts)
    return found


def _is_of_a_library(value: Any) -> bool:
    if not isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
        return False
    top = str(getattr(value, "__module__", "")).partition(".")[0]
    return top in sys.stdlib_module_names or top in ("torch", "numpy", "builtins", "dycl", "pytest", "_pytest", "")


def _parts(value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor | np.ndarray | str | int | float):
        return []
    if isinstance(value, types.FunctionType):
        return [value.__closure__, value.__defaults__, value.__kwdefaults__, vars(value)]
    if not isinstance(value, type) and isinstance(getattr(value, "__dict__", None), dict):
        # Python makes this dict when it is first asked for: from then on it is the same one.
        vars(value)
    return gc.get_referents(value)


def _written_down(value: Any, parts: list[Any]) -> Any:
    match value:
        case torch.Tensor():
            return value.data_ptr(), value.requires_grad, value.tolist()
        case np.ndarray() | memoryview():
            return value.tobytes()
        case bytearray() | str() | int() | float():
            return repr(value)
        case dict():
            entries = dict.items(value)
            return [(id(key), id(entry)) for key, entry in entries if key not in ("__warningregistry__", "__cached__")]
        case nn.Module():
            return [id(vars(value)), *((name, id(entry)) for name, entry in vars(value).items())]
        case list() | tuple():
            return list(map(id, value))
        case BaseException():
            # An error without a traceback has None in its place, or nothing.
            return [id(vars(value)), *sorted(id(part) for part in parts if part is not None)]
        case _:
            # Whether an object has its attributes in itself or in a dict is Python's own affair, from 3.13 on.
            own = getattr(value, "__dict__", None)
            if isinstance(value, type) or not isinstance(own, dict) or own is not value.__dict__:
                return sorted(map(id, parts))
            return [id(type(value)), id(own), *sorted({*map(id, parts)} - {*map(id, (own, *own.values()))})]


def assert_unchanged(before: dict[int, tuple[Any, Any]], after: dict[int, tuple[Any, Any]]) -> None:
    """What was there is there, made of the same."""
    for key, (value, made_of) in before.items():
        if key in after:
            assert after[key][1] == made_of, f"{type(value)} has changed: {str(value)[:200]}"
    missing = [value for key, (value, _) in before.items() if key not in after]
    assert not missing, f"no longer to be reached: {missing[:3]}"
