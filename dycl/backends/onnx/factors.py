"""Factors of matrices, one step of a `Scan` a column: LU, Cholesky, QR, and solutions of triangular systems.

Matrices are the last two axes. Pivots and signs are chosen as LAPACK chooses them, so the results differ from PyTorch's
in rounding only.
"""

from typing import NamedTuple

from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.lowerings.linear import matmul
from dycl.backends.onnx.pieces import expand, gather, move_axis, reduce, squeeze, transpose, unsqueeze
from dycl.backends.onnx.values import Value, broadcast, static_shape


def sides(b: Builder, x: Value) -> tuple[int, int]:
    """A matrix's numbers of rows and columns."""
    rows, columns = x.shape[-2:]
    if not isinstance(rows, int) or not isinstance(columns, int):
        b.refuse("the matrix's size is only known at run time")
    if 0 in x.shape:
        b.refuse("a matrix without elements")
    if x.dtype not in ("float32", "float64"):
        b.refuse(f"a matrix of {x.dtype}")
    return rows, columns


def turned(b: Builder, x: Value) -> Value:
    """The matrix transposed."""
    return transpose(b, x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])


def with_batch(b: Builder, x: Value, *others: Value) -> Value:
    """The matrix repeated over the batch axes that others have."""
    batch = broadcast(value.shape[:-2] for value in (x, *others))
    if batch == x.shape[:-2]:
        return x
    sizes = static_shape(batch)
    if sizes is None:
        b.refuse("batches of matrices whose sizes are only known at run time")
    return expand(b, x, [*sizes, *b.sizes_of(x)[-2:]], (*batch, *x.shape[-2:]))


def identity(b: Builder, like: Value, side: int) -> Value:
    """Matrices that change nothing, as many as `like` has."""
    unit = b.constant([[float(row == column) for column in range(side)] for row in range(side)], like.dtype)
    return expand(b, unit, [*b.sizes_of(like)[:-2], side, side], (*like.shape[:-2], side, side))


def triangle(b: Builder, x: Value, upper: bool, unit: bool = False) -> Value:
    """One triangle of a matrix; a unit one has ones on its diagonal."""
    rows, columns = sides(b, x)
    places = [[row - column for column in range(columns)] for row in range(rows)]
    inside = [[place <= -unit if upper else place >= unit for place in line] for line in places]
    kept = b.node("Where", b.constant(inside, "bool"), x, b.number(0, x.dtype))
    if not unit:
        return kept
    return b.node(
        "Where", b.constant([[not place for place in line] for line in places], "bool"), b.number(1, x.dtype), kept
    )


def diagonal(b: Builder, x: Value) -> Value:
    """The diagonal of a matrix."""
    rows, columns = sides(b, x)
    places = unsqueeze(b, b.constant(range(min(rows, columns))), [1])
    square = gather(b, x, squeeze(b, places, [1]), x.rank - 2)
    index = expand(b, places, [*b.sizes_of(square)[:-1], 1], (*square.shape[:-1], 1))
    return squeeze(b, b.node("GatherElements", square, index, shape=index.shape, axis=x.rank - 1), [x.rank - 1])


def _row(b: Builder, x: Value, number: Value) -> Value:
    return gather(b, x, number, x.rank - 2)


def _column(b: Builder, x: Value, number: Value) -> Value:
    return gather(b, x, number, x.rank - 1)


def _outer(b: Builder, column: Value, row: Value) -> Value:
    return b.node("Mul", unsqueeze(b, column, [column.rank]), unsqueeze(b, row, [row.rank - 1]))


def lu(b: Builder, x: Value) -> tuple[Value, Value, Value]:
    """Both triangles in one matrix, the rows' order, and the row (from 1) that each row was exchanged with."""
    rows, columns = sides(b, x)
    steps = min(rows, columns)
    all_rows, all_columns = b.constant(range(rows)), b.constant(range(columns))
    zero = b.number(0, x.dtype)

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        (matrix, order), (number,) = states, slices
        size = b.node("Abs", _column(b, matrix, number))
        size = b.node("Where", b.node("Less", all_rows, number), b.number(-1, x.dtype), size)
        place = b.node("ArgMax", size, dtype="int64", shape=(*size.shape[:-1], 1), axis=size.rank - 1, keepdims=1)
        swap = b.node("Where", b.node("Equal", all_rows, place), number, all_rows)
        swap = b.node("Where", b.node("Equal", all_rows, number), place, swap)
        order = b.node("GatherElements", order, swap, shape=order.shape, axis=order.rank - 1)
        spread = expand(b, unsqueeze(b, swap, [swap.rank]), b.sizes_of(matrix), matrix.shape)
        matrix = b.node("GatherElements", matrix, spread, shape=matrix.shape, axis=matrix.rank - 2)
        row = _row(b, matrix, number)
        pivot = unsqueeze(b, gather(b, row, number, row.rank - 1), [row.rank - 1])
        below = b.node("And", b.node("Greater", all_rows, number), b.node("Not", b.node("Equal", pivot, zero)))
        factor = b.node("Where", below, b.node("Div", _column(b, matrix, number), pivot), zero)
        behind = b.node("Greater", all_columns, number)
        less = b.node("Sub", matrix, _outer(b, factor, row))
        inside = b.node("And", unsqueeze(b, below, [below.rank]), behind)
        first = b.node("And", unsqueeze(b, below, [below.rank]), b.node("Equal", all_columns, number))
        matrix = b.node("Where", inside, less, b.node("Where", first, unsqueeze(b, factor, [factor.rank]), matrix))
        pivots = b.cast(b.node("Add", squeeze(b, place, [place.rank - 1]), b.constant(1)), "int32")
        return [matrix, order], [pivots]

    order = expand(b, all_rows, [*b.sizes_of(x)[:-2], rows], (*x.shape[:-2], rows))
    matrix, order, pivots = b.scan([x, order], [b.constant(range(steps))], 0, step)
    return matrix, order, move_axis(b, pivots, 0, -1)


