"""Decisions in what Python runs by itself: when a class is made, an attribute is asked for, a container is looked through."""

import collections
import functools
from typing import Any

from torch import Tensor


def attributes_of_a_class_with_its_own_way(x: Tensor) -> Any:
    class Owner:
        def __init__(self) -> None:
            self.known = 1

        def __getattr__(self, name: str) -> Any:
            if x.sum() > 0 and name != "missing":
                return name
            raise AttributeError(name)

    owner = Owner()
    return owner.known, getattr(owner, "other", 0), hasattr(owner, "another"), hasattr(owner, "missing"), x


def attributes_that_are_set_its_own_way(x: Tensor) -> Any:
    log = []

    class Owner:
        def __setattr__(self, name: str, value: Any) -> None:
            log.append(name if x.sum() > 0 else value)
            super().__setattr__(name, value)

        def __delattr__(self, name: str) -> None:
            log.append("deleted" if x[0] > 0 else "gone")
            super().__delattr__(name)

    owner = Owner()
    owner.one = 1
    owner.two = 2
    del owner.one
    return log, owner.two, hasattr(owner, "one"), x


class _Doubled:
    def __init__(self, x: Any = None) -> None:
        self.x = x

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = name + "!" if self.x is None or self.x.sum() > 0 else name

    def __get__(self, owner: Any, kind: Any) -> Any:
        if owner is None:
            return self
        return (self.name, 2 if owner.x.sum() > 0 else 1)

    def __set__(self, owner: Any, value: Any) -> None:
        owner.held = value if owner.x.sum() > 0 else -value


def descriptors(x: Tensor) -> Any:
    class Owner:
        place = _Doubled(x)

        def __init__(self) -> None:
            self.x = x

    owner = Owner()
    owner.place = 3
    return owner.place, owner.held, type(Owner.place) is _Doubled, x


def cached_property_with_a_decision(x: Tensor) -> Any:
    class Owner:
        @functools.cached_property
        def once(self) -> Any:
            return [1] if x.sum() > 0 else [2]

    owner = Owner()
    return owner.once, owner.once is owner.once, x


def class_whose_base_is_told(x: Tensor) -> Any:
    log = []

    class Base:
        def __init_subclass__(cls, **options: Any) -> None:
            log.append((cls.__name__, options, 1 if x.sum() > 0 else 2))
            super().__init_subclass__()

    class Derived(Base, extra=3):
        pass

    if x[0] > 2:
        log.append("large")

    class More(Derived):
        pass

    return log, issubclass(More, Base), x


def class_made_by_a_metaclass(x: Tensor) -> Any:
    class Meta(type):
        def __new__(meta, name: str, bases: Any, names: Any, **options: Any) -> Any:
            names["added"] = 1 if x.sum() > 0 else 2
            return super().__new__(meta, name, bases, names)

        def __init__(cls, name: str, bases: Any, names: Any, **options: Any) -> None:
            super().__init__(name, bases, names)
            cls.started = options if x[0] > 0 else None

        def __call__(cls, *args: Any) -> Any:
            return super().__call__(*args), 3 if x.sum() > 0 else 4

        def __instancecheck__(cls, value: Any) -> bool:
            return bool(x.sum() > 0)

    class Made(metaclass=Meta, option=1):
        def __new__(cls, *args: Any) -> Any:
            made = super().__new__(cls)
            made.first = 5 if x.sum() > 0 else 6
            return made

        def __init__(self, *args: Any) -> None:
            self.args = args

        def own(self) -> Any:
            return __class__ is Made  # type: ignore[name-defined]

    made, number = Made(7)
    return Made.added, Made.started, made.first, made.args, number, made.own(), isinstance(0, Made), x


class _Near:
    def __init__(self, x: Tensor, number: int) -> None:
        self.x, self.number = x, number

    def __eq__(self, other: object) -> bool:
        if self.x.sum() > 0:
            return isinstance(other, _Near) and self.number == other.number
        return self is other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Near({self.number})" if self.x.sum() > 0 else "Far"


def looked_through(x: Tensor) -> Any:
    items = [_Near(x, number) for number in range(3)]
    wanted = _Near(x, 1)
    row = collections.deque(items)
    counts = (row.count(wanted), items.count(wanted))
    return wanted in items, wanted in tuple(items), wanted in row, wanted not in items, counts, x


def filled_by_an_iterator(x: Tensor) -> Any:
    def numbers() -> Any:
        for number in range(3):
            if x.sum() > number:
                yield number

    row = collections.deque(numbers(), maxlen=2)
    row.extendleft(numbers())
    return list(row), dict.fromkeys(numbers(), "value"), list(dict.fromkeys(iter([1, 2, 1]))), x


def sorted_by_a_comparison(x: Tensor) -> Any:
    def compare(left: int, right: int) -> int:
        return left - right if x.sum() > 0 else right - left

    return sorted([3, 1, 2], key=functools.cmp_to_key(compare)), max([1, 2], key=functools.cmp_to_key(compare)), x


class _Defaults(dict[Any, Any]):
    x: Any = None

    def __missing__(self, key: Any) -> Any:
        return key if self.x.sum() > 0 else None


def missing_keys(x: Tensor) -> Any:
    table = _Defaults(known=1)
    table.x = x
    return table["known"], table["other"], table.get("other"), len(table), x


def texts_of_containers(x: Tensor) -> Any:
    items = [_Near(x, 1), (_Near(x, 2),), {"key": _Near(x, 3)}]
    return repr(items), str(tuple(items[:1])), f"{items[0]}", x
