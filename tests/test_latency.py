"""Ways that are timed against each other meet the same inputs equally often, and take turns."""

import torch

from dycl.latency import LEAST_ROUNDS, in_turns, rounds_for, rounds_of

INPUTS = [(torch.tensor(float(number)),) for number in range(120)]


def test_every_way_meets_every_input_in_every_round() -> None:
    seen: dict[str, list[float]] = {"a": [], "b": []}
    ways = {name: [lambda image, name=name: seen[name].append(image.item())] * 120 for name in seen}
    times = in_turns(ways, INPUTS, rounds_of(2, lambda *_: None))
    assert {name: [len(row) for row in rows] for name, rows in times.items()} == {"a": [2] * 120, "b": [2] * 120}
    for images in seen.values():
        assert {images.count(number) for number in range(120)} == {4}  # each once to warm up and once to count


def test_a_way_may_be_ready_for_the_first_input_alone() -> None:
    times = in_turns({"all": [abs] * 120, "one": [abs]}, INPUTS, range(3))
    assert [len(times["all"]), len(times["one"])] == [120, 1]


def test_who_begins_a_round_is_last_in_the_next() -> None:
    began: list[str] = []
    in_turns({name: [lambda image, name=name: began.append(name)] for name in "abc"}, INPUTS, range(3))
    assert "".join(began[::2]) == "abcbcacab"


def test_there_are_a_few_rounds_however_short_the_time() -> None:
    shown: list[tuple[int, int]] = []
    assert len(list(rounds_for(0.0, lambda *at: shown.append(at)))) == LEAST_ROUNDS == len(shown)
