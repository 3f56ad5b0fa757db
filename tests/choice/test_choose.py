"""The ways to run sub-DNNs are put together so that calls and what crosses between them cost least."""

import pytest

from dycl.choice.choose import choose, cost, preferring
from dycl.choice.flow import Edge, End
from dycl.choice.options import Option

NAMES = ("a", "b", "c")
CHAIN = [
    Edge(None, End("a", 0), 1),
    Edge(End("a", 0), End("b", 0), 1),
    Edge(End("b", 0), End("c", 0), 1),
    Edge(End("c", 0), None, 1),
]
ONCE = dict.fromkeys(NAMES, 1.0)


def option(backend: str, seconds: float, put: float, take: float) -> Option:
    """One input, one output."""
    return Option((), (backend,), seconds, (((backend, put),),), ((backend, take),))


def chosen(times: dict[str, tuple[float, float]], crossing: float, calls: dict[str, float] | None = None) -> str:
    """Which of `slow` and `quick` each of a chain of three gets, as their first letters."""
    options = {
        name: [option("slow", slow, crossing, crossing), option("quick", quick, crossing, crossing)]
        for name, (slow, quick) in times.items()
    }
    found = choose(options, CHAIN, calls or ONCE)
    return "".join(found[name].backends[0][0] for name in NAMES)


def test_without_crossings_each_gets_what_is_best_for_it() -> None:
    assert chosen({"a": (3, 1), "b": (1, 2), "c": (3, 1)}, crossing=0) == "qsq"


def test_a_gain_that_crossings_eat_up_is_none() -> None:
    assert chosen({"a": (3, 1), "b": (1, 2), "c": (3, 1)}, crossing=0.3) == "qqq"
    assert chosen({"a": (3, 1), "b": (1, 9), "c": (3, 1)}, crossing=0.3) == "qsq"


def test_all_change_together_where_no_single_change_pays() -> None:
    assert chosen({"a": (2, 1.5), "b": (2, 1.5), "c": (2, 1.5)}, crossing=0.4) == "qqq"


def test_what_runs_often_weighs_more() -> None:
    times = {"a": (1.0, 2.0), "b": (2.0, 1.0), "c": (1.0, 2.0)}
    assert chosen(times, crossing=0.4) == "sss"
    assert chosen(times, crossing=0.4, calls={"a": 1, "b": 10, "c": 1}) == "sqs"


def test_what_a_choice_costs() -> None:
    options = {name: [option("x", 1, 0.25, 0.5)] for name in NAMES} | {"b": [option("y", 2, 0.25, 0.5)]}
    # Three calls; in, a to b, b to c, out.
    assert cost(preferring("x", options), CHAIN, ONCE) == pytest.approx(4 + 0.25 + 0.75 + 0.75 + 0.5)
