"""Whether a compiled operator gives what PyTorch gives."""

from typing import Any

import torch
from torch import Tensor

_RELATIVE = {torch.float32: 1e-4, torch.float64: 1e-8, torch.float16: 1e-2, torch.bfloat16: 2e-2}
_ABSOLUTE = {torch.float32: 1e-5, torch.float64: 1e-10, torch.float16: 1e-2, torch.bfloat16: 2e-2}


def difference(found: Any, expected: Any, path: str = "result") -> str | None:
    """How two results differ, or None."""
    if isinstance(expected, tuple | list):
        if not isinstance(found, tuple | list) or len(found) != len(expected):
            return f"{path}: {type(found).__name__} instead of {len(expected)} parts"
        parts = (difference(*pair, f"{path}[{place}]") for place, pair in enumerate(zip(found, expected, strict=True)))
        return next((part for part in parts if part), None)
    if isinstance(expected, Tensor):
        return _tensors(torch.as_tensor(found), expected, path)
    same = type(found) is type(expected) and (found == expected or (found != found and expected != expected))
    if isinstance(expected, float) and isinstance(found, float) and not same:
        same = abs(found - expected) <= 1e-5 * max(1.0, abs(expected))
    return None if same else f"{path}: {found!r} instead of {expected!r}"


def _tensors(found: Tensor, expected: Tensor, path: str) -> str | None:
    if (found.dtype, found.shape) != (expected.dtype, expected.shape):
        return f"{path}: {found.dtype}{[*found.shape]} instead of {expected.dtype}{[*expected.shape]}"
    if not expected.is_floating_point():
        wrong = found != expected
    else:
        finite = expected[torch.isfinite(expected)]
        scale = max(1.0, float(finite.abs().max())) if finite.numel() else 1.0
        limits = {"rtol": _RELATIVE[expected.dtype], "atol": _ABSOLUTE[expected.dtype] * scale}
        wrong = ~torch.isclose(found, expected, equal_nan=True, **limits)
    if not wrong.any():
        return None
    place = tuple(wrong.nonzero()[0].tolist())
    return f"{path}: {int(wrong.sum())} of {found.numel()}, at {place} {found[place]} instead of {expected[place]}"
