"""Cases that count."""

import torch

from tests.operations.cases import INF, NAN, WHOLE, Maker, case, flags, integers, normal, these

_EDGES = these([-1.0, -0.5, 0.0, 2.0])


def _with_nan(*shape: int) -> Maker:
    """Few different numbers, and NaN among them."""
    values = torch.tensor([NAN, NAN, INF, -INF, 0.0, 1.0, 2.0])
    return lambda generator: values[torch.randint(0, len(values), shape, generator=generator)]


CASES = [
    *(case("bincount.default", torch.bincount, integers(0, 7, 20, dtype=width)) for width in WHOLE),
    case("bincount.default", lambda x: torch.bincount(x, minlength=9), integers(0, 7, 20), symbolic=True),
    case("bincount.default", lambda x: torch.bincount(x, minlength=3), these([], torch.int64)),
    case("bincount.default", torch.bincount, these([], torch.int64)),
    *(
        case("bincount.default", lambda x, w: torch.bincount(x, w), integers(0, 7, 20), weights)
        for weights in (
            normal(20),
            normal(20, dtype=torch.float64),
            normal(20, dtype=torch.float16),
            integers(0, 9, 20),
            flags(20),
        )
    ),
    *(
        case("histc.default", lambda x, o=options: torch.histc(x, **o), maker)
        for options in ({"bins": 5}, {"bins": 7, "min": -1, "max": 1}, {"bins": 3, "min": -0.3, "max": 2.5}, {})
        for maker in (normal(4, 30), normal(60, dtype=torch.float64), these([2.0, 2.0]), these(3.0))
    ),
    case(
        "histc.default", lambda x: torch.histc(x, 4, 0, 2), these([NAN, INF, -INF, 0.0, 2.0, 0.5, 1.0, 1.5, 1.9999999])
    ),
    case("histc.default", lambda x: torch.histc(x, 10, 0, 1), these([n / 10 for n in range(11)])),
    case("histc.default", lambda x: torch.histc(x, 3, 0, 1), normal(4, 5), symbolic=True),
    *(
        case(
            "histogram.bins_tensor",
            lambda x, e, w, d=density: torch.histogram(x, e, weight=w, density=d),
            normal(5, 6),
            _EDGES,
            normal(5, 6),
            tolerance=5,
        )
        for density in (False, True)
    ),
    case("histogram.bins_tensor", torch.histogram, these([-1.0, 2.0, 3.0, -2.0, NAN, 0.0, -0.5]), _EDGES),
    *(
        case("histogram.bin_ct", lambda x, w, o=options: torch.histogram(x, **o), maker, normal(1))
        for options in ({"bins": 4}, {"bins": 5, "density": True}, {"bins": 3, "range": (-1.0, 0.5)}, {"bins": 1})
        for maker in (normal(20), normal(4, 5, dtype=torch.float64), these([1.0, 1.0]), these(3.0))
    ),
    *(
        case("histogram.bin_ct", lambda x, w: torch.histogram(x, 4, weight=w), normal(9, dtype=w), normal(9, dtype=w))
        for w in (torch.float32, torch.float64)
    ),
    case("histogram.bin_ct", lambda x: torch.histogram(x, 3), these([], torch.float32)),
    case("histogram.bin_ct", lambda x: torch.histogram(x, 3, range=(0, 2)), these([0.5, NAN, INF, 2.0, 0.0, -INF])),
    case("histogram.bin_ct", lambda x: torch.histogram(x, 3, range=(2, 2)), these([0.5, 2.0, 2.4, 1.6])),
    *(
        case(
            f"{target}.default",
            lambda x, o=options: torch.histogramdd(x, **o),
            normal(*shape, dtype=width),
        )
        for target in ("_histogramdd_bin_edges", "_histogramdd_from_bin_cts")
        for options in (
            {"bins": [3, 2]},
            {"bins": [1, 4], "density": True},
            {"bins": [3, 3], "range": [-1.0, 1.0, -2.0, 0.5]},
        )
        for shape in ((20, 2), (3, 5, 2))
        for width in (torch.float32, torch.float64)
    ),
    case(
        "_histogramdd_from_bin_cts.default",
        lambda x, w: torch.histogramdd(x, [2, 3], weight=w),
        normal(9, 2),
        normal(9),
    ),
    case("_histogramdd_from_bin_cts.default", lambda x: torch.histogramdd(x, [2, 3]), normal(0, 2)),
    *(
        case("mode.default", lambda x, d=axis, k=keep: x.mode(d, k), maker)
        for axis in (0, -1)
        for keep in (False, True)
        for maker in (
            integers(0, 4, 5, 9),
            integers(-3, 3, 3, 8, dtype=torch.int8),
            flags(4, 6),
            integers(0, 3, 4, 7, dtype=torch.float32),
            integers(0, 3, 4, 7, dtype=torch.bfloat16),
        )
    ),
    case("mode.default", lambda x: x.mode(0).values, integers(0, 9, 99), symbolic=True),
    case("mode.default", lambda x: x.mode().values, these([INF, INF, -INF, 2.0])),
    case("mode.default", lambda x: x.mode(), these(2.0)),
    # NaN is sorted as it comes, and no NaN is equal to another.
    *(
        case("mode.default", lambda x: x.mode(), these(row, width))
        for row in (
            *([1.0, NAN, NAN], [NAN, 1.0, NAN], [NAN, 2.0, 1.0], [2.0, NAN, 1.0], [NAN], [NAN, NAN], [-0.0, 0.0]),
            *([2.0, 2.0, NAN, 1.0, 1.0], [1.0, 3.0, NAN, 1.0, 3.0, 2.0], [3.0, NAN, 2.0, NAN, 1.0, 1.0, NAN, 0.0, 1.0]),
        )
        for width in (torch.float32, torch.float64, torch.float16)
    ),
    case("mode.default", lambda x: x.mode(1), _with_nan(99, 16)),
    case("mode.default", lambda x: x.mode(1, keepdim=True), _with_nan(9, 11, 5)),
]
