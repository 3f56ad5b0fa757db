"""Cases of whole numbers, of neighbours, and of stretches of an axis."""

from operator import lshift, rshift
from typing import Any

import torch
from torch.nn import functional as F

from tests.operations.cases import INF, NAN, SPECIAL, WHOLE, case, flags, integers, normal, these


def _segments(reduce: str, **options: Any) -> Any:
    return lambda x, lengths: torch.segment_reduce(x, reduce, lengths=lengths, **options)


_WIDTHS = (torch.float32, torch.bfloat16, torch.float16)
_TINY = [1.0, -1.0, 2.0, 0.0, -0.0, INF, -INF, NAN, 3.4e38, 1e-38, 1e-45, -1e-40, 2.0**-126, 0.1, 1.1754944e-38, 1e-30]
_TINIER = [2.0**-1022, 5e-324, -5e-324, 1e-310, 2.0**-1021, 2.0**-960, -(2.0**-1000), 1e-290, 1.7976931348623157e308]

CASES = [
    # Whole numbers.
    *(
        case(f"{name}.default", getattr(torch, name), *(integers(low, 100, 9, dtype=width) for low in (lowest, 0)))
        for name in ("gcd", "lcm")
        for width in WHOLE
        for lowest in (0 if width == torch.uint8 else -100,)
    ),
    case("gcd.default", torch.gcd, these([-(2**63), 12]), these([2**62, 9])),
    case("gcd.default", torch.gcd, these([7540113804746346429, 0, 2**62]), these([4660046610375530309, 0, -(2**40)])),
    case("gcd.default", torch.gcd, integers(-50, 50, 4, 1), integers(0, 50, 3, dtype=torch.int32), symbolic=True),
    *(
        case(f"__{name}__.Tensor", shift, integers(-99, 99, 6, 1, dtype=width), these([0, 1, 5, 7, 8], width))
        for name, shift in (("lshift", lshift), ("rshift", rshift))
        for width in WHOLE
    ),
    *(
        case(f"bitwise_{name}_shift.Tensor", getattr(torch, f"bitwise_{name}_shift"), integers(-99, 99, 6, 1), places)
        for name in ("left", "right")
        for places in (these([0, 1, 62, 63, 64, 99, -1]), these([3, 31, 32, 33], torch.int32))
    ),
    case("bitwise_left_shift.Tensor", torch.bitwise_left_shift, integers(-9, 9, 4), integers(0, 9, 4), symbolic=True),
    *(
        case("fmod.Tensor", torch.fmod, integers(-99, 99, 9, 1, dtype=width), these([7, -7, 3], width))
        for width in WHOLE
        if width != torch.uint8
    ),
    case("fmod.Tensor", torch.fmod, these([2**62 + 1, -(2**62) - 1]), these([[3], [-(2**31)]])),
    # Neighbours and angles.
    *(
        case(
            "nextafter.default",
            lambda x, y: torch.nextafter(x[:, None], y),
            these(numbers, width),
            SPECIAL,
            tolerance=0,
        )
        for numbers, width in ((_TINY, torch.float32), (_TINY, torch.float64), (_TINIER, torch.float64))
    ),
    case("nextafter.default", torch.nextafter, normal(99), normal(99), tolerance=0, symbolic=True),
    case("nextafter.default", torch.nextafter, normal(99, dtype=torch.float64), normal(99), tolerance=0),
    *(case("angle.default", torch.angle, maker) for maker in (SPECIAL, integers(-3, 3, 9), flags(3))),
    # Segments.
    *(
        case("segment_reduce.default", _segments(reduce, **options), maker, these([2, 0, 3, 1]))
        for reduce in ("sum", "mean", "max", "min", "prod")
        for options in ({}, {"initial": 0.5}, {"unsafe": True})
        for maker in (normal(6), normal(6, 3), normal(6, 2, 2, dtype=torch.float64))
    ),
    *(
        case("segment_reduce.default", _segments(reduce), these([1.0, NAN, INF, 2.0]), these([2, 2]))
        for reduce in ("max", "min", "sum")
    ),
    case("segment_reduce.default", _segments("sum", axis=0), normal(6, 3), integers(2, 3, 3), symbolic=True),
    *(
        case(
            "segment_reduce.default",
            lambda x, e, r=reduce: torch.segment_reduce(x, r, offsets=e),
            normal(6, 3),
            these([0, 2, 2, 6]),
        )
        for reduce in ("mean", "max")
    ),
    *(
        case("segment_reduce.default", _segments(reduce, axis=1, **options), maker, these([[2, 0, 3, 1], [1, 1, 4, 0]]))
        for reduce in ("sum", "mean", "max", "min", "prod")
        for options in ({}, {"initial": 0.5}, {"unsafe": True})
        for maker in (normal(2, 6), normal(2, 6, 3), normal(2, 6, 2, 2, dtype=torch.float64))
    ),
    case("segment_reduce.default", _segments("max", axis=2), normal(2, 1, 4, 3), these([[[1, 3]], [[2, 2]]])),
    case(
        "segment_reduce.default",
        lambda x, e: torch.segment_reduce(x, "sum", offsets=e, axis=1),
        normal(2, 6, 3),
        these([[0, 2, 2, 6], [0, 1, 5, 6]]),
    ),
    # Groups.
    *(
        case(
            "_grouped_mm.default",
            lambda x, y, e: torch._grouped_mm(x, y, offs=e),
            normal(*first, dtype=width),
            normal(*second, dtype=width),
            these(ends, torch.int32),
            tolerance=4,
        )
        for width in _WIDTHS
        for first, second, ends in (
            ((7, 8), (4, 8, 16), [2, 2, 5, 7]),
            ((3, 8, 8), (8, 16), [8, 8, 16]),
            ((8, 16), (16, 8), [8, 8, 16]),
        )
    ),
    case(
        "_grouped_mm.default",
        lambda x, y, e: F.grouped_mm(x, y.transpose(1, 2), offs=e),
        normal(7, 8),
        normal(4, 16, 8),
        these([2, 2, 5, 7], torch.int32),
        tolerance=4,
        names=(("n", 8), (4, 16, 8), (4,)),
    ),
    case("_grouped_mm.default", torch._grouped_mm, normal(3, 8, 8), normal(3, 8, 8), tolerance=4),
]
