"""Singular values, by rotating pairs of columns until they are at right angles (one-sided Jacobi).

All pairs of a round are rotated at once: the first half of the columns with the second. Then every column but the first
moves on by one place, as teams do in a tournament, so that after a sweep each has met every other. Vectors are computed
for what does not depend on their signs, such as the pseudo-inverse, and never given away.
"""

import math

from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.factors import identity, sides, turned
from dycl.backends.onnx.lowerings.linear import matmul
from dycl.backends.onnx.pieces import concat, expand, gather, reduce, slice_axis, squeeze
from dycl.backends.onnx.values import Value

_SWEEPS = {"float32": 10, "float64": 14}
_MOST_COLUMNS = 64


def _places(count: int) -> list[int]:
    """Where each column comes from in the next round; columns `i` and `i + count / 2` are a pair."""
    half = count // 2
    ring = [*range(1, half), *range(count - 1, half - 1, -1)]
    came_from = {place: ring[number - 1] for number, place in enumerate(ring)}
    return [0, *(came_from[place] for place in range(1, count))]


def orthogonal_columns(b: Builder, x: Value) -> tuple[Value, Value]:
    """A matrix with columns at right angles that is `x` times an orthogonal one, and the latter."""
    rows, columns = sides(b, x)
    if columns > _MOST_COLUMNS:
        b.refuse(f"a matrix of more than {_MOST_COLUMNS} rows and columns")
    width = columns + columns % 2
    product = identity(b, x, columns)
    if width > columns:
        x = _widened(b, x, rows)
        product = _widened(b, product, columns)
    half, order = width // 2, b.constant(_places(width))
    one, two, zero = (b.number(number, x.dtype) for number in (1, 2, 0))

    def rotated(both: Value, cosine: Value, sine: Value) -> Value:
        last = both.rank - 1
        left, right = slice_axis(b, both, last, 0, half), slice_axis(b, both, last, half, width)
        first = b.node("Sub", b.node("Mul", cosine, left), b.node("Mul", sine, right))
        second = b.node("Add", b.node("Mul", sine, left), b.node("Mul", cosine, right))
        return gather(b, concat(b, [first, second], last), order, last)

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        matrix, turns = states
        last = matrix.rank - 1
        left, right = slice_axis(b, matrix, last, 0, half), slice_axis(b, matrix, last, half, width)
        sizes = [_dot(b, *pair) for pair in ((left, left), (right, right), (left, right))]
        idle = b.node("Equal", sizes[2], zero)
        across = b.node("Where", idle, one, sizes[2])
        slope = b.node("Div", b.node("Sub", sizes[1], sizes[0]), b.node("Mul", two, across))
        reach = b.node("Add", b.node("Abs", slope), b.node("Sqrt", b.node("Add", one, b.node("Mul", slope, slope))))
        sign = b.node("Where", b.node("Less", slope, zero), b.node("Neg", one), one)
        tangent = b.node("Where", idle, zero, b.node("Div", sign, reach))
        cosine = b.node("Div", one, b.node("Sqrt", b.node("Add", one, b.node("Mul", tangent, tangent))))
        sine = b.node("Mul", cosine, tangent)
        return [rotated(matrix, cosine, sine), rotated(turns, cosine, sine)], []

    rounds = _SWEEPS[x.dtype] * max(width - 1, 1)
    matrix, product = b.scan([x, product], [b.constant(range(rounds))], 0, step)
    return matrix, product


def _widened(b: Builder, x: Value, rows: int) -> Value:
    """The matrix with one more column, of zeros."""
    column = expand(b, b.number(0, x.dtype), [*b.sizes_of(x)[:-2], rows, 1], (*x.shape[:-2], rows, 1))
    return concat(b, [x, column], x.rank - 1)


def _dot(b: Builder, left: Value, right: Value) -> Value:
    return reduce(b, "ReduceSum", b.node("Mul", left, right), [left.rank - 2], keepdim=True)


def upright(b: Builder, x: Value) -> Value:
    """The matrix, or its transpose, with no more columns than rows."""
    rows, columns = sides(b, x)
    return x if rows >= columns else turned(b, x)


def singular_values(b: Builder, x: Value) -> Value:
    """The singular values, the greatest first."""
    tall = upright(b, x)
    matrix, _ = orthogonal_columns(b, tall)
    lengths = squeeze(b, reduce(b, "ReduceL2", matrix, [matrix.rank - 2], keepdim=True), [matrix.rank - 2])
    return _descending(b, lengths, sides(b, tall)[1])


def _descending(b: Builder, values: Value, count: int) -> Value:
    shape = (*values.shape[:-1], count)
    types = [(values.dtype, shape), ("int64", shape)]
    return b.outputs("TopK", [values, b.constant([count])], types, axis=values.rank - 1)[0]


def symmetric_eigenvalues(b: Builder, x: Value) -> Value:
    """The eigenvalues of a symmetric matrix, the least first: shifted far enough, they are singular values."""
    side, _ = sides(b, x)
    bound = reduce(b, "ReduceMax", reduce(b, "ReduceL1", x, [x.rank - 1], keepdim=True), [x.rank - 2], keepdim=True)
    shift = b.node("Mul", bound, identity(b, x, side))
    values = singular_values(b, b.node("Add", x, shift))
    ascending = gather(b, values, b.constant(list(reversed(range(side)))), values.rank - 1)
    return b.node("Sub", ascending, squeeze(b, bound, [x.rank - 1]))


def pseudo_inverse(b: Builder, x: Value, least: Value, relative: Value) -> Value:
    """What singular values above `least`, and above `relative` times the greatest, contribute to an inverse."""
    rows, columns = sides(b, x)
    matrix, product = orthogonal_columns(b, upright(b, x))
    squares = _dot(b, matrix, matrix)
    lengths = b.node("Sqrt", squares)
    greatest = reduce(b, "ReduceMax", lengths, [lengths.rank - 1], keepdim=True)
    limit = b.node("Max", least, b.node("Mul", relative, greatest))
    counted = b.node("Greater", lengths, limit)
    safe = b.node("Where", counted, squares, b.number(1, x.dtype))
    scaled = b.node("Where", counted, b.node("Div", product, safe), b.number(0, x.dtype))
    inverse = matmul(b, scaled, turned(b, matrix))
    return inverse if rows >= columns else turned(b, inverse)


def epsilon(x: Value) -> float:
    """The distance from 1 to the next number."""
    return math.ldexp(1.0, -23 if x.dtype == "float32" else -52)
