"""Cases that read and write elements by their places, that make tensors, and that resample images."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from tests.operations.cases import INF, WIDTHS, case, flags, host, integers, normal, these


def _put(target: Any, place: Any, value: Any) -> Any:
    copy = target.clone()
    copy[place] = value
    return copy


_MASK = these([[True, False, True], [False, False, True]])
_ROWS, _COLUMNS = these([1, 0, -1]), these([0, 2, -3])
_PLACES = these([[0, 2, 1], [1, 1, 0]])
_FILLED = normal(3, 4)

CASES = [
    case("index_select.default", lambda x, i: x.index_select(1, i), normal(2, 4), these([3, 0, 0]), symbolic=True),
    case("index_select.default", lambda x, i: x.index_select(0, i), normal(4), these(2)),
    case("index_select.default", lambda x, i: x.index_select(0, i) + 1, these(4.0), these([0])),
    case(
        "embedding.default",
        lambda i, w: F.embedding(i, w, padding_idx=0),
        integers(0, 5, 2, 3),
        normal(5, 4),
        symbolic=True,
    ),
    case("embedding.default", nn.Embedding(5, 4), integers(0, 5, 2, dtype=torch.int32)),
    *(
        case(
            "_embedding_bag_forward_only.default",
            lambda i, w, o, s, m=m, p=p, e=e: F.embedding_bag(
                i, w, o, mode=m, padding_idx=p, include_last_offset=e, per_sample_weights=s if m == "sum" else None
            ),
            integers(0, 5, 7),
            normal(5, 4),
            these([0, 2, 2, 7] if e else [0, 2, 2]),
            normal(7),
        )
        for m in ("sum", "mean", "max")
        for p in (None, 2)
        for e in (False, True)
    ),
    case("_embedding_bag_forward_only.default", lambda i, w: F.embedding_bag(i, w), integers(0, 5, 2, 3), normal(5, 4)),
    case(
        "_embedding_bag.default",
        lambda i, w: torch.ops.aten._embedding_bag(w, i, torch.tensor([0, 1]))[0],
        integers(0, 5, 3),
        normal(5, 4),
    ),
    case("gather.default", lambda x, i: x.gather(1, i), normal(2, 4), these([[0, 3, 1], [2, 2, 0]]), symbolic=True),
    case("gather.default", lambda x, i: x.gather(0, i), normal(3, 4), these([[2, 0]])),
    case("gather.default", lambda x, i: x.gather(0, i), these(1.5), these(0)),
    case("gather.default", lambda x, i: x.gather(0, i), normal(3), these(2)),
    case("take.default", torch.take, normal(3, 4), these([[0, -1], [5, 11]])),
    case("gather.default", lambda x, i: x.take_along_dim(i, 1), normal(2, 4), these([[0, 3]])),
    case("gather.default", lambda x, i: x.take_along_dim(i), normal(2, 4), these([[0, 7]])),
    case("nonzero.default", torch.nonzero, _MASK),
    case("nonzero.default", torch.nonzero, integers(0, 3, 2, 3, dtype=torch.int8)),
    case("nonzero.default", torch.nonzero, these([0.0, -0.0, 2.0, float("nan")], torch.float64)),
    case("nonzero.default", torch.nonzero, these(True)),
    case("nonzero.default", torch.nonzero, these(0.0)),
    case("argwhere.default", torch.argwhere, _MASK),
    case("nonzero_numpy.default", lambda x: x.nonzero(as_tuple=True), _MASK),
    case("masked_select.default", lambda x, m: x.masked_select(m), normal(2, 3), _MASK),
    case("masked_select.default", lambda x, m: x.masked_select(m), normal(3), _MASK),
    case("masked_select.default", lambda x, m: x.masked_select(m), normal(2, 3, dtype=torch.bfloat16), _MASK),
    case("masked_select.default", lambda x, m: x.masked_select(m), normal(2, 3), these([True, False, True])),
    case("index.Tensor", lambda x, i: x[i], normal(3, 4), these([2, 0, -1]), symbolic=True),
    case("index.Tensor", lambda x, i: x[:, i], normal(3, 4), these([[2, 0], [-1, 1]]), symbolic=True),
    case("index.Tensor", lambda x, i, j: x[i, j], normal(3, 4), _ROWS, _COLUMNS, symbolic=True),
    case("index.Tensor", lambda x, i, j: x[i, j], normal(3, 4, 5), _ROWS, _COLUMNS),
    case("index.Tensor", lambda x, i, j: x[:, i, j], normal(2, 3, 4), _ROWS, _COLUMNS),
    case("index.Tensor", lambda x, i, j: x[i, :, j], normal(3, 4, 3), _ROWS, _COLUMNS),
    case("index.Tensor", lambda x, i, j: x[:, i, :, j], normal(2, 3, 4, 3), _ROWS, _COLUMNS),
    case("index.Tensor", lambda x, i, j: x[i[:, None], j], normal(3, 4), _ROWS, _COLUMNS),
    case("index.Tensor", lambda x, i: x[i, 1], normal(3, 4), _ROWS),
    case("index.Tensor", lambda x, i: x[None, i], normal(3, 4), _ROWS),
    case("index.Tensor", lambda x, m: x[m], normal(2, 3), _MASK),
    case("index.Tensor", lambda x, m: x[m], normal(2, 3, 4), _MASK),
    case("index.Tensor", lambda x, m: x[:, m], normal(4, 2, 3), _MASK),
    case("index.Tensor", lambda x, m: x[m], normal(3, 2), these([True, False, True])),
    case("index.Tensor", lambda x, m: x[m], normal(3, 2), these([False, False, False])),
    case("index.Tensor", lambda x, m, i: x[m, i], normal(3, 4), these([True, False, True]), these([1, 2])),
    case("index.Tensor", lambda x, i: x[i], normal(3, dtype=torch.bfloat16), these([2, 0], torch.int32)),
    case("_unsafe_index.Tensor", lambda x, i: torch.ops.aten._unsafe_index(x, [None, i]), normal(3, 4), _ROWS),
    case("one_hot.default", lambda x: F.one_hot(x, 5), integers(0, 5, 2, 3), symbolic=True),
    case("diagonal.default", lambda x: x.diagonal(), normal(3, 4), symbolic=True),
    case("diagonal.default", lambda x: x.diagonal(1, 0, 2), normal(3, 2, 4)),
    case("diagonal.default", lambda x: x.diagonal(-2), normal(3, 4)),
    case("diagonal.default", lambda x: x.diagonal(9), normal(3, 4)),
    case("diagonal.default", torch.trace, normal(3, 4)),
    case("diagonal_scatter.default", lambda x, y: x.diagonal_scatter(y, 1), normal(3, 4), normal(3)),
    case("diag_embed.default", lambda x: x.diag_embed(), normal(2, 3)),
    case("diag_embed.default", lambda x: x.diag_embed(-1, 0, 2), normal(2, 3)),
    case("unfold.default", lambda x: x.unfold(1, 3, 2), normal(2, 9), symbolic=True),
    case("unfold.default", lambda x: x.unfold(0, 2, 1), integers(0, 9, 4, 3)),
    # Writing.
    case("scatter.src", lambda x, i, s: x.scatter(0, i, s), _FILLED, _PLACES, normal(2, 3)),
    case("scatter.src", lambda x, s: x.scatter(0, x.argmax(), s.sum()), normal(4), normal(3)),
    case("scatter.value", lambda x: x.scatter(0, x.argmax(), 2.0), normal(4)),
    case("scatter_add.default", lambda x, s: x.scatter_add(0, x.argmax()[None], s.sum()), normal(4), normal(3)),
    case("scatter_reduce.two", lambda x, s: x.scatter_reduce(0, x.argmax(), s.sum(), "amin"), normal(4), normal(3)),
    case("scatter.src", lambda x, i, s: x.scatter(1, i, s), _FILLED, these([[0, 2, 1], [3, 1, 0]]), normal(3, 5)),
    case("scatter.src", lambda x, i, s: x.scatter(0, i, s), these(1.0), these(0), these(2.0)),
    case("scatter.value", lambda x, i: x.scatter(1, i, 7.0), _FILLED, these([[0], [3], [1]]), symbolic=True),
    case("scatter.value", lambda x, i: x.scatter(1, i, True), flags(3, 4), these([[0], [3], [1]])),
    case("scatter.reduce", lambda x, i, s: x.scatter(0, i, s, reduce="add"), _FILLED, _PLACES, normal(2, 3)),
    case("scatter.value_reduce", lambda x, i: x.scatter(0, i, 2.0, reduce="multiply"), _FILLED, _PLACES),
    *(
        case(
            "scatter_add.default",
            lambda x, i, s: x.scatter_add(0, i, s),
            normal(3, 4, dtype=w),
            _PLACES,
            normal(2, 3, dtype=w),
        )
        for w in WIDTHS
    ),
    case(
        "scatter_add.default",
        lambda x, i, s: x.scatter_add(0, i, s),
        integers(0, 9, 3, 4),
        _PLACES,
        integers(0, 9, 2, 3),
    ),
    *(
        case(
            "scatter_reduce.two",
            lambda x, i, s, r=r, k=k: x.scatter_reduce(0, i, s, r, include_self=k),
            maker,
            these([0, 1, 0, 1, 1]),
            source,
        )
        for r in ("sum", "prod", "mean", "amax", "amin")
        for k in (True, False)
        for maker, source in ((normal(3), normal(5)), (integers(-9, 9, 3), integers(-9, 9, 5)))
    ),
    case(
        "index_add.default",
        lambda x, i, s: x.index_add(0, i, s),
        _FILLED,
        these([0, 2, 0]),
        normal(3, 4),
        symbolic=True,
    ),
    case(
        "index_add.default",
        lambda x, i, s: x.index_add(1, i, s, alpha=2),
        integers(0, 9, 3, 4),
        these([0, 3]),
        integers(0, 9, 3, 2),
    ),
    case("index_copy.default", lambda x, i, s: x.index_copy(0, i, s), _FILLED, these([2, 0]), normal(2, 4)),
    case("index_copy.default", lambda x, i, s: x.index_copy(0, i, s), these(1.0), these(0), these(2.0)),
    case("index_fill.int_Scalar", lambda x, i: x.index_fill(1, i, -1.0), _FILLED, these([3, 0])),
    case("index_fill.int_Tensor", lambda x, i, v: x.index_fill(1, i, v), _FILLED, these([3, 0]), these(2.0)),
    case("index_put.default", lambda x, i, j, v: _put(x, (i, j), v), _FILLED, these([0, 2]), these([1, -1]), normal(2)),
    case("index_put.default", lambda x, i, v: _put(x, i, v), _FILLED, these([0, 2]), normal(4), symbolic=False),
    case("index_put.default", lambda x, i, v: _put(x, (slice(None), i), v), _FILLED, these([0, 2]), normal(3, 2)),
    case(
        "index_put.default", lambda x, i, v: _put(x, (slice(None), i), v), normal(2, 3, 4), these([0, 2]), normal(2, 4)
    ),
    case("index_put.default", lambda x, m: x.index_put((m,), torch.tensor(0.0)), normal(2, 3), _MASK),
    case("index_put.default", lambda x, m: x.index_put((m,), torch.tensor(-INF)), normal(2, 3, 4), _MASK),
    case("index_put.default", lambda x, m, v: _put(x, m, v), normal(2, 3), _MASK, normal(3)),
    case("index_put.default", lambda x, m, v: _put(x, (slice(None), m), v), normal(4, 2, 3), _MASK, normal(4, 3)),
    case(
        "index_put.default",
        lambda x, i, v: x.index_put((i,), v, accumulate=True),
        integers(0, 9, 3),
        these([0, 0, -1]),
        integers(0, 9, 3),
    ),
    case("index_put.default", lambda x, m: x.index_put((m,), torch.ones(()), accumulate=True), normal(2, 3), _MASK),
    case("index_put.default", lambda x, i, v: x.index_put((i,), v), flags(3), these([0, 2]), flags(2)),
    case(
        "_unsafe_index_put.default",
        lambda x, i, v: torch.ops.aten._unsafe_index_put(x, [i], v),
        normal(3),
        these([0, 2]),
        normal(2),
    ),
    case("masked_scatter.default", lambda x, m, s: x.masked_scatter(m, s), normal(2, 3), _MASK, normal(5)),
    case("masked_scatter.default", lambda x, m, s: x.masked_scatter(m, s), normal(3), _MASK, normal(5)),
    case("masked_scatter.default", lambda x, m, s: x.masked_scatter(m, s), normal(4, 2, 3), _MASK, normal(4, 3)),
    # Making.
    case("full.default", lambda n: torch.full((n, 2), 1.5), host(3)),
    case("full.default", lambda x, n: torch.full((2,), n) + x, normal(2), host(1.5)),
    case("zeros.default", lambda n: torch.zeros(n, 2, dtype=torch.int32), host(3)),
    case("ones.default", lambda n: torch.ones(n, dtype=torch.bool), host(3)),
    case("new_full.default", lambda x, n: x.new_full((n,), 2), normal(2), host(3)),
    case("new_zeros.default", lambda x: x.new_zeros(x.shape[0]), normal(2), symbolic=True),
    case("new_ones.default", lambda x: x.new_ones(x.shape[0], dtype=torch.int64), normal(2), symbolic=True),
    case("full_like.default", lambda x: torch.full_like(x, 2.5), normal(2, 3), symbolic=True),
    case("full_like.default", lambda x: torch.full_like(x, 2), integers(0, 9, 2)),
    case("zeros_like.default", torch.zeros_like, normal(2, 3, dtype=torch.bfloat16), symbolic=True),
    case("ones_like.default", lambda x: torch.ones_like(x, dtype=torch.bool), normal(2, 3), symbolic=True),
    case("fill.Scalar", lambda x: torch.ops.aten.fill.Scalar(x, 2), normal(2, 3)),
    case("fill.Tensor", lambda x, v: torch.ops.aten.fill.Tensor(x, v), normal(2, 3), these(2)),
    case("scalar_tensor.default", lambda n: torch.ops.aten.scalar_tensor.default(n, dtype=torch.float32), host(3)),
    case("arange.default", lambda n: torch.arange(n), host(5)),
    case("arange.default", lambda n: torch.arange(n, dtype=torch.float32), host(5)),
    case("arange.start", lambda n: torch.arange(2, n), host(5)),
    case("arange.start_step", lambda n: torch.arange(n, -3, -2), host(5)),
    case("arange.start_step", lambda n: torch.arange(0, n, 3, dtype=torch.float64), host(10)),
    case("linspace.default", lambda n: torch.linspace(n, 2, 7), host(-1.5)),
    case("linspace.default", lambda n: torch.linspace(-1, n, 6, dtype=torch.float64), host(2.5)),
    case("linspace.default", lambda n: torch.linspace(n, 9, 1), host(3)),
    case("eye.default", lambda n: torch.eye(n), host(3)),
    case("eye.m", lambda n: torch.eye(n, 2, dtype=torch.int64), host(3)),
    *(
        case(f"{name}.default", lambda x, n=name, k=k: getattr(x, n)(k), maker, symbolic=True)
        for name in ("tril", "triu")
        for k in (0, 1, -2)
        for maker in (
            normal(2, 3, 4),
            flags(4, 4),
            integers(0, 9, 3, 3, dtype=torch.int16),
            normal(3, 3, dtype=torch.float16),
        )
    ),
    case("triu.default", lambda x, n: x.triu(n), normal(4, 4), host(1)),
    # Images.
    *(
        case(f"{kind}{len(shape) - 2}d.vec", lambda x, o=o, m=mode: F.interpolate(x, mode=m, **o), normal(*shape))
        for kind, mode in (("upsample_nearest", "nearest"), ("_upsample_nearest_exact", "nearest-exact"))
        for shape in ((2, 3, 5), (1, 2, 5, 5), (1, 2, 3, 5, 5))
        for o in ({"scale_factor": 2}, {"size": 7}, {"scale_factor": 1.7}, {"size": 3})
    ),
    *(
        case(
            f"upsample_{mode if mode != 'linear' else 'linear'}{len(shape) - 2}d.vec",
            lambda x, o=o, m=mode: F.interpolate(x, mode=m, **o),
            normal(*shape, dtype=w),
            tolerance=20,
        )
        for mode, shape in (
            ("linear", (2, 3, 5)),
            ("bilinear", (1, 2, 5, 6)),
            ("trilinear", (1, 2, 3, 5, 4)),
            ("bicubic", (1, 2, 5, 6)),
        )
        for o in (
            {"scale_factor": 2},
            {"size": 8},
            {"scale_factor": 1.7},
            {"scale_factor": 1.1},
            {"size": 3},
            {"size": 9, "align_corners": True},
            {"scale_factor": 2, "align_corners": True},
            {"size": 1, "align_corners": True},
            {"scale_factor": 1.7, "recompute_scale_factor": True},
        )
        for w in (torch.float32, torch.float64)
    ),
    *(
        case(
            f"upsample_{mode}2d.default",
            lambda x, m=mode: getattr(torch.ops.aten, f"upsample_{m}2d").default(x, [7, 8], False),
            normal(1, 2, 5, 6),
            tolerance=20,
        )
        for mode in ("bilinear", "bicubic")
    ),
    case(
        "upsample_linear1d.default",
        lambda x: torch.ops.aten.upsample_linear1d.default(x, [7], False),
        normal(1, 2, 5),
        tolerance=20,
    ),
    case(
        "upsample_trilinear3d.default",
        lambda x: torch.ops.aten.upsample_trilinear3d.default(x, [7, 5, 4], False),
        normal(1, 2, 5, 5, 5),
        tolerance=20,
    ),
    *(
        case(
            f"{kind}{rank}d.default",
            lambda x, k=kind, r=rank: getattr(torch.ops.aten, f"{k}{r}d").default(x, [7] * r),
            normal(*(1, 2, 5, 5, 5)[: rank + 2]),
        )
        for kind in ("upsample_nearest", "_upsample_nearest_exact")
        for rank in (1, 2, 3)
    ),
    *(
        case(
            "grid_sampler.default",
            lambda x, g, m=m, p=p, c=c: F.grid_sample(x, g, mode=m, padding_mode=p, align_corners=c),
            normal(2, 3, 5, 6),
            normal(2, 4, 5, 2),
            tolerance=20,
        )
        for m in ("bilinear", "nearest", "bicubic")
        for p in ("zeros", "border", "reflection")
        for c in (False, True)
    ),
    case(
        "grid_sampler.default",
        lambda x, g: F.grid_sample(x, g, align_corners=False),
        normal(1, 2, 3, 4, 5),
        normal(1, 3, 4, 5, 3),
        tolerance=20,
    ),
    case(
        "grid_sampler_2d.default",
        lambda x, g: torch.grid_sampler_2d(x, g, 0, 0, False),
        normal(1, 2, 4, 5),
        normal(1, 4, 5, 2),
        tolerance=20,
    ),
    case(
        "grid_sampler_3d.default",
        lambda x, g: torch.grid_sampler_3d(x, g, 0, 0, False),
        normal(1, 2, 3, 4, 5),
        normal(1, 3, 4, 5, 3),
        tolerance=20,
    ),
    case("pixel_shuffle.default", lambda x: F.pixel_shuffle(x, 2), normal(2, 8, 3, 4), symbolic=False),
    case("pixel_shuffle.default", lambda x: F.pixel_shuffle(x, 3), normal(9, 3, 4)),
    case("pixel_unshuffle.default", lambda x: F.pixel_unshuffle(x, 2), normal(2, 3, 4, 6)),
    case("channel_shuffle.default", lambda x: torch.channel_shuffle(x, 2), normal(2, 4, 3, 3)),
    case(
        "im2col.default", lambda x: F.unfold(x, (2, 3), dilation=(2, 1), padding=1, stride=(1, 2)), normal(2, 3, 6, 7)
    ),
    case("im2col.default", lambda x: F.unfold(x, 3), normal(3, 6, 7)),
    case("col2im.default", lambda x: F.fold(x, (6, 7), (2, 3), padding=1, stride=(1, 2)), normal(2, 18, 28)),
]
