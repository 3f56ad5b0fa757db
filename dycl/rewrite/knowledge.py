"""What was learnt of a program while it was explored: the only reason to explore it again.

A fact is learnt once, holds from then on, and is scoped to what taught it: a function, a loop, a variable, an
attribute. An exploration is a function of the facts. Whoever acts by a fact asks for it here, so that each block knows
which answers it depends on, and a block that none of the new facts concerns need not run again.
"""

import types
from dataclasses import dataclass
from typing import Any

from dycl.rewrite.normalise.instructions import Register

Loop = tuple[types.CodeType, Register]
"""A loop: the function that it stands in, and the register of its iterator."""

Place = tuple[Any, ...]
"""Where a value hangs: a function's code and a register, or a name for a part of the model's state."""


@dataclass(frozen=True, slots=True)
class Interpret:
    """A decision hides in this function: the machine steps through it."""

    code: types.CodeType

    def __str__(self) -> str:
        return f"`{self.code.co_qualname}` has decisions in it"


@dataclass(frozen=True, slots=True)
class Encloses:
    """This function makes others that change its variables: the machine makes those, wherever it is called."""

    code: types.CodeType

    def __str__(self) -> str:
        return f"functions inside of `{self.code.co_qualname}` change its variables"


@dataclass(frozen=True, slots=True)
class StepInto:
    """The builtin called here meets a decision halfway: what stands in for it is taken from the beginning."""

    code: types.CodeType
    position: int
    kinds: tuple[tuple[str, str], ...]
    """Of which types its arguments are, by their names: a class that the call makes is another one each time."""

    def __str__(self) -> str:
        return f"a builtin called in `{self.code.co_qualname}` has decisions in it"


@dataclass(frozen=True, slots=True)
class StepThrough:
    """The iterator made here meets a decision when it is gone through: what stands in for it is made instead."""

    code: types.CodeType
    position: int

    def __str__(self) -> str:
        return f"an iterator made in `{self.code.co_qualname}` has decisions in it"


@dataclass(frozen=True, slots=True)
class Roll:
    """This loop is too long to be unrolled: it goes over positions."""

    loop: Loop

    def __str__(self) -> str:
        return f"a long loop in `{self.loop[0].co_qualname}` is rolled up"


@dataclass(frozen=True, slots=True)
class Unroll:
    """Rolling this loop up led to a refusal: it is unrolled after all."""

    loop: Loop

    def __str__(self) -> str:
        return f"a loop in `{self.loop[0].co_qualname}` is unrolled after all"


@dataclass(frozen=True, slots=True)
class Exact:
    """A number in this function may bound what grows there: its numbers stay exact."""

    code: types.CodeType | None

    def __str__(self) -> str:
        where = "the model's state" if self.code is None else f"`{self.code.co_qualname}`"
        return f"numbers in {where} stay exact"


@dataclass(frozen=True, slots=True)
class LargeNumbers:
    """Whole numbers are read or multiplied that may be as large as they can be: also counters may have become so."""

    def __str__(self) -> str:
        return "whole numbers may be large"


@dataclass(frozen=True, slots=True)
class Table:
    """The lists at this place grow in a loop that only the input ends: they are kept as tables."""

    place: Place

    def __str__(self) -> str:
        return f"lists in {_named(self.place)} grow"


@dataclass(frozen=True, slots=True)
class Loose:
    """From round to round of a loop, other items of the lists at this place are the same tensor: that is forgotten."""

    place: Place

    def __str__(self) -> str:
        return f"tensors in {_named(self.place)} vary"


@dataclass(frozen=True, slots=True)
class KeepViews:
    """A tensor at this place is written while a view of it is alive: views there stay views."""

    place: Place

    def __str__(self) -> str:
        return f"views in {_named(self.place)} are written"


@dataclass(frozen=True, slots=True)
class Adopted:
    """The program sets this attribute of a module."""

    owner: int
    name: str

    def __str__(self) -> str:
        return f"the attribute `{self.name}` is set"


