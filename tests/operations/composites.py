"""Cases of operations that are taken apart while recording: what they fall into must all be translated."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from tests.operations.cases import Case, between, case, flags, normal, these


def _module(target: str, layer: nn.Module, *makers: Any, **options: Any) -> Case:
    """A case of a module without the shortcut that bypasses the operations of attention."""

    def snippet(*inputs: torch.Tensor) -> Any:
        shortcut = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            return layer(*inputs)
        finally:
            torch.backends.mha.set_fastpath_enabled(shortcut)

    layer.eval()
    return case(target, snippet, *makers, **options)


_CLASSES = these([1, 0, 3])

CASES = [
    case("log_softmax.int", F.cross_entropy, normal(3, 4), _CLASSES),
    case("log_softmax.int", lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1), normal(3, 4), _CLASSES),
    case("sub.Tensor", F.mse_loss, normal(3, 4), normal(3, 4)),
    case("abs.default", F.l1_loss, normal(3, 4), normal(3, 4)),
    case("where.self", F.smooth_l1_loss, normal(3, 4), normal(3, 4)),
    case("mul.Tensor", F.binary_cross_entropy_with_logits, normal(3, 4), between(0, 1, 3, 4), tolerance=5),
    case("div.Tensor", lambda x: F.normalize(x, dim=-1), normal(3, 4)),
    case("norm.ScalarOpt_dim", lambda x, y: F.pairwise_distance(x, y), normal(3, 4), normal(3, 4)),
    case("sum.dim_IntList", lambda x, y: F.cosine_similarity(x, y), normal(3, 4), normal(3, 4)),
    case("sigmoid.default", torch.special.expit, normal(3)),
    case("searchsorted.Tensor", lambda x: torch.searchsorted(x.sort().values, 0.5), normal(5)),
    case("searchsorted.Tensor", lambda x: torch.searchsorted(x, 1.5, right=True), these([0, 1, 1, 2, 5])),
    case("bucketize.Tensor", lambda x: torch.bucketize(0.5, x.sort().values, out_int32=True), normal(5)),
    case("unique_consecutive.default", lambda x: torch.unique_consecutive(x, dim=0), these([3, 3, 1, 3, 3])),
    case(
        "unique_consecutive.default",
        lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True, dim=-1),
        these([3, 3, 1, 3, 3]),
    ),
    case("as_strided.default", lambda x: x.t().as_strided((4, 3), (1, 4)), normal(3, 4)),
    case("as_strided.default", lambda x: x.permute(2, 0, 1).as_strided((24,), (1,)), normal(2, 3, 4)),
    case("where.self", lambda x: x.clone().fill_diagonal_(1.5), normal(3, 4)),
    case("where.self", lambda x: x.clone().fill_diagonal_(7, wrap=True), normal(7, 2)),
    case("where.self", lambda x: x.clone().fill_diagonal_(0), normal(3, 3, 3)),
    _module("linear.default", nn.LSTM(4, 6, proj_size=3), normal(5, 2, 4)),
    _module("linear.default", nn.LSTM(4, 6, 2, proj_size=3, bidirectional=True, batch_first=True), normal(2, 5, 4)),
    _module("linear.default", nn.LSTM(4, 6, proj_size=3, bias=False), normal(5, 2, 4)),
    case("sub.Tensor", lambda x: x.diff(prepend=x[:, :1]), normal(3, 5)),
    case("tanh.default", F.tanhshrink, normal(9)),
    case("abs.default", F.softsign, normal(9)),
    case("softmax.int", lambda x: F.softmin(x, dim=1), normal(3, 4)),
    case("pow.Tensor_Scalar", lambda x: F.local_response_norm(x, 3), normal(1, 4, 5, 5)),
    case("expand.default", lambda x, y: torch.meshgrid(x, y, indexing="ij"), normal(3), normal(4)),
    case("expand.default", lambda x, y: torch.ops.aten.broadcast_tensors([x, y]), normal(3, 1), normal(4)),
    case("slice.Tensor", lambda x: x.tensor_split((2, 5)), normal(7)),
    case("mul.Tensor", lambda x, y: torch.tensordot(x, y, dims=1) * 1, normal(2, 3), normal(3, 4)),
    case("mul.Tensor", lambda x, y: torch.kron(x, y), normal(2, 3), normal(3, 2)),
    case("mul.Tensor", lambda x, y: torch.linalg.cross(x, y), normal(2, 3), normal(2, 3)),
    case("sub.Tensor", lambda x: x - x.quantile(0.3), normal(9)),
    case("sum.default", lambda x: x.trace(), normal(3, 3)),
    case("select.int", lambda x: x[0, ..., 1], normal(2, 3, 4)),
    case("where.self", F.huber_loss, normal(3), normal(3)),
    case("index.Tensor", lambda x, m: x[m].sum(), normal(5), flags(5)),
    case("div.Tensor", lambda x: x.softmax(-1) / x.numel(), normal(2, 3)),
    case("add.Tensor", lambda x: x.addcdiv(x, x.exp()) + 1, normal(3)),
    case("where.self", lambda x: torch.heaviside(x, torch.tensor(0.5)), normal(5)),
    case("add.Tensor", lambda x, y: torch.logaddexp(x, y) + 0, normal(5), normal(5)),
    case("log.default", lambda x: torch.logit(x), between(0.1, 0.9, 5)),
    case("log.default", lambda x: torch.xlogy(x, x), between(0.1, 2, 5)),
    case("mul.Tensor", torch.deg2rad, normal(5)),
    case("sin.default", torch.sinc, normal(5)),
    _module(
        "scaled_dot_product_attention.default",
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
        normal(2, 5, 8),
        tolerance=5,
    ),
    _module("layer_norm.default", nn.TransformerDecoderLayer(8, 2, 16), normal(5, 2, 8), normal(4, 2, 8), tolerance=5),
    _module("softmax.int", nn.MultiheadAttention(8, 2), *(normal(5, 2, 8) for _ in range(3)), tolerance=5),
]
