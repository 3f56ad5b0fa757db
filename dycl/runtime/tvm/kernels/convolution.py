"""Convolutions: a tile of results stays in registers while the weights that lie side by side pass by.

Each vector holds a block of output channels at one pixel. Weights are packed as they are read: for each group of
blocks, input channel block, row and column of the window, and input channel, the vectors of the group's blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dycl.runtime.tvm.kernels.images import Image, Tail
from dycl.runtime.tvm.kernels.loops import (
    Arrays,
    Expr,
    Register,
    Statement,
    bound,
    load,
    loop,
    spread,
    start_of,
    store,
    whole,
)
from dycl.runtime.tvm.kernels.tiles import Tile
from dycl.runtime.weight_store import Array

_UNROLLED = 64
"""How many multiplications the innermost loop does at least, where there are so many."""
_MOST_UNROLLED = 8
"""How many columns of a window are written out at most."""


@dataclass(frozen=True, slots=True)
class Window:
    """How the window of a convolution or pooling moves."""

    rows: int
    columns: int
    down: int
    across: int
    top: int
    left: int
    row_step: int = 1
    column_step: int = 1


@dataclass(frozen=True, slots=True)
class Convolution:
    """A convolution in which each output channel reads all channels of its group.

    Where groups are narrower than a block, a block reads the channels of all its groups, with weights of 0 between.
    """

    source: Image
    result: Image
    window: Window
    groups: int
    tile: Tile
    tail: Tail

    @property
    def reads(self) -> int:
        """How many input channels a block of output channels reads."""
        return _reads(self.source.channels, self.result.channels, self.groups, self.result.lanes)

    @property
    def chunk(self) -> int:
        """How many of these lie side by side wherever a block starts to read."""
        lanes, reads = self.source.lanes, self.reads
        if reads == self.source.channels or reads % lanes == 0:
            return lanes
        return reads if lanes % reads == 0 else 1

    def starts(self) -> list[int]:
        """The first block of each group of blocks that a tile computes together."""
        step, blocks = self.tile.blocks, self.result.blocks
        return [min(first, blocks - step) for first in range(0, blocks, step)]

    def first_channel(self, block: int) -> int:
        """The first input channel that a block of output channels reads."""
        if self.reads == self.source.channels:
            return 0
        return (
            block * self.result.lanes // (self.result.channels // self.groups) * (self.source.channels // self.groups)
        )

    def packed(self, weight: Array) -> Array:
        """The weights in the order in which they are read."""
        outputs, own, rows, columns = weight.shape
        lanes, reads = self.result.lanes, self.reads
        full = np.zeros((self.result.blocks, lanes, reads, rows, columns), np.float32)
        per_group = outputs // self.groups
        for block in range(self.result.blocks):
            first = self.first_channel(block)
            for lane in range(min(lanes, outputs - block * lanes)):
                output = block * lanes + lane
                start = output // per_group * own - first
                full[block, lane, start : start + own] = weight[output]
        step = self.chunk
        pieces = []
        for start in self.starts():
            group = full[start : start + self.tile.blocks]
            for first in range(0, reads, step):
                # blocks, lanes, channels, rows, columns -> rows, columns, channels, blocks, lanes
                pieces.append(group[:, :, first : first + step].transpose(3, 4, 2, 0, 1).reshape(-1))
        return np.concatenate(pieces)

    def build(self) -> Expr:
        """The function of the source, the weights, the bias, what the tail reads and the result."""
        return _Builder(self).function()


def fits_blocks(outputs: int, groups: int, lanes: int) -> bool:
    """Whether every block of output channels reads as many input channels, and of whole groups."""
    per_group = outputs // groups
    if groups == 1 or per_group % lanes == 0:
        return True
    return lanes % per_group == 0 and (outputs % lanes == 0 or outputs < lanes)


def _reads(inputs: int, outputs: int, groups: int, lanes: int) -> int:
    per_group, own = outputs // groups, inputs // groups
    if not fits_blocks(outputs, groups, lanes):
        return inputs
    return own if per_group % lanes == 0 or groups == 1 else min(own * (lanes // per_group), inputs)


class _Builder:
    """The loops of one convolution."""

    def __init__(self, told: Convolution) -> None:
        self._told = told
        self._arrays = Arrays()
        source, result, tile = told.source, told.result, told.tile
        self._size = told.window.rows * told.window.columns * told.reads * tile.blocks * result.lanes
        self._source = self._arrays.array("float32", source.size, "x")
        self._weights = self._arrays.array("float32", self._size * len(told.starts()), "w")
        self._bias = self._arrays.array("float32", result.blocks * result.lanes, "b")
        self._others = told.tail.arrays(self._arrays)
        self._result = self._arrays.array("float32", result.size, "y")
        pixels = tile.rows * tile.columns
        self._sums = [[Register("float32", result.lanes) for _ in range(tile.blocks)] for _ in range(pixels)]

    def function(self) -> Expr:
        """The function."""
        result, tile = self._told.result, self._told.tile
        down, across = -(-result.height // tile.rows), -(-result.width // tile.columns)

        def group(image: Expr, number: Expr) -> list[Statement]:
            block = start_of(number, tile.blocks, result.blocks)
            return loop(
                down,
                lambda i: loop(
                    across,
                    lambda j: self._tile(
                        image,
                        number,
                        block,
                        start_of(i, tile.rows, result.height),
                        start_of(j, tile.columns, result.width),
                    ),
                    "column",
                ),
                "row",
            )

        groups = len(self._told.starts())
        return self._arrays.function(
            loop(result.images, lambda image: loop(groups, lambda number: group(image, number), "group"), "image")
        )

    def _tile(self, image: Expr, number: Expr, block: Expr, row: Expr, column: Expr) -> list[Statement]:
        (row, set_row), (column, set_column) = bound("y", row, "int32"), bound("x", column, "int32")
        block, set_block = bound("z", block, "int32")
        lanes = self._told.result.lanes
        statements = [set_row, set_column, set_block, *(item.declared for row in self._sums for item in row)]
        for pixel in self._sums:
            for place, item in enumerate(pixel):
                statements.append(item.set(load(self._bias, (block + place) * lanes, lanes)))
        statements += self._added(image, number, block, row, column)
        for down, across, items in self._pixels():
            for place, item in enumerate(items):
                at = image, block + place, row + down, column + across
                computed, value = self._told.tail.apply((item.value,), self._others, at, lanes)
                statements += [*computed, store(self._result, self._told.result.at(*at), value, lanes)]
        return statements

    def _pixels(self) -> list[tuple[int, int, Sequence[Register]]]:
        columns = self._told.tile.columns
        return [(place // columns, place % columns, pixel) for place, pixel in enumerate(self._sums)]

    def _added(self, image: Expr, number: Expr, block: Expr, row: Expr, column: Expr) -> list[Statement]:
        """Add up what the window covers, one block of input channels after the other."""
        told = self._told
        lanes, window = told.source.lanes, told.window
        first = _first(told, block)
        base, set_base = bound("weights", number * self._size, "int32")
        top, left = row * window.down - window.top, column * window.across - window.left
        per_channel = window.rows * window.columns * told.tile.blocks * told.result.lanes

        def channels(start: Expr, done: Expr, count: int) -> list[Statement]:
            """So many channels of one block, from one on; `done` are those that were read before."""

            def position(i: Expr, j: Expr) -> list[Statement]:
                pixel = told.source.at(image, start // lanes, top + i * window.row_step, left + j * window.column_step)
                at, set_at = bound("at", pixel + start % lanes if lanes > 1 else pixel, "int32")
                vectors = ((i * window.columns + j) * count) * told.tile.blocks * told.result.lanes
                weight, set_weight = bound("from", base + done * per_channel + vectors, "int32")
                return [set_at, set_weight, *self._multiplied(at, weight, count)]

            return loop(window.rows, lambda i: loop(window.columns, lambda j: position(i, j), "j"), "i")

        chunk = told.chunk
        chunks, rest = divmod(told.reads, chunk)
        statements = [set_base]
        if chunks:
            statements += loop(chunks, lambda k: channels(first + k * chunk, k * chunk, chunk), "k")
        if rest:
            statements += channels(first + chunks * chunk, whole(chunks * chunk), rest)
        return statements

    def _multiplied(self, at: Expr, weight: Expr, count: int) -> list[Statement]:
        """Multiply channels that lie side by side with their weights, for each pixel of the tile."""
        told = self._told
        source, tile, window, lanes = told.source, told.tile, told.window, told.result.lanes
        sums = tile.rows * tile.columns * tile.blocks
        together = next(size for size in (1, 2, 4, 8, 16, count) if size * sums >= _UNROLLED or size >= count)
        together = together if count % together == 0 else 1

        def some(step: Expr) -> list[Statement]:
            statements: list[Statement] = []
            for turn in range(together):
                channel = step * together + turn
                vectors = weight + channel * (tile.blocks * lanes)
                weights = [load(self._weights, vectors + place * lanes, lanes) for place in range(tile.blocks)]
                for down, across, pixel in self._pixels():
                    offset = (down * window.down * source.columns + across * window.across) * source.lanes
                    value = spread(load(self._source, at + offset + channel, 1), lanes)
                    statements += [
                        item.set(item.value + value * loaded) for item, loaded in zip(pixel, weights, strict=True)
                    ]
            return statements

        return loop(count // together, some, "c")


def _first(told: Convolution, block: Expr) -> Expr:
    """The first input channel that a block reads."""
    if told.reads == told.source.channels:
        return whole(0)
    per_group, own = told.result.channels // told.groups, told.source.channels // told.groups
    if per_group % told.result.lanes == 0:
        return block // (per_group // told.result.lanes) * own
    return block * told.reads


@dataclass(frozen=True, slots=True)
class DepthWise:
    """A convolution in which each output channel reads one input channel, its own."""

    source: Image
    result: Image
    window: Window
    tile: Tile
    tail: Tail

    def packed(self, weight: Array) -> Array:
        """The weights by block of channels, then by place in the window."""
        channels, _, rows, columns = weight.shape
        lanes = self.result.lanes
        full = np.zeros((self.result.blocks * lanes, rows * columns), np.float32)
        full[:channels] = weight.reshape(channels, -1)
        return np.ascontiguousarray(full.reshape(-1, lanes, rows * columns).transpose(0, 2, 1)).reshape(-1)

    def build(self) -> Expr:
        """The function of the source, the weights, the bias, what the tail reads and the result."""
        arrays, source, result, window, tile = Arrays(), self.source, self.result, self.window, self.tile
        lanes, size = result.lanes, window.rows * window.columns
        given = arrays.array("float32", source.size, "x")
        weights = arrays.array("float32", result.blocks * size * lanes, "w")
        bias = arrays.array("float32", result.blocks * lanes, "b")
        others = self.tail.arrays(arrays)
        made = arrays.array("float32", result.size, "y")
        pixels = [(i, j, Register("float32", lanes)) for i in range(tile.rows) for j in range(tile.columns)]

        def one(image: Expr, block: Expr, row: Expr, column: Expr) -> list[Statement]:
            (row, set_row), (column, set_column) = bound("y", row, "int32"), bound("x", column, "int32")
            statements = [set_row, set_column, *(item.declared for *_, item in pixels)]
            statements += [item.set(load(bias, block * lanes, lanes)) for *_, item in pixels]
            top, left = row * window.down - window.top, column * window.across - window.left

            def line(i: Expr) -> list[Statement]:
                at, set_at = bound("at", source.at(image, block, top + i * window.row_step, left), "int32")
                if window.columns > _MOST_UNROLLED:
                    return [set_at, *loop(window.columns, lambda j: position(at, i, j), "j")]
                return [set_at, *(item for j in range(window.columns) for item in position(at, i, whole(j)))]

            def position(at: Expr, i: Expr, j: Expr) -> list[Statement]:
                weight = load(weights, (block * size + i * window.columns + j) * lanes, lanes)
                return [
                    item.set(
                        item.value
                        + load(
                            given,
                            at
                            + (down * window.down * source.columns + across * window.across + j * window.column_step)
                            * lanes,
                            lanes,
                        )
                        * weight
                    )
                    for down, across, item in pixels
                ]

            statements += loop(window.rows, line, "i")
            for down, across, item in pixels:
                at = image, block, row + down, column + across
                computed, value = self.tail.apply((item.value,), others, at, lanes)
                statements += [*computed, store(made, result.at(*at), value, lanes)]
            return statements

        down, across = -(-result.height // tile.rows), -(-result.width // tile.columns)
        body = loop(
            result.images,
            lambda image: loop(
                result.blocks,
                lambda block: loop(
                    down,
                    lambda i: loop(
                        across,
                        lambda j: one(
                            image,
                            block,
                            start_of(i, tile.rows, result.height),
                            start_of(j, tile.columns, result.width),
                        ),
                    ),
                ),
            ),
        )
        return arrays.function(body)