def row_order(b: Builder, pivots: Value, rows: int) -> Value:
    """The order that exchanges of rows leave behind."""
    all_rows = b.constant(range(rows))

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        (order,), (number,) = states, slices
        place = unsqueeze(b, gather(b, pivots, number, pivots.rank - 1), [pivots.rank - 1])
        place = b.node("Sub", b.cast(place, "int64"), b.constant(1))
        swap = b.node("Where", b.node("Equal", all_rows, place), number, all_rows)
        swap = b.node("Where", b.node("Equal", all_rows, number), place, swap)
        return [b.node("GatherElements", order, swap, shape=order.shape, axis=order.rank - 1)], []

    order = expand(b, all_rows, [*b.sizes_of(pivots)[:-1], rows], (*pivots.shape[:-1], rows))
    return b.scan([order], [arange_of(b, pivots)], 0, step)[0]


def arange_of(b: Builder, pivots: Value) -> Value:
    """The numbers of the exchanges."""
    count = pivots.shape[-1]
    if not isinstance(count, int):
        b.refuse("the matrix's size is only known at run time")
    return b.constant(range(count))


def rows_in_order(b: Builder, x: Value, order: Value) -> Value:
    """The rows of a matrix in another order."""
    spread = expand(b, unsqueeze(b, order, [order.rank]), b.sizes_of(x), x.shape)
    return b.node("GatherElements", x, spread, shape=x.shape, axis=x.rank - 2)


def rows_out_of_order(b: Builder, x: Value, order: Value) -> Value:
    """The rows of a matrix back from another order."""
    spread = expand(b, unsqueeze(b, order, [order.rank]), b.sizes_of(x), x.shape)
    return b.node("ScatterElements", x, spread, x, shape=x.shape, axis=x.rank - 2)


def first_flaw(b: Builder, pivots: Value) -> Value:
    """The place (from 1) of the first pivot that is 0, or 0."""
    flawed = b.node("Equal", pivots, b.number(0, pivots.dtype))
    place = b.node(
        "ArgMax", b.cast(flawed, "uint8"), dtype="int64", shape=pivots.shape[:-1], axis=pivots.rank - 1, keepdims=0
    )
    some = reduce(b, "ReduceMax", flawed, [pivots.rank - 1], keepdim=False)
    return b.cast(b.node("Where", some, b.node("Add", place, b.constant(1)), b.constant(0)), "int32")


def solve_triangular(b: Builder, x: Value, right: Value, upper: bool, unit: bool = False) -> Value:
    """What times one triangle of `x` from the left gives `right`."""
    rows, _ = sides(b, x)
    x, right = with_batch(b, x, right), with_batch(b, right, x)
    numbers = b.constant(range(rows))
    column_numbers = unsqueeze(b, numbers, [1])
    zero = b.number(0, x.dtype)

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        (rest,), (number,) = states, slices
        column, row = _column(b, x, number), _row(b, rest, number)
        if not unit:
            pivot = gather(b, column, number, column.rank - 1)
            row = b.node("Div", row, unsqueeze(b, pivot, [pivot.rank]))
        ahead = b.node("Less" if upper else "Greater", column_numbers, number)
        rest = b.node("Sub", rest, b.node("Where", ahead, _outer(b, column, row), zero))
        here = b.node("Equal", column_numbers, number)
        return [b.node("Where", here, unsqueeze(b, row, [row.rank - 1]), rest)], []

    order = range(rows - 1, -1, -1) if upper else range(rows)
    return b.scan([right], [b.constant(list(order))], 0, step)[0]


