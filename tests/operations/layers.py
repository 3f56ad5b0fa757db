"""Cases of layers: products, convolutions, normalisation, pooling, recurrence, attention."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from tests.operations.cases import INF, NAN, WIDTHS, Case, between, case, flags, integers, normal, these


def _layer(target: str, layer: nn.Module, *makers: Any, **options: Any) -> Case:
    """A case of a module with weights of its own, drawn from a seed."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for weight in (*layer.parameters(), *layer.buffers()):
            if weight.is_floating_point():
                weight.copy_(torch.rand(weight.shape, generator=generator) - 0.4)
        for name, buffer in layer.named_buffers():
            if "var" in name:
                buffer.add_(0.5)
    layer.eval()
    return case(target, layer, *makers, **options)


def _attend(**options: Any) -> Any:
    return lambda q, k, v, *mask: F.scaled_dot_product_attention(q, k, v, *mask, **options)


_QUERY, _KEY = normal(2, 4, 5, 8), normal(2, 4, 6, 8)
_MASK = these([[True] * 6, [False] * 6, [True, False] * 3, [False] * 5 + [True], [True] * 6])
_FLOAT_MASK = these([[0.0] * 6, [-INF] * 6, [1.0, -INF] * 3, [0.5] * 6, [-1.0] * 6])

