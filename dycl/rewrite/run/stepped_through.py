"""Iterators that a call makes of known things: as lazy as Python's, until a decision turns out to hide in them."""

import itertools
import types
from typing import Any

from dycl.rewrite.knowledge import StepThrough
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, mentions
from dycl.rewrite.semantics.texts import HostText
from dycl.rewrite.signals import Again, DecisionMet
from dycl.rewrite.state.lazy_iterators import Kind, LazyIterator, iterator_over

_KINDS: dict[Any, Kind] = {
    map: "map",
    filter: "filter",
    itertools.chain: "chain",
    itertools.chain.from_iterable: "chain of each",
    itertools.islice: "slice",
    itertools.zip_longest: "longest",
    itertools.pairwise: "pairs",
    reversed: "reversed",
}


def made_lazily(machine: Interprets, callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The iterator that a call makes, if it is one that can be copied, and Python's if it is stepped through."""
    kind = next((kind for maker, kind in _KINDS.items() if type(callee) is type(maker) and callee == maker), None)
    if kind is None or (kwargs and kind != "longest") or not _fits(kind, args):
        return NOT_HANDLED
    frame = machine.frames[-1]
    site = StepThrough(frame.function.code, frame.position)
    if machine.knowledge.knows(site):
        return NOT_HANDLED
    return _made(kind, site, args, kwargs)


def _fits(kind: Kind, args: tuple[Any, ...]) -> bool:
    match kind:
        case "map" | "filter":
            enough = len(args) == 2 or (kind == "map" and len(args) > 2)
            stepped_into = not enough or isinstance(args[0], types.FunctionType | types.MethodType)
            return not stepped_into and not mentions(args[1:], (HostValue, HostText))
        case "slice":
            return 2 <= len(args) <= 4 and all(bound is None or type(bound) is int for bound in args[1:])
        case "chain of each":
            return len(args) == 1 and isinstance(args[0], list | tuple) and None not in map(iterator_over, args[0])
        case "pairs":
            return len(args) == 1
        case "reversed":
            return len(args) == 1 and type(args[0]) is list
        case _:
            return True


def _made(kind: Kind, site: StepThrough, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    sources = args[1:] if kind in ("map", "filter") else args[:1] if kind == "slice" else args
    iterators = [iterator_over(source) for source in sources]
    if None in iterators or kwargs.keys() - {"fillvalue"}:
        return NOT_HANDLED
    match kind:
        case "map" | "filter":
            return LazyIterator(kind, site, iterators, args[0])
        case "slice":
            itertools.islice((), *args[1:])  # which says what is wrong with bounds
            bounds = slice(*args[1:])
            numbers = (0, bounds.start or 0, bounds.stop, 1 if bounds.step is None else bounds.step)
            return LazyIterator(kind, site, iterators, None, numbers)
        case "chain":
            return LazyIterator(kind, site, list(sources))
        case "longest":
            return LazyIterator(kind, site, list(iterators), kwargs.get("fillvalue"))
        case "reversed":
            return LazyIterator(kind, site, [args[0]], None, (len(args[0]) - 1,))
        case _:
            return LazyIterator(kind, site, iterators)


def require_known(machine: Interprets, met: DecisionMet) -> None:
    """Explore the program again if an iterator met a decision that it was not known to meet."""
    if met.made_at is not None and met.made_at not in machine.knowledge:
        machine.knowledge.learn(met.made_at)
        raise Again
