"""Images in memory: channels in blocks of as many as a vector has lanes, with a border of zeros that is never written.

    [image][block of channels][row][column][channel in its block]

With one lane and no border this is the row-major order of an array, and a tensor with fewer than four sizes is an image
whose first sizes are 1. What is elementwise reads other images, too: those with one channel, row or column repeat it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dycl.runtime.tvm.kernels.expressions import Chain, evaluate
from dycl.runtime.tvm.kernels.loops import Arrays, Expr, Statement, load, loop, spread, store, whole


@dataclass(frozen=True, slots=True)
class Image:
    """The sizes of images, and how they lie in memory; `top` and `left` are the border on either side."""

    images: int
    channels: int
    height: int
    width: int
    lanes: int = 1
    top: int = 0
    left: int = 0

    @property
    def blocks(self) -> int:
        """How many blocks of channels there are."""
        return -(-self.channels // self.lanes)

    @property
    def columns(self) -> int:
        """How many columns lie side by side."""
        return self.width + 2 * self.left

    @property
    def rows(self) -> int:
        """How many rows lie one below the other."""
        return self.height + 2 * self.top

    @property
    def size(self) -> int:
        """How many elements lie in memory."""
        return self.images * self.blocks * self.rows * self.columns * self.lanes

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """The sizes of the tensor."""
        return self.images, self.channels, self.height, self.width

    @property
    def is_plain(self) -> bool:
        """Whether the elements lie as in an array, maybe with others behind."""
        is_row = self.height * self.width == 1 and (self.images == 1 or self.channels % self.lanes == 0)
        return (self.lanes == 1 or is_row) and self.top == self.left == 0

    def at(self, image: Expr, block: Expr, row: Expr, column: Expr) -> Expr:
        """Where the first channel of a block lies; a negative row or column is in the border."""
        row, column = (item + border if border else item for item, border in ((row, self.top), (column, self.left)))
        return (((image * self.blocks + block) * self.rows + row) * self.columns + column) * self.lanes


def image_of(shape: Sequence[int], lanes: int = 1, border: tuple[int, int] = (0, 0)) -> Image:
    """A tensor of at most four sizes as images."""
    images, channels, height, width = (*(1 for _ in range(4 - len(shape))), *shape)
    return Image(images, channels, height, width, lanes, *border)


@dataclass(frozen=True, slots=True)
class Tail:
    """What is done with each result before it is written: a chain that reads other images as well."""

    chain: Chain
    others: tuple[Image, ...] = ()

    def arrays(self, arrays: Arrays) -> list[Expr]:
        """The parameters for the other images."""
        return [arrays.array("float32", other.size, "other") for other in self.others]

    def apply(
        self, found: Sequence[Expr], others: Sequence[Expr], place: Sequence[Expr], lanes: int
    ) -> tuple[list[Statement], Expr]:
        """The statements that compute the result at a place (image, block, row, column), and the result."""
        values = list(found)
        for image, buffer in zip(self.others, others, strict=True):
            at = [
                whole(0) if size == 1 else index
                for size, index in zip((image.images, image.blocks, image.height, image.width), place, strict=True)
            ]
            if image.channels == 1 and lanes > 1:
                values.append(spread(load(buffer, image.at(*at), 1), lanes))
            else:
                values.append(load(buffer, image.at(*at), lanes))
        return evaluate(self.chain, values, lanes)


@dataclass(frozen=True, slots=True)
class Mapped:
    """An elementwise operation on images."""

    result: Image
    tail: Tail

    def build(self) -> Expr:
        """The function of the images that are read, and the result."""
        arrays, result = Arrays(), self.result
        others = self.tail.arrays(arrays)
        made = arrays.array("float32", result.size)

        def one(place: Sequence[Expr]) -> list[Statement]:
            statements, value = self.tail.apply((), others, place, result.lanes)
            return [*statements, store(made, result.at(*place), value, result.lanes)]

        return arrays.function(everywhere(result, one))


def everywhere(image: Image, one: Callable[[Sequence[Expr]], list[Statement]]) -> list[Statement]:
    """The statements of `one` for every image, block, row and column."""

    def within(sizes: Sequence[int], place: tuple[Expr, ...]) -> list[Statement]:
        if not sizes:
            return one(place)
        return loop(sizes[0], lambda index: within(sizes[1:], (*place, index)))

    return within((image.images, image.blocks, image.height, image.width), ())
