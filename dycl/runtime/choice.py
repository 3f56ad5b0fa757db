"""How a program's backends were chosen: by what measurement, and where. A record, which no host needs to run it.

choice, if backends were measured:
{"processor": "...", "threads": 1, "taken": "auto", "programs": [{"name": "auto", "seconds": 0.01}, ...],
 "subnets": [{"id": "net0", "ways": [{"backend": "ncnn", "code": "5e0f...", "seconds": 0.002}, ...]}, ...]}

left, what a backend that was named did not get:
[{"backend": "ncnn", "reason": "`aten.topk.default` has no translation (model.py:12:9)", "subnets": 3}, ...]
"""

import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dycl.hcfg import strict_json
from dycl.hcfg.errors import HcfgError
from dycl.hcfg.nodes import Subnet, SubnetId

AUTO = "auto"
"""In the place of a backend: the fastest for each sub-DNN."""


@dataclass(frozen=True, slots=True)
class Way:
    """A backend that is right about a sub-DNN, its code by its digest, and how many seconds a call took."""

    backend: str
    code: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Choice:
    """Which ways were weighed for each sub-DNN, and how many seconds whole programs took."""

    processor: str
    threads: int
    subnets: Mapping[SubnetId, tuple[Way, ...]]
    programs: Mapping[str, float]
    taken: str
    """The one of `programs` that was kept: `auto` is a mixture, the others are backends."""

    @property
    def ways(self) -> Iterator[Way]:
        """All ways."""
        for ways in self.subnets.values():
            yield from ways


@dataclass(frozen=True, slots=True)
class Left:
    """Why a backend did not get some sub-DNNs, and how many."""

    backend: str
    reason: str
    subnets: int


def processor() -> str:
    """The name of this machine's processor."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def to_document(choice: Choice | None) -> strict_json.Json:
    """The record as JSON has it."""
    if choice is None:
        return None
    subnets: list[strict_json.Json] = [
        {
            "id": name,
            "ways": [{"backend": way.backend, "code": way.code, "seconds": way.seconds} for way in ways],
        }
        for name, ways in choice.subnets.items()
    ]
    return {
        "processor": choice.processor,
        "threads": choice.threads,
        "taken": choice.taken,
        "programs": [{"name": name, "seconds": seconds} for name, seconds in choice.programs.items()],
        "subnets": subnets,
    }


def from_document(document: object, place: str, subnets: Mapping[SubnetId, Subnet]) -> Choice | None:
    """The record in a manifest; HcfgError unless it fits the sub-DNNs of the graph."""
    if document is None:
        return None
    names = ("processor", "threads", "taken", "programs", "subnets")
    told_processor, threads, taken, programs, ways = strict_json.fields(document, place, *names)
    found: dict[SubnetId, tuple[Way, ...]] = {}
    for item, where in strict_json.items(ways, f"{place}.subnets"):
        told, others = strict_json.fields(item, where, "id", "ways")
        name = strict_json.text(told, f"{where}.id")
        if name not in subnets or name in found:
            raise HcfgError(f"{where} is about a sub-DNN that is not in the graph, or twice")
        found[name] = tuple(_way(*other) for other in strict_json.items(others, f"{where}.ways"))
        own = (subnets[name].backend, subnets[name].code)
        if own not in {(way.backend, way.code) for way in found[name]}:
            raise HcfgError(f"{where} does not have the way that the graph takes")
    times = dict(_program(*item) for item in strict_json.items(programs, f"{place}.programs"))
    return Choice(
        strict_json.text(told_processor, f"{place}.processor"),
        strict_json.integer(threads, f"{place}.threads"),
        found,
        times,
        strict_json.text(taken, f"{place}.taken"),
    )


def left_to_document(left: Iterable[Left]) -> strict_json.Json:
    """What backends did not get, as JSON has it."""
    return [{"backend": one.backend, "reason": one.reason, "subnets": one.subnets} for one in left]


def left_from_document(document: object, place: str) -> tuple[Left, ...]:
    """What a manifest says that backends did not get; HcfgError if it is none of that."""
    found = []
    for item, where in strict_json.items(document, place):
        backend, reason, subnets = strict_json.fields(item, where, "backend", "reason", "subnets")
        count = strict_json.integer(subnets, f"{where}.subnets")
        if count < 1:
            raise HcfgError(f"{where} is about no sub-DNN")
        texts = strict_json.text(backend, f"{where}.backend"), strict_json.text(reason, f"{where}.reason")
        found.append(Left(*texts, count))
    return tuple(found)


def _way(document: object, place: str) -> Way:
    backend, code, seconds = strict_json.fields(document, place, "backend", "code", "seconds")
    return Way(strict_json.text(backend, place), strict_json.text(code, place), _seconds(seconds, place))


def _program(document: object, place: str) -> tuple[str, float]:
    name, seconds = strict_json.fields(document, place, "name", "seconds")
    return strict_json.text(name, place), _seconds(seconds, place)


def _seconds(value: object, place: str) -> float:
    if type(value) is not float or not value >= 0:
        raise HcfgError(f"{place} has no time in seconds")
    return value
