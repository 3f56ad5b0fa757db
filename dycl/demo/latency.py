"""Measures models against each other: one thread each, one image at a time, in turns."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

TURN = 50
"""How many images a model runs before the next one's turn: few enough that what else the machine does meets all models
alike, and enough that each runs with its own code in the processor's caches, as it would alone."""

WARM_UP = 5
"""How many images at the start of a turn are not counted."""


def median_latencies(
    models: Mapping[str, Callable[[Tensor], object]],
    images: Sequence[Tensor],
    rounds: int,
    progress: Callable[[int, int], None],
) -> dict[str, float]:
    """The median time in seconds that each model takes for one image; every image is counted `rounds` times."""
    seconds: dict[str, list[float]] = {name: [] for name in models}
    order = list(models)
    turns = [images[start : start + TURN] for start in range(0, len(images), TURN)] * rounds
    with torch.inference_mode():
        for number, turn in enumerate(turns):
            progress(number, len(turns))
            for name in order:
                seconds[name] += _times(models[name], turn)
            order.append(order.pop(0))
    return {name: statistics.median(times) for name, times in seconds.items()}


def _times(model: Callable[[Tensor], object], images: Sequence[Tensor]) -> list[float]:
    for image in images[:WARM_UP]:
        model(image)
    times = []
    for image in images:
        start = time.perf_counter()
        model(image)
        times.append(time.perf_counter() - start)
    return times
