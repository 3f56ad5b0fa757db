"""Shapes by example: what an operation makes of sizes that only the input determines.

PyTorch's rules for symbolic sizes take for granted that an unknown size is not 1, and refuse to answer where they need
to know more. Its rules for known sizes are always right. So the operation is tried on tensors without data of many
sizes, 0 and 1 among them. What PyTorch says of a symbolic size stands as long as no sample speaks against it; a
dimension of which it says nothing, or too much, gets a symbol of its own, which is what the result turns out to have.
"""

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import sympy  # type: ignore[import-untyped]
import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves

from dycl.rewrite.record.sizes.shape_rules import ATEN_ERRORS
from dycl.rewrite.signals import Refused

aten = torch.ops.aten
_Answer = TypeVar("_Answer")
Assignment = Mapping[sympy.Symbol, int | float]
_FEW = (2, 1, 0, 3)
_MANY = (2, 1, 0, 3, 5, 64, 1021)
_MOST_ALONE = 9
_ENOUGH = 3
_RANDOM_TRIES = 128
_MOST_COMBINATIONS = 1024
_MOST_ASKED = 4096


@dataclass(frozen=True, slots=True)
class Sample:
    """What an operation gave for one assignment of numbers to symbols."""

    assignment: Assignment
    results: tuple[torch.Tensor, ...]
    sources: tuple[int | None, ...]
    """For each result, which of the tensor arguments it shares memory with."""
    tells: bool
    """Whether no tensor is empty: an empty one goes together with much that others do not."""


def symbols_in(tree: Any) -> list[sympy.Symbol]:
    """The symbols in the sizes and numbers of these arguments, in a fixed order."""
    found: dict[sympy.Symbol, None] = {}
    for leaf in tree_leaves(tree):
        numbers: list[Any] = [leaf]
        if isinstance(leaf, torch.Tensor):
            numbers = [*leaf.shape, *leaf.stride()]
        for number in numbers:
            if isinstance(number, torch.SymInt | torch.SymFloat | torch.SymBool):
                found.update(dict.fromkeys(sorted(number.node.expr.free_symbols, key=str)))
    return list(found)


def samples(
    func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], guessed: bool, of_memory: bool = False
) -> list[Sample]:
    """What the operation gives for different sizes, where it does not fail; for more of them if nothing is guessed.

    Where sizes must fit together, as `a - b` and `c + 1` in one dimension, few of the assignments do: then random ones
    are tried until enough have told something. Where it is asked who shares memory, which a single size of 1 decides,
    small numbers are tried in all combinations.
    """
    symbols = symbols_in((args, kwargs))
    sizes = dict.fromkeys((*(_FEW if guessed else _MANY), *_constants((args, kwargs), guessed)))
    with _disable_current_modes():
        tried = [_sample(func, args, kwargs, assignment) for assignment in _assignments(symbols, list(sizes))]
        found = [sample for sample in tried if sample is not None]
        if of_memory and len(symbols) > 1 and len(found) < len(tried):
            every = _combinations(symbols, [1, 2, 3, *_constants((args, kwargs), guessed=True)])
            found += [sample for one in every if (sample := _sample(func, args, kwargs, one)) is not None]
        telling = sum(sample.tells for sample in found)
        source = random.Random(0)
        for _ in range(_RANDOM_TRIES if len(symbols) > 1 else 0):
            if telling >= _ENOUGH:
                break
            sample = _sample(func, args, kwargs, typed({symbol: source.randint(1, 4) for symbol in symbols}))
            if sample is not None:
                found.append(sample)
                telling += sample.tells
    return found


