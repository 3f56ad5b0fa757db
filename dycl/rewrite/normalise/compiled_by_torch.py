"""What `torch.compile` wraps is followed as it is: its wrappers compute the same, but cannot be looked into."""

import sys
import types
from typing import Any


def original(callee: Any) -> Any:
    """The function or module that `torch.compile` wrapped; the callable itself if it is no such wrapper."""
    dynamo = sys.modules.get("torch._dynamo.eval_frame")
    while dynamo is not None:
        if isinstance(callee, dynamo.OptimizedModule) and not _has_hooks(callee):
            callee = callee._orig_mod
        elif isinstance(callee, types.FunctionType) and _is_wrapper(callee, dynamo):
            callee = callee._torchdynamo_orig_callable  # type: ignore[attr-defined]
        else:
            break
    return callee


def _has_hooks(module: Any) -> bool:
    return bool(module._forward_hooks or module._forward_pre_hooks or module._backward_hooks)


def _is_wrapper(function: types.FunctionType, dynamo: types.ModuleType) -> bool:
    """Whether this is a wrapper itself, and no function that was made to look like one by `functools.wraps`."""
    return "_torchdynamo_orig_callable" in vars(function) and function.__code__.co_filename == dynamo.__file__
