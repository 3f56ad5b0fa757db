"""Classes that are made during the call."""

import abc
from typing import Any

from torch import Tensor


def made_and_used(x: Tensor) -> Any:
    class Scaled:
        factor = 2.0

        def __init__(self, value: Any) -> None:
            self.value = value

        def result(self) -> Any:
            return self.value * self.factor if x.sum() > 0 else self.value - self.factor

    scaled = Scaled(x)
    if x[0] > 0:
        scaled.value = scaled.value + 1
    return scaled.result()


def attribute_of_class_set(x: Tensor) -> Any:
    class Counts:
        calls = 0
        seen: list = []

    if x.sum() > 0:
        Counts.calls += 1
        Counts.seen.append("up")
    Counts.calls += 10
    return x, Counts.calls, Counts.seen, Counts().calls


def inheritance(x: Tensor) -> Any:
    log = []

    class Base:
        def name(self) -> str:
            log.append("base")
            return "base"

    class Derived(Base):
        def name(self) -> str:
            if x.sum() > 0:
                return "up " + super().name()
            return "down " + super().name()

    one = Derived()
    if x[0] > 2:
        log.append("large")
    same = type(one) is Derived, isinstance(one, Base), issubclass(Derived, Base), Base in Derived.__mro__
    return x, one.name(), log, same


def wrappers(x: Tensor) -> Any:
    class Wrapped:
        __slots__ = ("held",)

        @property
        def value(self) -> Any:
            return self.held if x.sum() > 0 else -self.held

        @value.setter
        def value(self, value: Any) -> None:
            self.held = value

        @staticmethod
        def static() -> str:
            return "static"

        @classmethod
        def of(cls, value: Any) -> Any:
            made = cls()
            made.value = value
            return made

    one = Wrapped.of(3)
    if x[0] > 2:
        one.value += 1
    return x, one.value, one.static(), Wrapped.static(), hasattr(one, "__dict__")


def own_kinds_of_containers(x: Tensor) -> Any:
    class Items(list):
        def total(self) -> Any:
            return sum(self)

    class Whole(int):
        def double(self) -> int:
            return self * 2

    class Pair(tuple):
        def first(self) -> Any:
            return self[0]

    class Broken(ValueError):
        pass

    items, whole, pair = Items([1, 2]), Whole(4), Pair((5, 6))
    try:
        if x.sum() > 0:
            raise Broken("up")
        items.append(3)
    except Broken as error:
        items.append(len(str(error)))
    return x, items.total(), whole.double(), pair.first(), type(whole) is Whole, type(pair) is Pair


def abstract(x: Tensor) -> Any:
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self) -> Any: ...

    class Square(Shape):
        def area(self) -> Any:
            return 4

    if x.sum() > 0:
        x = x + 1
    try:
        Shape()
    except TypeError:
        x = x * 2
    return x, Square().area()


def made_in_a_function(x: Tensor) -> Any:
    def maker(base: int) -> Any:
        calls = []

        class Adds:
            def __call__(self, value: Any) -> Any:
                calls.append(base)
                return value + base + len(calls)

        return Adds()

    adds, other = maker(1), maker(10)
    if x.sum() > 0:
        x = adds(x)
    return adds(x), other(x), type(adds) is type(other)


def in_itself(x: Tensor) -> Any:
    class Node:
        kinds: list = []

    Node.kinds.append(Node)
    Node.root = Node()
    if x.sum() > 0:
        Node.root.left = Node()
    return x, Node.kinds[0] is Node, type(Node.root) is Node, hasattr(Node.root, "left")


def function_that_holds_itself(x: Tensor) -> Any:
    def make() -> Any:
        def factorial(n: int) -> int:
            return 1 if n < 2 else n * factorial(n - 1)

        return factorial

    factorial = make()
    if x.sum() > 0:
        x = x + 1
    return x, factorial(4)


def text_with_attributes(x: Tensor) -> Any:
    text = _Text("a")
    text.mark = 1
    if x.sum() > 0:
        text.mark = 2
    return x, text.mark, text + "b"


class _Text(str):
    pass


def class_of_an_object_is_not_asked_whether_it_is_one(x: Tensor) -> Any:
    class Kind(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return bool(x[0] > 0)

    class Made(metaclass=Kind):
        pass

    class Derived(Made):
        pass

    return isinstance(3, Made), isinstance(Made(), Made), isinstance(Derived(), Made), isinstance(Made(), (int, Made))