def is_taken(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the operation takes these arguments for some sizes other than 0, for which it may not look at them."""
    return _TAKEN.of(func, args, kwargs, lambda: _some_taken(func, args, kwargs))


def _some_taken(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    symbols, constants = symbols_in((args, kwargs)), _constants((args, kwargs), guessed=True)
    sizes = list(dict.fromkeys((*_FEW, *constants)))
    # Where `8 * heads * n // m` must be 32, it is few of all assignments that make it so.
    usual, source = [1, 2, 3, *_quotients((args, kwargs), constants)], random.Random(0)
    drawn = (typed({symbol: source.choice(usual) for symbol in symbols}) for _ in range(_RANDOM_TRIES))
    tried = itertools.chain(_assignments(symbols, sizes), drawn if len(symbols) > 1 else ())
    with _disable_current_modes():
        return any(_sample(func, args, kwargs, found) is not None for found in tried if 0 not in found.values())


def _sample(
    func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], assignment: Assignment
) -> Sample | None:
    example = Example(assignment)
    try:
        result = func(*example.of(args), **example.of(kwargs))
    except ATEN_ERRORS:
        return None  # the operation does not take these sizes
    results = tuple(result) if isinstance(result, tuple | list) else (result,)
    memories = [tensor.untyped_storage()._cdata for tensor in example.tensors.values()]
    sources = tuple(_position(memories, item) for item in results)
    tells = all(item.numel() for item in (*example.tensors.values(), *results) if isinstance(item, torch.Tensor))
    return Sample(assignment, results, sources, tells)


def memory_sources(
    func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[set[int | None]] | None:
    """Which of the different tensor arguments each result shares memory with, None for a copy; None if it cannot tell.

    Where sizes are open, each of several sizes may have its own answer.
    """
    return _SOURCES.of(func, args, kwargs, lambda: _asked_sources(func, args, kwargs))


def _asked_sources(
    func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[set[int | None]] | None:
    if symbols_in((args, kwargs)):
        found = samples(func, args, kwargs, guessed=True, of_memory=True)
    else:
        with _disable_current_modes():
            sample = _sample(func, args, kwargs, {})
        found = [] if sample is None else [sample]
    # Whether an empty result shares memory makes no difference.
    found = [sample for sample in found if sample.tells] or found
    if not found or len({len(sample.sources) for sample in found}) > 1:
        return None
    return [{sample.sources[number] for sample in found} for number in range(len(found[0].sources))]


def can_always_be_viewed(tensor: torch.Tensor, size: Any) -> bool:
    """Whether `view` gives a tensor of open sizes this shape wherever `reshape` does, so that nothing is copied."""
    return _VIEWED.of(aten.view.default, (tensor, size), {}, lambda: _all_viewed(tensor, size))


def _all_viewed(tensor: torch.Tensor, size: Any) -> bool:
    fitting = samples(aten.reshape.default, (tensor, size), {}, guessed=True, of_memory=True)
    with _disable_current_modes():
        views = (_sample(aten.view.default, (tensor, size), {}, sample.assignment) for sample in fitting)
        return all(view is not None for view in views)


class Answers(Generic[_Answer]):
    """What PyTorch was asked about calls already: it depends on nothing but what calls have in common."""

    def __init__(self) -> None:
        self._known: dict[Any, _Answer] = {}

    def of(
        self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], ask: Callable[[], _Answer]
    ) -> _Answer:
        """The answer for this call, as it was for one like it."""
        likeness = _Likeness()
        key = (func, likeness.of(args), tuple((name, likeness.of(value)) for name, value in kwargs.items()))
        if key not in self._known:
            if len(self._known) == _MOST_ASKED:
                self._known.clear()
            self._known[key] = ask()
        return self._known[key]


_SOURCES = Answers[list[set[int | None]] | None]()
_VIEWED = Answers[bool]()
_TAKEN = Answers[bool]()


class _Likeness:
    """What two calls have in common if an operation lays out its result alike for both; symbols go by their order."""

    def __init__(self) -> None:
        self._tensors: dict[int, int] = {}
        self._symbols: dict[sympy.Symbol, int] = {}

    def of(self, tree: Any) -> Any:
        """What an argument adds to it."""
        if isinstance(tree, torch.Tensor):
            number = self._tensors.setdefault(id(tree), len(self._tensors))
            return (number, tree.dtype, tuple(map(self._size, tree.shape)), tuple(map(self._size, tree.stride())))
        if isinstance(tree, list | tuple):
            return tuple([self.of(item) for item in tree])
        if isinstance(tree, torch.SymInt | torch.SymFloat | torch.SymBool):
            return (type(tree), self._size(tree))
        return (type(tree), str(tree))

    def _size(self, size: Any) -> Any:
        if isinstance(size, int):
            return size
        expression = size.node.expr
        for symbol in sorted(expression.free_symbols, key=str):
            self._symbols.setdefault(symbol, len(self._symbols))
        names = {symbol: self._symbols[symbol] for symbol in expression.free_symbols}
        if isinstance(expression, sympy.Symbol):
            return ("symbol", names[expression], expression.is_integer)
        told = {symbol: sympy.Symbol(f"s{number}", integer=symbol.is_integer) for symbol, number in names.items()}
        return str(expression.xreplace(told))


def _position(memories: Sequence[int], result: Any) -> int | None:
    memory = result.untyped_storage()._cdata if isinstance(result, torch.Tensor) else None
    return memories.index(memory) if memory in memories else None


def _quotients(tree: Any, constants: Sequence[int]) -> list[int]:
    """What known sizes are as multiples of the factors in symbolic ones."""
    sizes: list[Any] = [size for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor) for size in leaf.shape]
    symbolic = [size.node.expr for size in sizes if isinstance(size, torch.SymInt)]
    factors = {int(number) for size in symbolic for number in size.atoms(sympy.Integer) if number > 1}
    return sorted({number // factor for number in constants for factor in factors if number % factor == 0})


def _constants(tree: Any, guessed: bool) -> list[int]:
    """The known sizes and numbers among the arguments: a symbolic size may have to be one of them."""
    found: set[int] = set()
    for leaf in tree_leaves(tree):
        numbers = leaf.shape if isinstance(leaf, torch.Tensor) else (leaf,)
        found.update(number for number in numbers if type(number) is int and 0 < number <= 1 << 20)
    few = sorted(found)[:4]
    return few if guessed else sorted({*few, *(number + 1 for number in few)})


def _assignments(symbols: Sequence[sympy.Symbol], sizes: Sequence[int]) -> Iterator[Assignment]:
    """Numbers for the symbols: all alike, all different, and one of them different from the others."""
    for number in sizes:
        yield typed(dict.fromkeys(symbols, number))
    if len(symbols) > 1:
        yield typed(dict(zip(symbols, itertools.count(3, 4), strict=False)))
        every = [(symbol, pair) for pair in ((1, 3), (3, 1), (0, 2)) for symbol in symbols]
        for symbol, (number, others) in every[:_MOST_ALONE]:
            yield typed({**dict.fromkeys(symbols, others), symbol: number})


def _combinations(symbols: Sequence[sympy.Symbol], sizes: Sequence[int]) -> Iterator[Assignment]:
    """All ways to give the symbols these numbers, as long as there are not too many: then some of them."""
    numbers, source = list(dict.fromkeys(sizes)), random.Random(0)
    while len(numbers) > 2 and len(numbers) ** len(symbols) > _MOST_COMBINATIONS:
        numbers.pop()
    if len(numbers) ** len(symbols) > _MOST_COMBINATIONS:
        chosen = ([source.choice(sizes) for _ in symbols] for _ in range(_MOST_COMBINATIONS))
        yield from (typed(dict(zip(symbols, row, strict=True))) for row in chosen)
    else:
        yield from (
            typed(dict(zip(symbols, row, strict=True))) for row in itertools.product(numbers, repeat=len(symbols))
        )


def typed(assignment: Assignment) -> Assignment:
    """The same numbers, with halves among them for symbols that are no whole numbers."""
    return {symbol: value if symbol.is_integer else value / 2 for symbol, value in assignment.items()}


class Example:
    """Arguments with numbers in the place of their symbols, and tensors of one number, or without data, for tensors."""

    def __init__(self, assignment: Assignment, fill: int | None = None) -> None:
        self.assignment, self.fill = assignment, fill
        self.values: dict[Any, Any] = dict(assignment)
        self.tensors: dict[int, torch.Tensor] = {}

    def of(self, tree: Any) -> Any:
        """What stands for arguments."""
        if isinstance(tree, list | tuple):
            return type(tree)([self.of(item) for item in tree])
        if isinstance(tree, dict):
            return {name: self.of(item) for name, item in tree.items()}
        if isinstance(tree, torch.Tensor):
            if id(tree) not in self.tensors:
                self.tensors[id(tree)] = self._tensor(tree)
            return self.tensors[id(tree)]
        if isinstance(tree, torch.device):
            return torch.device("meta") if self.fill is None else tree
        return self.number(tree)

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        shape, strides = ([self.number(size) for size in sizes] for sizes in (tensor.shape, tensor.stride()))
        if self.fill is None:
            return torch.empty_strided(shape, strides, dtype=tensor.dtype, device="meta")
        return torch.full(shape, self.fill, dtype=tensor.dtype)

    def number(self, number: Any) -> Any:
        """The value of a symbolic number."""
        if not isinstance(number, torch.SymInt | torch.SymFloat | torch.SymBool):
            return number
        expression = number.node.expr
        if expression not in self.values:
            self.values[expression] = expression.xreplace(self.assignment)
        return number.node.pytype(self.values[expression])


def value_of(number: Any, assignment: Assignment) -> Any:
    """The value of a symbolic number under an assignment."""
    return Example(assignment).number(number)


class Inferred:
    """The shapes of an operation's results, from PyTorch's guess, if it made one, and from samples."""

    def __init__(self, found: Sequence[Sample], guess: Sequence[Any] | None, new_size: Callable[[], Any]) -> None:
        self.found = found
        self.guess = guess
        self.new_size = new_size
        self.guess_stands = guess is not None
        first = found[0].results
        kinds = [[item.dim() for item in sample.results] for sample in found]
        if any(kind != kinds[0] for kind in kinds) or (guess is not None and len(guess) != len(first)):
            raise Refused("DY008", "how many results or dimensions this has depends on a size of the input")
        self.shapes = [[self._size(number, axis) for axis in range(item.dim())] for number, item in enumerate(first)]

    def _size(self, number: int, axis: int) -> Any:
        sizes = [sample.results[number].shape[axis] for sample in self.found]
        said = self.guess[number].shape[axis] if self.guess is not None else None
        if said is not None and self._holds(said, sizes):
            return said
        self.guess_stands = False
        if len(set(sizes)) == 1 and sum(sample.tells for sample in self.found) > 1:
            return sizes[0]
        return self.new_size()

    def _holds(self, said: Any, sizes: Sequence[int]) -> bool:
        """Whether the samples have the size that PyTorch says; one with a symbol of its own they cannot deny."""
        if isinstance(said, int):
            return all(size == said for size in sizes)
        own = said.node.expr.free_symbols - set(self.found[0].assignment)
        return bool(own) or all(
            value_of(said, sample.assignment) == size for sample, size in zip(self.found, sizes, strict=True)
        )

    def sources(self, number: int) -> set[int | None]:
        """Which tensor arguments a result shares memory with; None among them if for some sizes it is a copy."""
        return {sample.sources[number] for sample in self.found}
