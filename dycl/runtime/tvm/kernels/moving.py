"""Images in another layout: from arrays to blocks of channels and back, and among the channels of larger ones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tvm import tirx

from dycl.runtime.tvm.kernels.images import Image
from dycl.runtime.tvm.kernels.loops import (
    Arrays,
    Expr,
    Register,
    Statement,
    load,
    loop,
    start_of,
    store,
    whole,
)


@dataclass(frozen=True, slots=True)
class Moved:
    """The same image in another layout, maybe as some channels of a larger one, from `first` on."""

    source: Image
    result: Image
    first: int = 0

    def build(self) -> Expr:
        """The function of the source and the result."""
        if self._is_transposed:
            return self._transposed()
        arrays, source, result = Arrays(), self.source, self.result
        given, made = arrays.array("float32", source.size), arrays.array("float32", result.size)
        by_blocks = source.lanes == result.lanes and self.first % source.lanes == 0
        # One channel after the other where blocks do not fit; `together` of them are written out.
        together = 1 if by_blocks else max(source.lanes, result.lanes)

        def copied(place: Sequence[Expr], channel: Expr | int, block: Expr | int) -> Statement:
            image, row, column = place
            if by_blocks:
                at = source.at(image, block, row, column)
                to = result.at(image, block + self.first // result.lanes, row, column)
                return store(made, to, load(given, at, source.lanes), source.lanes)
            read, written = channel, channel + self.first
            at = source.at(image, read // source.lanes, row, column) + read % source.lanes
            to = result.at(image, written // result.lanes, row, column) + written % result.lanes
            return store(made, to, load(given, at, 1), 1)

        def pixels(image: Expr, group: Expr | int, count: int) -> list[Statement]:
            def one(row: Expr, column: Expr) -> list[Statement]:
                return [copied((image, row, column), group * together + channel, group) for channel in range(count)]

            return loop(source.height, lambda row: loop(source.width, lambda column: one(row, column)))

        def channels(image: Expr) -> list[Statement]:
            groups, rest = (source.blocks, 0) if by_blocks else divmod(source.channels, together)
            statements = loop(groups, lambda group: pixels(image, group, together)) if groups else []
            return statements + (pixels(image, whole(groups), rest) if rest else [])

        return arrays.function(loop(source.images, channels))

    @property
    def _is_transposed(self) -> bool:
        """Whether squares of pixels and channels, as large as a vector, are turned round."""
        lanes = sorted((self.source.lanes, self.result.lanes))
        fits = lanes[0] == 1 and lanes[1] & (lanes[1] - 1) == 0 and lanes[1] > 1
        wide = _flat(self.source, self.result)[0].width >= lanes[1]
        return fits and wide and self.first == 0 and self.source.channels % lanes[1] == 0

    def _transposed(self) -> Expr:
        arrays = Arrays()
        given, made = arrays.array("float32", self.source.size), arrays.array("float32", self.result.size)
        source, result = _flat(self.source, self.result)
        lanes = max(source.lanes, result.lanes)
        tiles = -(-source.width // lanes)

        def vector(image: Image, at: Sequence[Expr], place: int) -> Expr:
            """Where the vector at a place of a square starts: a pixel's channels, or a channel's pixels."""
            number, block, row, column = at
            if image.lanes == 1:
                return image.at(number, block * lanes + place, row, column)
            return image.at(number, block, row, column + place)

        def square(at: Sequence[Expr]) -> list[Statement]:
            lines = [Register("float32", lanes) for _ in range(lanes)]
            statements = [line.declared for line in lines]
            statements += [line.set(load(given, vector(source, at, place), lanes)) for place, line in enumerate(lines)]
            turned, added = _turned(lines, lanes)
            statements += added
            return statements + [
                store(made, vector(result, at, place), line.value, lanes) for place, line in enumerate(turned)
            ]

        def row(number: Expr, block: Expr, row: Expr) -> list[Statement]:
            return loop(tiles, lambda tile: square((number, block, row, start_of(tile, lanes, source.width))))

        return arrays.function(
            loop(
                source.images,
                lambda number: loop(
                    source.channels // lanes,
                    lambda block: loop(source.height, lambda down: row(number, block, down)),
                ),
            )
        )


def _flat(source: Image, result: Image) -> tuple[Image, Image]:
    """Both as images of one long row, if neither has a border."""
    if source.top or source.left or result.top or result.left:
        return source, result
    width = source.height * source.width
    return replace(source, height=1, width=width), replace(result, height=1, width=width)


def _turned(lines: list[Register], lanes: int) -> tuple[list[Register], list[Statement]]:
    """Rows as columns: squares of one, two, four and more elements change places, each with the one across."""
    statements: list[Statement] = []
    step = 1
    while step < lanes:
        found: dict[int, Register] = {}
        for place in range(lanes):
            if place & step:
                continue
            first, second = lines[place], lines[place | step]
            upper = [lane if not lane & step else lanes + lane - step for lane in range(lanes)]
            lower = [lane + step if not lane & step else lanes + lane for lane in range(lanes)]
            for target, order in ((place, upper), (place | step, lower)):
                made = Register("float32", lanes)
                mixed = tirx.Shuffle([first.value, second.value], [whole(index) for index in order])
                statements += [made.declared, made.set(mixed)]
                found[target] = made
        lines = [found[place] for place in range(lanes)]
        step *= 2
    return lines, statements
