"""What an operation needs of open sizes and of numbers of the input, where no rule of ours says it: PyTorch is asked.

The operation is called on small real tensors for many assignments of numbers to the symbols. Where none of them fails,
it needs nothing. Where some do, the reason is looked for among plain conditions: that two sizes are equal, or go
together, that one is not below another. Those are taken that every assignment which works meets, and of which every
one that fails misses one. If there are none, nobody can say for which inputs eager raises.
"""

import itertools
import operator
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.sizes.sampled_shapes import Answers, Assignment, Example, symbols_in, typed
from dycl.rewrite.record.sizes.shape_rules import ATEN_ERRORS
from dycl.rewrite.signals import Refused

_SIZES = (2, 1, 0, 3, 4)
_NUMBERS = (*_SIZES, -1, -3)
_MOST_IN_FULL = 2
_RANDOM_TRIES = 96
_CHECKED = 12
_MOST_ELEMENTS = 10_000


@dataclass(frozen=True, slots=True)
class Need:
    """A condition of sizes, and the class of the error where it does not hold."""

    condition: sympy.Basic
    error: str


@dataclass(frozen=True, slots=True)
class _Tried:
    """The sizes and numbers among a call's arguments for one assignment, and the class of the error, if any."""

    sizes: tuple[int, ...]
    error: str | None


def require_asked(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], recorder: Records) -> None:
    """Let the program raise an error of PyTorch's class where the operation does not take its arguments."""
    found = _needs_of(func, args, kwargs)
    name = func._schema.name.removeprefix("aten::")
    if found is None:
        raise Refused("DY008", f"whether `{name}` takes tensors and numbers of these sizes depends on the input")
    for need in found:
        recorder.require_size(need.condition, need.error, f"{name}: sizes that do not fit")


def agree(
    func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], needs: Sequence[Need], complete: bool
) -> bool:
    """Whether PyTorch raises an error where one of these needs is not met, of its class; if `complete`, there alone."""
    sizes = _sizes_in((args, kwargs))
    with _disable_current_modes(), torch.no_grad():
        for assignment in _assignments((args, kwargs), sizes):
            tried = _told(func, args, kwargs, sizes, assignment)
            if tried is None:
                continue
            missed = [need.error for need in needs if need.condition.xreplace(assignment) == sympy.false]
            if tried.error is not None and not missed and not complete:
                continue
            if tried.error != (missed[0] if missed else None):
                return False
    return True


def _needs_of(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Need] | None:
    """All that must hold for the operation to take these arguments; None if no plain conditions say it."""
    sizes = _sizes_in((args, kwargs))
    found = _ASKED.of(func, args, kwargs, lambda: _asked(func, args, kwargs, sizes))
    return None if found is None else [Need(form.condition(sizes), error) for form, error in found]


def _asked(
    func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], sizes: Sequence[sympy.Basic]
) -> "list[tuple[_Form, str]] | None":
    with _disable_current_modes(), torch.no_grad():
        told = (_told(func, args, kwargs, sizes, assignment) for assignment in _assignments((args, kwargs), sizes))
        tried = [one for one in told if one is not None]
    failed = [one for one in tried if one.error is not None]
    if not failed or len(failed) == len(tried):
        return []  # nothing is needed; or nothing would do, which is said elsewhere
    return _explained(_forms(sizes), [one for one in tried if one.error is None], failed)


def _explained(
    forms: "Sequence[_Form]", taken: Sequence[_Tried], failed: Sequence[_Tried]
) -> "list[tuple[_Form, str]] | None":
    """Conditions that all that works meets, of which all that fails misses one: few of them, by a greedy search."""
    possible = [form for form in forms if all(form.holds(one.sizes) for one in taken)]
    left, chosen = list(failed), []
    while left:
        missed = {form: [one for one in left if not form.holds(one.sizes)] for form in possible}
        best = max(possible, key=lambda form: len(missed[form]), default=None)
        if best is None or not missed[best]:
            return None
        errors = [one.error for one in missed[best] if one.error is not None]
        chosen.append((best, max(dict.fromkeys(errors), key=errors.count)))
        left = [one for one in left if best.holds(one.sizes)]
    return chosen


