"""Cases of arithmetic."""

import torch

from tests.operations.cases import (
    SPECIAL,
    SPECIAL64,
    WHOLE,
    WIDTHS,
    between,
    case,
    flags,
    host,
    integers,
    normal,
    these,
)

_WHOLE = these([-7, -6, -1, 0, 1, 5, 7])
_DIVISORS = these([3, -3, 2, -2, 7, -4, 3])
_FLOATS = [-7.5, -6.0, -0.0, 0.0, 1.25, 5.3, 7.0, 1e10, -1e-3, 5.0]
_FLOAT_DIVISORS = [2.0, -2.5, 3.0, -1.0, 0.1, 0.1, -0.7, 3.3, 7.0, 0.0]
_X, _Y = these(_FLOATS), these(_FLOAT_DIVISORS)
_X64, _Y64 = these(_FLOATS, torch.float64), these(_FLOAT_DIVISORS, torch.float64)
_LARGE = these([2**53 + 1, -(2**53) - 1, 3, 5])

# The least number divided by -1 does not fit, and the processor's own division stops the process.
_LEAST = [
    (these([torch.iinfo(width).min] * 3, width), these([-1, 3, torch.iinfo(width).min], width))
    for width in (torch.int64, torch.int32, torch.int16, torch.int8)
]

# Numbers that half precision cannot hold: PyTorch computes with them in single precision.
_HALVES = [these([0.5, 0.0, -2.0, 1e-3], width) for width in (torch.float16, torch.bfloat16)]