@dataclass(frozen=True, slots=True)
class ReadLater:
    """The program reads this attribute in a later block than it sets it, or in a later call."""

    owner: int
    name: str

    def __str__(self) -> str:
        return f"the attribute `{self.name}` is read"


@dataclass(frozen=True, slots=True)
class Kept:
    """The program reads this attribute before it sets it: it is kept from call to call."""

    owner: int
    name: str

    def __str__(self) -> str:
        return f"the attribute `{self.name}` is kept from call to call"


@dataclass(frozen=True, slots=True)
class ReadAll:
    """The program asks for all attributes of this module."""

    owner: int

    def __str__(self) -> str:
        return "the names of a module's attributes are read"


@dataclass(frozen=True, slots=True)
class Suspect:
    """The program changes something that must stay as it is: where it does is looked for."""

    what: str

    def __str__(self) -> str:
        return f"the program changes {self.what}"


@dataclass(frozen=True, slots=True)
class FollowedClass:
    """The program sets plain values of this class: they are part of its state."""

    name: str
    cls: int

    def __str__(self) -> str:
        return f"attributes of the class `{self.name}` are set"


@dataclass(frozen=True, slots=True)
class Written:
    """The program writes to this tensor of the model in place: it is kept from call to call."""

    tensor: int

    def __str__(self) -> str:
        return "a tensor of the model is written in place"


@dataclass(frozen=True, slots=True)
class ChangedContainers:
    """A call leaves containers of the model changed: they are kept from call to call."""

    def __str__(self) -> str:
        return "a container of the model is left changed"


Fact = (
    Interpret
    | Encloses
    | StepInto
    | StepThrough
    | Roll
    | Unroll
    | Exact
    | LargeNumbers
    | Table
    | Loose
    | KeepViews
    | Adopted
    | ReadLater
    | Kept
    | ReadAll
    | Suspect
    | FollowedClass
    | Written
    | ChangedContainers
)


class Knowledge:
    """The facts learnt so far, and what has been asked since `asked` was last emptied."""

    def __init__(self) -> None:
        self._facts: dict[Fact, None] = {}
        self.interpreted: set[types.CodeType] = set()
        """The code of all `Interpret` facts, which every call asks for."""
        self.news: list[Fact] = []
        """What this exploration has learnt that it does not hold for: the program must be explored again."""
        self.asked: dict[Fact, bool] = {}

    def learn(self, *facts: Fact) -> None:
        """Take note of facts that no exploration so far has been made with."""
        for fact in facts:
            if fact in self._facts:
                continue
            self._facts[fact] = None
            if isinstance(fact, Interpret | Encloses):
                self.interpreted.add(fact.code)
            if not isinstance(fact, Interpret | StepInto):
                self.news.append(fact)

    def knows(self, fact: Fact) -> bool:
        """Whether this is known; who asks depends on the answer."""
        self.asked[fact] = fact in self._facts
        return self.asked[fact]

    def __contains__(self, fact: Fact) -> bool:
        """Whether this is known, asked by somebody whose work does not depend on it."""
        return fact in self._facts

    def of(self, *kinds: type[Fact]) -> list[Any]:
        """All known facts of these kinds."""
        return [fact for fact in self._facts if isinstance(fact, kinds)]

    def rolls(self, loop: Loop) -> bool:
        """Whether this loop goes over positions."""
        return self.knows(Roll(loop)) and not self.knows(Unroll(loop))

    def still_holds(self, asked: dict[Fact, bool]) -> bool:
        """Whether everything that was asked would be answered the same way now."""
        return all((fact in self._facts) is answer for fact, answer in asked.items())


def _named(place: Place) -> str:
    if isinstance(place[0], types.CodeType):
        return f"`{place[1]}` of `{place[0].co_qualname}`"
    return f"the model's `{place[-1]}`"