def _told(
    func: OpOverload[Any, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    sizes: Sequence[sympy.Basic],
    assignment: Assignment,
) -> _Tried | None:
    """What PyTorch says to these sizes; None if there is no tensor of such sizes."""
    try:
        numbers = tuple(int(size.xreplace(assignment)) for size in sizes)
    except ZeroDivisionError:
        return None  # nor is there a size like m // n where n is 0
    errors = []
    for fill in (0, 1):
        example = Example(assignment, fill if _is_small((args, kwargs)) else None)
        try:
            given, named = example.of(args), example.of(kwargs)
        except RuntimeError:
            return None  # a size like n - 3 cannot be negative
        try:
            func(*given, **named)
        except ATEN_ERRORS as error:
            if type(error).__name__ == "_LinAlgError":
                return _Tried(numbers, None)  # which is about elements
            errors.append(type(error).__name__)
        else:
            return _Tried(numbers, None)
    return _Tried(numbers, errors[0])


@dataclass(frozen=True, slots=True)
class _Form:
    """A kind of condition, on the sizes at these places."""

    kind: str
    places: tuple[int, ...]

    def holds(self, sizes: Sequence[int]) -> bool:
        """Whether it holds for these numbers."""
        return bool(_KINDS[self.kind](_PLAIN, *(sizes[place] for place in self.places)))

    def condition(self, sizes: Sequence[sympy.Basic]) -> sympy.Basic:
        """The condition on these sizes."""
        return _KINDS[self.kind](_SYMBOLIC, *(sizes[place] for place in self.places))


@dataclass(frozen=True, slots=True)
class _Relations:
    """How conditions are made: of numbers, or of expressions."""

    equal: Callable[[Any, Any], Any]
    at_least: Callable[[Any, Any], Any]
    above: Callable[[Any, Any], Any]
    some: Callable[..., Any]


_PLAIN = _Relations(operator.eq, operator.ge, operator.gt, lambda *parts: any(parts))
_SYMBOLIC = _Relations(sympy.Eq, sympy.Ge, sympy.Gt, sympy.Or)
_OF_ONE: dict[str, Callable[..., Any]] = {
    "not negative": lambda of, size: of.at_least(size, 0),
    "not empty": lambda of, size: of.at_least(size, 1),
    "empty": lambda of, size: of.equal(size, 0),
}
_OF_TWO: dict[str, Callable[..., Any]] = {
    "equal": lambda of, left, right: of.equal(left, right),
    "together": lambda of, left, right: of.some(of.equal(left, right), of.equal(left, 1), of.equal(right, 1)),
    "spreads": lambda of, left, right: of.some(of.equal(left, right), of.equal(left, 1)),
    "equal or empty": lambda of, left, right: of.some(of.equal(left, right), of.equal(left, 0)),
    "at least": lambda of, left, right: of.at_least(left, right),
    "above": lambda of, left, right: of.above(left, right),
    "from the end": lambda of, left, right: of.at_least(left, -right),
    "some if any": lambda of, left, right: of.some(of.at_least(left, 1), of.equal(right, 0)),
}
_KINDS = {**_OF_ONE, **_OF_TWO}


def _forms(sizes: Sequence[sympy.Basic]) -> list[_Form]:
    """All conditions on these sizes that hang on an open one, the simplest first."""
    opened = [place for place, size in enumerate(sizes) if size.free_symbols]
    pairs = [pair for pair in itertools.permutations(range(len(sizes)), 2) if not set(pair).isdisjoint(opened)]
    return [
        *(_Form(kind, (place,)) for kind in _OF_ONE for place in opened),
        *(_Form(kind, pair) for kind in _OF_TWO for pair in pairs),
    ]


def _sizes_in(tree: Any) -> list[sympy.Basic]:
    """The sizes of tensors, and the whole numbers, that are among arguments."""
    found: dict[sympy.Basic, None] = {}
    for leaf in tree_leaves(tree):
        for size in leaf.shape if isinstance(leaf, torch.Tensor) else (leaf,):
            if isinstance(size, torch.SymInt):
                found[size.node.expr] = None
            elif type(size) is int:
                found[sympy.Integer(size)] = None
    return list(found)


def _is_small(tree: Any) -> bool:
    """Whether real tensors of such sizes take no time."""
    shapes = [leaf.shape for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
    counts = [[4 if isinstance(size, torch.SymInt) else size for size in shape] for shape in shapes]
    return all(torch.Size(count).numel() <= _MOST_ELEMENTS for count in counts)


def _assignments(tree: Any, sizes: Sequence[sympy.Basic]) -> Iterator[Assignment]:
    """Every combination of a few numbers, or random ones of many symbols; at last some larger ones."""
    symbols, source = symbols_in(tree), random.Random(0)
    of_tensors = set(symbols_in([leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]))
    known = sorted({int(size) for size in sizes if size.is_number and 4 < size <= 1 << 12})[:3]
    constants = [number for one in known for number in (one, one + 1)]
    ranges = {symbol: (*(_SIZES if symbol in of_tensors else _NUMBERS), *constants) for symbol in symbols}
    if len(symbols) <= _MOST_IN_FULL:
        yield from (typed(dict(zip(symbols, some, strict=True))) for some in itertools.product(*ranges.values()))
    else:
        yield from (typed(dict.fromkeys(symbols, number)) for number in _SIZES)
        for base, symbol in itertools.product((2, 3), symbols):
            yield from (typed({**dict.fromkeys(symbols, base), symbol: other}) for other in ranges[symbol])
        for _ in range(_RANDOM_TRIES):
            yield typed({symbol: source.choice(some) for symbol, some in ranges.items()})
    for _ in range(_CHECKED):
        few = source.sample((5, 6, 7, 9, *constants), 2)
        yield typed({symbol: source.choice(few) for symbol in symbols})


_ASKED = Answers[list[tuple[_Form, str]] | None]()
