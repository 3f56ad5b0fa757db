"""Cases of reflections of matrices, and of exponentials."""

import torch

from tests.operations.cases import case, normal, these

_BOTH = (torch.float32, torch.float64)
_SHAPES = ((3, 3), (5, 3), (3, 5), (2, 4, 3), (1, 1), (2, 1, 6, 6), (5, 0), (0, 4, 4), (0, 0))

CASES = [
    *(
        case("geqrf.default", torch.geqrf, normal(*shape, dtype=width), tolerance=500)
        for shape in _SHAPES
        for width in _BOTH
    ),
    case("geqrf.default", torch.geqrf, these([[1.0, 2.0], [0.0, 3.0], [0.0, 0.0]])),
    *(
        case(
            "linalg_householder_product.default",
            torch.linalg.householder_product,
            normal(*shape, dtype=width),
            normal(*taus, dtype=width),
            tolerance=500,
        )
        for shape, taus in (
            ((4, 4), (4,)),
            ((5, 3), (3,)),
            ((5, 4), (2,)),
            ((2, 4, 3), (2, 3)),
            ((0, 0), (0,)),
            ((4, 3), (0,)),
        )
        for width in _BOTH
    ),
    *(
        case(
            "ormqr.default",
            lambda x, y, s=left, t=turned: torch.ormqr(*torch.geqrf(x), y if s else y.mT, s, t),
            normal(*shape, dtype=width),
            normal(*other, dtype=width),
            tolerance=500,
        )
        for left in (False, True)
        for turned in (False, True)
        for shape, other in (
            ((4, 4), (4, 3)),
            ((5, 3), (5, 2)),
            ((2, 4, 4), (2, 4, 5)),
            ((5, 0), (5, 2)),
            ((5, 3), (5, 0)),
        )
        for width in _BOTH
    ),
    *(
        case(
            "linalg_matrix_exp.default",
            torch.linalg.matrix_exp,
            normal(*shape, dtype=width, scale=scale),
            tolerance=1000,
        )
        for shape in ((3, 3), (2, 5, 5), (1, 1), (2, 0, 0), (0, 3, 3))
        for scale in (1e-3, 0.5, 2.0)
        for width in _BOTH
    ),
    case("linalg_matrix_exp.default", torch.matrix_exp, these([[0.0, 0.0], [0.0, 0.0]])),
    *(
        case(
            "linalg_pinv.atol_rtol_tensor",
            torch.linalg.lstsq,
            normal(*system, dtype=width),
            normal(*right, dtype=width),
            tolerance=5000,
        )
        for system, right in (((5, 3), (5, 2)), ((3, 5), (3, 1)), ((2, 4, 4), (2, 4, 2)), ((2, 5, 3), (2, 5)))
        for width in _BOTH
    ),
    case(
        "linalg_pinv.atol_rtol_tensor",
        lambda x, y: torch.linalg.lstsq(x @ x.mT, y),
        normal(4, 2),
        normal(4, 2),
        tolerance=5000,
    ),
]
