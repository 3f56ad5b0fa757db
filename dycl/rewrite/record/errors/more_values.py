"""What rarer operations of PyTorch refuse because of elements: ranges that are not finite, pivots, lengths, shares."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.errors.checks import check


def _counted(recorder: Records, tensor: Tensor, bins: Any = 100, low: Any = 0, high: Any = 0, **options: Any) -> Any:
    """Without a range, the elements say it."""
    if isinstance(bins, int) and low == high and options.get("range") is None:
        check(recorder, torch.isfinite(tensor).all(), "RuntimeError", "torch.histc: range is not finite", guards=True)
    return ()


def _inverted(recorder: Records, tensor: Tensor, *_: Any, **__: Any) -> Any:
    singular = torch.eq(tensor.diagonal(0, -2, -1), 0).any()
    message = "cholesky_inverse: A diagonal element is zero, the input matrix is singular."
    check(recorder, torch.logical_not(singular), "LinAlgError", message, guards=True)
    return ()


def _factored(recorder: Records, tensor: Tensor, upper: bool = False) -> Any:
    flaws = torch.linalg.cholesky_ex(tensor, upper=upper).info
    message = "cholesky: The factorization could not be completed because the input is not positive-definite"
    check(recorder, torch.eq(flaws, 0).all(), "LinAlgError", message, guards=True)
    return ()


def _pivoted(recorder: Records, factors: Tensor, pivots: Tensor, *rest: Any, **options: Any) -> Any:
    if rest[1:2] == (False,) or options.get("unpack_pivots") is False:
        return ()
    fits = torch.logical_and(torch.ge(pivots, 1), torch.le(pivots, factors.shape[-2])).all()
    check(recorder, fits, "RuntimeError", "pivots must be between 1 and LU.size(-2) inclusive.", guards=True)
    return ()


def _solved(recorder: Records, factors: Tensor, pivots: Tensor, *_: Any, **__: Any) -> Any:
    return _pivoted(recorder, factors, pivots)


def _in_segments(recorder: Records, data: Tensor, reduce: str, **options: Any) -> Any:
    lengths, offsets = options.get("lengths"), options.get("offsets")
    if offsets is not None:
        ordered = torch.ge(offsets[..., 1:], offsets[..., :-1]).all()
        check(recorder, ordered, "RuntimeError", "Expected segment_length >= 0 to be true, but got false.", guards=True)
    elif lengths is not None:
        check(recorder, torch.ge(lengths, 0).all(), "RuntimeError", "lengths contains negative value!", guards=True)
        if not options.get("unsafe"):
            whole = torch.eq(lengths.sum(-1), data.shape[lengths.dim() - 1]).all()
            message = "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1)"
            check(recorder, whole, "RuntimeError", message, guards=True)
    return ()


def _searched(recorder: Records, boundaries: Tensor, *_: Any, sorter: Tensor | None = None, **__: Any) -> Any:
    if sorter is not None:
        fits = torch.logical_and(torch.ge(sorter, 0), torch.lt(sorter, boundaries.shape[-1])).all()
        check(recorder, fits, "RuntimeError", "torch.searchsorted(): sorter index out of range", guards=True)
    return ()


def _shares(recorder: Records, tensor: Tensor, q: Any, *_: Any, **__: Any) -> Any:
    message = "quantile() q values must be in the range [0, 1]"
    given = q if isinstance(q, Tensor) else recorder.materialise(q) if isinstance(q, torch.SymFloat) else None
    if given is not None:
        fits = torch.logical_and(torch.ge(given, 0), torch.le(given, 1))
        check(recorder, fits.all() if fits.dim() else fits, "RuntimeError", message, guards=True)
    return ()


def _counted_along(recorder: Records, tensor: Tensor, bins: Any, **options: Any) -> Any:
    return _counted(recorder, tensor, **options)


RULES: dict[str, Callable[..., Any]] = {
    "aten.histc.default": _counted,
    "aten.histogram.bin_ct": _counted,
    **{f"aten._histogramdd_{name}.default": _counted_along for name in ("bin_edges", "from_bin_cts")},
    "aten.cholesky.default": _factored,
    "aten.cholesky_inverse.default": _inverted,
    "aten.lu_unpack.default": _pivoted,
    "aten.linalg_lu_solve.default": _solved,
    "aten.segment_reduce.default": _in_segments,
    "aten.searchsorted.Tensor": _searched,
    "aten.searchsorted.Scalar": _searched,
    **{f"aten.{name}.{form}": _shares for name in ("quantile", "nanquantile") for form in ("default", "scalar")},
}
