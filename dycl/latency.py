"""Times ways to compute the same against each other: in turns, so that what else the machine does meets all alike."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

LEAST_ROUNDS = 3

Run = Callable[..., Any]
Progress = Callable[[int, int], None]


def in_turns(
    ways: Mapping[str, Sequence[Run]], inputs: Sequence[tuple[Tensor, ...]], rounds: Iterable[object]
) -> dict[str, list[list[float]]]:
    """For each way and each input that it is ready for, how many seconds its runs took, one a round.

    A way is a function for each input, or for the first of them. Who begins a round is last in the next one.
    """
    times: dict[str, list[list[float]]] = {name: [[] for _ in runs] for name, runs in ways.items()}
    order = list(ways)
    with torch.inference_mode():
        for _ in rounds:
            for name in order:
                _turn(ways[name], inputs, times[name])
            order.append(order.pop(0))
    return times


def _turn(runs: Sequence[Run], inputs: Sequence[tuple[Tensor, ...]], times: list[list[float]]) -> None:
    for number, (run, given) in enumerate(zip(runs, inputs, strict=False)):
        run(*given)  # a path that other inputs did not take is not in the processor's caches, in no way
        began = time.perf_counter()
        run(*given)
        times[number].append(time.perf_counter() - began)


def rounds_of(count: int, progress: Progress) -> Iterator[None]:
    """As many rounds as asked for."""
    for number in range(count):
        progress(number, count)
        yield


def rounds_for(seconds: float, progress: Progress) -> Iterator[None]:
    """As many rounds as fit into the time, and a few in any case."""
    began = time.perf_counter()
    rounds = 0
    while rounds < LEAST_ROUNDS or time.perf_counter() - began < seconds:
        yield
        rounds += 1
        progress(min(int(time.perf_counter() - began), int(seconds)), int(seconds))


def summary(times: list[list[float]], base: list[list[float]]) -> dict[str, float]:
    """Median and 99th percentile in seconds, and how many times as long `base` takes, input by input.

    The ratios are over the inputs that both have.
    """
    everything = np.concatenate([np.asarray(row) for row in times])
    ratios = [np.median(other) / np.median(own) for own, other in zip(times, base, strict=False)]
    low, middle, high = np.percentile(ratios, [10, 50, 90])
    return {
        "median": float(np.median(everything)),
        "p99": float(np.percentile(everything, 99)),
        "ratio": float(middle),
        "ratio_low": float(low),
        "ratio_high": float(high),
    }
