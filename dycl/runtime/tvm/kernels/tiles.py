"""How large the tile of results is that a kernel keeps in registers while it adds up."""

from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True, slots=True)
class Machine:
    """What a processor's vectors hold, in single precision, and how many of them it names."""

    lanes: int
    registers: int


@dataclass(frozen=True, slots=True)
class Tile:
    """Rows, columns and blocks of channels, and into how many parts each sum is split."""

    rows: int
    columns: int
    blocks: int
    parts: int = 1


# Two multiplications a cycle, each of which takes four; two loads a cycle.
_LATENCY, _PER_CYCLE = 4, 2


def best_tile(rows: int, columns: int, blocks: int, machine: Machine, shared: bool = True) -> Tile:
    """The tile that takes the least time for so many results, if tiles at the ends do some of them twice.

    `shared` says whether several blocks read the same input.
    """
    best, least = Tile(1, 1, 1), float("inf")
    for height, width, group in product(
        range(1, min(rows, 8) + 1), range(1, min(columns, 28) + 1), range(1, (min(blocks, 8) if shared else 1) + 1)
    ):
        sums = height * width * group
        if sums + group + 1 > machine.registers:
            continue
        tiles = -(-rows // height) * -(-columns // width) * -(-blocks // group)
        cycles = max(sums / _PER_CYCLE, (height * width + group) / _PER_CYCLE, min(_LATENCY, 1 + sums / 4))
        # A little for what a tile costs besides, and for weights, which come from farther away.
        cost = tiles * (cycles + 0.1 + 0.15 * group)
        if cost < least:
            best, least = Tile(height, width, group), cost
    sums = best.rows * best.columns * best.blocks
    return Tile(best.rows, best.columns, best.blocks, max(1, min(4, _LATENCY * _PER_CYCLE // sums)))
