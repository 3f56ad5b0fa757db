"""Lowerings of what is made of reflections, and the exponential of a matrix."""

import math

from dycl.backends.onnx import factors
from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.factors import sides, turned, with_batch
from dycl.backends.onnx.lowerings.linear import matmul
from dycl.backends.onnx.pieces import arange, concat, filled, flatten, move_axis, reduce, slice_axis, squeeze
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Value


@lowers("aten.geqrf.default")
def geqrf(b: Builder, a: Arguments) -> list[Value]:
    x = a.tensor("self")
    if 0 in x.shape:
        return [b.node("Identity", x), filled(b, 0, x.dtype, [*b.sizes_of(x)[:-2], _shorter(b, x)])]
    rows, columns = sides(b, x)
    found = factors.reflections(b, x)
    mirrors = move_axis(b, found.mirrors, 0, -1)
    if columns > rows:
        mirrors = concat(b, [mirrors, filled(b, 0, x.dtype, [*b.sizes_of(x)[:-1], columns - rows])], x.rank - 1)
    below = b.constant([[row > column for column in range(columns)] for row in range(rows)], "bool")
    matrix = b.node("Where", below, mirrors, found.matrix)
    return [matrix, move_axis(b, squeeze(b, found.factors, [found.factors.rank - 1]), 0, -1)]


def _shorter(b: Builder, x: Value) -> int:
    rows, columns = x.shape[-2:]
    if not isinstance(rows, int) or not isinstance(columns, int):
        b.refuse("the matrix's size is only known at run time")
    return min(rows, columns)


@lowers("aten.linalg_householder_product.default")
def householder_product(b: Builder, a: Arguments) -> Value:
    x, taus = a.tensor("input"), a.tensor("tau")
    if 0 in x.shape:
        return b.node("Identity", x)
    rows, columns = sides(b, x)
    start = slice_axis(b, factors.identity(b, x, rows), x.rank - 1, 0, columns)
    return start if taus.shape[-1] == 0 else factors.reflected(b, x, taus, start, last_first=True)


@lowers("aten.ormqr.default")
def ormqr(b: Builder, a: Arguments) -> Value:
    x, taus, other = a.tensor("self"), a.tensor("input2"), a.tensor("input3")
    if 0 in x.shape or 0 in other.shape or taus.shape[-1] == 0:
        return b.node("Identity", other)
    left, transpose = a.flag("left"), a.flag("transpose")
    other = other if left else turned(b, other)
    result = factors.reflected(b, x, taus, with_batch(b, other, x), last_first=left != transpose)
    return result if left else turned(b, result)


_TERMS = 18


@lowers("aten.linalg_matrix_exp.default")
def matrix_exp(b: Builder, a: Arguments) -> Value:
    """The series of a part of the matrix that is small enough, squared as often as that was halved."""
    x = a.tensor("self")
    if 0 in x.shape:
        return b.node("Identity", x)
    side, _ = sides(b, x)
    wide = b.cast(x, "float64")
    size = reduce(b, "ReduceSum", b.node("Abs", wide), [x.rank - 2], keepdim=True)
    size = reduce(b, "ReduceMax", size, [x.rank - 1], keepdim=True)
    held = b.node("Less", size, b.number(1e300, "float64"))
    size = b.node("Max", b.node("Where", held, size, b.number(1, "float64")), b.number(1, "float64"))
    halvings = b.node("Ceil", b.node("Div", b.node("Log", size), b.number(math.log(2), "float64")))
    part = b.node("Div", wide, b.node("Pow", b.number(2, "float64"), halvings))
    unit = factors.identity(b, wide, side)
    result = unit
    for number in range(_TERMS, 0, -1):
        product = b.node("Div", matmul(b, part, result), b.number(number, "float64"))
        result = b.node("Add", unit, product)
    times = b.cast(halvings, "int64")
    most = reduce(b, "ReduceMax", concat(b, [flatten(b, times), b.constant([1])], 0), [0], keepdim=False)

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        (result,), (number,) = states, slices
        return [b.node("Where", b.node("Less", number, times), matmul(b, result, result), result)], []

    return b.cast(b.scan([result], [arange(b, most)], 0, step)[0], x.dtype)
