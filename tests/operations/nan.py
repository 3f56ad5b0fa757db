"""Cases of NaN and infinity in operations that compare: extremes, places, orders."""

import torch
from torch.nn import functional as F

from tests.operations.cases import INF, NAN, SPECIAL, SPECIAL64, WIDTHS, Maker, case, normal, these

_GREATEST = torch.finfo(torch.float32).max

# One NaN a row at most, and no two equal numbers, so that PyTorch leaves no place open.
_ROWS = [
    [1.0, NAN, 3.0, 2.0, 5.0],
    [INF, 4.0, NAN, -INF, 0.0],
    [NAN, -INF, INF, 1.0, 2.0],
    [-INF, 2.0, INF, 1.0, 0.0],
    [_GREATEST, INF, 1.0, -_GREATEST, -INF],
    [5.0, 4.0, 3.0, 2.0, NAN],
]
_TIED_ROWS = [*_ROWS, [NAN] * 5, [-INF] * 5, [INF] * 5, [INF, NAN, -INF, NAN, INF], [1.0, NAN, NAN, 2.0, 1.0]]
_TIED = these(_TIED_ROWS)


def _salted(*shape: int, dtype: torch.dtype = torch.float32) -> Maker:
    """Normally distributed numbers with a NaN or infinity here and there."""

    def make(generator: torch.Generator) -> torch.Tensor:
        numbers = torch.randn(shape, generator=generator, dtype=torch.float64)
        salt = torch.tensor([NAN, INF, -INF])[torch.randint(0, 3, shape, generator=generator)]
        return torch.where(torch.rand(shape, generator=generator) < 0.04, salt, numbers).to(dtype)

    return make


_TENSORS = (_TIED, *(_salted(3, 40, dtype=width) for width in WIDTHS), normal(3, 40))

# Sorted as PyTorch sorts, or not at all: its search goes the same way.
_EDGES = ([0.0, 5.0, NAN], [1.0, NAN, NAN], [NAN] * 3, [0.0, 0.5, 1.0, 2.0, NAN, NAN, NAN], [NAN, 1.0, 2.0, 0.0])

_HOLES = these([[[-INF] * 5, [NAN, -INF, -INF, -INF, 1.0], [-INF, -INF, 2.0, NAN, NAN], [0.0, 1.0, INF, -INF, 2.0]]])

_HIDDEN = [[True] * 6, [False] * 6, [True, False] * 3, [False] * 5 + [True], [False] * 6]
_MASKS = (these(_HIDDEN), these([[0.0 if seen else -INF for seen in row] for row in _HIDDEN]))

