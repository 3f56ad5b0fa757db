"""Cases of reductions, orders and running totals."""

from typing import Any

import torch

from tests.operations.cases import INF, SPECIAL, WHOLE, WIDTHS, Case, case, flags, host, integers, normal, these

_TIES = these([[3, 1, 3, 2], [0, 0, 0, 0], [1, 2, 2, 1]])
_FLOAT_TIES = these([[3.0, 1.0, 3.0, 2.0], [0.0, -0.0, 0.0, 0.0]])


def _distinct(target: str, function: Any, **options: Any) -> list[Case]:
    """Cases whose order of equal values does not matter."""
    return [
        case(target, function, normal(3, 5, dtype=torch.float64), **options),
        case(target, function, normal(3, 5, dtype=torch.bfloat16)),
        case(target, function, integers(-(2**62), 2**62, 3, 5)),
        case(target, function, integers(-999, 999, 3, 5, dtype=torch.int16)),
    ]


CASES = [
    *(case("sum.default", torch.sum, normal(2, 3, dtype=width)) for width in WIDTHS),
    *(case("sum.default", torch.sum, integers(0, 99, 2, 3, dtype=width)) for width in WHOLE),
    case("sum.default", torch.sum, flags(2, 3), symbolic=True),
    case("sum.default", torch.sum, these(2.5)),
    case("sum.default", torch.sum, normal(0, 3)),
    case("sum.default", lambda x: x.sum(dtype=torch.float64), normal(9)),
    case("sum.default", torch.sum, these([2**53, 1, 1])),
    # Sums that overflow keep their low bits, and those beyond 2**53 their last ones.
    case("sum.default", torch.sum, these([2**53 + 1, 2]), symbolic=True),
    case("sum.default", torch.sum, these([[2**62, 2**62 + 1, 1], [2**53 + 1, 0, 0]]), symbolic=True),
    case("sum.default", torch.sum, these([[], []], torch.int64)),
    *(case("sum.default", lambda x, w=w: x.sum(dtype=w), integers(-9999, 9999, 3, 5, dtype=w)) for w in WHOLE),
    case("sum.default", lambda x: x.sum(dtype=torch.int32), these([2**31 - 1, 1], torch.int32)),
    *(
        case("sum.dim_IntList", lambda x, d=d, k=k: x.sum(d, keepdim=k), integers(2**61, 2**62, 2, 3, 4), symbolic=True)
        for d in (0, 1, -1, (0, 2), (1, 2))
        for k in (False, True)
    ),
    case("nansum.default", torch.nansum, these([2**53 + 1, 2])),
    case("prod.default", torch.prod, these([94906267, 94906267])),
    case("prod.dim_int", lambda x: x.prod(0), these([[94906267, 0], [94906267, 2**62], [1, 2**62]]), symbolic=True),
    *(
        case(f"{name}.default", lambda x, n=name: getattr(torch, n)(x[x > 9]), maker)
        for name in ("median", "nanmedian")
        for maker in (normal(3), integers(0, 5, 3), integers(0, 5, 3, dtype=torch.int8), these([10.0, 11.0, 12.0]))
    ),
    case("median.default", lambda x: x[:0].median(), normal(3)),
    case("sum.dim_IntList", lambda x: x.sum(1), normal(2, 3, 4), symbolic=True),
    case("sum.dim_IntList", lambda x: x.sum((0, -1), keepdim=True), normal(2, 3, 4), symbolic=True),
    case("sum.dim_IntList", lambda x: x.sum(0), these(1.5)),
    case("sum.dim_IntList", lambda x: x.sum(()), normal(2, 3)),
    case("sum.dim_IntList", lambda x: x.sum(0, dtype=torch.float32), flags(2, 3)),
    case("prod.default", torch.prod, normal(2, 3)),
    case("prod.default", torch.prod, integers(1, 5, 2, 3)),
    case("prod.default", torch.prod, flags(3)),
    case("prod.dim_int", lambda x: x.prod(1, keepdim=True), normal(2, 3), symbolic=True),
    # Products that overflow keep their low bits.
    *(case("prod.default", lambda x, w=w: x.prod(dtype=w), integers(1, 99, 3, 5, dtype=w)) for w in WHOLE),
    *(case("prod.default", torch.prod, these([[101] * 9, [-3] * 9], w), symbolic=True) for w in WHOLE[:-1]),
    case("prod.dim_int", lambda x: x.prod(0), these([[2**62, 1], [2, 3], [-1, 5]]), symbolic=True),
    case("prod.dim_int", lambda x: x.prod(-1, keepdim=True), these([[2**62, 1, 2], [2, 3, 4]]), symbolic=True),
    case("prod.dim_int", lambda x: x.prod(0, dtype=torch.uint8), integers(0, 256, 12, 3, dtype=torch.uint8)),
    case("prod.default", torch.prod, these(-7)),
    case("nansum.default", torch.nansum, SPECIAL),
    case("nansum.default", lambda x: x.nansum(0), integers(0, 9, 3, 4)),
    *(case("mean.default", torch.mean, normal(2, 3, dtype=width)) for width in WIDTHS),
    case("mean.default", torch.mean, normal(0)),
    case("mean.default", lambda x: x.mean(dtype=torch.float64), integers(0, 9, 5)),
    case("mean.dim", lambda x: x.mean(-1), normal(2, 3, 4), symbolic=True),
    case("mean.dim", lambda x: x.mean((2, 3), keepdim=True), normal(2, 3, 4, 5), symbolic=True),
    case("mean.dim", lambda x: x.mean(0), these(1.5)),
    *(
        case("amax.default", lambda x: x.amax(1), maker, symbolic=True)
        for maker in (normal(2, 3), integers(-9, 9, 2, 3), flags(2, 3))
    ),
    case("amax.default", lambda x: x.amax((0, 1), keepdim=True), normal(2, 3, dtype=torch.float16)),
    case("amin.default", lambda x: x.amin(), normal(2, 3)),
    case("amin.default", lambda x: x.amin(0), integers(-9, 9, 2, 3, dtype=torch.int16)),
    case("max.default", torch.max, normal(2, 3), symbolic=True),
    case("max.default", torch.max, these(2.5)),
    case("min.default", torch.min, integers(-(2**62), 2**62, 2, 3)),
    case("min.default", torch.min, flags(2, 3)),
    case("aminmax.default", torch.aminmax, normal(2, 3)),
    case("aminmax.default", lambda x: torch.aminmax(x, dim=1, keepdim=True), integers(-9, 9, 2, 3)),
    *(
        case(f"{name}.{form}", lambda x, n=name, d=d: getattr(x, n)(*d), maker, symbolic=True)
        for name in ("any", "all")
        for form, d in (("default", ()), ("dim", (1,)), ("dims", ((0, 1),)))
        for maker in (
            flags(2, 3),
            integers(0, 2, 2, 3),
            these([[0.0, 0.5], [-0.0, 1.0]]),
            integers(0, 2, 2, 2, dtype=torch.uint8),
        )
    ),
    case("any.default", torch.any, flags(0)),
    case("all.default", torch.all, flags(0)),
    case("all.dim", lambda x: x.all(0, keepdim=True), flags(0, 3)),
    case("any.default", torch.any, these(True)),
    case("count_nonzero.default", torch.count_nonzero, integers(0, 3, 2, 3)),
    case("count_nonzero.dim_IntList", lambda x: torch.count_nonzero(x, dim=(0,)), SPECIAL),
    *(case("logsumexp.default", lambda x: x.logsumexp(-1), normal(2, 3, dtype=width)) for width in WIDTHS),
    case("logsumexp.default", lambda x: x.logsumexp((0, 1), keepdim=True), normal(2, 3)),
    case("logsumexp.default", lambda x: x.logsumexp(0), these([[-INF, 1000.0], [-INF, 1000.0]])),
    case("logsumexp.default", lambda x: x.logsumexp(0), integers(0, 9, 3)),
    *(case(f"{n}.default", lambda x, n=n: getattr(x, n)(False), normal(2, 5)) for n in ("var", "std")),
    *(
        case(f"{n}.correction", lambda x, n=n: getattr(x, n)(), normal(2, 5, dtype=w), tolerance=3)
        for n in ("var", "std")
        for w in WIDTHS
    ),
    *(
        case(f"{n}.dim", lambda x, n=n: getattr(x, n)(1, False, True), normal(2, 5), symbolic=True)
        for n in ("var", "std")
    ),
    *(
        case(f"{n}.correction", lambda x, n=n: getattr(x, n)((0, 1), correction=2), normal(2, 5), symbolic=True)
        for n in ("var", "std")
    ),
    case("var.correction", lambda x: x.var(0, correction=0), normal(1, 3)),
    case("var.correction", lambda x: x.var(0, correction=1), normal(1, 3)),
    case("var_mean.correction", lambda x: torch.var_mean(x, dim=1, correction=1), normal(2, 5), symbolic=True),
    case("var_mean.default", lambda x: torch.var_mean(x, False), normal(2, 5)),
    case("var_mean.dim", lambda x: torch.var_mean(x, [0], True, True), normal(2, 5)),
    case("std_mean.correction", lambda x: torch.std_mean(x, dim=1, correction=1, keepdim=True), normal(2, 5)),
    case("std_mean.default", lambda x: torch.std_mean(x, False), normal(2, 5)),
    case("std_mean.dim", lambda x: torch.std_mean(x, [0], True), normal(2, 5)),
    *(
        case(
            "linalg_vector_norm.default",
            lambda x, p=p: torch.linalg.vector_norm(x, p, dim=1),
            normal(2, 5),
            symbolic=True,
        )
        for p in (0, 1, 2, 3, 0.5, INF, -INF)
    ),
    case("linalg_vector_norm.default", torch.linalg.vector_norm, normal(2, 5, dtype=torch.float64)),
    case(
        "linalg_vector_norm.default",
        lambda x: torch.linalg.vector_norm(x, 4),
        normal(2, 5, dtype=torch.float16, scale=50.0),
    ),
    case("mean.dim", lambda x: x.mean(0), integers(200, 300, 999, dtype=torch.float16)),
    case("linalg_vector_norm.default", lambda x: torch.linalg.vector_norm(x, 0), these(2.0)),
    case("linalg_vector_norm.default", lambda x: x.norm(dim=-1, keepdim=True), normal(2, 5)),
    case("norm.Scalar", lambda x: torch.ops.aten.norm.Scalar(x, 3), normal(2, 5)),
    case("norm.ScalarOpt_dim", lambda x: torch.ops.aten.norm.ScalarOpt_dim(x, 1, [1]), normal(2, 5)),
    case(
        "norm.ScalarOpt_dtype", lambda x: torch.ops.aten.norm.ScalarOpt_dtype(x, 1, dtype=torch.float64), normal(2, 5)
    ),
    case(
        "norm.ScalarOpt_dim_dtype",
        lambda x: torch.ops.aten.norm.ScalarOpt_dim_dtype(x, 2, [0], True, dtype=torch.float64),
        normal(2, 5),
    ),
    # Orders.
    *(
        case(f"{n}.default", lambda x, n=n: getattr(x, n)(1), m, symbolic=True)
        for n in ("argmax", "argmin")
        for m in (_TIES, _FLOAT_TIES)
    ),
    *(case("argmax.default", lambda x: x.argmax(-1, keepdim=True), normal(3, 5, dtype=w)) for w in WIDTHS),
    *(case("argmin.default", lambda x: x.argmin(0), integers(0, 99, 3, 5, dtype=w)) for w in WHOLE),
    case("argmax.default", torch.argmax, normal(3, 4), symbolic=True),
    case("argmax.default", lambda x: torch.argmax(x, keepdim=True), normal(3, 4)),
    case("argmax.default", torch.argmax, these(3.0)),
    *(
        case(f"{n}.dim", lambda x, n=n: getattr(x, n)(1), m, symbolic=True)
        for n in ("max", "min")
        for m in (_TIES, _FLOAT_TIES)
    ),
    *(case("max.dim", lambda x: x.max(0, keepdim=True), normal(3, 5, dtype=w)) for w in WIDTHS),
    case("max.dim", lambda x: x.max(0), flags(3, 4)),
    case("min.dim", lambda x: x.min(0), these(3.0)),
    *_distinct("topk.default", lambda x: x.topk(2)),
    *_distinct("topk.default", lambda x: x.topk(3, 1, largest=False)),
    case("topk.default", lambda x: x.topk(1, 0), normal(3, 4), symbolic=True),
    case("topk.default", lambda x, n: x.topk(n), normal(3, 4), host(2)),
    case("topk.default", lambda x: x.topk(1), these(3.0)),
    *_distinct("sort.default", lambda x: x.sort(descending=True), symbolic=True),
    case("sort.stable", lambda x: x.sort(dim=1, stable=True), _TIES),
    case("sort.stable", lambda x: x.sort(dim=1, stable=True, descending=True), _FLOAT_TIES),
    case("sort.stable", lambda x: x.sort(stable=True), flags(6)),
    case("sort.default", lambda x: x.sort(), these(3.0)),
    case("msort.default", torch.msort, normal(3, 4)),
    *_distinct("argsort.default", lambda x: x.argsort(1)),
    case("argsort.stable", lambda x: x.argsort(dim=1, stable=True), _TIES),
    *_distinct("kthvalue.default", lambda x: x.kthvalue(2)),
    case("kthvalue.default", lambda x: x.kthvalue(3, 0, keepdim=True), normal(4, 3)),
    *_distinct("median.dim", lambda x: x.median(1)),
    case("median.dim", lambda x: x.median(0, keepdim=True), normal(4, 3)),
    case("median.default", torch.median, normal(3, 4)),
    case("median.default", torch.median, integers(0, 9, 5)),
    case("median.default", torch.median, these(1.5)),
    *(
        case(
            "searchsorted.Tensor",
            lambda s, x, r=r: torch.searchsorted(s, x, right=r),
            these([1.0, 2, 2, 3]),
            these([[0.0, 2], [2.5, 4]]),
        )
        for r in (False, True)
    ),
    case(
        "searchsorted.Tensor",
        lambda s, x: torch.searchsorted(s, x, out_int32=True),
        these([[1, 3, 5], [2, 4, 6]]),
        these([[3, 6], [3, 7]]),
    ),
    case("bucketize.Tensor", lambda x, s: torch.bucketize(x, s), normal(3, 4), these([-1.0, 0, 1])),
    case("bucketize.Tensor", lambda x, s: torch.bucketize(x, s, right=True), integers(0, 5, 6), these([1, 3])),
    *(
        case("_unique2.default", lambda x: torch.unique(x, return_inverse=True, return_counts=True), maker)
        for maker in (
            _TIES,
            _FLOAT_TIES,
            flags(5),
            integers(0, 4, 9, dtype=torch.int32),
            integers(0, 4, 9, dtype=torch.uint8),
        )
    ),
    case("_unique2.default", torch.unique, normal(4)),
    case(
        "unique_dim.default",
        lambda x: torch.unique(x, dim=0, return_inverse=True, return_counts=True),
        these([[1, 2], [0, 1], [1, 2]]),
    ),
    case(
        "unique_consecutive.default",
        lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True),
        these([1, 1, 2, 2, 2, 1, 3]),
    ),
    case("unique_consecutive.default", torch.unique_consecutive, these([[1.0, 1.0], [2.0, 2.0]])),
    *(
        case(
            "unique_consecutive.default",
            lambda x, d=axis: torch.unique_consecutive(x, return_inverse=True, return_counts=True, dim=d),
            maker,
        )
        for axis in (0, 1, -1)
        for maker in (
            integers(0, 2, 9, 1),
            integers(0, 2, 8, 2, dtype=torch.float32),
            integers(0, 2, 2, 7),
            flags(6, 2),
            these([[1.0, 1.0, 2.0], [1.0, 1.0, 2.0], [2.0, 2.0, 2.0]], torch.float64),
        )
    ),
    case("unique_consecutive.default", lambda x: torch.unique_consecutive(x, dim=1), integers(0, 2, 2, 5, 1)),
    # Running totals.
    *(case("cumsum.default", lambda x: x.cumsum(1), normal(3, 5, dtype=w), tolerance=2) for w in WIDTHS),
    *(case("cumsum.default", lambda x: x.cumsum(0), integers(0, 99, 3, 5, dtype=w)) for w in WHOLE),
    case("cumsum.default", lambda x: x.cumsum(0), flags(5), symbolic=True),
    case("cumsum.default", lambda x: x.cumsum(0), these(2.0)),
    case("cumsum.default", lambda x: x.cumsum(-1, dtype=torch.float64), integers(0, 9, 5)),
    case("cumprod.default", lambda x: x.cumprod(1), normal(3, 5), symbolic=True),
    case("cumprod.default", lambda x: x.cumprod(0), integers(1, 5, 3, 5, dtype=torch.int32)),
    case("cumprod.default", lambda x: x.cumprod(0), these(2.0)),
    *(
        case(f"{n}.default", lambda x, n=n: getattr(x, n)(1), m)
        for n in ("cummax", "cummin")
        for m in (_TIES, normal(3, 5, dtype=torch.float64))
    ),
    case("cummax.default", lambda x: x.cummax(0), SPECIAL),
    case("cummin.default", lambda x: x.cummin(0), these(2.0)),
    case("logcumsumexp.default", lambda x: x.logcumsumexp(1), normal(3, 5), symbolic=True),
    case("logcumsumexp.default", lambda x: x.logcumsumexp(0), these([-INF, 1000.0, 1000.0, -INF])),
    case("logcumsumexp.default", lambda x: x.logcumsumexp(0), these(2.0)),
    case(
        "searchsorted.Tensor",
        lambda s, x: torch.searchsorted(s, x, sorter=s.argsort(-1)),
        normal(3, 5),
        normal(3, 2),
    ),
]
