"""The demo from start to end."""

import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch

import dycl
from dycl.demo.comparison import Comparison, Model, compare, trace
from dycl.demo.digits import Digits, split_digits
from dycl.demo.model import EarlyExitNet
from dycl.demo.report import report, step
from dycl.demo.training import choose_threshold, train
from dycl.latency import in_turns, rounds_of
from dycl.runtime import Program
from dycl.terminal import ProgressBar, byte_count, counted


def demonstrate(*, epochs: int = 12, seed: int = 0, rounds: int = 5, save: Path | None = None) -> Comparison:
    """The comparison of PyTorch, the compiled program and the traced model, which is printed as well."""
    print("An early-exit classifier of handwritten digits, compiled with its early exits.\n")
    digits = split_digits()
    with _one_thread(), torch.random.fork_rng():
        torch.manual_seed(seed)
        model = _trained(digits.train, digits.validation, epochs)
        example = digits.train.images[:1]
        program = _compiled(model, example)
        _save(program, save)
        traced = trace(model, example)
        images, labels = digits.test.images, digits.test.labels
        with ProgressBar("comparing") as progress:
            comparison = compare(model, program, traced, images, labels, progress.show)
        contestants: dict[str, Model] = {"PyTorch": model, "DyCL": program, "torch.jit.trace": traced.module}
        with ProgressBar("measuring") as progress:
            latencies = _medians(contestants, torch.split(images, 1), rounds_of(rounds, progress.show))
    report(comparison, latencies, traced, rounds * len(images))
    return comparison


def _trained(digits: Digits, validation: Digits, epochs: int) -> EarlyExitNet:
    model = EarlyExitNet()
    start = time.perf_counter()
    with ProgressBar("training") as progress:
        train(model, digits, epochs, progress.show)
    seconds = time.perf_counter() - start
    weights = sum(parameter.numel() for parameter in model.parameters())
    size = f"{len(model.exits)} exits, {weights:,} weights"
    step("trained", f"{size}, {counted(len(digits), 'image')}, {counted(epochs, 'epoch')}, in {seconds:.1f} s")
    choice = choose_threshold(model, validation)
    model.threshold = choice.threshold
    accuracy = f"{choice.accuracy:.1%} right on {counted(len(validation), 'validation image')}"
    step("threshold", f"leave at a confidence above {choice.threshold}: {accuracy}")
    return model


def _compiled(model: EarlyExitNet, example: torch.Tensor) -> Program:
    start = time.perf_counter()
    with ProgressBar("compiling") as progress:
        program = dycl.compile(model, (example,), progress=lambda stage, done, left: progress.show(done, done + left))
    seconds = time.perf_counter() - start
    size = f"{counted(len(program.hcfg.blocks), 'block')}, {counted(len(program.hcfg.subnets), 'sub-DNN')}"
    step("compiled", f"{size}, in {seconds:.1f} s")
    return program


def _save(program: Program, path: Path | None) -> None:
    """Nothing; the program is at `path`, if given, and its size is printed."""
    if path is not None:
        program.save(path)
        step("saved", f"{path}, {byte_count(os.path.getsize(path))}, runs without PyTorch")
        return
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / "digits.dycl"
        program.save(temporary)
        step("artefact", f"{byte_count(temporary.stat().st_size)}, runs without PyTorch (keep it with --save)")


def _medians(models: Mapping[str, Model], images: Sequence[torch.Tensor], rounds: Iterable[object]) -> dict[str, float]:
    """The median time in seconds that each model takes for one image."""
    ways = {name: [model] * len(images) for name, model in models.items()}
    times = in_turns(ways, [(image,) for image in images], rounds)
    return {name: statistics.median(itertools.chain.from_iterable(rows)) for name, rows in times.items()}


@contextmanager
def _one_thread() -> Iterator[None]:
    """PyTorch on one thread: the model is too small for more, and all that is compared has one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