CASES = [
    # A query that may look at nothing: what is not finite among queries, keys or values shows all the same.
    *(
        case(
            "scaled_dot_product_attention.default",
            lambda q, k, v, mask: F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
            *(
                _salted(2, 4, size, 8) if place == salted else normal(2, 4, size, 8)
                for place, size in enumerate((5, 6, 6))
            ),
            mask,
            tolerance=5,
        )
        for mask in _MASKS
        for salted in range(3)
    ),
    *(
        case(
            f"max_pool{rank}d{'_with_indices' if places else ''}.default",
            lambda x, r=rank, p=places, w=window: getattr(F, f"max_pool{r}d")(x, return_indices=p, **w),
            maker,
        )
        for rank, makers in (
            (1, (_HOLES, _salted(2, 3, 20, dtype=torch.float64))),
            (2, (_HOLES, _salted(2, 3, 9, 9), _salted(1, 3, 9, 9, dtype=torch.float16))),
            (3, (_salted(2, 1, 5, 5, 6),)),
        )
        for maker in makers
        for window in ({"kernel_size": 2, "stride": 1}, {"kernel_size": 3, "stride": 2, "padding": 1})
        for places in (False, True)
    ),
    case(
        "max_pool2d_with_indices.default",
        lambda x: F.max_pool2d(x, 2, return_indices=True),
        _salted(2, 3, 9, 8),
        names=(("n", 3, "h", 8),),
    ),
    *(
        case(
            "searchsorted.Tensor",
            lambda s, x, r=r: torch.searchsorted(s, x, right=r),
            these(edges, width),
            these([0.5, 1.0, NAN, -INF, INF, 5.0], width),
            symbolic=True,
        )
        for edges in _EDGES
        for r in (False, True)
        for width in (torch.float32, torch.float64)
    ),
    case("searchsorted.Tensor", torch.searchsorted, these([_EDGES[0], _EDGES[1]]), these([[0.5, 1.0], [3.0, NAN]])),
    case("searchsorted.Tensor", lambda s: torch.searchsorted(s, 0.5), these(_EDGES[3])),
    *(
        case("var_mean.dim", lambda x, d=d, k=k: torch.var_mean(x, dim=d, keepdim=k), maker, symbolic=True)
        for d, k in ((1, False), (1, True), (0, False), ((0, 1), True))
        for maker in (these([[INF, 2.0], [2.0, INF], [1.0, 2.0]]), these([[1.0, 2.0], [3.0, -INF]]), normal(3, 4))
    ),
    *(
        case(
            "grid_sampler.default",
            lambda x, g, p=p, m=m: F.grid_sample(x, g, mode=m, padding_mode=p, align_corners=True),
            normal(1, 1, 4, 4),
            these([[[[1e9, 0.0], [-1e20, 0.5], [0.2, 0.3]]]]),
        )
        for p in ("border", "zeros")
        for m in ("bilinear", "nearest")
    ),
    *(
        case("logsumexp.default", lambda x, d=d, k=k: x.logsumexp(d, keepdim=k), maker, symbolic=True)
        for d, k in ((0, False), (1, True), ((0, 1), False))
        for maker in (_TIED, normal(3, 4))
    ),
    *(
        case(f"{name}.default", getattr(torch, name), maker, symbolic=True)
        for name in ("max", "min", "median", "argmax", "argmin")
        for maker in (*_TENSORS, *(these(row) for row in _ROWS), these([row[:3] for row in _ROWS], torch.float64))
    ),
    *(
        case(f"{name}.{form}", lambda x, n=name, d=d, k=k: getattr(torch, n)(x, dim=d, keepdim=k), maker, symbolic=True)
        for name, form in (
            ("amax", "default"),
            ("amin", "default"),
            ("aminmax", "default"),
            ("argmax", "default"),
            ("argmin", "default"),
            ("max", "dim"),
            ("min", "dim"),
            ("median", "dim"),
        )
        for d, k in ((0, True), (1, False))
        # What is in the middle of equal numbers has no one place.
        for maker in (_TENSORS if name != "median" else (these(_ROWS), normal(3, 40)))
    ),
    case("median.dim", lambda x: x.median(1), _salted(3, 41, dtype=torch.float64)),
    case("amax.default", lambda x: x.amax((0, 2)), _salted(3, 4, 9), symbolic=True),
    case("amax.default", lambda x: x.amax((1, 2), keepdim=True), _salted(1, 4, 9), symbolic=True),
    case("aminmax.default", torch.aminmax, _salted(3, 40)),
    case("aminmax.default", lambda x: torch.aminmax(x).max, _salted(3, 40)),
    case("max.dim", lambda x: x.max(1).values, _TIED, symbolic=True),
    case("max.dim", lambda x: x.max(-1).values, these([_ROWS[1]])),
    case("min.dim", lambda x: x.min(1).indices, _TIED, symbolic=True),
    case("max.default", lambda x: torch.softmax(x, -1).max() > 0.5, these([_ROWS[0]])),
    case("isnan.default", lambda x: torch.isnan(x.max()), these([_ROWS[1]])),
    # Orders.
    *(
        case(
            "sort.stable",
            lambda x, a=axis, d=d: x.sort(dim=a, stable=True, descending=d),
            maker,
            symbolic=True,
        )
        for axis in (0, 1)
        for d in (False, True)
        for maker in _TENSORS
    ),
    case("sort.default", lambda x: x.sort(), these(_ROWS), symbolic=True),
    case("msort.default", torch.msort, _TIED),
    case("argsort.stable", lambda x: x.argsort(dim=1, stable=True), _TIED),
    case("argsort.default", lambda x: x.argsort(1), these(_ROWS)),
    *(
        case("topk.default", lambda x, k=k, u=up: x.topk(k, largest=u), these(_ROWS, width), symbolic=True)
        for k in (1, 3)
        for up in (True, False)
        for width in (torch.float32, torch.float64)
    ),
    case("topk.default", lambda x: x.topk(9).values, _salted(3, 40, dtype=torch.float16)),
    *(case("kthvalue.default", lambda x, k=k: x.kthvalue(k), these(_ROWS), symbolic=True) for k in (1, 4, 5)),
    *(
        case(
            "searchsorted.Tensor",
            lambda s, x, r=r: torch.searchsorted(s, x, right=r),
            these([-INF, 1.0, 2.0, INF]),
            _TIED,
        )
        for r in (False, True)
    ),
    case("bucketize.Tensor", torch.bucketize, SPECIAL, these([0.0, 1.0])),
    *(
        case("_unique2.default", lambda x: torch.unique(x, return_counts=True), maker)
        for maker in (_TIED, _salted(3, 40, dtype=torch.float64), _salted(9, dtype=torch.bfloat16))
    ),
    *(
        case("_unique2.default", lambda x: torch.unique(x, return_inverse=True, return_counts=True), these(row))
        for row in _ROWS
    ),
    case(
        "unique_consecutive.default",
        lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True),
        these([NAN, 1.0, 1.0, NAN, NAN, INF, INF]),
    ),
    # What is made of extremes.
    *(
        case("linalg_vector_norm.default", lambda x, p=p, d=d: torch.linalg.vector_norm(x, p, dim=d), maker)
        for p in (INF, -INF)
        for d in (None, 1)
        for maker in (_TIED, _salted(3, 40, dtype=torch.float16))
    ),
    *(
        case(
            "scatter_reduce.two",
            lambda x, i, s, r=r, k=k: x.scatter_reduce(0, i, s, r, include_self=k),
            these([1.0, NAN, NAN, 2.0, INF], width),
            these([0, 0, 1, 3, 3, 3]),
            these([1.0, NAN, 5.0, NAN, 2.0, -INF], width),
        )
        for r in ("amax", "amin")
        for k in (True, False)
        for width in WIDTHS
    ),
    *(
        case("adaptive_max_pool2d.default", lambda x, s=s: F.adaptive_max_pool2d(x, s, return_indices=True), maker)
        for s in (1, (2, 4))
        for maker in (_salted(2, 3, 6, 8), _salted(3, 6, 8, dtype=torch.float64))
    ),
    case("adaptive_max_pool2d.default", lambda x: F.adaptive_max_pool2d(x, (2, 4)), _salted(2, 3, 6, 8)),
    case("adaptive_max_pool1d.default", lambda x: F.adaptive_max_pool1d(x, 4, return_indices=True), _salted(2, 3, 40)),
    case(
        "adaptive_max_pool3d.default", lambda x: F.adaptive_max_pool3d(x, 2, return_indices=True), _salted(2, 4, 5, 7)
    ),
    # Functions. Of several numbers in single precision PyTorch says that `gelu(inf)` is NaN, of one that it is inf.
    *(
        case(f"{n}.int", lambda x, n=n: getattr(x, n)(1), maker)
        for n in ("softmax", "log_softmax")
        for maker in _TENSORS
    ),
    *(case("gelu.default", F.gelu, these(number)) for number in (NAN, INF, -INF)),
    case("gelu.default", F.gelu, SPECIAL64),
    case("gelu.default", F.gelu, these([NAN, INF, -INF, 1.5], torch.float16)),
    *(case("gelu.default", lambda x: F.gelu(x, approximate="tanh"), maker) for maker in (SPECIAL, SPECIAL64)),
    # One bad pixel spoils only what it is part of.
    *(
        case(
            "adaptive_avg_pool1d.default",
            lambda x: F.adaptive_avg_pool1d(x, 5),
            _salted(2, 3, 8, dtype=d),
            symbolic=True,
        )
        for d in (torch.float32, torch.float64)
    ),
    case("adaptive_avg_pool2d.default", lambda x: F.adaptive_avg_pool2d(x, (3, 5)), _salted(2, 3, 8, 7)),
    case("upsample_linear1d.vec", lambda x: F.interpolate(x, size=5, mode="linear"), _salted(2, 3, 8)),
    case("upsample_bilinear2d.vec", lambda x: F.interpolate(x, size=(9, 5), mode="bilinear"), _salted(2, 3, 6, 7)),
    case("upsample_bicubic2d.vec", lambda x: F.interpolate(x, size=(9, 5), mode="bicubic"), _salted(2, 3, 6, 7)),
    *(
        case(
            f"upsample_{mode}2d.vec",
            lambda x, m=mode, size=size, c=c: F.interpolate(x, size=size, mode=m, align_corners=c),
            _salted(2, 3, 6, 7),
        )
        for mode in ("bilinear", "bicubic")
        for size in ((6, 7), (6, 5), (9, 7))
        for c in (False, True)
    ),
    case("hypot.default", torch.hypot, these([INF, NAN, -INF, 1.0]), these([NAN, INF, 2.0, NAN])),
    *(
        case("isin.Tensor_Tensor", lambda x, y, i=i: torch.isin(x, y, invert=i), SPECIAL, these([NAN, 1.5, 0.0, INF]))
        for i in (False, True)
    ),
    case("isin.Tensor_Tensor", lambda x, y: torch.isin(x, y), these([[1, 2], [3, 4]]), these([4, 1, 9])),
    case("isin.Tensor_Scalar", lambda x: torch.isin(x, 1.5), SPECIAL),
    case("isin.Scalar_Tensor", lambda x: torch.isin(1.5, x), SPECIAL),
    *(
        case(
            "grid_sampler.default",
            lambda x, g, m=m, p=p: F.grid_sample(x, g, mode=m, padding_mode=p, align_corners=False),
            normal(1, 2, 3, 4),
            these([[[[NAN, 0.0], [0.3, NAN], [0.2, -0.1]], [[INF, 0.0], [0.5, -INF], [NAN, NAN]]]]),
            tolerance=20,
        )
        for m in ("bilinear", "nearest", "bicubic")
        for p in ("zeros", "border", "reflection")
    ),
    *(
        case(
            "grid_sampler.default",
            lambda x, g, m=m, p=p, c=c: F.grid_sample(x, g, mode=m, padding_mode=p, align_corners=c),
            _salted(2, 3, *size),
            normal(2, *(5,) * len(size), len(size)),
            tolerance=20,
        )
        for size in ((6, 7), (1, 5), (3, 4, 2))
        for m in ("bilinear", "nearest")
        for p in ("zeros", "border", "reflection")
        for c in (False, True)
    ),
    *(case("pow.Tensor_Scalar", lambda x, e=e: x**e, these([-INF, INF, 4.0, NAN], torch.float16)) for e in (0.5, -0.5)),
    *(
        case("cdist.default", lambda x, y, p=p: torch.cdist(x, y, p=p), _salted(5, 6), _salted(4, 6))
        for p in (0.0, 1.0, 3.0, INF)
    ),
    case("std.dim", lambda x: x.std(1), these([[1e30, -2e30, 5e29], [1e-30, 2e-30, 3.0], [NAN, 1.0, 2.0]])),
]