def cholesky(b: Builder, x: Value) -> tuple[Value, Value]:
    """The lower triangle that times its own transpose gives `x`, and the first minor that is not positive, or 0."""
    rows, _ = sides(b, x)
    numbers = b.constant(range(rows))

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        (matrix, flaw), (number,) = states, slices
        column = _column(b, matrix, number)
        square = gather(b, column, number, column.rank - 1)
        bad = b.node("Not", b.node("Greater", square, b.number(0, x.dtype)))
        bad = b.node("And", bad, b.node("Equal", flaw, b.constant(0)))
        flaw = b.node("Where", bad, b.node("Add", number, b.constant(1)), flaw)
        column = b.node("Div", column, unsqueeze(b, b.node("Sqrt", square), [square.rank]))
        column = b.node("Where", b.node("Less", numbers, number), b.number(0, x.dtype), column)
        return [b.node("Sub", matrix, _outer(b, column, column)), flaw], [column]

    none = expand(b, b.constant(0), b.sizes_of(x)[:-2], x.shape[:-2]) if x.rank > 2 else b.constant(0)
    # Only the lower triangle is read, and only it must stay right.
    _, flaw, columns = b.scan([x, none], [numbers], 0, step)
    return move_axis(b, columns, 0, -1), b.cast(flaw, "int32")


class Reflections(NamedTuple):
    """A matrix turned into a triangle by reflections: their product, the triangle, and what each one is made of."""

    product: Value
    matrix: Value
    mirrors: Value
    factors: Value


def qr(b: Builder, x: Value) -> tuple[Value, Value]:
    """An orthogonal matrix, and an upper triangle, whose product is `x`."""
    found = reflections(b, x)
    return found.product, triangle(b, found.matrix, upper=True)


def reflections(b: Builder, x: Value) -> Reflections:
    """The reflections of one column after another; of the last two, the first axis counts them."""
    rows, columns = sides(b, x)
    numbers = b.constant(range(rows))
    zero, one = b.number(0, x.dtype), b.number(1, x.dtype)

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        (matrix, product), (number,) = states, slices
        column = _column(b, matrix, number)
        column = b.node("Where", b.node("Less", numbers, number), zero, column)
        pivot = unsqueeze(b, gather(b, column, number, column.rank - 1), [column.rank - 1])
        here = b.node("Equal", numbers, number)
        below = reduce(b, "ReduceL2", b.node("Where", here, zero, column), [column.rank - 1], keepdim=True)
        length = reduce(b, "ReduceL2", column, [column.rank - 1], keepdim=True)
        target = b.node("Where", b.node("Less", pivot, zero), length, b.node("Neg", length))
        # A column that is a multiple of the axis already stays as it is.
        idle = b.node("Equal", below, zero)
        scale = b.node("Where", idle, one, b.node("Sub", pivot, target))
        mirror = b.node("Where", here, one, b.node("Div", column, scale))
        ratio = b.node("Div", b.node("Sub", target, pivot), b.node("Where", idle, one, target))
        factor = b.node("Where", idle, zero, ratio)
        across = unsqueeze(b, b.node("Mul", mirror, factor), [mirror.rank])
        along = unsqueeze(b, mirror, [mirror.rank - 1])
        matrix = b.node("Sub", matrix, matmul(b, across, matmul(b, along, matrix)))
        product = b.node("Sub", product, matmul(b, matmul(b, product, turned(b, along)), turned(b, across)))
        return [matrix, product], [mirror, factor]

    numbered = b.constant(range(min(rows, columns)))
    matrix, product, mirrors, parts = b.scan([x, identity(b, x, rows)], [numbered], 0, step)
    return Reflections(product, matrix, mirrors, parts)


def reflected(b: Builder, x: Value, taus: Value, right: Value, last_first: bool) -> Value:
    """`right` after the reflections whose mirrors stand below the diagonal of `x`, one after another."""
    numbers = b.constant(range(sides(b, x)[0]))
    count = taus.shape[-1]
    if not isinstance(count, int):
        b.refuse("the matrix's size is only known at run time")

    def step(states: list[Value], slices: list[Value]) -> tuple[list[Value], list[Value]]:
        (result,), (number,) = states, slices
        below = b.node("Greater", numbers, number)
        mirror = b.node("Where", below, _column(b, x, number), b.number(0, x.dtype))
        mirror = b.node("Where", b.node("Equal", numbers, number), b.number(1, x.dtype), mirror)
        along = unsqueeze(b, mirror, [mirror.rank - 1])
        tau = unsqueeze(b, gather(b, taus, number, taus.rank - 1), [taus.rank - 1])
        across = unsqueeze(b, b.node("Mul", mirror, tau), [mirror.rank])
        return [b.node("Sub", result, matmul(b, across, matmul(b, along, result)))], []

    order = range(count - 1, -1, -1) if last_first else range(count)
    return b.scan([right], [b.constant(list(order))], 0, step)[0]
