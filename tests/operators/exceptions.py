"""What is known of single operators: which are left out, and where other values would ask for nothing certain."""

import torch

RANDOM = frozenset((
    *("bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "normal", "uniform", "rand_like"),
    *("randint", "randint_like", "randn", "randn_like", "randperm", "svd_lowrank", "pca_lowrank"),
    *("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"),
    *("nn.functional.alpha_dropout", "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d"),
    *("nn.functional.feature_alpha_dropout", "nn.functional.rrelu", "nn.functional.fractional_max_pool2d"),
    *("nn.functional.fractional_max_pool3d", "nn.functional.scaled_dot_product_attention_dropout"),
))  # fmt: skip
"""Draws, and memory that nobody has written: no function of the arguments."""

ORDERED = frozenset((
    *("bucketize", "searchsorted", "nn.functional.embedding_bag", "_segment_reduce", "histogramdd"),
    *("max_pool2d_with_indices_backward", "nn.functional.max_unpool1d", "nn.functional.max_unpool2d"),
    *("nn.functional.max_unpool3d", "linalg.lu_solve", "lu_solve", "lu_unpack", "linalg.ldl_solve", "ormqr"),
))  # fmt: skip
"""Their arguments have an order or a form that other values break."""

PLACES = frozenset(("kthvalue", "median", "nanmedian", "topk", "sort", "argsort"))
"""Which of several equal elements they name is not determined: their values are compared, the places are not."""

SPREADING = (
    *("fft.", "stft", "istft", "linalg.", "nn.functional.conv", "nn.functional.grid_sample", "grid_sampler", "cdist"),
    *("cholesky", "lu", "qr", "geqrf", "ormqr", "svd", "pinverse", "triangular_solve", "logdet", "inverse", "solve"),
    *("matrix_exp", "std", "var", "norm", "nn.functional.max_pool", "cov", "corrcoef", "unique", "argsort"),
    *("nn.functional.scaled_dot_product_attention", "nn.functional.multi_head_attention_forward", "renorm"),
    *("nn.functional.pairwise_distance", "nn.functional.pdist", "addr", "sparse", "msort", "_softmax_backward_data"),
    *("nn.functional.group_norm", "native_group_norm", "nn.functional.layer_norm", "native_layer_norm", "gradient"),
    *("nn.functional.instance_norm", "nn.functional.batch_norm", "native_batch_norm", "_native_batch_norm_legit"),
    *("topk", "sort", "nn.functional.multi_margin_loss", "nn.functional.multilabel_margin_loss"),
    *("_batch_norm_with_update", "nn.functional.rms_norm", "nn.functional.cosine_similarity", "nn.functional.bilinear"),
)
"""How far NaN and infinity spread is a matter of the algorithm, or of the order in which elements are added up."""


def spreads(name: str) -> bool:
    """Whether NaN and infinity may spread otherwise than in PyTorch."""
    return name.startswith(SPREADING)


_GELU = {("nn.functional.gelu", torch.float32): ("inf",)}
"""The exact gelu of infinity is NaN for two or more contiguous numbers on a processor with AVX-512, where oneDNN
computes it. It is infinity for one number, for strided or transposed ones, without oneDNN
(`torch.backends.mkldnn.flags(enabled=False)`), and on a processor with no more than AVX2 (`ONEDNN_MAX_CPU_ISA=AVX2`).
Minus infinity is NaN everywhere; double precision and the approximation by tanh are the same everywhere."""

_POLYNOMIALS = {
    (f"special.{name}", dtype): ("nan",)
    for name in (
        *("chebyshev_polynomial_u", "chebyshev_polynomial_w", "laguerre_polynomial_l", "legendre_polynomial_p"),
        *(f"shifted_chebyshev_polynomial_{kind}" for kind in "tuw"),
    )
    for dtype in (torch.float32, torch.float64)
}
"""From degree 2 on PyTorch's loop ends at NaN before it has computed anything, and gives what happens to be in memory:
the result for the number before, or `6.95e-310`."""

UNDETERMINED = {**_GELU, **_POLYNOMIALS}
"""Numbers of which eager PyTorch says one thing or the other, each with what was measured."""


def undetermined(name: str, dtype: torch.dtype) -> tuple[str, ...]:
    """The numbers that an operator should not be tried with."""
    return UNDETERMINED.get((name, dtype), ())
