"""Lowerings of singular values, eigenvalues of symmetric matrices and pseudo-inverses.

Of vectors only the direction is determined, not the sign, and PyTorch's signs are those of LAPACK: they are refused.
"""

from dycl.backends.onnx import singular
from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.factors import sides, turned
from dycl.backends.onnx.pieces import unsqueeze
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Value


def _symmetric(b: Builder, x: Value, upper: bool) -> Value:
    """The symmetric matrix of which only one triangle is read."""
    side, columns = sides(b, x)
    inside = [[row <= column if upper else row >= column for column in range(columns)] for row in range(side)]
    return b.node("Where", b.constant(inside, "bool"), x, turned(b, x))


@lowers("aten._linalg_svd.default")
def svd(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("A")
    if a.used[0] or a.used[2]:
        b.refuse("singular vectors, whose signs are not determined, are used")
    values = singular.singular_values(b, b.cast(x, "float64"))
    return [a.unread(0), b.cast(values, x.dtype), a.unread(2)]


@lowers("aten._linalg_eigh.default")
def eigh(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("A")
    if a.used[1]:
        b.refuse("eigenvectors, whose signs are not determined, are used")
    matrix = _symmetric(b, b.cast(x, "float64"), a.text("UPLO") == "U")
    return [b.cast(singular.symmetric_eigenvalues(b, matrix), x.dtype), a.unread(1)]


@lowers("aten.linalg_pinv.atol_rtol_tensor")
def pinv(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    usual = b.number(singular.epsilon(x) * max(sides(b, x)), "float64")
    least, relative = (_limit(b, a.optional(name)) for name in ("atol", "rtol"))
    if relative is None:
        zero = b.number(0, "float64")
        relative = usual if least is None else b.node("Where", b.node("Greater", least, zero), zero, usual)
    wide = b.cast(x, "float64")
    matrix = _symmetric(b, wide, upper=False) if a.flag("hermitian") else wide
    return b.cast(singular.pseudo_inverse(b, matrix, least or b.number(0, "float64"), relative), x.dtype)


def _limit(b: Builder, value: Value | None) -> Value | None:
    """A tolerance for each matrix, with axes for its rows and columns."""
    return None if value is None else unsqueeze(b, b.cast(value, "float64"), [value.rank, value.rank + 1])
