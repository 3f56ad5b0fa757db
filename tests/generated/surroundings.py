"""What a generated program finds when it is called: objects from before the call, which it reads and writes.

Some of their fields are variables of the grammar, kept from call to call; others are reached by texts alone, through
doors other than an attribute's name.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tests.generated.grammar import ROWS, WIDTH


@dataclass(frozen=True, slots=True)
class Surrounding:
    """One such object: the words by which a program's text mentions it, and the lines that make it."""

    mentions: tuple[str, ...]
    of_module: tuple[str, ...] = ()
    of_model: tuple[str, ...] = ()


SURROUNDINGS = (
    Surrounding(("kept",), of_model=("self.kept = 1",)),
    Surrounding(("self.counts",), of_model=("self.counts = [0, 2]",)),
    Surrounding(("STORE",), of_module=('STORE = {"n": 0}',)),
    Surrounding(
        ("self.box",),
        of_module=("class Box:", '    __slots__ = ("n", "row")', ""),
        of_model=("self.box = Box()", f"self.box.n, self.box.row = 0, torch.zeros({WIDTH})"),
    ),
    Surrounding(
        ("self.bump",),
        of_module=(
            *("def counter():", "    total = 0", "", "    def bump(more):", "        nonlocal total"),
            *("        total = (total + more) % 7", "        return total", "", "    return bump", ""),
        ),
        of_model=("self.bump = counter()",),
    ),
    Surrounding(
        ("self.array",), of_module=("import numpy as np",), of_model=(f"self.array = np.zeros({WIDTH}, np.float32)",)
    ),
    Surrounding(("memory", "buffers("), of_model=(f'self.register_buffer("memory", torch.ones({ROWS}, {WIDTH}))',)),
    Surrounding(("self.drop",), of_model=("self.drop = nn.Dropout(0.5)",)),
    Surrounding(("copy.",), of_module=("import copy",)),
)


def mentioned(lines: Iterable[str]) -> list[Surrounding]:
    """What a program with these lines needs around it."""
    text = "\n".join(lines)
    return [one for one in SURROUNDINGS if any(word in text for word in one.mentions)]


def has_tensors_before(source: str) -> bool:
    """Whether a program reads tensors from before the call: a test of one that never changes is no decision."""
    return any(word in source for word in ("memory", "buffers(", "self.array", "self.box"))