CASES = [
    *(case("mul.Tensor", lambda x: x * 100000.0, halves) for halves in _HALVES),
    *(case("div.Tensor", lambda x: x / 100000.0, halves) for halves in _HALVES),
    *(
        case("remainder.Tensor", lambda x, y: (x % y, x * y, x / y), these([2049, 4099, 257, 70000]), halves)
        for halves in (these([2.0, 4.0, 2.0, -0.5], torch.float16), these([2.0, 4.0, 2.0, -0.5], torch.bfloat16))
    ),
    case("mul.Tensor", lambda x, y: x * y, _HALVES[0], these(100000)),
    *(case("fmod.Scalar", lambda x: torch.fmod(x, 100000.0), halves) for halves in _HALVES),
    *(case("addcmul.default", lambda x: torch.addcmul(x, x, x, value=1e5), halves) for halves in _HALVES),
    *(case("floor_divide.default", lambda x, y: x // y, *pair) for pair in _LEAST),
    *(case("remainder.Tensor", lambda x, y: x % y, *pair) for pair in _LEAST),
    *(case("fmod.Tensor", torch.fmod, *pair) for pair in _LEAST),
    *(case("floor_divide.default", lambda x, _: x // -1, *pair) for pair in _LEAST),
    *(case("remainder.Scalar", lambda x, _: x % -1, *pair) for pair in _LEAST),
    case("floor_divide.default", lambda x, n: x // n, _LEAST[0][0], host(-1)),
    case("remainder.Scalar", lambda x, n: x % n, _LEAST[0][0], host(-1)),
    case("add.Tensor", lambda x, y: x + y, normal(2, 3), normal(3), symbolic=True),
    case("add.Tensor", lambda x: torch.add(x, 3, alpha=2.5), normal(2, 3), symbolic=True),
    case("add.Tensor", lambda x, y: x + y, flags(4), flags(4)),
    case("add.Tensor", lambda x: x + 1, flags(4)),
    case("add.Tensor", lambda x: x + 0.5, integers(-5, 5, 4)),
    case("add.Tensor", lambda x, y: x + y, integers(-5, 5, 4), normal(4)),
    case(
        "add.Tensor", lambda x, y: x + y, integers(-5, 5, 4, dtype=torch.int8), integers(0, 200, 4, dtype=torch.uint8)
    ),
    case("add.Tensor", lambda x, y: x + y, normal(4), these(2.5, torch.float64)),
    case("add.Tensor", lambda x, y: x + y, these(1.5), these(2.5, torch.float64)),
    case("add.Tensor", lambda x, y: x + y, _LARGE, _LARGE),
    case(
        "add.Tensor", lambda x, y: x + y, integers(-3, 3, 4, dtype=torch.uint8), integers(-3, 3, 4, dtype=torch.uint8)
    ),
    case("add.Tensor", lambda x, n: x + n, normal(4), host(2.5)),
    case("add.Tensor", lambda x, n: x + n, integers(0, 5, 4), host(7)),
    case("add.Tensor", lambda x, n: x * n + n, integers(0, 5, 4, dtype=torch.int32), host(7)),
    case("add.Tensor", lambda x, n: torch.add(x, x, alpha=n), normal(4), host(2.5)),
    case("add.Scalar", lambda x: torch.ops.aten.add.Scalar(x, 2, 3), normal(4)),
    case("sub.Tensor", lambda x, y: x - y, normal(2, 1), normal(3), symbolic=True),
    case("sub.Tensor", lambda x: torch.sub(x, 1.5, alpha=2), normal(3)),
    case("sub.Tensor", lambda x, y: x - y, SPECIAL64, these(1.0)),
    case("sub.Scalar", lambda x: torch.ops.aten.sub.Scalar(x, 2, 3), normal(4)),
    case("rsub.Scalar", lambda x: 1 - x, normal(2, 3)),
    case("rsub.Scalar", lambda x: 2.5 - x, integers(-5, 5, 4)),
    case("rsub.Tensor", lambda x, y: torch.rsub(x, y, alpha=2), normal(2, 3), normal(3)),
    case("mul.Tensor", lambda x, y: x * y, normal(2, 3), normal(2, 1), symbolic=True),
    case("mul.Tensor", lambda x: x * 0.5, integers(-9, 9, 5)),
    case("mul.Tensor", lambda x, y: x * y, flags(5), flags(5)),
    case("mul.Tensor", lambda x, y: x * y, flags(5), normal(5)),
    case("mul.Tensor", lambda x: x * True, flags(5)),
    case("mul.Scalar", lambda x: torch.ops.aten.mul.Scalar(x, 2), normal(4)),
    case("multiply.Tensor", torch.multiply, normal(4), normal(4)),
    *(case("mul.Tensor", lambda x, y: x * y, normal(4, dtype=width), normal(4, dtype=width)) for width in WIDTHS),
    *(case("mul.Tensor", lambda x, y: x * y, integers(0, 9, 4, dtype=w), integers(0, 9, 4, dtype=w)) for w in WHOLE),
    case("div.Tensor", lambda x, y: x / y, _X, _Y, symbolic=True),
    case("div.Tensor", lambda x, y: x / y, _WHOLE, _DIVISORS),
    case("div.Tensor", lambda x: x / 3, _X64),
    case("div.Tensor", lambda x, y: x / y, flags(3), these([True, True, True])),
    case("div.Tensor", lambda x, y: x / y, integers(1, 9, 3), these(7, torch.int64)),
    case("div.Tensor", lambda x, n: x / n, normal(3), host(7)),
    case("div.Scalar", lambda x: torch.ops.aten.div.Scalar(x, 2), normal(4)),
    case("divide.Tensor", torch.divide, normal(4), normal(4)),
    case("true_divide.Tensor", torch.true_divide, normal(4), normal(4)),
    *(
        case("div.Tensor_mode", lambda x, y, mode=mode: torch.div(x, y, rounding_mode=mode), x, y)
        for mode in ("floor", "trunc", None)
        for x, y in ((_WHOLE, _DIVISORS), (_X, _Y), (_X64, _Y64), (_WHOLE, these(2.0)))
    ),
    *(
        case("div.Tensor_mode", lambda x, mode=mode: torch.div(x, 0.1, rounding_mode=mode), normal(50, dtype=width))
        for mode in ("floor", "trunc")
        for width in WIDTHS
    ),
    case("div.Scalar_mode", lambda x: torch.ops.aten.div.Scalar_mode(x, 3, rounding_mode="floor"), _WHOLE),
    case("divide.Tensor_mode", lambda x, y: torch.divide(x, y, rounding_mode="floor"), _WHOLE, _DIVISORS),
    case("floor_divide.default", lambda x, y: x // y, _WHOLE, _DIVISORS),
    case("floor_divide.default", lambda x, y: x // y, _X64, _Y64),
    case("floor_divide.default", lambda x: x // 4, integers(-40, 40, 20, dtype=torch.int32)),
    case("floor_divide.default", lambda x: x // 3, integers(0, 250, 20, dtype=torch.uint8)),
    case("floor_divide.default", lambda x: x // 0.1, between(-3, 3, 50, dtype=torch.float64)),
    case("floor_divide.default", lambda x, n: x // n, integers(-40, 40, 20), host(-7)),
    case("floor_divide.Scalar", lambda x: torch.ops.aten.floor_divide.Scalar(x, 3), _WHOLE),
    case("remainder.Tensor", lambda x, y: x % y, _WHOLE, _DIVISORS),
    case("remainder.Tensor", lambda x, y: x % y, _X, _Y),
    case("remainder.Tensor", lambda x, y: x % y, _X64, _Y64),
    case("remainder.Tensor", lambda x, y: x % y, SPECIAL64, these(2.0, torch.float64)),
    case("remainder.Scalar", lambda x: x % -3, _WHOLE),
    case("remainder.Scalar", lambda x: x % 0.3, normal(50, dtype=torch.float64, scale=100.0)),
    case("remainder.Scalar", lambda x: x % 0.25, normal(50, dtype=torch.float16)),
    case("remainder.Scalar", lambda x, n: x % n, normal(50), host(0.7)),
    case("remainder.Scalar_Tensor", lambda x: torch.remainder(7, x), _DIVISORS),
    case("remainder.Tensor", lambda x, y: x % y, integers(-99, 99, 9, dtype=torch.int8), these(7, torch.int8)),
    case("fmod.Tensor", torch.fmod, _WHOLE, _DIVISORS),
    case("fmod.Tensor", torch.fmod, _X, _Y),
    case("fmod.Tensor", torch.fmod, _X64, _Y64),
    case("fmod.Scalar", lambda x: torch.fmod(x, 3), _WHOLE),
    case("fmod.Scalar", lambda x: torch.fmod(x, 0.3), normal(50, dtype=torch.bfloat16)),
    *(
        case("pow.Tensor_Scalar", lambda x, p=p: x**p, between(0.1, 3, 2, 3, dtype=width))
        for p in (0, 0.5, 1, 2, 3, -1, -0.5, -2, 2.5, 7)
        for width in (torch.float32, torch.float64)
    ),
    case("pow.Tensor_Scalar", lambda x: x**3, SPECIAL),
    *(case("pow.Tensor_Scalar", lambda x, p=p: x**p, integers(-9, 9, 9)) for p in (0, 1, 2, 5, 19)),
    case("pow.Tensor_Scalar", lambda x: x**2, _LARGE),
    case("pow.Tensor_Scalar", lambda x: x**3, integers(-9, 9, 9, dtype=torch.int16)),
    case("pow.Tensor_Scalar", lambda x: x**0.5, integers(0, 9, 9)),
    case("pow.Tensor_Scalar", lambda x, n: x**n, between(0.1, 3, 4, dtype=torch.float64), host(1.7)),
    case("pow.Tensor_Tensor", lambda x, y: x**y, between(0.1, 3, 2, 3), normal(3), symbolic=True),
    case("pow.Tensor_Tensor", lambda x, y: x**y, between(0.1, 3, 4, dtype=torch.float64), normal(4)),
    case("pow.Tensor_Tensor", lambda x, y: x**y, integers(-9, 9, 12), integers(0, 20, 12)),
    case(
        "pow.Tensor_Tensor",
        lambda x, y: x**y,
        these([127, -127, 1, -1], torch.int8),
        these([-2, -3, -2, -3], torch.int8),
    ),
    case("pow.Tensor_Tensor", lambda x, y: x**y, these([[1], [-1], [2], [0], [-3]]), these([-1, -2, 0, 1, 40, 63])),
    case("pow.Tensor_Tensor", lambda x, y: x**y, these([-2, 3, 7], torch.int32), these([31, 25, 2], torch.int32)),
    case("pow.Scalar", lambda x: 2**x, normal(4)),
    case("pow.Scalar", lambda x: 2**x, integers(0, 60, 9)),
    case("pow.Scalar", lambda x: 1.5**x, integers(0, 9, 9)),
    case("addcmul.default", lambda x, y, z: torch.addcmul(x, y, z, value=0.5), normal(2, 3), normal(3), normal(2, 1)),
    case("addcmul.default", lambda x, y: torch.addcmul(x, y, y, value=2), integers(0, 9, 3), integers(0, 9, 3)),
    case("addcdiv.default", lambda x, y, z: torch.addcdiv(x, y, z, value=2), normal(3), normal(3), between(1, 2, 3)),
    case("hypot.default", torch.hypot, normal(5), normal(5)),
    case(
        "hypot.default",
        lambda x: torch.hypot(x[:, None], x),
        these([0.0, 1e300, -3.0, float("inf"), 4.0], torch.float64),
    ),
    case("copysign.Tensor", torch.copysign, normal(4), these([0.0, -0.0, 2.0, -2.0])),
    case("copysign.Scalar", lambda x: torch.copysign(x, -2), integers(-3, 3, 5)),
    case("lerp.Scalar", lambda x, y: torch.lerp(x, y, 0.3), normal(2, 3), normal(3)),
    case("lerp.Scalar", lambda x, y: torch.lerp(x, y, 0.9), normal(2, 3), normal(2, 3)),
    case("lerp.Tensor", torch.lerp, normal(2, 3), normal(2, 3), between(0, 1, 3)),
]
