"""Lowerings of linear algebra: determinants, inverses, solutions of systems, factors of matrices."""

from dycl.backends.onnx import factors
from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.factors import sides, solve_triangular, triangle, turned, with_batch
from dycl.backends.onnx.pieces import filled, guarded, reduce, slice_axis, squeeze, unsqueeze
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Value, broadcast


def _unchecked(b: Builder, a: Arguments) -> None:
    if a.has("check_errors") and a.flag("check_errors"):
        b.refuse("`check_errors` is set")


@lowers("aten._linalg_det.default", "aten._linalg_slogdet.default")
def determinant(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("A")
    if 0 in x.shape[-2:]:
        # The product of no factors.
        one, zero = (filled(b, number, x.dtype, b.sizes_of(x)[:-2]) for number in (1, 0))
        known = [one] if a.target == "aten._linalg_det.default" else [one, zero]
        return known + [a.unread(position) for position in range(len(known), len(a.results))]
    # PyTorch reads a matrix that lies row after row as the transposed one, whose columns do; so pivots agree.
    matrix, _, pivots = factors.lu(b, turned(b, x))
    numbers = b.constant(range(1, sides(b, x)[0] + 1), "int32")
    swaps = b.cast(b.node("Not", b.node("Equal", pivots, numbers)), "int64")
    odd = b.node("Mod", reduce(b, "ReduceSum", swaps, [pivots.rank - 1], keepdim=False), b.constant(2))
    sign = b.node("Sub", b.number(1, x.dtype), b.cast(b.node("Mul", odd, b.constant(2)), x.dtype))
    along = factors.diagonal(b, matrix)
    last = [along.rank - 1]
    if a.target == "aten._linalg_det.default":
        result = b.node("Mul", sign, reduce(b, "ReduceProd", along, last, keepdim=False))
        return [result, a.unread(1), a.unread(2)]
    sign = b.node("Mul", sign, reduce(b, "ReduceProd", b.node("Sign", along), last, keepdim=False))
    size = reduce(b, "ReduceSum", b.node("Log", b.node("Abs", along)), last, keepdim=False)
    return [sign, size, a.unread(2), a.unread(3)]


@lowers("aten.linalg_inv_ex.default")
def inverse(b: Builder, a: Arguments) -> list[Value]:
    _unchecked(b, a)
    x = a.tensor("A")
    if 0 in x.shape:
        return _of_nothing(b, x)
    matrix, order, _ = factors.lu(b, x)
    unit = factors.identity(b, x, sides(b, x)[0])
    return [_substituted(b, matrix, order, unit), factors.first_flaw(b, factors.diagonal(b, matrix))]


def _of_nothing(b: Builder, x: Value) -> list[Value]:
    """What is made of matrices without elements: the same, and no flaw."""
    return [b.node("Identity", x), filled(b, 0, "int32", b.sizes_of(x)[:-2])]


def _substituted(b: Builder, matrix: Value, order: Value, right: Value) -> Value:
    """The solution of a system whose matrix has these factors."""
    lower = solve_triangular(b, matrix, factors.rows_in_order(b, right, order), upper=False, unit=True)
    return solve_triangular(b, matrix, lower, upper=True)


def _substituted_turned(b: Builder, matrix: Value, order: Value, right: Value) -> Value:
    """The solution of a system whose transposed matrix has these factors."""
    system = turned(b, matrix)
    lower = solve_triangular(b, system, right, upper=False)
    return factors.rows_out_of_order(b, solve_triangular(b, system, lower, upper=True, unit=True), order)


@lowers("aten._linalg_solve_ex.default")
def solve(b: Builder, a: Arguments) -> list[Value]:
    _unchecked(b, a)
    x, right = a.tensor("A"), a.tensor("B")
    if 0 in a.result.shape:
        flawless = filled(b, 0, "int32", b.sizes_of(x)[:-2])
        return [b.empty(a.result), a.unread(1), a.unread(2), flawless]
    vector = right.rank == 1 or (right.rank == x.rank - 1 and right.shape == x.shape[:-1])
    if vector:
        right = unsqueeze(b, right, [right.rank])
    left = a.flag("left") or vector
    right = right if left else turned(b, right)
    matrix, order, _ = factors.lu(b, x)
    flaw = factors.first_flaw(b, factors.diagonal(b, matrix))
    batch = broadcast((x.shape[:-2], right.shape[:-2]))
    if batch != x.shape[:-2]:
        matrix = with_batch(b, matrix, right)
        order = squeeze(b, with_batch(b, unsqueeze(b, order, [order.rank]), right), [matrix.rank - 1])
    substituted = _substituted if left else _substituted_turned
    result = substituted(b, matrix, order, with_batch(b, right, x))
    result = squeeze(b, result, [result.rank - 1]) if vector else result if left else turned(b, result)
    return [result, a.unread(1), a.unread(2), flaw]


@lowers("aten.linalg_lu_factor_ex.default")
def lu_factor(b: Builder, a: Arguments) -> list[Value]:
    _unchecked(b, a)
    if not a.flag("pivot"):
        b.refuse("no pivots are chosen")
    matrix, _, pivots = factors.lu(b, a.tensor("A"))
    return [matrix, pivots, factors.first_flaw(b, factors.diagonal(b, matrix))]


@lowers("aten.linalg_lu.default")
def lu(b: Builder, a: Arguments) -> list[Value]:
    if not a.flag("pivot"):
        b.refuse("no pivots are chosen")
    x = a.tensor("A")
    matrix, order, _ = factors.lu(b, x)
    return [_permutation(b, matrix, order), *_triangles(b, matrix)]


def _permutation(b: Builder, matrix: Value, order: Value) -> Value:
    """The matrix that brings rows from this order back to their own."""
    return turned(b, factors.rows_in_order(b, factors.identity(b, matrix, sides(b, matrix)[0]), order))


def _triangles(b: Builder, matrix: Value) -> list[Value]:
    rows, columns = sides(b, matrix)
    lower = slice_axis(b, matrix, matrix.rank - 1, 0, min(rows, columns))
    upper = slice_axis(b, matrix, matrix.rank - 2, 0, min(rows, columns))
    return [triangle(b, lower, upper=False, unit=True), triangle(b, upper, upper=True)]


@lowers("aten.lu_unpack.default")
def lu_unpack(b: Builder, a: Arguments) -> list[Value]:
    matrix, pivots = a.tensor("LU_data"), a.tensor("LU_pivots")
    if not a.flag("unpack_data") or not a.flag("unpack_pivots"):
        b.refuse("only part of the factors is asked for")
    order = factors.row_order(b, pivots, sides(b, matrix)[0])
    return [_permutation(b, matrix, order), *_triangles(b, matrix)]


@lowers("aten.linalg_lu_solve.default")
def lu_solve(b: Builder, a: Arguments) -> Value:
    matrix, pivots, right = a.tensor("LU"), a.tensor("pivots"), a.tensor("B")
    left = a.flag("left")
    order = factors.row_order(b, pivots, sides(b, matrix)[0])
    order = squeeze(b, with_batch(b, unsqueeze(b, order, [order.rank]), right), [max(right.rank, matrix.rank) - 1])
    right = with_batch(b, right if left else turned(b, right), matrix)
    substituted = _substituted_turned if a.flag("adjoint") == left else _substituted
    result = substituted(b, with_batch(b, matrix, right), order, right)
    return result if left else turned(b, result)


@lowers("aten.linalg_solve_triangular.default")
def triangular(b: Builder, a: Arguments) -> Value:
    x, right = a.tensor("self"), a.tensor("B")
    upper, unit = a.flag("upper"), a.flag("unitriangular")
    if a.flag("left"):
        return solve_triangular(b, x, right, upper, unit)
    return turned(b, solve_triangular(b, turned(b, x), turned(b, right), not upper, unit))


@lowers("aten.triangular_solve.default")
def triangular_solve(b: Builder, a: Arguments) -> list[Value]:
    right, x = a.tensor("self"), a.tensor("A")
    upper, unit = a.flag("upper"), a.flag("unitriangular")
    system = turned(b, x) if a.flag("transpose") else x
    result = solve_triangular(b, system, right, upper != a.flag("transpose"), unit)
    return [result, with_batch(b, x, right)]


@lowers("aten.linalg_cholesky_ex.default")
def cholesky_ex(b: Builder, a: Arguments) -> list[Value]:
    _unchecked(b, a)
    x = a.tensor("self")
    return _of_nothing(b, x) if 0 in x.shape else list(_cholesky(b, x, a.flag("upper")))


@lowers("aten.cholesky.default")
def cholesky(b: Builder, a: Arguments) -> Value:
    result, flaw = _cholesky(b, a.tensor("self"), a.flag("upper"))
    worst = reduce(b, "ReduceMax", flaw, range(flaw.rank), keepdim=False)
    return guarded(b, result, b.node("Equal", worst, b.constant(0, "int32")))


def _cholesky(b: Builder, x: Value, upper: bool) -> tuple[Value, Value]:
    lower, flaw = factors.cholesky(b, turned(b, x) if upper else x)
    return turned(b, lower) if upper else lower, flaw


@lowers("aten.cholesky_solve.default", "aten.cholesky_inverse.default")
def cholesky_solve(b: Builder, a: Arguments) -> Value:
    if "inverse" in a.target:
        factor = a.tensor("self")
        right = factors.identity(b, factor, sides(b, factor)[0])
    else:
        right, factor = a.tensor("self"), a.tensor("input2")
    lower = turned(b, factor) if a.flag("upper") else factor
    return solve_triangular(b, turned(b, lower), solve_triangular(b, lower, right, upper=False), upper=True)


@lowers("aten.linalg_qr.default")
def qr(b: Builder, a: Arguments) -> list[Value]:
    x, mode = a.tensor("A"), a.text("mode")
    rows, columns = sides(b, x)
    product, upper = factors.qr(b, x)
    if mode != "complete":
        product = slice_axis(b, product, x.rank - 1, 0, min(rows, columns))
        upper = slice_axis(b, upper, x.rank - 2, 0, min(rows, columns))
    return [b.empty(a.result) if mode == "r" else product, upper]
