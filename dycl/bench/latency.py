"""Times the ways against each other: in turns, so that what else the machine does meets all of them alike."""

import time
from collections.abc import Callable, Sequence

import numpy as np
import torch

from dycl.bench.ways import Way
from dycl.zoo import Inputs

LEAST_ROUNDS = 3


def timed(
    ways: Sequence[Way], inputs: Sequence[Inputs], seconds: float, progress: Callable[[int, int], None]
) -> dict[str, list[list[float]]]:
    """For each way and each input that it is ready for, how many seconds its runs took, one a round."""
    times: dict[str, list[list[float]]] = {way.name: [[] for _ in way.runs] for way in ways}
    order = list(ways)
    began = time.perf_counter()
    rounds = 0
    with torch.inference_mode():
        while rounds < LEAST_ROUNDS or time.perf_counter() - began < seconds:
            for way in order:
                _turn(way, inputs, times[way.name])
            order.append(order.pop(0))
            rounds += 1
            progress(min(int(time.perf_counter() - began), int(seconds)), int(seconds))
    return times


def _turn(way: Way, inputs: Sequence[Inputs], times: list[list[float]]) -> None:
    for number, (run, given) in enumerate(zip(way.runs, inputs, strict=False)):
        run(*given)  # a path that other inputs did not take is not in the processor's caches, in no way
        began = time.perf_counter()
        run(*given)
        times[number].append(time.perf_counter() - began)


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
