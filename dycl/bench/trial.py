"""Measures one network in a process of its own: `python -m dycl.bench.trial '{"network": ...}' WEIGHTS` prints JSON.

The file of weights is written if it is not there. What is going on goes to standard error, a line `stage done total`
at a time.
"""

import json
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import torch
from torch import nn

from dycl import zoo
from dycl.bench import footprint
from dycl.bench.comparing import prediction, relative_error
from dycl.bench.eager_path import difference, eager_path
from dycl.bench.settings import Settings
from dycl.bench.ways import DYCL, EAGER, ORACLE, WAYS, Subject, Way, prepared
from dycl.hcfg.nodes import Branch, Switch
from dycl.latency import in_turns, rounds_for, summary
from dycl.rewrite.normalise.source import full_path
from dycl.runtime import Path, Program
from dycl.runtime.errors import ModelError
from dycl.zoo import Inputs

Progress = Callable[[str, int, int], None]
Record = dict[str, Any]


def measure(settings: Settings, weights: FilePath, progress: Progress) -> Record:
    """All figures of one network, as plain data."""
    torch.set_num_threads(settings.threads)
    progress("weights", 0, 1)
    model = zoo.load(settings.network, settings.size, weights if weights.exists() else None)
    if not weights.exists():
        torch.save(model.state_dict(), weights)
    inputs = zoo.inputs(settings.network, settings.size, settings.inputs, settings.seed)
    subject = Subject(settings, model, inputs[: settings.timed])
    ways = []
    for number, name in enumerate(WAYS):
        progress(name, number, len(WAYS))
        ways.append(prepared(name, subject))
    by_name = {way.name: way for way in ways}
    record: Record = {"settings": asdict(settings), "parameters": _weight_bytes(model)}
    if by_name[DYCL].problem:
        record["refused"] = by_name[DYCL].problem
    else:
        program = subject.programs[DYCL]
        progress("memory", 0, 1)
        record["program"] = _about(program) | _footprints(settings, weights, program, inputs[0])
        traced = by_name[ORACLE].runs[0] if by_name[ORACLE].runs else None
        record["compared"] = _compared(model, program, traced, inputs, progress)
    able = [way for way in ways if not way.problem]
    wrong = {way.name: _wrong(way, by_name[EAGER], subject.timed) for way in able}
    rounds = rounds_for(settings.seconds, lambda done, total: progress("timing", done, total))
    times = in_turns({way.name: way.runs for way in able}, subject.timed, rounds)
    record["ways"] = {
        way.name: {"prepared": way.seconds, "problem": way.problem}
        | (
            {"inputs": len(way.runs), "wrong": wrong[way.name]} | summary(times[way.name], times[EAGER])
            if not way.problem
            else {}
        )
        for way in ways
    }
    if ORACLE in times and DYCL in times:
        record["to_oracle"] = summary(times[ORACLE], times[DYCL])
        record["by_exit"] = _by_path(subject, times)
    return record


def _weight_bytes(model: nn.Module) -> int:
    tensors = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())


def _about(program: Program) -> Record:
    blocks = program.hcfg.blocks.values()
    return {
        "decisions": sum(isinstance(block.terminator, Branch | Switch) for block in blocks),
        "blocks": len(blocks),
        "subnets": len(program.hcfg.subnets),
        "stages": _stages(program.timings),
    }


def _stages(seconds: Mapping[str, float]) -> dict[str, float]:
    """The stages that results tell apart: translating sub-DNNs and storing what they are bound to are one."""
    return {
        "rewrite": seconds["rewrite"],
        "optimize": seconds["optimize"],
        "compile": seconds["lower"] + seconds["store"],
        "load": seconds["load"],
    }


def _footprints(settings: Settings, weights: FilePath, program: Program, given: Inputs) -> Record:
    """The artefact's size, and the peak memory of processes that run it or the network in PyTorch."""
    with tempfile.TemporaryDirectory() as name:
        folder = FilePath(name)
        program.save(folder / "program.dycl")
        np.savez(folder / "inputs.npz", *(tensor.numpy() for tensor in given))
        return {
            "artefact": (folder / "program.dycl").stat().st_size,
            "memory": footprint.of_program(folder / "program.dycl", folder / "inputs.npz", settings.threads),
            "eager_memory": footprint.of_eager(settings.network, settings.size, weights, settings.threads),
        }


def _compared(
    model: nn.Module, program: Program, traced: Callable[..., Any] | None, inputs: Sequence[Inputs], progress: Progress
) -> Record:
    """Every input in eager PyTorch, in the compiled program and in the first input's path alone."""
    files = {full_path(block.terminator.span.file) for block in program.hcfg.blocks.values()}
    paths: Counter[tuple[object, ...]] = Counter()
    other_paths, inconsistent, tracing_wrong = [], 0, 0
    errors = []
    for number, given in enumerate(inputs):
        progress("comparing", number, len(inputs))
        with torch.no_grad(), eager_path(files) as path:
            eager = model(*given)
        run = program.trace(*given)
        paths[_decided(run.path)] += 1
        other = difference(path, run.path, files)
        if other is not None:
            other_paths.append(f"input {number}: {other}"[:2000])
        inconsistent += not torch.equal(prediction(eager), prediction(run.outputs))
        errors.append(relative_error(eager, run.outputs))
        if traced is not None:
            tracing_wrong += _predicts_otherwise(traced, given, eager)
    return {
        "inputs": len(inputs),
        "paths": len(paths),
        "most_common_path": max(paths.values()),
        "paths_equal": len(inputs) - len(other_paths),
        "other_paths": other_paths[:3],
        "inconsistent": inconsistent,
        "largest_error": max(errors),
        "median_error": statistics.median(errors),
        "traced_inconsistent": tracing_wrong if traced is not None else None,
    }


def _predicts_otherwise(traced: Callable[..., Any], given: Inputs, eager: Any) -> bool:
    """Whether one path, taken for an input that may need another, gives another prediction, or none."""
    try:
        return not torch.equal(prediction(eager), prediction(traced(*given)))
    except ModelError:
        return True


def _decided(path: Path) -> tuple[object, ...]:
    return tuple((taken.span, taken.outcome) for taken in path.decisions)


def _wrong(way: Way, eager: Way, inputs: Sequence[Inputs]) -> int:
    """For how many inputs a way predicts something else than eager PyTorch."""
    wrong = 0
    with torch.inference_mode():
        for run, base, given in zip(way.runs, eager.runs, inputs, strict=False):
            wrong += not torch.equal(prediction(run(*given)), prediction(base(*given)))
    return wrong


def _by_path(subject: Subject, times: dict[str, list[list[float]]]) -> list[Record]:
    """For each timed input, how many sub-DNNs it runs and how long it takes in each way."""
    program = subject.programs[DYCL]
    return [
        {"calls": program.trace(*given).subnet_calls}
        | {name: statistics.median(rows[number]) for name, rows in times.items()}
        for number, given in enumerate(subject.timed[: len(times[ORACLE])])
    ]


def main() -> None:
    """Nothing; the figures of the network that the first argument describes are on standard output afterwards."""

    def progress(stage: str, done: int, total: int) -> None:
        print(f"{stage}\t{done}\t{total}", file=sys.stderr, flush=True)

    print(json.dumps(measure(Settings(**json.loads(sys.argv[1])), FilePath(sys.argv[2]), progress)))


if __name__ == "__main__":
    main()
