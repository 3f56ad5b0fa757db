"""One sub-DNN tried by one backend: what it gives for some inputs, and how long that takes."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dycl.runtime.backend import Backend, Engine, SubnetFailure
from dycl.runtime.errors import ArtefactError, DyclError
from dycl.runtime.weight_store import contiguous
from dycl.trials.folder import Found, Task

_LEAST_CALLS = 5
_QUANTILE = 0.2


def tried(backend: Backend, task: Task, threads: int, seconds: float) -> Found:
    """How a backend fares with a sub-DNN; its calls are timed for about so many seconds, or not at all for 0."""
    found = Found()
    subnet = task.subnet
    try:
        backend.check(subnet.code, subnet.signature)
        engine = backend.open([subnet], threads)
    except DyclError as error:
        found.refused = str(error)
        return found
    for name, values in task.samples.items():
        try:
            found.outputs[name] = _outputs(engine, task, [np.asarray(value) for value in values])
        except (SubnetFailure, ArtefactError) as error:
            found.failures[name] = str(error)
    if seconds and found.outputs:
        _time(engine, task, next(iter(found.outputs)), seconds, found)
    return found


def _outputs(engine: Engine, task: Task, values: list[Any]) -> list[Any]:
    signature = task.subnet.signature
    slots = [engine.put(contiguous(one), kind.dtype) for one, kind in zip(values, signature.inputs, strict=True)]
    results = engine.subnet(task.subnet.id, range(len(slots)))(slots)
    return [
        np.array(engine.take(results[place], kind.dtype), copy=True) for place, kind in enumerate(signature.outputs)
    ]


def _time(engine: Engine, task: Task, name: str, seconds: float, found: Found) -> None:
    """Take note of how long a call takes, and how long its values take in and out of the engine's form."""
    inputs, outputs = task.subnet.signature.inputs, task.subnet.signature.outputs
    arrays = [contiguous(np.asarray(value)) for value in task.samples[name]]
    slots = [engine.put(one, kind.dtype) for one, kind in zip(arrays, inputs, strict=True)]
    call = engine.subnet(task.subnet.id, range(len(slots)))
    found.seconds = quick(lambda: call(slots), seconds)
    results = call(slots)
    share = seconds / 8
    found.put = tuple(
        quick(lambda one=one, kind=kind: engine.put(one, kind.dtype), share)  # type: ignore[misc]
        for one, kind in zip(arrays, inputs, strict=True)
    )
    found.take = tuple(
        quick(lambda place=place, kind=kind: engine.take(results[place], kind.dtype), share)  # type: ignore[misc]
        for place, kind in enumerate(outputs)
    )


def quick(call: Callable[[], object], seconds: float) -> float:
    """How long a call takes when little comes between: a low quantile of many."""
    times: list[float] = []
    until = time.perf_counter() + seconds
    while len(times) < _LEAST_CALLS or time.perf_counter() < until:
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return sorted(times)[int(len(times) * _QUANTILE)]
