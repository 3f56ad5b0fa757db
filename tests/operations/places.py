"""Cases that look for places, and that write to them, beyond the usual ones."""

from typing import Any

import torch
from torch.nn import functional as F

from tests.operations.cases import INF, NAN, WIDTHS, case, flags, integers, normal, these

_ROWS = these([[1.0, NAN, 2.0, 3.0], [2.0, 1.0, INF, -INF], [NAN, 2.0, 2.0, 1.0]])
_INDEX = these([0, 2, 0, 1])


def _renormed(weight: torch.Tensor, index: torch.Tensor, **options: Any) -> Any:
    return F.embedding(index, weight.clone(), **options)


CASES = [
    case("_is_all_true.default", torch._is_all_true, flags(3, 4)),
    case("_is_all_true.default", torch._is_all_true, these([True, True]), symbolic=True),
    case("_is_any_true.default", torch._is_any_true, flags(3)),
    case("_is_any_true.default", torch._is_any_true, these([False, False]), symbolic=True),
    case("_is_any_true.default", torch._is_any_true, these([], torch.bool)),
    *(
        case("nanmedian.dim", lambda x, d=axis, k=keep: x.nanmedian(d, k), _ROWS, symbolic=True)
        for axis in (0, -1)
        for keep in (False, True)
    ),
    *(case("nanmedian.dim", lambda x: x.nanmedian(1), normal(3, 6, dtype=width)) for width in WIDTHS),
    case("nanmedian.dim", lambda x: x.nanmedian(0).values, integers(-9, 9, 4, 5)),
    case("nanmedian.dim", lambda x: x.nanmedian(0), these(2.0)),
    case("nanmedian.default", torch.nanmedian, _ROWS, symbolic=True),
    case("nanmedian.default", torch.nanmedian, these([NAN, NAN])),
    case("nanmedian.default", torch.nanmedian, integers(-9, 9, 4, 5)),
    case("nanmedian.default", torch.nanmedian, these(2.0)),
    *(
        case("nonzero_static.default", lambda x, n=size, f=fill: torch.nonzero_static(x, size=n, fill_value=f), maker)
        for size in (0, 2, 9)
        for fill in (-1, 7)
        for maker in (flags(3, 4), integers(0, 2, 5), normal(2, 2, 2), these([0.0, 0.0]))
    ),
    case("nonzero_static.default", lambda x: torch.nonzero_static(x, size=4), flags(3, 4), symbolic=True),
    *(
        case("put.default", lambda x, i, s, k=add: x.put(i, s, k), normal(3, 4), these([[0, -1], [5, 3]]), normal(2, 2))
        for add in (False, True)
    ),
    case("put.default", lambda x, i, s: x.put(i, s, True), integers(0, 9, 4), these([1, 1, 1]), integers(0, 9, 3)),
    case("put.default", lambda x, i, s: x.put(i, s), normal(3, 4), these([2, 11]), normal(2), symbolic=True),
    case("put.default", lambda x, i, s: x.put(i, s), these(1.0), these([0]), these([2.0])),
    *(
        case(
            "index_reduce.default",
            lambda x, i, s, r=reduce, k=keep, d=axis: x.index_reduce(d, i, s, r, include_self=k),
            maker(5, 4),
            _INDEX,
            maker(4, 4),
            tolerance=2,
        )
        for reduce in ("prod", "mean", "amax", "amin")
        for keep in (True, False)
        for axis in (0, -2)
        for maker in (normal, lambda *shape: integers(-9, 9, *shape))
    ),
    case(
        "index_reduce.default",
        lambda x, i, s: x.index_reduce(1, i, s, "amax"),
        normal(3, 4),
        _INDEX,
        these([[1.0, NAN, 2.0, INF]] * 3),
        symbolic=True,
    ),
    case("index_reduce.default", lambda x, i, s: x.index_reduce(0, i, s, "mean"), these(1.0), these([0]), these(2.0)),
    *(
        case(
            "scatter_reduce.two",
            lambda x, i, s, r=reduce, k=keep: x.scatter_reduce(0, i, s, r, include_self=k),
            flags(5),
            integers(0, 5, 9),
            flags(9),
        )
        for reduce in ("sum", "prod", "amax", "amin")
        for keep in (True, False)
    ),
    *(
        case(
            "embedding_renorm.default", lambda w, i, o=options: _renormed(w, i, **o), normal(5, 4), integers(0, 5, 2, 3)
        )
        for options in ({"max_norm": 0.7}, {"max_norm": 1.5, "norm_type": 1.0}, {"max_norm": 1.0, "norm_type": INF})
    ),
    case("unfold.default", lambda x: x.unfold(0, 1, 1), these(2.0)),
    case("unfold.default", lambda x: x.unfold(0, 0, 1), these(2.0)),
    *(
        case("_pdist_forward.default", lambda x, p=p: F.pdist(x, p), normal(5, 3, dtype=width))
        for p in (0.0, 1.0, 2.0, 3.5, INF)
        for width in (torch.float32, torch.float64)
    ),
]
