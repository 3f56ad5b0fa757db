"""Classes that answer themselves what they are asked for: only the program asks, as often as Python does."""

from typing import Any

from torch import Tensor

from tests.python_rules.rule import refused


class _Notes:
    """Makes what it is asked for, and takes note of it."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> int:
        self.asked.append(name)
        setattr(self, name, len(self.asked))
        return len(self.asked)

    def __enter__(self) -> "_Notes":
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __call__(self, x: Tensor) -> Tensor:
        return x * 2 if x.sum() > 0 else x


class _Settings:
    """Says what is missing by an error of its own kind."""

    def __init__(self, **known: float) -> None:
        self.__dict__["known"] = known

    def __getattr__(self, name: str) -> float:
        known: float = self.known[name]
        return known

    def __enter__(self) -> "_Settings":
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __call__(self, x: Tensor) -> Tensor:
        return x * self.scale


class _InPlaces:
    __slots__ = ("asked",)

    def __init__(self) -> None:
        self.asked = 0

    def __getattr__(self, name: str) -> int:
        self.asked += 1
        return self.asked


def what_is_called_or_entered(x: Tensor) -> Any:
    notes, settings = _Notes(), _Settings(scale=3.0)
    with notes, settings:
        y = notes(x)
        if y.sum() > 3:
            y = settings(y)
    before = list(notes.asked)
    return y, before, notes.other, vars(notes), hasattr(notes, "third"), notes.asked


def what_has_no_dict(x: Tensor) -> Any:
    places = _InPlaces()
    if x.sum() > 0:
        x = x + places.first
    held = [places, places]
    return x, places.asked, held[1].second, [item.asked for item in held]


class _Renames:
    names = {"width": "size"}

    def __init__(self) -> None:
        self.size = 4

    def __getattribute__(self, name: str) -> Any:
        if name != "names" and name in super().__getattribute__("names"):
            name = super().__getattribute__("names")[name]
        return super().__getattribute__(name)


def a_lookup_that_only_looks_up(x: Tensor) -> Any:
    renames = _Renames()
    return (x * renames.width, renames.size) if x.sum() > 0 else (x, renames.width)


class _Counts:
    def __init__(self) -> None:
        self.count = [0]

    def __getattribute__(self, name: str) -> Any:
        object.__getattribute__(self, "count")[0] += 1
        return object.__getattribute__(self, name)


@refused("DY002")
def a_lookup_that_counts(x: Tensor) -> Any:
    counts = _Counts()
    return x + 1 if x.sum() > 0 else x, counts.count


class _OfAKind(type):
    def __eq__(cls, other: object) -> bool:
        return cls is other

    def __hash__(cls) -> int:
        return 7


class _Compared(metaclass=_OfAKind):
    pass


@refused("DY002")
def a_class_that_says_what_it_equals(x: Tensor) -> Any:
    return x + 1 if x.sum() > 0 else x, isinstance(_Compared(), _Compared)


class _Long:
    def __init__(self, length: Any) -> None:
        self.length = length

    def __iter__(self) -> Any:
        return iter([1, 2])

    def __len__(self) -> Any:
        return self.length


def _told(function: Any, *args: Any) -> Any:
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


def lengths_that_cannot_be(x: Tensor) -> Any:
    below, large = (_Long(length if x.sum() > 0 else 2) for length in (-1, 2**70))
    return [_told(kind, item) for kind in (list, tuple, sorted) for item in (below, large)], x


def lengths_of_other_kinds(x: Tensor) -> Any:
    text = _Long("no" if x.sum() > 0 else 2)
    return _told(list, text), _told(tuple, text), x


class _Hints:
    def __init__(self, x: Tensor, hint: Any) -> None:
        self.x, self.hint = x, hint

    def __iter__(self) -> Any:
        return iter([1, 2])

    def __length_hint__(self) -> Any:
        return self.hint if self.x.sum() > 0 else 3


def hints_that_cannot_be(x: Tensor) -> Any:
    return [_told(list, _Hints(x, hint)) for hint in (-1, "no", NotImplemented, 5)], x
