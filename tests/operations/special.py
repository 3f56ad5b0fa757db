"""Cases of special functions."""

import torch

from tests.operations.cases import INF, NAN, SPECIAL, SPECIAL64, WIDTHS, between, case, integers, normal, these

_GAMMA = ("lgamma", "digamma", "polygamma")
_SMOOTH = ("i0", "special_i0e", "special_i1", "special_i1e", "special_erfcx")
_POLES = [0.0, -0.0, -1.0, -2.0, -7.0, 1.0, 2.0, 3.0, 10.0, 1e-12, -1e-12, 0.5, 1.5, 2.5, 8.0, 7.9999, 1e10]
_UNIT = [0.0, -0.0, 1.0, 0.5, 0.7, 0.9, 0.999, 0.1353352832366127, 0.8646647167633873, 1e-9, 1e-20, 1e-300, 2.0, -2.0]


def _function(name: str):  # type: ignore[no-untyped-def]
    if name == "polygamma":
        return lambda x: torch.polygamma(1, x)
    return getattr(torch.special, name.removeprefix("special_"), None) or getattr(torch, name)


_NAMES = (*_GAMMA, *_SMOOTH, "erfinv", "special_ndtri")

CASES = [
    *(
        case(f"{name}.default", _function(name), between(low, high, 99, dtype=width), tolerance=20)
        for name in _GAMMA
        for low, high in ((0.01, 3), (0.5, 40), (-5.9, 0))
        for width in WIDTHS
        if low > 0 or width in (torch.float32, torch.float64)
    ),
    *(
        case(f"{name}.default", _function(name), between(low, high, 99, dtype=width), tolerance=20)
        for name in _SMOOTH
        for low, high in ((-3, 3), (3, 15), (-20, 60))
        for width in (WIDTHS[:2] if name == "special_erfcx" else WIDTHS)
    ),
    *(
        case(f"{name}.default", _function(name), between(low, 1, 99, dtype=width), tolerance=20)
        for name, low in (("erfinv", -1), ("special_ndtri", 0))
        for width in WIDTHS
        if width in (torch.float32, torch.float64) or name == "erfinv"
    ),
    *(case(f"{name}.default", _function(name), SPECIAL, tolerance=5) for name in _NAMES),
    *(case(f"{name}.default", _function(name), SPECIAL64, tolerance=5) for name in _NAMES),
    *(
        case(f"{name}.default", _function(name), these(_POLES, width), tolerance=20)
        for name in ("lgamma", "digamma")
        for width in (torch.float32, torch.float64)
    ),
    *(
        case(f"{n}.default", _function(n), these(_UNIT, torch.float64), tolerance=20)
        for n in ("erfinv", "special_ndtri")
    ),
    *(case(f"{name}.default", _function(name), integers(1, 9, 5)) for name in _NAMES[:-2]),
    case("polygamma.default", lambda x: torch.polygamma(0, x), normal(9), tolerance=20, symbolic=True),
    case("lgamma.default", lambda x: torch.mvlgamma(x, 3), between(2, 9, 9), tolerance=20),
    case("special_erfcx.default", torch.special.log_ndtr, between(-40, 5, 99, dtype=torch.float64), tolerance=20),
    case("special_erfcx.default", torch.special.erfcx, these([1e8, 1e200, INF, NAN, -26.0, -27.0], torch.float64)),
    case("lgamma.default", torch.lgamma, normal(3, 4), tolerance=20, symbolic=True),
]
