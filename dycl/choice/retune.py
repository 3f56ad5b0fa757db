"""Choose again among the backends of a program that was tuned before: on another processor, or for other inputs.

The artefact has the codes of all backends that were right about a sub-DNN, so this needs neither the model nor PyTorch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dycl.choice.choose import Choosing, candidates
from dycl.choice.flow import calls_of, edges
from dycl.choice.options import Option, share_of
from dycl.choice.watching import WatchingHost
from dycl.choice.whole import Call, Trial, quickest
from dycl.hcfg.nodes import Subnet, SubnetId
from dycl.hcfg.types import TensorType
from dycl.runtime import Program
from dycl.runtime.artefact import Artefact
from dycl.runtime.backend import CompiledSubnet, SubnetSignature
from dycl.runtime.backend_registry import known_backends
from dycl.runtime.choice import Choice, Way, processor
from dycl.runtime.weight_store import Array, array_dtype
from dycl.trials.attempts import attempts
from dycl.trials.folder import Found, Task

_SEED = 20_231
_OPEN = 3

Progress = Callable[[int, int], None]


def retuned(
    artefact: Artefact,
    choice: Choice,
    calls: Sequence[Call],
    threads: int,
    budget: float,
    progress: Progress = lambda done, left: None,
) -> Artefact:
    """The program with each sub-DNN given to the fastest of the backends that are here, measured on these calls.

    `choice` is how it was chosen before; calls of sub-DNNs are timed for about `budget` seconds altogether.
    """
    here = {one.name for one in known_backends() if one.version is not None}
    ways = {
        name: [way for way in choice.subnets.get(name, (_own(subnet),)) if way.backend in here]
        for name, subnet in artefact.hcfg.subnets.items()
    }
    able = _with_ways(artefact, {name: found[0] for name, found in ways.items() if found})
    host = WatchingHost()
    program = Program(able, threads=threads, host=host)
    for args, kwargs in calls:
        program(*args, **kwargs)
    options, timed = _options(artefact, ways, host.met, threads, budget, progress)
    trial: Trial[Artefact] = Trial(calls, lambda one: Program(one, threads=threads), budget / 2)
    visits = trial.visits(able)
    often = {name: float(max(visits[name], 1)) for name in artefact.hcfg.blocks}
    found = candidates(options, edges(artefact.hcfg, often), calls_of(artefact.hcfg, often))
    programs = {name: _taking(artefact, timed, chosen) for name, chosen in found.items()}
    seconds = trial.seconds(programs)
    taken = quickest(seconds)
    made = replace(programs[taken], choice=Choice(processor(), threads, timed, seconds, taken))
    used = {subnet.code for subnet in made.hcfg.subnets.values()} | {
        way.code for found in timed.values() for way in found
    }
    return replace(made, codes={digest: code for digest, code in artefact.codes.items() if digest in used})


def _own(subnet: Subnet) -> Way:
    return Way(subnet.backend, subnet.code, 0.0)


def _with_ways(artefact: Artefact, ways: Mapping[SubnetId, Way]) -> Artefact:
    subnets = {
        name: replace(subnet, backend=ways[name].backend, code=ways[name].code) if name in ways else subnet
        for name, subnet in artefact.hcfg.subnets.items()
    }
    return replace(artefact, hcfg=replace(artefact.hcfg, subnets=subnets))


def _taking(artefact: Artefact, ways: Mapping[SubnetId, Sequence[Way]], chosen: Choosing) -> Artefact:
    """The program with the ways of these backends."""
    taken = {
        name: next(way for way in found if (way.backend,) == chosen[name].backends) for name, found in ways.items()
    }
    return _with_ways(artefact, taken)


def _options(
    artefact: Artefact,
    ways: Mapping[SubnetId, Sequence[Way]],
    met: Mapping[SubnetId, Sequence[Array]],
    threads: int,
    budget: float,
    progress: Progress,
) -> tuple[dict[SubnetId, list[Option]], dict[SubnetId, tuple[Way, ...]]]:
    """What may run each sub-DNN, and the ways with their new times."""
    count = sum(map(len, ways.values()))
    seconds = share_of(budget, count)
    options: dict[SubnetId, list[Option]] = {name: [] for name in ways}
    timed: dict[SubnetId, list[Way]] = {name: [] for name in ways}
    done = 0
    for backend in sorted({way.backend for found in ways.values() for way in found}):
        own = {name: way for name, found in ways.items() for way in found if way.backend == backend}
        tasks = [_task(artefact, name, way.code, met) for name, way in own.items()]

        def told(number: int, _: int, before: int = done) -> None:
            progress(before + number, count - before - number)

        for (name, way), found in zip(own.items(), attempts(backend, tasks, threads, seconds, told), strict=True):
            if found.seconds is not None:
                options[name].append(_option(backend, found, found.seconds))
                timed[name].append(replace(way, seconds=found.seconds))
        done += len(own)
    for name, found_ways in ways.items():
        if not options[name]:
            # Its inputs could not be made up, or no backend of it is here: it stays as it is.
            kept = found_ways[0] if found_ways else _own(artefact.hcfg.subnets[name])
            options[name] = [_untimed(artefact.hcfg.subnets[name], kept.backend)]
            timed[name] = [kept]
    return options, {name: tuple(found) for name, found in timed.items()}


def _task(artefact: Artefact, name: SubnetId, code: str, met: Mapping[SubnetId, Sequence[Array]]) -> Task:
    subnet = artefact.hcfg.subnets[name]
    signature = SubnetSignature(
        subnet.inputs, subnet.outputs, tuple(artefact.hcfg.weights[weight] for weight in subnet.weights)
    )
    weights = tuple(artefact.weights[weight] for weight in subnet.weights)
    values = met.get(name) or list(map(made_up, subnet.inputs))
    return Task(CompiledSubnet(name, artefact.codes[code], signature, weights), {"met": values})


def made_up(kind: TensorType) -> Array:
    """Numbers for an input that no call led to."""
    dtype = array_dtype(kind.dtype)
    shape = [size if isinstance(size, int) else _OPEN for size in kind.shape]
    if not np.issubdtype(dtype, np.floating):
        return np.zeros(shape, dtype)
    return np.asarray(np.random.default_rng(_SEED).standard_normal(shape)).astype(dtype)


def _option(backend: str, found: Found, seconds: float) -> Option:
    takes_in = tuple(((backend, put),) for put in found.put)
    return Option((), (backend,), seconds, takes_in, tuple((backend, take) for take in found.take))


def _untimed(subnet: Subnet, backend: str) -> Option:
    return Option(
        (), (backend,), 0.0, (((backend, 0.0),),) * len(subnet.inputs), ((backend, 0.0),) * len(subnet.outputs)
    )
