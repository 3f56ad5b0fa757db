"""Cases of linear algebra."""

import torch

from tests.operations.cases import Maker, case, normal, these

_BOTH = (torch.float32, torch.float64)


def _positive(*shape: int, dtype: torch.dtype = torch.float32) -> Maker:
    """Matrices that are symmetric and positive."""

    def make(generator: torch.Generator) -> torch.Tensor:
        x = torch.randn(shape, generator=generator, dtype=torch.float64)
        return (x @ x.mT + torch.eye(shape[-1], dtype=torch.float64)).to(dtype)

    return make


_SINGULAR = these([[1.0, 2.0, 4.0], [2.0, 4.0, 8.0], [1.0, 1.0, 1.0]])
_SHAPES = ((3, 3), (2, 4, 4), (1, 1), (2, 1, 7, 7))
_SYSTEMS = (((3, 3), (3, 2)), ((2, 4, 4), (2, 4, 1)), ((3, 3), (2, 3, 2)), ((2, 1, 4, 4), (3, 4, 2)))
# PyTorch 2.14 has only `torch.linalg.cholesky`.
OLD_CHOLESKY = (("cholesky", torch.cholesky),) if torch.__version__ < "2.14" else ()

CASES = [
    *(
        case(f"{target}.default", function, normal(*shape, dtype=width), tolerance=500)
        for target, function in (
            ("_linalg_det", torch.linalg.det),
            ("_linalg_slogdet", torch.linalg.slogdet),
            ("_linalg_slogdet", torch.logdet),
            ("linalg_inv_ex", torch.linalg.inv_ex),
            ("linalg_lu_factor_ex", torch.linalg.lu_factor_ex),
        )
        for shape in _SHAPES
        for width in _BOTH
    ),
    *(
        case(f"{target}.default", function, normal(*shape, dtype=width), tolerance=500)
        for target, function in (
            ("linalg_lu", torch.linalg.lu),
            ("linalg_lu_factor_ex", torch.linalg.lu_factor_ex),
            ("linalg_qr", torch.linalg.qr),
            ("linalg_qr", lambda x: torch.linalg.qr(x, mode="complete")),
            ("linalg_qr", lambda x: torch.linalg.qr(x, mode="r")[1]),
        )
        for shape in ((3, 5), (2, 6, 4), *_SHAPES)
        for width in _BOTH
    ),
    *(
        case(f"{target}.default", function, _SINGULAR, tolerance=5)
        for target, function in (
            ("_linalg_det", torch.linalg.det),
            ("_linalg_slogdet", torch.linalg.slogdet),
            ("linalg_inv_ex", lambda x: torch.linalg.inv_ex(x).info),
            ("linalg_lu_factor_ex", torch.linalg.lu_factor_ex),
            ("linalg_cholesky_ex", lambda x: torch.linalg.cholesky_ex(x).info),
        )
    ),
    *(
        case(
            "_linalg_solve_ex.default",
            lambda x, y: torch.linalg.solve_ex(x, y),
            normal(*system, dtype=width),
            normal(*right, dtype=width),
            tolerance=500,
        )
        for system, right in (*_SYSTEMS, ((3, 3), (3,)), ((2, 3, 3), (2, 3)))
        for width in _BOTH
    ),
    case(
        "_linalg_solve_ex.default",
        lambda x, y: torch.linalg.solve_ex(x, y, left=False),
        normal(3, 3),
        normal(2, 3),
        tolerance=500,
    ),
    *(
        case(
            "linalg_solve_triangular.default",
            lambda x, y, u=upper, n=unit: torch.linalg.solve_triangular(x, y, upper=u, unitriangular=n),
            _positive(*system, dtype=width),
            normal(*right, dtype=width),
            tolerance=500,
        )
        for system, right in _SYSTEMS
        for upper in (False, True)
        for unit in (False, True)
        for width in _BOTH
    ),
    *(
        case(
            "linalg_solve_triangular.default",
            lambda x, y, u=upper: torch.linalg.solve_triangular(x, y, upper=u, left=False),
            _positive(3, 3),
            normal(2, 5, 3),
            tolerance=500,
        )
        for upper in (False, True)
    ),
    *(
        case(
            "triangular_solve.default",
            lambda y, x, u=upper, t=turned, n=unit: torch.triangular_solve(y, x, u, t, n),
            normal(2, 3, 2),
            _positive(3, 3),
            tolerance=500,
        )
        for upper in (False, True)
        for turned in (False, True)
        for unit in (False, True)
    ),
    *(
        case(
            f"{target}.default",
            lambda x, f=function, u=upper: f(x, upper=u),
            _positive(*shape, dtype=width),
            tolerance=50,
        )
        for target, function in (("linalg_cholesky_ex", torch.linalg.cholesky_ex), *OLD_CHOLESKY)
        for upper in (False, True)
        for shape in _SHAPES
        for width in _BOTH
    ),
    case("linalg_cholesky_ex.default", lambda x: torch.linalg.cholesky_ex(x).info, normal(5, 3, 3), symbolic=False),
    *(
        case(
            "cholesky_inverse.default",
            lambda x, u=upper: torch.cholesky_inverse(x, u),
            _positive(*shape),
            tolerance=500,
        )
        for upper in (False, True)
        for shape in _SHAPES
    ),
    *(
        case(
            "cholesky_solve.default",
            lambda y, x, u=upper: torch.cholesky_solve(y, x, u),
            normal(*right),
            _positive(*system),
            tolerance=500,
        )
        for system, right in _SYSTEMS
        for upper in (False, True)
    ),
    *(
        case(
            "lu_unpack.default", lambda x: torch.lu_unpack(*torch.linalg.lu_factor_ex(x)[:2]), normal(*s), tolerance=500
        )
        for s in ((3, 5), (2, 6, 4), (2, 4, 4))
    ),
    *(
        case(f"{target}.{form}", function, normal(*shape, dtype=width), tolerance=500)
        for target, form, function, shapes in (
            ("_linalg_svd", "default", torch.linalg.svdvals, ((3, 3), (2, 5, 3), (3, 6), (1, 1), (9, 9))),
            ("_linalg_svd", "default", lambda x: torch.linalg.matrix_norm(x, "nuc"), ((2, 4, 4),)),
            ("_linalg_svd", "default", lambda x: torch.linalg.matrix_norm(x, 2), ((2, 4, 3),)),
            ("_linalg_eigh", "default", torch.linalg.eigvalsh, ((3, 3), (2, 4, 4), (1, 1))),
            ("_linalg_eigh", "default", lambda x: torch.linalg.eigvalsh(x, UPLO="U"), ((2, 4, 4),)),
            ("linalg_pinv", "atol_rtol_tensor", torch.linalg.pinv, ((5, 3), (2, 3, 5), (1, 4))),
            ("linalg_pinv", "atol_rtol_tensor", lambda x: torch.linalg.pinv(x @ x.mT), ((4, 2), (2, 3, 1))),
            ("linalg_pinv", "atol_rtol_tensor", lambda x: torch.linalg.pinv(x + x.mT, hermitian=True), ((4, 4),)),
        )
        for shape in shapes
        for width in _BOTH
    ),
    case("_linalg_det.default", torch.linalg.det, normal(2, 0, 0)),
    case("_linalg_slogdet.default", torch.linalg.slogdet, normal(2, 0, 0)),
    case("_linalg_svd.default", torch.linalg.svdvals, these([[0.0, 0.0], [0.0, 0.0]])),
    case("_linalg_eigh.default", torch.linalg.eigvalsh, these([[0.0, 2.0], [2.0, 0.0]]), tolerance=10),
    case(
        "linalg_lu_solve.default",
        lambda x, y: torch.linalg.lu_solve(*torch.linalg.lu_factor_ex(x)[:2], y),
        normal(2, 4, 4),
        normal(2, 4, 3),
        tolerance=500,
    ),
    *(
        case(
            "linalg_lu_solve.default",
            lambda x, y, left=left, adjoint=adjoint: torch.linalg.lu_solve(
                *torch.linalg.lu_factor_ex(x)[:2], y if left else y.mT, left=left, adjoint=adjoint
            ),
            normal(*system, dtype=width),
            normal(*right, dtype=width),
            tolerance=5000,
        )
        for left in (False, True)
        for adjoint in (False, True)
        for system, right in (((4, 4), (4, 3)), ((2, 4, 4), (2, 4, 1)), ((4, 4), (2, 4, 3)), ((2, 4, 4), (4, 3)))
        for width in _BOTH
    ),
    *(
        case(f"{target}.default", function, normal(*shape))
        for target, function in (
            ("linalg_inv_ex", torch.linalg.inv_ex),
            ("linalg_cholesky_ex", torch.linalg.cholesky_ex),
            ("linalg_cholesky_ex", lambda x: torch.linalg.cholesky_ex(x, upper=True)),
        )
        for shape in ((0, 0), (2, 0, 0), (0, 3, 3))
    ),
]
