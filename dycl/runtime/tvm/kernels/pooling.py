"""Pooling and resizing of images: a vector holds a block of channels at one pixel."""

from collections.abc import Sequence
from dataclasses import dataclass

from tvm import tirx

from dycl.runtime.tvm.kernels.convolution import Window
from dycl.runtime.tvm.kernels.expressions import larger
from dycl.runtime.tvm.kernels.images import Image, Tail, everywhere
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
    store,
    variable,
    whole,
)

_MOST_UNROLLED = 16


@dataclass(frozen=True, slots=True)
class Pooled:
    """The largest or the average of what a window covers; `inside` counts only what is not padding."""

    source: Image
    result: Image
    window: Window
    is_average: bool
    inside: bool
    tail: Tail

    def build(self) -> Expr:
        """The function of the source, what the tail reads and the result."""
        arrays, source, result = Arrays(), self.source, self.result
        given = arrays.array("float32", source.size, "x")
        others = self.tail.arrays(arrays)
        made = arrays.array("float32", result.size, "y")
        lanes = result.lanes

        def one(place: Sequence[Expr]) -> list[Statement]:
            total = Register("float32", lanes)
            first = number(0.0 if self.is_average else float("-inf"), "float32")
            added, count = self._covered(given, total, place)
            found = total.value
            if self.is_average:
                found = found / spread(count, lanes)
            computed, value = self.tail.apply((found,), others, place, lanes)
            statements = [total.declared, total.set(spread(first, lanes)), *added, *computed]
            return [*statements, store(made, result.at(*place), value, lanes)]

        return arrays.function(everywhere(result, one))

    def _covered(self, given: Expr, total: Register, place: Sequence[Expr]) -> tuple[list[Statement], Expr]:
        """The statements that add up what the window covers, and how many pixels that is."""
        source, window, lanes = self.source, self.window, self.result.lanes
        image, block, row, column = place
        top, left = row * window.down - window.top, column * window.across - window.left

        def taken(row: Expr, column: Expr) -> Statement:
            value = load(given, source.at(image, block, row, column), lanes)
            return total.set(total.value + value if self.is_average else larger(total.value, value))

        size = window.rows * window.columns
        if self._is_within and size <= _MOST_UNROLLED:
            statements = [taken(top + i, left + j) for i in range(window.rows) for j in range(window.columns)]
            return statements, number(size, "float32")
        (first_row, set_row), rows = _limited(top, window.rows, source.height)
        (first_column, set_column), columns = _limited(left, window.columns, source.width)
        i, j = variable("i"), variable("j")
        inner = tirx.For(j, whole(0), columns, tirx.ForKind.SERIAL, taken(first_row + i, first_column + j))
        statements = [set_row, set_column, tirx.For(i, whole(0), rows, tirx.ForKind.SERIAL, inner)]
        count = (rows * columns).astype("float32") if self.inside else number(size, "float32")
        return statements, count

    @property
    def _is_within(self) -> bool:
        window, source, result = self.window, self.source, self.result
        down = (result.height - 1) * window.down + window.rows <= source.height
        across = (result.width - 1) * window.across + window.columns <= source.width
        return down and across and window.top == window.left == 0


def _limited(first: Expr, length: int, size: int) -> tuple[tuple[Expr, Statement], Expr]:
    """Where a window starts that does not begin before the first row, and how many rows of it there are."""
    start, statement = bound("start", tirx.max(first, whole(0)), "int32")
    return (start, statement), tirx.min(first + length, whole(size)) - start


@dataclass(frozen=True, slots=True)
class Resized:
    """Images of another size, by linear interpolation."""

    source: Image
    result: Image
    corners: bool
    tail: Tail

    def build(self) -> Expr:
        """The function of the source, what the tail reads and the result."""
        arrays, source, result = Arrays(), self.source, self.result
        given = arrays.array("float32", source.size, "x")
        others = self.tail.arrays(arrays)
        made = arrays.array("float32", result.size, "y")
        lanes = result.lanes

        def across(image: Expr, block: Expr, row: Expr, row_at: Sequence[Expr]) -> list[Statement]:
            def pixel(column: Expr) -> list[Statement]:
                statements, column_at = self._between(column, source.width, result.width)
                (top, bottom, down), (left, right, side) = row_at, column_at
                corners = [
                    load(given, source.at(image, block, i, j), lanes) for i in (top, bottom) for j in (left, right)
                ]
                one = number(1, "float32")
                weights = [
                    spread(weight, lanes)
                    for weight in ((one - down) * (one - side), (one - down) * side, down * (one - side), down * side)
                ]
                found = sum(corner * weight for corner, weight in zip(corners[1:], weights[1:], strict=True))
                at = image, block, row, column
                computed, value = self.tail.apply((corners[0] * weights[0] + found,), others, at, lanes)
                return [*statements, *computed, store(made, result.at(*at), value, lanes)]

            return loop(result.width, pixel)

        def rows(image: Expr, block: Expr) -> list[Statement]:
            def one(row: Expr) -> list[Statement]:
                statements, row_at = self._between(row, source.height, result.height)
                return [*statements, *across(image, block, row, row_at)]

            return loop(result.height, one)

        return arrays.function(loop(result.images, lambda image: loop(result.blocks, lambda block: rows(image, block))))

    def _between(self, place: Expr, size: int, wanted: int) -> tuple[list[Statement], Sequence[Expr]]:
        """The two places that a place lies between, and how much of the second one it is."""
        exact = place.astype("float32") if hasattr(place, "astype") else number(float(place), "float32")
        if self.corners:
            exact = exact * number((size - 1) / (wanted - 1) if wanted > 1 else 0.0, "float32")
        else:
            half = number(0.5, "float32")
            exact = tirx.max((exact + half) * number(size / wanted, "float32") - half, number(0, "float32"))
        exact, set_exact = bound("exact", exact, "float32")
        first, set_first = bound("first", tirx.min(exact.astype("int32"), whole(size - 1)), "int32")
        second, set_second = bound("second", tirx.min(first + 1, whole(size - 1)), "int32")
        return [set_exact, set_first, set_second], (first, second, exact - first.astype("float32"))
