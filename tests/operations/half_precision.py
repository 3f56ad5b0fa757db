"""Cases in which half precision shows when a number is rounded, and single precision how far a function goes."""

import torch
from torch.nn import functional as F

from tests.operations.cases import case, these

_HALVES = (torch.float16, torch.bfloat16)
_NUMBERS = [0.7, 0.1, 1.1, 0.3, -0.7, 2.3, 60000.0, -0.2]
_FAR = [-90.0, -60.0, -40.0, -25.0, -20.0, -18.5, -17.0, -10.0, 0.0, 5.0, 20.0, 90.0]

CASES = [
    # Far from 0, where the logarithm of what is left goes on.
    *(
        case("sigmoid.default", function, these(_FAR[1:], width))
        for function in (lambda x: x.sigmoid().log(), lambda x: x.sigmoid().logit())
        for width in (torch.float32, torch.float64, torch.bfloat16)
    ),
    case("silu.default", lambda x: F.silu(x) < 0, these(_FAR[1:])),
    case("glu.default", lambda x: F.glu(x, 0).log(), these([1.0, 2.0, 3.0, -20.0, -40.0, 5.0])),
    # A number is rounded first, or counts as it is.
    *(
        case(target, function, these(_NUMBERS, width))
        for width in _HALVES
        for target, function in (
            ("add.Tensor", lambda x: x + 0.7),
            ("sub.Tensor", lambda x: x - 0.7),
            ("sub.Tensor", lambda x: x - torch.tensor(0.7)),
            ("rsub.Scalar", lambda x: 0.7 - x),
            ("mul.Tensor", lambda x: x * 0.7),
            ("div.Tensor", lambda x: x / 0.7),
            ("remainder.Scalar", lambda x: x % 0.7),
            ("fmod.Scalar", lambda x: torch.fmod(x, 0.1)),
            ("threshold.default", lambda x: F.threshold(x, 0.7, 0.1)),
            ("softshrink.default", lambda x: F.softshrink(x, 0.7)),
            ("hardshrink.default", lambda x: F.hardshrink(x, 0.7)),
            ("addcmul.default", lambda x: torch.addcmul(x, x, x, value=1e-5)),
        )
    ),
    # What is in between has more room than the result.
    *(case("std.dim", lambda x: x.std(0), these([400.0, -400.0, 100.0], width)) for width in _HALVES),
    case("std.dim", lambda x: x.std(0), these([1e-4, -1e-4, 0.0], torch.float16)),
    case("std_mean.correction", lambda x: torch.std_mean(x)[0], these([400.0, -400.0, 100.0], torch.float16)),
    case(
        "addmm.default",
        lambda x: torch.addmm(torch.zeros(1, 1, dtype=x.dtype), x, x.T, alpha=0.01),
        these([[50.0] * 48], torch.float16),
    ),
    case("logcumsumexp.default", lambda x: x.logcumsumexp(0), these([0.0] * 200, torch.bfloat16)),
    # Each element is rounded before the mean is taken.
    *(
        case(
            "pow.Tensor_Scalar", lambda x, r=r: F.mse_loss(x, torch.zeros_like(x), reduction=r), these([300.0, 1.0], w)
        )
        for r in ("mean", "sum")
        for w in _HALVES
    ),
]
