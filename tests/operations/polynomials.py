"""Cases of orthogonal polynomials."""

from typing import Any

import torch

from tests.operations.cases import INF, NAN, between, case, integers, these

_NAMES = tuple(name for name in dir(torch.special) if "polynomial" in name)
_BOTH = (torch.float32, torch.float64)
_AWAY = tuple(
    name for name in _NAMES if name[-2:] in ("_t", "_v", "_h", "he") and name != "shifted_chebyshev_polynomial_t"
)


def _function(name: str) -> Any:
    return getattr(torch.special, name)


CASES = [
    *(
        case(
            f"special_{name}.default",
            _function(name),
            between(low, high, 40, dtype=width),
            integers(0, top, 40, dtype=width),
            tolerance=200,
        )
        for name in _NAMES
        for low, high, top in ((-1, 1, 30), (-3, 3, 9), (0, 1, 20))
        for width in _BOTH
    ),
    *(
        case(
            f"special_{name}.default",
            _function(name),
            between(-2, 2, 3, 1),
            these([-1.5, -1.0, -0.5, 0.0, 0.5, 1.9, 2.0, 7.0, NAN, INF]),
            tolerance=200,
            symbolic=True,
        )
        for name in _NAMES
    ),
    *(
        case(
            f"special_{name}.default",
            _function(name),
            these([[1.0], [-1.0], [0.0], [-0.0]], width),
            these([0, 1, 2, 5, 6, 7, 8, 9, 10, 31], width),
            tolerance=20,
        )
        for name in _NAMES
        for width in _BOTH
    ),
    *(
        case(
            f"special_{name}.default", _function(name), these([[INF], [-INF], [1e30]]), these([0.0, 1.0, 2.0, 3.0, 9.0])
        )
        for name in _NAMES
    ),
    # Of NaN the others give what happens to be in memory, from degree 2 on.
    *(case(f"special_{name}.default", _function(name), these([NAN, NAN]), these([2.0, 9.0])) for name in _AWAY),
    *(case(f"special_{name}.default", _function(name), these([NAN, NAN]), these([0.0, 1.0])) for name in _NAMES),
    *(case(f"special_{name}.default", _function(name), integers(-2, 4, 9), these(3)) for name in _NAMES),
    *(
        case(f"special_{name}.n_scalar", lambda x, n=name: _function(n)(x, 4), between(0, 1, 3, 4), tolerance=20)
        for name in _NAMES
    ),
    *(
        case(f"special_{name}.x_scalar", lambda x, n=name: _function(n)(0.25, x), integers(0, 9, 5), tolerance=20)
        for name in _NAMES
    ),
    *(
        case(f"special_{name}.default", _function(name), these([0.1, -2.0]), these([129.0, 700.0]))
        for name in ("hermite_polynomial_h", "hermite_polynomial_he")
    ),
    case(
        "special_legendre_polynomial_p.default",
        _function("legendre_polynomial_p"),
        these([], torch.float32),
        these(3.0),
    ),
]
