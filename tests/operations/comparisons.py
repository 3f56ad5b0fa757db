"""Cases of comparisons, logic, bits, choices and bounds."""

from operator import and_, lshift, or_, rshift, xor

import torch

from tests.operations.cases import (
    INF,
    NAN,
    SPECIAL,
    SPECIAL64,
    WHOLE,
    WIDTHS,
    case,
    flags,
    host,
    integers,
    normal,
    these,
)

_COMPARISONS = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
}
_SMALL = integers(-3, 3, 2, 4)
_BOUNDED = normal(3, 4, scale=2.0)

# Pairs that differ in bit 31 and not above it, which kernels that compare several numbers at a time have wrong.
_FAR_APART = (
    *(2**31, 1, 2**32 - 1, 7, -1, -(2**31) - 1, 1788853878789, 1788853878779, 2**62 + 2**31, 2**62 + 5),
    *(-(2**63), 2**63 - 1, 0, 3000000000, -(2**62), 2**31 - 1),
)
_LONG = these([*_FAR_APART, *reversed(_FAR_APART)])
_SQUARE = these([_FAR_APART, [number // 3 for number in _FAR_APART], [number ^ (1 << 31) for number in _FAR_APART]])

CASES = [
    case("maximum.default", lambda x: torch.maximum(x, x.flip(0)), _LONG),
    case("minimum.default", lambda x: torch.minimum(x, x.flip(0)), _LONG),
    case("maximum.default", lambda x, y: torch.maximum(x, y), _SQUARE, these(2**31)),
    case("fmax.default", lambda x: torch.fmax(x, x.flip(0)), _LONG),
    case("fmin.default", lambda x: torch.fmin(x, x.flip(0)), _LONG),
    case("clamp.default", lambda x: x.clamp(min=0), _LONG, symbolic=True),
    case("clamp.default", lambda x: x.clamp(max=2**31 + 5), _LONG),
    case("clamp.default", lambda x: x.clamp(5, 2**32), _LONG),
    case("clamp.Tensor", lambda x: x.clamp(x.flip(0) - 1, x.flip(0) + 1), _SQUARE),
    case("hardtanh.default", lambda x: torch.nn.functional.hardtanh(x, -(2**31), 2**33), _LONG),
    case("relu.default", torch.relu, _LONG),
    case("sign.default", torch.sign, _LONG),
    *(
        case(f"{name}.default", lambda x, f=f: f(x), _SQUARE, symbolic=True)
        for name, f in (("max", torch.max), ("min", torch.min), ("amax", torch.amax), ("amin", torch.amin))
    ),
    *(case("amax.default", lambda x, d=d: x.amax(d, keepdim=True), _SQUARE, symbolic=True) for d in (0, 1, (0, 1))),
    *(case("amin.default", lambda x, d=d: x.amin(d), _SQUARE, symbolic=True) for d in (0, 1, (0, 1))),
    case("aminmax.default", lambda x: torch.aminmax(x, dim=1), _SQUARE),
    case("max.dim", lambda x: x.max(1).values, _SQUARE),
    *(
        case(f"{name}.Tensor", compare, _SMALL, integers(-3, 3, 4), symbolic=True)
        for name, compare in _COMPARISONS.items()
    ),
    *(case(f"{name}.Tensor", compare, SPECIAL, these(0.0)) for name, compare in _COMPARISONS.items()),
    *(case(f"{name}.Tensor", compare, flags(9), flags(9)) for name, compare in _COMPARISONS.items()),
    *(case(f"{name}.Scalar", lambda x, c=c: c(x, 1), _SMALL) for name, c in _COMPARISONS.items()),
    *(case(f"{name}.Scalar", lambda x, c=c: c(x, 0.5), _SMALL) for name, c in _COMPARISONS.items()),
    case("gt.Scalar", lambda x: x > 0.1, these([0.1, 0.2])),
    case("gt.Scalar", lambda x: x > 0.1, these([0.1, 0.2], torch.float64)),
    case("gt.Scalar", lambda x: x > 16777216.0, these([16777216, 16777217])),
    case("gt.Scalar", lambda x, n: x > n, these([0.1, 0.2]), host(0.1)),
    case("gt.Scalar", lambda x, n: x > n, these(0.1), host(0.1)),
    case("lt.Scalar", lambda x, n: x < n, integers(-3, 3, 5), host(1)),
    case("gt.Tensor", lambda x, y: x > y, these(0.1), these(0.1, torch.float64)),
    case("gt.Tensor", lambda x, y: x > y, normal(3), these(0.1, torch.float64)),
    case("gt.Tensor", lambda x, y: x > y, normal(3, dtype=torch.bfloat16), normal(3, dtype=torch.float16)),
    *(case("gt.Scalar", lambda x: x > 0.5, normal(5, dtype=width)) for width in WIDTHS),
    *(case("ge.Scalar", lambda x: x >= 2, integers(0, 5, 5, dtype=width)) for width in WHOLE),
    *(
        case(f"logical_{name}.default", getattr(torch, f"logical_{name}"), x, y)
        for name in ("and", "or", "xor")
        for x, y in ((flags(8), flags(8)), (SPECIAL, integers(0, 2, 9)))
    ),
    case("logical_not.default", torch.logical_not, flags(4)),
    case("logical_not.default", torch.logical_not, SPECIAL64),
    *(
        case(f"bitwise_{name}.Tensor", getattr(torch, f"bitwise_{name}"), x, y)
        for name in ("and", "or", "xor")
        for x, y in (
            (flags(8), flags(8)),
            (integers(-99, 99, 8), integers(-99, 99, 8)),
            (integers(0, 99, 8, dtype=torch.uint8), integers(-99, 99, 8, dtype=torch.int16)),
        )
    ),
    *(
        case(f"bitwise_{name}.Scalar", lambda x, n=name: getattr(torch, f"bitwise_{n}")(x, 6), integers(-99, 99, 8))
        for name in ("and", "or", "xor")
    ),
    *(
        case(f"bitwise_{n}.Scalar_Tensor", lambda x, n=n: getattr(torch, f"bitwise_{n}")(6, x), integers(-99, 99, 8))
        for n in ("and", "or", "xor")
    ),
    *(
        case(f"__{name}__.Tensor", lambda x, y, o=operator: o(x, y), maker, maker)
        for name, operator in {"and": and_, "or": or_, "xor": xor}.items()
        for maker in (flags(8), integers(-99, 99, 8))
    ),
    *(
        case(f"__{name}__.Scalar", lambda x, n=number, o=operator: o(x, n), maker)
        for name, operator in {"and": and_, "or": or_, "xor": xor}.items()
        for maker, number in ((flags(8), True), (integers(-99, 99, 8), 6))
    ),
    *(
        case(f"__{name}__.Scalar", lambda x, o=operator: o(x, 3), integers(-999, 999, 9, dtype=width))
        for name, operator in {"lshift": lshift, "rshift": rshift}.items()
        for width in WHOLE
    ),
    case("bitwise_left_shift.Tensor_Scalar", lambda x: torch.bitwise_left_shift(x, 60), integers(-9, 9, 9)),
    case("bitwise_right_shift.Tensor_Scalar", lambda x: torch.bitwise_right_shift(x, 2), integers(-99, 99, 9)),
    case("bitwise_not.default", lambda x: ~x, flags(8)),
    case("bitwise_not.default", lambda x: ~x, integers(-99, 99, 8)),
    case("bitwise_not.default", lambda x: ~x, integers(0, 99, 8, dtype=torch.uint8)),
    case("where.self", torch.where, flags(2, 3), normal(3), normal(2, 1), symbolic=True),
    case("where.self", torch.where, flags(3), flags(3), flags(3)),
    case("where.self", torch.where, flags(3), integers(0, 9, 3), normal(3)),
    case("where.self", torch.where, flags(3), normal(3), normal(3, dtype=torch.float64)),
    *(case("where.self", torch.where, flags(3), normal(3, dtype=w), normal(3, dtype=w)) for w in WIDTHS),
    *(case("where.self", torch.where, flags(3), integers(0, 9, 3, dtype=w), integers(0, 9, 3, dtype=w)) for w in WHOLE),
    case("where.ScalarSelf", lambda c, x: torch.where(c, 1.5, x), flags(3), normal(3)),
    case("where.ScalarOther", lambda c, x: torch.where(c, x, -INF), flags(3), normal(3)),
    case("where.ScalarOther", lambda c, x, n: torch.where(c, x, n), flags(3), normal(3), host(2.5)),
    case("where.Scalar", lambda c: torch.where(c, 1, 0), flags(3)),
    case("where.Scalar", lambda c: torch.where(c, 1.0, 0.5), flags(3)),
    case("masked_fill.Scalar", lambda x, m: x.masked_fill(m, -INF), normal(2, 3), flags(3), symbolic=True),
    case("masked_fill.Scalar", lambda x, m: x.masked_fill(m, 7), integers(0, 9, 3), flags(2, 3)),
    case("masked_fill.Tensor", lambda x, m, v: x.masked_fill(m, v), normal(2, 3), flags(3), these(2.5)),
    case("maximum.default", torch.maximum, normal(2, 3), normal(3), symbolic=True),
    case("maximum.default", torch.maximum, SPECIAL, these(0.0)),
    case("minimum.default", torch.minimum, SPECIAL64, these(0.0, torch.float64)),
    case("minimum.default", torch.minimum, integers(-9, 9, 5), integers(-9, 9, 5)),
    case("minimum.default", torch.minimum, flags(5), flags(5)),
    case("maximum.default", torch.maximum, flags(5), flags(5)),
    case(
        "maximum.default", torch.maximum, integers(-9, 9, 5, dtype=torch.int16), integers(-9, 9, 5, dtype=torch.int16)
    ),
    case("max.other", torch.max, normal(5), normal(5)),
    case("min.other", torch.min, normal(5), normal(5)),
    case("fmax.default", torch.fmax, SPECIAL, these([0, NAN, NAN, 1, 2, NAN, 0, 5, -1.0])),
    case("fmin.default", torch.fmin, SPECIAL, these([0, NAN, NAN, 1, 2, NAN, 0, 5, -1.0])),
    case("fmin.default", torch.fmin, integers(-9, 9, 5), integers(-9, 9, 5)),
    case("clamp.default", lambda x: x.clamp(-1, 1), _BOUNDED, symbolic=True),
    case("clamp.default", lambda x: x.clamp(min=0), _BOUNDED),
    case("clamp.default", lambda x: x.clamp(max=0.5), SPECIAL),
    case("clamp.default", lambda x: x.clamp(2, -2), SPECIAL64),
    case("clamp.default", lambda x: x.clamp(-1, 1.5), integers(-9, 9, 5)),
    case("clamp.default", lambda x: x.clamp(-1, 2), integers(-9, 9, 5, dtype=torch.int16)),
    case("clamp.default", lambda x, n: x.clamp(-1, n), _BOUNDED, host(0.5)),
    case("clamp.default", lambda x, n: x.clamp(0, n), integers(-9, 9, 5), host(3)),
    case("clamp.Tensor", lambda x, low, high: x.clamp(low, high), _BOUNDED, normal(4), normal(3, 1)),
    case("clamp.Tensor", lambda x, low: x.clamp(min=low), integers(0, 9, 5), normal(5)),
    case("clip.default", lambda x: x.clip(-1, 1), _BOUNDED),
    case("clip.Tensor", lambda x, low: x.clip(min=low), _BOUNDED, normal(4)),
    case("clamp_min.default", lambda x: torch.clamp_min(x, 0.5), _BOUNDED),
    case("clamp_min.Tensor", torch.clamp_min, _BOUNDED, normal(4)),
    case("clamp_max.default", lambda x: torch.clamp_max(x, 0.5), _BOUNDED),
    case("clamp_max.Tensor", torch.clamp_max, _BOUNDED, normal(4)),
    case("hardtanh.default", torch.nn.functional.hardtanh, _BOUNDED),
    case("relu6.default", torch.nn.functional.relu6, normal(3, 4, scale=9.0)),
    *(
        case(f"{name}.default", getattr(torch, name), x)
        for name in ("isnan", "isinf", "isfinite", "isposinf", "isneginf")
        for x in (SPECIAL, SPECIAL64, integers(0, 2, 4), flags(3), normal(3, dtype=torch.bfloat16))
    ),
    case("nan_to_num.default", torch.nan_to_num, SPECIAL),
    case("nan_to_num.default", lambda x: torch.nan_to_num(x, nan=1.0, posinf=2.0, neginf=3.0), SPECIAL64),
    case("nan_to_num.default", torch.nan_to_num, integers(0, 9, 3)),
    case("nan_to_num.default", torch.nan_to_num, these([NAN, INF, -INF], torch.float16)),
]