CASES = [
    # Products.
    _layer("linear.default", nn.Linear(4, 3), normal(2, 4), names=(("n", 4),)),
    _layer("linear.default", nn.Linear(4, 3, bias=False), normal(2, 4)),
    _layer("linear.default", nn.Linear(4, 3), normal(2, 5, 4), names=(("n", "t", 4),)),
    _layer("linear.default", nn.Linear(4, 3), normal(4)),
    _layer("linear.default", nn.Linear(4, 3).double(), normal(2, 4, dtype=torch.float64)),
    _layer("linear.default", nn.Linear(4, 3).bfloat16(), normal(2, 4, dtype=torch.bfloat16)),
    case("linear.default", F.linear, normal(2, 5, 4), normal(3, 4), normal(3), symbolic=True),
    case("linear.default", F.linear, normal(5, 4), normal(3, 4), normal(3), symbolic=True),
    *(
        case("matmul.default", torch.matmul, normal(*x), normal(*y), symbolic=True)
        for x, y in (((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 1, 3, 4), (5, 4, 2)))
    ),
    *(case("matmul.default", torch.matmul, normal(2, 3, dtype=w), normal(3, 4, dtype=w)) for w in WIDTHS),
    *(
        case(
            "matmul.default", lambda x, y: x @ y * 0.3, normal(*x, dtype=torch.float64), normal(*y, dtype=torch.float64)
        )
        for x, y in (((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (5, 3, 4)), ((2, 1, 3, 4), (5, 4, 2)))
    ),
    case("matmul.default", torch.matmul, integers(-9, 9, 2, 3), integers(-9, 9, 3, 2)),
    case("mm.default", torch.mm, normal(2, 3), normal(3, 4)),
    case("mm.default", torch.mm, integers(0, 9, 2, 3, dtype=torch.int32), integers(0, 9, 3, 2, dtype=torch.int32)),
    case("bmm.default", torch.bmm, normal(2, 3, 4), normal(2, 4, 5), symbolic=True),
    case("mv.default", torch.mv, normal(2, 3), normal(3)),
    case("mv.default", lambda x, y: torch.mv(x.t(), y), normal(3, 2), normal(3)),
    case("matmul.default", lambda x, y: (x.t() @ y, x.mT.contiguous() @ y), normal(3, 2), normal(3)),
    case("matmul.default", lambda x, y: (y @ x.t(), y @ x.mT.contiguous()), normal(2, 3), normal(3)),
    case("matmul.default", lambda x, y: (x.transpose(1, 2) @ y, y @ x), normal(4, 3, 2), normal(3)),
    case("addmv.default", lambda c, x, y: torch.addmv(c, x.t(), y), normal(2), normal(3, 2), normal(3)),
    case("dot.default", torch.dot, normal(3), normal(3)),
    case("addmm.default", torch.addmm, normal(4), normal(2, 3), normal(3, 4)),
    case(
        "addmm.default",
        lambda c, x, y: torch.addmm(c, x, y, beta=0.5, alpha=2),
        normal(2, 4),
        normal(2, 3),
        normal(3, 4),
    ),
    case("addmm.default", lambda c, x, y: torch.addmm(c, x, y, beta=0), these([[NAN]]), normal(2, 3), normal(3, 4)),
    case("addmm.default", torch.addmm, integers(0, 9, 4), integers(0, 9, 2, 3), integers(0, 9, 3, 4)),
    case("addmv.default", lambda c, x, y: torch.addmv(c, x, y, beta=2), normal(2), normal(2, 3), normal(3)),
    case(
        "baddbmm.default",
        lambda c, x, y: torch.baddbmm(c, x, y, alpha=2),
        normal(2, 3, 4),
        normal(2, 3, 5),
        normal(2, 5, 4),
    ),
    case("addbmm.default", torch.addbmm, normal(3, 4), normal(2, 3, 5), normal(2, 5, 4)),
    case("outer.default", torch.outer, normal(3), normal(4), symbolic=True),
    case("ger.default", torch.ger, normal(3), normal(4)),
    *(
        case("einsum.default", lambda x, y, e=e: torch.einsum(e, x, y), normal(2, 3, 4), normal(2, 4, 5))
        for e in ("bij,bjk->bik", "bij, bjk -> bi", "Bij,Bjk->Bki", "bij,bjk", "...ij,...jk->...ik")
    ),
    case("einsum.default", lambda x: torch.einsum("ii->i", x), normal(3, 3)),
    case("einsum.default", lambda x: torch.einsum("ijk->j", x), integers(2**61, 2**62, 2, 3, 2), symbolic=True),
    case("einsum.default", lambda x, y: torch.einsum("ij,kj->i", x, y), *[integers(2**61, 2**62, 2, 3)] * 2),
    case("einsum.default", lambda x: torch.einsum("ij->i", x), integers(0, 99, 3, 3, dtype=torch.uint8)),
    case("einsum.default", lambda x, y: torch.einsum("...ik, ...j -> ij", x, y), normal(1, 2, 3), normal(3)),
    case("einsum.default", lambda x, y: torch.einsum("bij,bjk->bik", x, y), normal(1, 2, 3), normal(4, 3, 2)),
    case("einsum.default", lambda x, y: torch.einsum("...i,...i->...", x, y), normal(2, 3, 4), normal(1, 4)),
    case("einsum.default", lambda x, y: torch.einsum("aB,Bc", x, y), normal(2, 3), normal(3, 4)),
    case("cdist.default", torch.cdist, normal(2, 3, 4), normal(2, 5, 4)),
    *(
        case("cdist.default", lambda x, y, p=p: torch.cdist(x, y, p), normal(3, 4), normal(5, 4))
        for p in (0.0, 1.0, 3.0, INF)
    ),
    case(
        "_cdist_forward.default",
        lambda x, y: torch.ops.aten._cdist_forward(x, y, 2.0, None),
        normal(3, 4),
        normal(5, 4),
    ),
    _layer("bilinear.default", nn.Bilinear(3, 4, 5), normal(2, 3), normal(2, 4)),
    # Convolutions.
    _layer("conv1d.default", nn.Conv1d(3, 4, 3, padding=1, stride=2), normal(2, 3, 9), names=(("n", 3, "t"),)),
    _layer("conv2d.default", nn.Conv2d(4, 6, (3, 2), stride=(1, 2), padding=(2, 1), groups=2), normal(2, 4, 7, 8)),
    _layer("conv2d.default", nn.Conv2d(3, 4, 3, dilation=2, bias=False), normal(3, 9, 9)),
    _layer("conv2d.default", nn.Conv2d(3, 4, 3).half(), normal(1, 3, 5, 5, dtype=torch.float16)),
    _layer("conv3d.default", nn.Conv3d(2, 3, 2), normal(1, 2, 4, 5, 6)),
    *(
        _layer("conv2d.padding", nn.Conv2d(3, 4, k, padding="same", dilation=d), normal(2, 3, 7, 8))
        for k, d in ((3, 1), (4, 1), (2, 3))
    ),
    _layer("conv1d.padding", nn.Conv1d(3, 4, 4, padding="same"), normal(2, 3, 7)),
    _layer("conv3d.padding", nn.Conv3d(2, 3, 2, padding="valid"), normal(1, 2, 4, 5, 6)),
    _layer("conv2d.default", nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect"), normal(2, 3, 7, 8)),
    _layer("conv_transpose1d.default", nn.ConvTranspose1d(3, 4, 3, stride=2), normal(2, 3, 5), names=(("n", 3, "t"),)),
    _layer(
        "conv_transpose2d.input",
        nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2),
        normal(2, 4, 5, 6),
    ),
    case(
        "conv_transpose1d.default",
        lambda x, w: F.conv_transpose1d(x, w, stride=1, padding=2, output_padding=1, dilation=2),
        normal(1, 2, 5),
        normal(2, 3, 4),
    ),
    _layer("conv_transpose2d.input", nn.ConvTranspose2d(2, 3, 3, dilation=2, bias=False), normal(2, 2, 5, 6)),
    *(
        case(
            "conv_transpose2d.input",
            lambda x, w, o=extra: F.conv_transpose2d(
                x, w, stride=(3, 2), padding=(1, 2), output_padding=o, groups=2, dilation=4
            ),
            normal(1, 2, 4, 4),
            normal(2, 2, 4, 5),
            tolerance=10,
        )
        for extra in ((2, 3), (3, 1), (0, 2))
    ),
    case(
        "conv_transpose3d.input",
        lambda x, w: F.conv_transpose3d(x, w, output_padding=2, dilation=3),
        normal(1, 2, 3, 3, 3),
        normal(2, 1, 2, 2, 2),
        tolerance=10,
    ),
    _layer("conv_transpose3d.input", nn.ConvTranspose3d(2, 3, 2), normal(1, 2, 3, 4, 5)),
    case(
        "convolution.default",
        lambda x, w: torch.convolution(x, w, None, [2, 2], [1, 1], [1, 1], False, [0, 0], 1),
        normal(1, 3, 6, 6),
        normal(4, 3, 3, 3),
    ),
    case(
        "convolution.default",
        lambda x, w: torch.convolution(x, w, None, [2], [1], [1], True, [1], 1),
        normal(1, 3, 6),
        normal(3, 4, 3),
    ),
    # Normalisation.
    _layer("batch_norm.default", nn.BatchNorm1d(4), normal(3, 4)),
    _layer("batch_norm.default", nn.BatchNorm2d(4, affine=False), normal(3, 4, 2, 5)),
    _layer("batch_norm.default", nn.BatchNorm2d(4).double(), normal(3, 4, 2, 5, dtype=torch.float64)),
    _layer("batch_norm.default", nn.BatchNorm2d(4).bfloat16(), normal(3, 4, 2, 5, dtype=torch.bfloat16)),
    _layer("batch_norm.default", nn.BatchNorm2d(4, track_running_stats=False), normal(3, 4, 2, 5)),
    case(
        "_native_batch_norm_legit_no_training.default",
        lambda x, m, v: torch.ops.aten._native_batch_norm_legit_no_training(x, None, None, m, v, 0.1, 1e-5)[0],
        normal(3, 4),
        normal(4),
        between(1, 2, 4),
    ),
    _layer("layer_norm.default", nn.LayerNorm(5), normal(3, 5), names=(("n", 5),)),
    _layer("layer_norm.default", nn.LayerNorm((4, 5)), normal(3, 4, 5)),
    _layer("layer_norm.default", nn.LayerNorm(5, elementwise_affine=False), normal(3, 5)),
    _layer("layer_norm.default", nn.LayerNorm(5, bias=False), normal(3, 5)),
    _layer("layer_norm.default", nn.LayerNorm(5).double(), normal(3, 5, dtype=torch.float64), tolerance=10),
    _layer("layer_norm.default", nn.LayerNorm(5).half(), normal(3, 5, dtype=torch.float16)),
    case(
        "native_layer_norm.default",
        lambda x, w: torch.native_layer_norm(x, [5], w, None, 1e-5),
        normal(3, 5),
        normal(5),
    ),
    _layer("rms_norm.default", nn.RMSNorm(5), normal(3, 5), names=(("n", 5),)),
    _layer("rms_norm.default", nn.RMSNorm(5, eps=1e-3, elementwise_affine=False), normal(3, 5, dtype=torch.bfloat16)),
    case(
        "_fused_rms_norm.default", lambda x, w: torch.ops.aten._fused_rms_norm(x, [5], w, 1e-5), normal(3, 5), normal(5)
    ),
    _layer("group_norm.default", nn.GroupNorm(2, 6), normal(3, 6, 4, 5), tolerance=5),
    _layer("group_norm.default", nn.GroupNorm(3, 6, affine=False), normal(3, 6), tolerance=5),
    _layer("group_norm.default", nn.GroupNorm(2, 6).double(), normal(3, 6, 4, dtype=torch.float64), tolerance=10),
    case(
        "native_group_norm.default",
        lambda x, w: torch.native_group_norm(x, w, None, 3, 6, 20, 2, 1e-5),
        normal(3, 6, 4, 5),
        normal(6),
        tolerance=5,
    ),
    _layer("instance_norm.default", nn.InstanceNorm2d(4), normal(3, 4, 5, 6), tolerance=5),
    _layer("instance_norm.default", nn.InstanceNorm1d(4, affine=True), normal(3, 4, 5), tolerance=5),
    _layer("instance_norm.default", nn.InstanceNorm2d(4, track_running_stats=True), normal(3, 4, 5, 6)),
    # Pooling.
    case("max_pool1d.default", lambda x: F.max_pool1d(x, 3, 2, 1), normal(2, 3, 9)),
    case("max_pool2d.default", lambda x: F.max_pool2d(x, 2), normal(2, 3, 8, 6), names=(("n", 3, "h", 6),)),
    case("max_pool2d.default", lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True), normal(2, 3, 8, 7)),
    case("max_pool2d.default", lambda x: F.max_pool2d(x, (3, 2), (2, 1), (1, 0), dilation=2), normal(3, 9, 9)),
    case("max_pool2d.default", lambda x: F.max_pool2d(x, 3, 3, ceil_mode=True, dilation=3), normal(1, 1, 11, 12)),
    case("max_pool2d.default", lambda x: F.max_pool2d(x, 2), normal(1, 2, 4, 4, dtype=torch.float64)),
    case("max_pool3d.default", lambda x: F.max_pool3d(x, 2), normal(1, 2, 4, 4, 5)),
    *(
        case("max_pool2d_with_indices.default", lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True), normal(*shape))
        for shape in ((2, 3, 7, 8), (3, 7, 8))
    ),
    case(
        "max_pool2d_with_indices.default",
        lambda x: F.max_pool2d(x, 2, 2, ceil_mode=True, return_indices=True),
        normal(2, 3, 7, 7),
    ),
    case("max_pool1d_with_indices.default", lambda x: F.max_pool1d(x, 2, return_indices=True), normal(2, 3, 8)),
    case("max_pool3d_with_indices.default", lambda x: F.max_pool3d(x, 2, return_indices=True), normal(1, 2, 4, 4, 6)),
    *(
        case("avg_pool2d.default", lambda x, o=o: F.avg_pool2d(x, 3, 2, 1, **o), normal(2, 3, 8, 7))
        for o in (
            {},
            {"count_include_pad": False},
            {"ceil_mode": True},
            {"ceil_mode": True, "count_include_pad": False},
            {"divisor_override": 5},
            {"divisor_override": 5, "ceil_mode": True},
        )
    ),
    case("avg_pool1d.default", lambda x: F.avg_pool1d(x, 3, 2), normal(2, 3, 8)),
    case("avg_pool1d.default", lambda x: F.avg_pool1d(x, 3, 2, ceil_mode=True), normal(3, 8)),
    case("avg_pool3d.default", lambda x: F.avg_pool3d(x, 2), normal(1, 2, 4, 4, 5)),
    case(
        "max_unpool2d.default",
        lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), (2, 2)),
        normal(2, 3, 4, 6),
    ),
    *(
        case("adaptive_avg_pool2d.default", lambda x, s=s: F.adaptive_avg_pool2d(x, s), normal(2, 3, 6, 8, dtype=w))
        for s in (1, (2, 4), (4, 3), (None, 5))
        for w in (torch.float32, torch.float64)
    ),
    case(
        "adaptive_avg_pool2d.default", lambda x: F.adaptive_avg_pool2d(x, (3, 4)), normal(3, 6, 8), names=(("c", 6, 8),)
    ),
    case("adaptive_avg_pool2d.default", lambda x: F.adaptive_avg_pool2d(x, 1), normal(3, 6, 8)),
    case("adaptive_avg_pool1d.default", lambda x: F.adaptive_avg_pool1d(x, 4), normal(2, 3, 10)),
    case("adaptive_avg_pool3d.default", lambda x: F.adaptive_avg_pool3d(x, (2, 1, 3)), normal(1, 2, 4, 5, 7)),
    case("_adaptive_avg_pool2d.default", lambda x: torch._adaptive_avg_pool2d(x, [2, 2]), normal(1, 2, 4, 4)),
    case("_adaptive_avg_pool3d.default", lambda x: torch._adaptive_avg_pool3d(x, [2, 2, 1]), normal(1, 2, 4, 4, 4)),
    *(
        case(
            "adaptive_max_pool2d.default",
            lambda x, s=s: F.adaptive_max_pool2d(x, s, return_indices=True),
            normal(2, 3, 6, 8),
        )
        for s in (1, (2, 4), (4, 3))
    ),
    case("adaptive_max_pool1d.default", lambda x: F.adaptive_max_pool1d(x, 4, return_indices=True), normal(2, 3, 10)),
    case("adaptive_max_pool3d.default", lambda x: F.adaptive_max_pool3d(x, 3, return_indices=True), normal(2, 4, 5, 7)),
    # Recurrence.
    *(
        _layer(target, layer(3, 4, **options), normal(5, 2, 3), tolerance=5)
        for target, layer in (("lstm.input", nn.LSTM), ("gru.input", nn.GRU), ("rnn_tanh.input", nn.RNN))
        for options in (
            {},
            {"bias": False},
            {"num_layers": 2, "bidirectional": True},
            {"batch_first": True, "bidirectional": True},
            {"num_layers": 3, "dropout": 0.5},
        )
    ),
    _layer("rnn_relu.input", nn.RNN(3, 4, nonlinearity="relu"), normal(5, 2, 3)),
    _layer("gru.input", nn.GRU(3, 4), normal(5, 2, 3), normal(1, 2, 4)),
    _layer("lstm.input", nn.LSTM(3, 4), normal(5, 3)),
    # Attention.
    *(
        case("scaled_dot_product_attention.default", _attend(**options), _QUERY, _KEY, _KEY, tolerance=5)
        for options in ({}, {"is_causal": True}, {"scale": 0.3})
    ),
    case("scaled_dot_product_attention.default", _attend(), _QUERY, _KEY, _KEY, _MASK, tolerance=5),
    case("scaled_dot_product_attention.default", _attend(), _QUERY, _KEY, _KEY, _FLOAT_MASK, tolerance=5),
    case("scaled_dot_product_attention.default", _attend(), _QUERY, _KEY, _KEY, flags(2, 1, 5, 6), tolerance=5),
    case(
        "scaled_dot_product_attention.default",
        _attend(enable_gqa=True),
        _QUERY,
        normal(2, 2, 6, 8),
        normal(2, 2, 6, 8),
        tolerance=5,
    ),
    case("scaled_dot_product_attention.default", _attend(), normal(5, 8), normal(6, 8), normal(6, 3), tolerance=5),
    *(
        case(
            "scaled_dot_product_attention.default",
            _attend(),
            *(normal(2, 4, 5, 8, dtype=width) for _ in range(3)),
            tolerance=5,
        )
        for width in (torch.float64, torch.bfloat16)
    ),
    *(
        case(
            "multilabel_margin_loss_forward.default",
            lambda x, t, r=reduction: F.multilabel_margin_loss(x, t, reduction=r),
            scores,
            these(labels),
            tolerance=5,
        )
        for reduction in ("none", "mean", "sum")
        for scores, labels in (
            (normal(3, 4), [[3, 0, -1, 1], [-1, 2, 1, 0], [0, 1, 2, 3]]),
            (normal(2, 3, dtype=torch.float64), [[2, 2, -1], [1, -1, -1]]),
            (normal(4), [3, 0, -1, 1]),
            (these(0.5), 0),
        )
        # PyTorch's rule for shapes has a wrong one there.
        if reduction != "none" or (isinstance(labels, list) and isinstance(labels[0], list))
    ),
    case(
        "multilabel_margin_loss_forward.default",
        lambda x, t: torch.ops.aten.multilabel_margin_loss_forward(x, t, 1),
        these([[1.0, float("nan"), 0.5], [float("inf"), 2.0, 0.1]]),
        these([[0, -1, 2], [1, 2, -1]]),
    ),
]
