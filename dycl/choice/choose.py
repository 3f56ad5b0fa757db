"""Choose among the ways to run each sub-DNN, so that all of them together, and what crosses between them, cost least.

What is best for a sub-DNN depends on its neighbours: a call that another backend makes in less time is no gain where
its values have to be brought there and back. So the choice is improved one sub-DNN after another until nothing gets
better, from several beginnings: what is best for each alone, and each backend wherever it may be used.
"""

from collections.abc import Iterable, Mapping, Sequence

from dycl.choice.flow import Edge, End
from dycl.choice.options import Option
from dycl.hcfg.nodes import SubnetId
from dycl.runtime.choice import AUTO

Choosing = dict[SubnetId, Option]
"""An option for each sub-DNN."""


def choose(
    options: Mapping[SubnetId, Sequence[Option]], edges: Sequence[Edge], calls: Mapping[SubnetId, float]
) -> Choosing:
    """The option of each sub-DNN; each is called so many times, and has at least one option."""
    beginnings = [best_alone(options), *(preferring(name, options) for name in _backends(options))]
    improved = [_improved(beginning, options, edges, calls) for beginning in beginnings]
    return min(improved, key=lambda chosen: cost(chosen, edges, calls))


def candidates(
    options: Mapping[SubnetId, Sequence[Option]], edges: Sequence[Edge], calls: Mapping[SubnetId, float]
) -> dict[str, Choosing]:
    """The choice, and each backend wherever it may be used; those that equal one before them are left out."""
    found = {AUTO: choose(options, edges, calls)}
    for name in _backends(options):
        chosen = preferring(name, options)
        if chosen not in found.values():
            found[name] = chosen
    return found


def _backends(options: Mapping[SubnetId, Sequence[Option]]) -> list[str]:
    return sorted({name for found in options.values() for option in found for name in option.backends})


def best_alone(options: Mapping[SubnetId, Sequence[Option]]) -> Choosing:
    """The quickest option of each, whatever crosses."""
    return {subnet: min(found, key=lambda option: option.seconds) for subnet, found in options.items()}


def preferring(backend: str, options: Mapping[SubnetId, Sequence[Option]]) -> Choosing:
    """The quickest option of each that has most of this backend in it."""
    return {
        subnet: min(found, key=lambda option: (-_share(option, backend), option.seconds))
        for subnet, found in options.items()
    }


def _share(option: Option, backend: str) -> float:
    return option.backends.count(backend) / len(option.backends)


def cost(chosen: Mapping[SubnetId, Option], edges: Iterable[Edge], calls: Mapping[SubnetId, float]) -> float:
    """How many seconds a call of the program spends in sub-DNNs and between them."""
    inside = sum(option.seconds * calls[subnet] for subnet, option in chosen.items())
    return inside + sum(_crossing(edge, chosen) for edge in edges)


def _crossing(edge: Edge, chosen: Mapping[SubnetId, Option]) -> float:
    maker, take = _made(edge.source, chosen)
    if edge.target is None:
        return take * edge.times
    readers = chosen[edge.target.subnet].takes_in[edge.target.place]
    return edge.times * sum(take + put for name, put in readers if name != maker)


def _made(source: End | None, chosen: Mapping[SubnetId, Option]) -> tuple[str, float]:
    return ("", 0.0) if source is None else chosen[source.subnet].gives_out[source.place]


def _improved(
    beginning: Choosing,
    options: Mapping[SubnetId, Sequence[Option]],
    edges: Sequence[Edge],
    calls: Mapping[SubnetId, float],
) -> Choosing:
    """The choice after changes of one sub-DNN at a time, as long as each makes it cost less."""
    chosen = dict(beginning)
    around: dict[SubnetId, list[Edge]] = {subnet: [] for subnet in options}
    for edge in edges:
        for subnet in {end.subnet for end in (edge.source, edge.target) if end is not None}:
            around[subnet].append(edge)
    changed = True
    while changed:
        changed = False
        for subnet, found in options.items():
            before = chosen[subnet]
            costs = []
            for option in found:
                chosen[subnet] = option
                near = sum(_crossing(edge, chosen) for edge in around[subnet])
                costs.append(option.seconds * calls[subnet] + near)
            chosen[subnet] = before
            best = min(range(len(found)), key=costs.__getitem__)
            present = next((place for place, option in enumerate(found) if option == before), best)
            if costs[best] < costs[present]:
                chosen[subnet] = found[best]
                changed = True
    return chosen
