"""Cases of functions of one number and of activations."""

import torch
from torch.nn import functional as F

from tests.operations.cases import SPECIAL, SPECIAL64, WIDTHS, between, case, flags, host, integers, normal, these

_ANYWHERE = ("exp", "sin", "cos", "tan", "tanh", "sigmoid", "sinh", "cosh", "atan", "asinh", "erf", "erfc", "expm1")
_POSITIVE = ("sqrt", "log", "log2", "log10", "rsqrt", "reciprocal", "log1p")
_UNIT = ("asin", "acos", "atanh")
_ROUNDING = ("floor", "ceil", "round", "trunc", "fix", "frac")
_HALVES = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.49, -3.51, 1e20]
_WIDE = between(-6, 6, 7, 50, dtype=torch.float64)

CASES = [
    *(case(f"{n}.default", getattr(torch, n), between(-4, 4, 5, 30, dtype=w)) for n in _ANYWHERE for w in WIDTHS),
    *(case(f"{n}.default", getattr(torch, n), between(0.01, 40, 5, 30, dtype=w)) for n in _POSITIVE for w in WIDTHS),
    *(case(f"{n}.default", getattr(torch, n), between(-1, 1, 5, 30, dtype=w)) for n in _UNIT for w in WIDTHS),
    case("acosh.default", torch.acosh, between(1, 9, 30)),
    case("acosh.default", torch.acosh, between(1, 9, 30, dtype=torch.float64)),
    case("acosh.default", torch.acosh, these([1, 1e9, 1e200, 0.5, 1.0000001], torch.float64)),
    *(case(f"{n}.default", getattr(torch, n), SPECIAL) for n in (*_ANYWHERE, *_POSITIVE, *_UNIT, "abs", "neg", "sign")),
    *(case(f"{n}.default", getattr(torch, n), SPECIAL64) for n in (*_ANYWHERE, *_POSITIVE, *_UNIT, "abs", "sign")),
    *(
        case(f"{n}.default", getattr(torch, n), integers(1, 9, 4))
        for n in ("exp", "sqrt", "log", "erf", "atan", "log10")
    ),
    case("sqrt.default", torch.sqrt, flags(4)),
    case("exp.default", torch.exp, normal(2, 3), symbolic=True),
    *(
        case(f"{name}.default", getattr(torch, name), these([1e-9, -1e-9, 1e-300, 1e-4, 0.3, 25.0], torch.float64))
        for name in ("sinh", "asinh", "expm1", "log1p", "atan", "asin", "atanh", "erf", "erfc", "tan")
    ),
    case("erfc.default", torch.erfc, _WIDE),
    case("erfc.default", torch.erfc, between(-4, 9, 99)),
    case("atan.default", torch.atan, normal(99, dtype=torch.float64, scale=1e6)),
    case("asinh.default", torch.asinh, these([1e9, 1e200, -1e200, 3.0], torch.float64)),
    case("sinh.default", torch.sinh, these([709.9, -709.9, 30.5, 400.0], torch.float64)),
    case("cosh.default", torch.cosh, these([709.9, -709.9, 30.5, 400.0], torch.float64)),
    case("exp2.default", torch.exp2, normal(5)),
    case("exp2.default", torch.exp2, normal(5, dtype=torch.float64)),
    case("square.default", torch.square, normal(5)),
    case("square.default", torch.square, integers(-9, 9, 5)),
    case("log2.default", torch.log2, these([1.0, 2, 4, 8, 1024])),
    case("log10.default", torch.log10, these([1.0, 10, 100, 1000], torch.float64)),
    *(case("atan2.default", torch.atan2, normal(5, 1, dtype=w), normal(5, dtype=w)) for w in WIDTHS),
    case("atan2.default", lambda x: torch.atan2(x[:, None], x), SPECIAL64),
    case("atan2.default", lambda x: torch.atan2(x[:, None], x), SPECIAL),
    *(
        case(f"{name}.default", getattr(torch, name), x)
        for name in ("abs", "neg", "sign", "sgn")
        for x in (normal(5), normal(5, dtype=torch.float16), integers(-9, 9, 5), integers(-9, 9, 5, dtype=torch.int8))
    ),
    case("neg.default", torch.neg, integers(0, 200, 5, dtype=torch.uint8)),
    case("sign.default", torch.sign, flags(4)),
    case("signbit.default", torch.signbit, these([1.0, -1.0, 0.0, -0.0])),
    case("signbit.default", torch.signbit, integers(-2, 2, 5)),
    *(
        case(f"{n}.default", getattr(torch, n), these(_HALVES, w))
        for n in _ROUNDING
        for w in (torch.float32, torch.float64)
    ),
    *(case(f"{n}.default", getattr(torch, n), integers(-9, 9, 4)) for n in ("floor", "ceil", "round", "trunc")),
    case("trunc.default", torch.trunc, SPECIAL64),
    case("round.decimals", lambda x: torch.round(x, decimals=2), normal(9)),
    case("round.decimals", lambda x: torch.round(x, decimals=2), normal(9, dtype=torch.float16, scale=900.0)),
    case("round.decimals", lambda x: torch.round(x, decimals=-1), normal(9, dtype=torch.float64, scale=100.0)),
    # Activations.
    *(
        case(f"{name}.default", function, normal(3, 30, dtype=width, scale=3.0), symbolic=True)
        for width in WIDTHS
        for name, function in {
            "relu": torch.relu,
            "gelu": F.gelu,
            "silu": F.silu,
            "hardsigmoid": F.hardsigmoid,
            "hardswish": F.hardswish,
            "leaky_relu": F.leaky_relu,
            "elu": F.elu,
            "celu": F.celu,
            "selu": F.selu,
            "softplus": F.softplus,
            "mish": F.mish,
            "hardshrink": F.hardshrink,
            "softshrink": F.softshrink,
        }.items()
    ),
    case("relu.default", torch.relu, SPECIAL),
    case("relu.default", torch.relu, integers(-9, 9, 5)),
    case("gelu.default", lambda x: F.gelu(x, approximate="tanh"), normal(3, 30)),
    case("gelu.default", lambda x: F.gelu(x, approximate="tanh"), normal(3, 30, dtype=torch.float64)),
    case("leaky_relu.default", lambda x: F.leaky_relu(x, 0.3), SPECIAL),
    case("rrelu.default", F.rrelu, SPECIAL),
    case("rrelu.default", lambda x: F.rrelu(x, 0.1, 0.5), normal(5)),
    case("leaky_relu.default", lambda x, n: F.leaky_relu(x, n), normal(5), host(0.3)),
    case("elu.default", lambda x: F.elu(x, alpha=0.5), SPECIAL),
    case("elu.default", lambda x: torch.ops.aten.elu.default(x, 1.5, 2.0, 0.5), normal(9)),
    case("celu.default", lambda x: F.celu(x, alpha=2.0), normal(9)),
    case("prelu.default", F.prelu, normal(2, 3, 4), between(0, 1, 3)),
    case("prelu.default", F.prelu, normal(2, 3), between(0, 1, 3)),
    case("prelu.default", F.prelu, normal(2, 3, 4, 5), between(0, 1, 1)),
    case("prelu.default", F.prelu, normal(5), between(0, 1, 1)),
    case("_prelu_kernel.default", lambda x, w: torch.ops.aten._prelu_kernel(x, w), normal(2, 3), normal(1, 3)),
    case("softplus.default", lambda x: F.softplus(x, beta=2, threshold=3), normal(30, scale=3.0)),
    case("log_sigmoid.default", F.logsigmoid, normal(30, scale=9.0)),
    case("log_sigmoid.default", F.logsigmoid, normal(30, dtype=torch.float64, scale=9.0)),
    case("log_sigmoid_forward.default", lambda x: torch.ops.aten.log_sigmoid_forward(x)[0], normal(30)),
    case("glu.default", F.glu, normal(2, 6), symbolic=False),
    case("glu.default", lambda x: F.glu(x, dim=1), normal(2, 6, 3)),
    case("threshold.default", lambda x: F.threshold(x, 0.1, 20.0), normal(9)),
    *(case("softmax.int", lambda x: x.softmax(-1), normal(2, 5, dtype=w)) for w in WIDTHS),
    *(case("log_softmax.int", lambda x: x.log_softmax(0), normal(2, 5, dtype=w)) for w in WIDTHS),
    case("softmax.int", lambda x: x.softmax(1), normal(2, 3, 4), symbolic=True),
    case("softmax.int", lambda x: x.softmax(0), these(3.0)),
    case("softmax.int", lambda x: x.softmax(0, dtype=torch.float64), integers(0, 5, 6)),
    case("softmax.int", lambda x: x.softmax(0, dtype=torch.float32), normal(6, dtype=torch.float16)),
    case("_softmax.default", lambda x: torch._softmax(x, 1, False), normal(2, 3)),
    case("_log_softmax.default", lambda x: torch._log_softmax(x, 1, False), normal(2, 3)),
    case("native_dropout.default", lambda x: torch.native_dropout(x, 0.5, False), normal(2, 3)),
    *(
        case("frexp.Tensor", torch.frexp, maker)
        for maker in (
            *(normal(3, 30, dtype=width, scale=100) for width in WIDTHS),
            *(SPECIAL, SPECIAL64),
            these(
                [0.0, -0.0, 1.0, 0.5, 2.0, -4.0, 3.4028234663852886e38, 1e-45, 1e-40, 2.0**-126, 8.0, 1023.0, 1024.0]
            ),
            these([2.0**-1022, 5e-324, -5e-324, 1e-310, 1.7976931348623157e308, 2.0**1023, 2.0**-1000], torch.float64),
            these([2.0**power for power in range(-60, 60)], torch.float64),
        )
    ),
]
