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

_BESSEL = tuple(f"special_{name}" for name in dir(torch.special) if "bessel" in name and name[:6] != "bessel")
_AROUND = (-0.0, 0.0, 1e-30, 1e-3, -1e-3, 2.0, 5.0, 1.9999, 2.0001, 4.9999, 5.0001, -5.0001, 100.0, -100.0, 1000.0)

_Q = [0.5, 1.0, 2.5, 9.0, 40.0, 1e-3, 1e3, 0.0, -0.0, -1.0, -3.0, -0.5, -2.7, -30.3, NAN, INF, -INF]

_EDGES = [0.0, -0.0, 1.0, 0.5, -1.0, INF, -INF, NAN, 1e-30, 3.0, 15.0]

CASES = [
    *(
        case(
            f"{name}.default",
            getattr(torch, name),
            between(0.01, high, 60, dtype=width),
            between(0, high, 60, dtype=width),
            tolerance=tolerance,
        )
        for name in ("igamma", "igammac")
        for high in (1, 8, 40, 300)
        for width, tolerance in ((torch.float32, 50), (torch.float64, 2e4))
    ),
    *(
        case(
            f"{name}.default",
            lambda x, n=name: getattr(torch, n)(x.unsqueeze(1), x),
            these(_EDGES, width),
            tolerance=50,
        )
        for name in ("igamma", "igammac")
        for width in (torch.float32, torch.float64)
    ),
    *(
        # Around the shape, where the function rises, and where PyTorch's own expansion is off by up to 4e-10.
        case(
            f"{name}.default",
            lambda a, z, n=name: getattr(torch, n)(a, a + z * a.sqrt()),
            between(low, high, 50, dtype=torch.float64),
            normal(50, dtype=torch.float64, scale=2),
            tolerance=tolerance,
        )
        for name in ("igamma", "igammac")
        for low, high, tolerance in ((10, 250, 2e4), (1e3, 1e5, 2e4), (0.9e6, 1.1e6, 1e5), (1e9, 1e12, 1e5))
    ),
    case(
        "igamma.default", torch.special.gammainc, between(0.1, 5, 3, 1), between(0.1, 5, 4), tolerance=50, symbolic=True
    ),
    *(
        case(
            "special_zeta.default",
            torch.special.zeta,
            between(low, high, 40, dtype=width),
            between(0.01, 20, 40, dtype=width),
            tolerance=20,
        )
        for low, high in ((1.01, 3), (2, 40), (-3, 1))
        for width in (torch.float32, torch.float64)
    ),
    *(
        case(
            "special_zeta.default",
            torch.special.zeta,
            these([[1.0], [2.0], [3.0], [2.5], [0.0], [-1.0], [NAN], [INF], [-INF], [60.0]], width),
            these(_Q, width),
            tolerance=20,
            symbolic=True,
        )
        for width in (torch.float32, torch.float64)
    ),
    case("special_zeta.default", torch.special.zeta, integers(2, 9, 5), integers(1, 9, 5), tolerance=20),
    case("special_zeta.self_scalar", lambda q: torch.special.zeta(3, q), between(0.1, 9, 3, 5), tolerance=20),
    case("special_zeta.other_scalar", lambda x: torch.special.zeta(x, 1.5), between(1.1, 9, 5), tolerance=20),
    case("special_zeta.default", torch.special.zeta, these([], torch.float32), these([], torch.float32)),
    *(
        case("polygamma.default", lambda x, n=order: torch.polygamma(n, x), maker, tolerance=20)
        for order in (2, 3, 4, 5, 9, 40)
        for maker in (
            *(between(low, high, 40, dtype=width) for low, high in ((0.3, 5), (3, 60)) for width in WIDTHS[:2]),
            *(these(_Q, width) for width in (torch.float32, torch.float64)),
            integers(1, 9, 5),
        )
    ),
    *(
        case(f"{name}.default", _function(name), between(low, high, 99, dtype=width), tolerance=20)
        for name in _BESSEL
        for low, high in ((0, 2), (0, 8), (4, 60), (-20, 20))
        for width in (torch.float32, torch.float64)
    ),
    *(
        case(f"{name}.default", _function(name), these(_AROUND, width), tolerance=20)
        for name in _BESSEL
        for width in (torch.float32, torch.float64)
    ),
    *(
        case(f"{name}.default", _function(name), maker, tolerance=20)
        for name in _BESSEL
        for maker in (SPECIAL, SPECIAL64, integers(1, 9, 5))
    ),
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
