"""Which of Python's classes an iterator is of, also where no decision is; and functions of `operator`."""

import collections
import itertools
import operator
import types
from collections.abc import Iterator
from typing import Any

from torch import Tensor

from tests.python_rules.rule import refused


def _kinds(iterator: Any) -> tuple[bool, ...]:
    asked = (enumerate, zip, map, filter, itertools.chain, types.GeneratorType, Iterator)
    return tuple(isinstance(iterator, kind) for kind in asked)


def class_across_a_decision(x: Tensor) -> Any:
    found = [enumerate([1, 2]), zip([1], [2], strict=True), map(abs, [1]), iter([1]), iter({1: 2}), iter("ab")]
    if x.sum() > 0:
        found.append(iter((3,)))
    return x, [type(one).__name__ for one in found], [one.__class__ is type(one) for one in found]


def class_told_natively(x: Tensor) -> Any:
    found = [
        *(enumerate([1, 2]), zip([1], [2], strict=True), map(abs, [1]), filter(None, [1]), reversed([1])),
        *(iter([1]), iter((1,)), iter("ab"), iter(range(2)), iter({1: 2}), iter({1: 2}.values()), iter({1: 2}.items())),
        *(iter({1}), iter(collections.deque([1])), (i for i in [1])),
        *(itertools.chain([1], [2]), itertools.islice([1, 2], 1), itertools.zip_longest([1], [2])),
        itertools.pairwise([1, 2]),
    ]
    if x.sum() > 0:
        found.append(iter((3,)))
    return x, [_kinds(one) for one in found]


def class_of_a_local_iterator(x: Tensor) -> Any:
    pairs = enumerate([x, x * 2])
    if x.sum() > 0:
        next(pairs)
    return type(pairs) is enumerate, isinstance(pairs, zip), [item for _, item in pairs]


def class_of_a_used_up_iterator(x: Tensor) -> Any:
    items = iter([x])
    if x.sum() > 0:
        next(items)
        next(items, None)
    return x, type(items) is type(iter([]))


def method_of_an_iterators_class(x: Tensor) -> Any:
    items = iter([1, 2, 3])
    if x.sum() > 0:
        next(items)
    kind: Any = type(items)
    return x, kind.__next__(items), kind.__length_hint__(items), operator.length_hint(items)


@refused("DY002")
def state_of_an_iterator(x: Tensor) -> Any:
    items = iter([1, 2, 3])
    if x.sum() > 0:
        next(items)
    kind: Any = type(items)
    return x, len(kind.__reduce__(items))


class _Word:
    def __init__(self, x: Tensor, text: str) -> None:
        self.x, self.text = x, text

    def __add__(self, other: Any) -> "_Word":
        return _Word(self.x, self.text + other.text if self.x.sum() > 0 else other.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Word) and (self.text == other.text or bool(self.x.sum() > 2))

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, place: int) -> str:
        return self.text[place] if self.x.sum() > 0 else self.text[-place]

    @property
    def length(self) -> int:
        return len(self.text) if self.x.sum() > 0 else 0

    def times(self, count: int, *, extra: int = 0) -> str:
        return self.text * (count + extra) if self.x.sum() > 0 else self.text


def functions_of_operator(x: Tensor) -> Any:
    word = _Word(x, "ab")
    words = [_Word(x, "c"), _Word(x, "ab"), _Word(x, "ab")]
    other = operator.concat(word, words[0])  # type: ignore[call-overload]
    return x, other.text, operator.countOf(words, word), operator.indexOf(words, word)


def getters(x: Tensor) -> Any:
    word = _Word(x, "abc")
    lengths = operator.attrgetter("length", "text")(word), operator.attrgetter("text.__class__")(word) is str
    items = operator.itemgetter(1)(word), operator.itemgetter(0, 2)(word)
    return x, lengths, items, operator.methodcaller("times", 2, extra=1)(word), operator.methodcaller("times", 2)(word)


def what_cannot_be_concatenated(x: Tensor) -> Any:
    if x.sum() > 0:
        return operator.concat(_Word(x, "a"), 1)  # type: ignore[call-overload]
    return x


def factory_that_is_replaced(x: Tensor) -> Any:
    found: Any = collections.defaultdict(list)
    found["a"].append(1)
    if x.sum() > 0:
        found.default_factory = int
    return x, found["b"], found.copy()["c"]
