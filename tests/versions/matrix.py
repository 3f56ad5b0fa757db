"""The versions that go together: every version of Python and of PyTorch, though not every pair."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """A version of Python and one of PyTorch."""

    python: str
    torch: str

    @property
    def name(self) -> str:
        """What the pair is called on the command line: `torch2.15-py3.13`."""
        return f"torch{self.torch.rpartition('.')[0]}-py{self.python}"


PAIRS = (
    Pair("3.11", "2.13.0"),
    Pair("3.13", "2.13.0"),
    Pair("3.12", "2.14.1"),
    Pair("3.11", "2.15.0"),
    Pair("3.12", "2.15.0"),
    Pair("3.13", "2.15.0"),
)


class UnknownPair(Exception):
    """A name that no pair has."""


def chosen(only: str) -> list[Pair]:
    """The pairs that a list of names, with commas or blanks between them, asks for; all of them if it is empty."""
    names = re.findall(r"[^\s,]+", only)
    unknown = [name for name in names if all(name != pair.name for pair in PAIRS)]
    if unknown:
        known = ", ".join(pair.name for pair in PAIRS)
        raise UnknownPair(f"there is no {' and no '.join(unknown)}; there are {known}")
    return [pair for pair in PAIRS if not names or pair.name in names]


def constraints_for(pair: Pair, constraints: str) -> str:
    """`constraints.txt` with this pair's PyTorch instead of the one that DyCL is developed with."""
    changed, count = re.subn(r"^torch==.*$", f"torch=={pair.torch}", constraints, flags=re.MULTILINE)
    assert count == 1, "constraints.txt names one version of torch"
    return changed
