"""The ways to run a sub-DNN: whole by a backend, or cut where the operations of one end, and the rest by others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dycl.backends import Compiler
from dycl.backends.cut import Part, parts_for
from dycl.backends.taking import refusal
from dycl.hcfg.subnet import Ref, SubnetGraph, structure

_LEAST, _MOST = 0.002, 0.1

Key = str
"""A digest of a graph."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a call takes a backend, and how long each input takes in and each output out of its form."""

    seconds: float
    put: tuple[float, ...]
    take: tuple[float, ...]


def share_of(budget: float, count: int) -> float:
    """For how many seconds each of `count` calls is repeated within a budget."""
    return min(_MOST, max(_LEAST, budget / max(count, 1)))


Timings = Mapping[tuple[str, Key], Timing]
"""By backend and graph: what was found right, and measured."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A graph cut, or whole, and the backends that may run each part."""

    parts: tuple[Part, ...]
    backends: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Option:
    """A way to run a sub-DNN, and what it costs: its calls, what crosses inside, and where its values come in and out.

    `takes_in` has, for each input, which backend wants it and how long it takes in; `gives_out` the same for outputs.
    """

    parts: tuple[Part, ...]
    backends: tuple[str, ...]
    seconds: float
    takes_in: tuple[tuple[tuple[str, float], ...], ...]
    gives_out: tuple[tuple[str, float], ...]


def layouts(graph: SubnetGraph, compilers: Sequence[Compiler]) -> list[Layout]:
    """The ways to cut a graph for some backends, and not to."""
    able = tuple(compiler.name for compiler in compilers if not refusal(compiler, graph))
    found = [Layout((_whole(graph),), (able,))] if able else []
    for compiler in compilers:
        if compiler.name in able:
            continue
        parts = parts_for(compiler, graph)
        others = [other for other in compilers if other is not compiler]
        backends = tuple(
            (compiler.name,)
            if part.is_taken
            else tuple(other.name for other in others if not refusal(other, part.graph))
            for part in parts
        )
        if parts and all(backends):
            found.append(Layout(tuple(parts), backends))
    return found


def _whole(graph: SubnetGraph) -> Part:
    return Part(graph, graph.inputs, tuple(range(len(graph.weights))), graph.outputs, True)


def options(graph: SubnetGraph, found: Sequence[Layout], timings: Timings) -> Iterator[Option]:
    """What may run a graph, as far as it was found right: the quickest backend for each part, or the one for all."""
    for layout in found:
        ways = [
            [(timings[name, key].seconds, name) for name in names if (name, key) in timings]
            for key, names in zip(map(_key, layout.parts), layout.backends, strict=True)
        ]
        if not all(ways):
            continue
        if len(layout.parts) == 1:
            for _, name in ways[0]:
                yield _option(graph, layout.parts, (name,), timings)
        else:
            yield _option(graph, layout.parts, tuple(min(way)[1] for way in ways), timings)


def untimed(graph: SubnetGraph, backend: str) -> Option:
    """The way to run a graph whole by a backend, of which nothing is known."""
    return Option(
        (_whole(graph),),
        (backend,),
        0.0,
        tuple(((backend, 0.0),) for _ in graph.inputs),
        ((backend, 0.0),) * len(graph.outputs),
    )


def _key(part: Part) -> Key:
    return structure(part.graph)


def _option(graph: SubnetGraph, parts: tuple[Part, ...], backends: tuple[str, ...], timings: Timings) -> Option:
    makers: dict[Ref, tuple[str, float]] = {}
    readers: dict[Ref, list[tuple[str, float]]] = {}
    seconds = 0.0
    for part, name in zip(parts, backends, strict=True):
        timing = timings[name, _key(part)]
        seconds += timing.seconds
        for ref, put in zip(part.inputs, timing.put, strict=True):
            if ref not in makers:
                readers.setdefault(ref, []).append((name, put))
            elif makers[ref][0] != name:
                seconds += makers[ref][1] + put
        makers |= {ref: (name, take) for ref, take in zip(part.outputs, timing.take, strict=True)}
    takes_in = tuple(tuple(readers.get(ref, ())) for ref in graph.inputs)
    # An input may be handed on as it is: then it is nobody's.
    gives_out = tuple(makers.get(ref, ("", 0.0)) for ref in graph.outputs)
    return Option(parts, backends, seconds, takes_in, gives_out)
