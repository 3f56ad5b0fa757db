"""Whether PyTorch raises an error because of elements: then somebody must have looked at them.

Rules for such operations are in `values`. An operation that none of them knows is tried on small tensors of several
numbers. Where PyTorch refuses some of them, and nothing was checked while the operation was recorded, a program would
compute something where eager raises.
"""

from collections.abc import Hashable, Iterator
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes

from dycl.rewrite.record.errors.element_types import real_arguments
from dycl.rewrite.record.operations import tensors_in
from dycl.rewrite.record.sizes.shape_rules import ATEN_ERRORS
from dycl.rewrite.signals import Refused

_FLOATS = (-1.0, 0.0, 0.5, 2.0, 100.0, float("nan"), float("inf"))
_WHOLE = (-1, 0, 2, 100)

_DEPEND: dict[Hashable, bool] = {}


def require_looked_at(
    func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], kind: Hashable
) -> None:
    """Refuse an operation that nobody has looked at the elements for, if PyTorch does; `kind` is the kind of call."""
    if kind not in _DEPEND:
        # What PyTorch calls by a leading underscore does not look at what it is given, and may read past its end.
        known = func.namespace == "aten" and not func._schema.name.startswith("aten::_")
        _DEPEND[kind] = known and _depends(func, args, kwargs)
    if _DEPEND[kind]:
        raise Refused("DY004", f"whether `{func}` raises an error depends on elements that only the input determines")


def _depends(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether PyTorch takes some elements and not others; if it takes none, it is not the elements it speaks of."""
    with _disable_current_modes(), torch.no_grad():
        return len({_fails(func, *given) for given in _filled(args, kwargs)}) > 1


def _filled(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Arguments with ones, and with one tensor after the other full of each of several numbers."""
    yield real_arguments(args, kwargs)
    for place in range(len(tensors_in(real_arguments(args, kwargs)))):
        for number in _FLOATS:
            given = real_arguments(args, kwargs)
            tensor = tensors_in(given)[place]
            if not (tensor.is_floating_point() or number in _WHOLE):
                continue
            if tensor.dtype != torch.bool and not (number < 0 and tensor.dtype == torch.uint8):
                tensor.fill_(number)
                yield given


def _fails(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        func(*args, **kwargs)
    except ATEN_ERRORS:
        return True
    return False
