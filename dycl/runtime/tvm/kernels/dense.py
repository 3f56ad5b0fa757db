"""Matrix products: a tile of results stays in registers while rows of the right side pass by.

The last vector of a row is moved back where the row is no whole number of vectors, and does some results twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dycl.runtime.tvm.kernels.arrays import View, read
from dycl.runtime.tvm.kernels.expressions import Chain, evaluate
from dycl.runtime.tvm.kernels.loops import (
    Arrays,
    Expr,
    Register,
    Statement,
    bound,
    load,
    loop,
    number,
    spread,
    start_of,
    store,
)
from dycl.runtime.tvm.kernels.tiles import Machine, Tile, best_tile
from dycl.runtime.weight_store import Array

_UNROLLED = 32


@dataclass(frozen=True, slots=True)
class Dense:
    """Products of `batch` matrices: packed weights on the right and a bias, or matrices that lie in order.

    The tail reads views of the result's shape: batch, rows and columns.
    """

    batch: int
    rows: int
    inner: int
    columns: int
    is_packed: bool
    lanes: int
    tile: Tile
    chain: Chain
    others: tuple[View, ...] = ()

    def starts(self) -> list[int]:
        """The first column of each vector of results."""
        return [min(start, self.columns - self.lanes) for start in range(0, self.columns, self.lanes)]

    @property
    def _groups(self) -> int:
        return -(-len(self.starts()) // self.tile.blocks)

    def _group(self, number: int) -> list[int]:
        starts, size = self.starts(), self.tile.blocks
        first = min(number * size, len(starts) - size)
        return starts[first : first + size]

    def packed(self, weight: Array) -> Array:
        """The weights of a dense layer in the order in which they are read."""
        pieces = []
        for number_ in range(self._groups):
            vectors = [weight[start : start + self.lanes].T for start in self._group(number_)]
            pieces.append(np.stack(vectors, axis=1).reshape(-1))
        return np.ascontiguousarray(np.concatenate(pieces), np.float32)

    def build(self) -> Expr:
        """The function of the left and right sides, the bias if packed, what the tail reads and the result."""
        arrays, tile, lanes = Arrays(), self.tile, self.lanes
        left = arrays.array("float32", self.batch * self.rows * self.inner, "x")
        vectors = self._groups * tile.blocks * lanes * self.inner
        right = arrays.array("float32", vectors if self.is_packed else self.batch * self.inner * self.columns, "w")
        bias = arrays.array("float32", self.columns, "b") if self.is_packed else None
        others = [arrays.array(view.dtype, view.size) for view in self.others]
        made = arrays.array("float32", self.batch * self.rows * self.columns, "y")
        steps = tile.parts if self.inner >= 4 * tile.parts else 1
        sums: list[list[list[Register]]] = [
            [[Register("float32", lanes) for _ in range(tile.blocks)] for _ in range(tile.rows)] for _ in range(steps)
        ]
        zero = spread(number(0, "float32"), lanes)

        def column(first: Expr, place: int) -> Expr:
            return start_of(first + place, lanes, self.columns)

        def one(batch: Expr, group: Expr, first: Expr, row: Expr) -> list[Statement]:
            (row, set_row), (first, set_first) = bound("row", row, "int32"), bound("first", first, "int32")
            columns = [bound("column", column(first, place), "int32") for place in range(tile.blocks)]
            statements = [set_row, set_first, *(statement for _, statement in columns)]
            statements += [item.declared for part in sums for line in part for item in line]
            for part, found in enumerate(sums):
                for sums_of_row in found:
                    for item, (at, _) in zip(sums_of_row, columns, strict=True):
                        statements.append(item.set(load(bias, at, lanes) if part == 0 and self.is_packed else zero))

            def multiplied(k: Expr, part: int) -> list[Statement]:
                if self.is_packed:
                    base = (group * self.inner + k) * (tile.blocks * lanes)
                    weights = [load(right, base + place * lanes, lanes) for place in range(tile.blocks)]
                else:
                    base = (batch * self.inner + k) * self.columns
                    weights = [load(right, base + at, lanes) for at, _ in columns]
                added = []
                for i, line in enumerate(sums[part]):
                    value = spread(load(left, (batch * self.rows + row + i) * self.inner + k, 1), lanes)
                    added += [item.set(item.value + value * weight) for item, weight in zip(line, weights, strict=True)]
                return added

            together = steps
            while together * tile.rows * tile.blocks < _UNROLLED and self.inner >= 2 * together:
                together *= 2
            whole_turns, rest = divmod(self.inner, together)

            def turn(index: Expr) -> list[Statement]:
                return [item for k in range(together) for item in multiplied(index * together + k, k % steps)]

            statements += loop(whole_turns, turn)
            if rest:
                statements += loop(rest, lambda k: multiplied(k + whole_turns * together, 0))
            for i in range(tile.rows):
                for place, (at, _) in enumerate(columns):
                    total = sums[0][i][place].value
                    for more in sums[1:]:
                        total = total + more[i][place].value
                    statements += finished(total, (batch, row + i, at))
            return statements

        def finished(total: Expr, place: Sequence[Expr]) -> list[Statement]:
            given = [total] + [
                read(buffer, view, place, lanes) for buffer, view in zip(others, self.others, strict=True)
            ]
            computed, value = evaluate(self.chain, given, lanes)
            batch, row, at = place
            return [*computed, store(made, (batch * self.rows + row) * self.columns + at, value, lanes)]

        tiles = -(-self.rows // tile.rows)
        blocks = len(self.starts())
        return arrays.function(
            loop(
                self.batch,
                lambda batch: loop(
                    self._groups,
                    lambda group: loop(
                        tiles,
                        lambda i: one(
                            batch, group, start_of(group, tile.blocks, blocks), start_of(i, tile.rows, self.rows)
                        ),
                    ),
                ),
            )
        )


def dense_tile(rows: int, columns: int, machine: Machine) -> tuple[int, Tile]:
    """The lanes and the tile of a product with so many rows and columns."""
    lanes = machine.lanes
    while lanes > columns:
        lanes //= 2
    found = best_tile(1, rows, -(-columns // lanes), machine)
    return lanes, Tile(found.columns, 1, found.blocks, found.parts)
