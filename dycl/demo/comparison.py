"""Runs the test images one by one through PyTorch, the compiled program and the traced model."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.jit._trace import TracerWarning

from dycl.demo.model import EarlyExitNet
from dycl.runtime import Program

TOLERANCE = 1e-5
"""The largest difference that counts as agreement, relative to the largest output."""

Model = Callable[[Tensor], object]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What one way of running the model gave: a row of logits and the number of the exit for each image."""

    logits: Tensor
    exits: Tensor

    @property
    def predictions(self) -> Tensor:
        """The most likely class of each image."""
        return self.logits.argmax(-1)

    def accuracy(self, labels: Tensor) -> float:
        """The share of predictions that are right."""
        return (self.predictions == labels).double().mean().item()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The same images through PyTorch, the compiled program and the traced model."""

    labels: Tensor
    exits: int
    eager: Outcomes
    compiled: Outcomes
    traced: Outcomes

    @property
    def inconsistent_predictions(self) -> int:
        """How many images the compiled program classifies otherwise than PyTorch."""
        return _differing(self.eager.predictions, self.compiled.predictions)

    @property
    def inconsistent_paths(self) -> int:
        """How many images leave the compiled program at another exit than PyTorch."""
        return _differing(self.eager.exits, self.compiled.exits)

    @property
    def largest_difference(self) -> float:
        """The largest absolute difference between an output of PyTorch and of the compiled program."""
        return (self.eager.logits - self.compiled.logits).abs().max().item()

    @property
    def traced_wrong_predictions(self) -> int:
        """How many images the traced model classifies otherwise than PyTorch."""
        return _differing(self.eager.predictions, self.traced.predictions)

    @property
    def traced_wrong_exits(self) -> int:
        """How many images leave the traced model at another exit than PyTorch."""
        return _differing(self.eager.exits, self.traced.exits)

    @property
    def agrees(self) -> bool:
        """Whether the compiled program does what PyTorch does: the same paths and, but for rounding, outputs."""
        scale = self.eager.logits.abs().max().item()
        return (
            self.inconsistent_predictions == 0
            and self.inconsistent_paths == 0
            and self.largest_difference <= TOLERANCE * scale
        )


@dataclass(frozen=True, slots=True)
class Traced:
    """The model as `torch.jit.trace` sees it: the operations of one path, and the warnings it gave about that."""

    module: torch.jit.ScriptModule
    exit: int
    warnings: int


def trace(model: EarlyExitNet, example: Tensor) -> Traced:
    """The model traced on one image."""
    with torch.inference_mode(), _exits_of(model) as last_exit:
        model(example)
        taken = last_exit()
    with torch.no_grad(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module = torch.jit.trace(model, (example,))  # type: ignore[no-untyped-call]
    return Traced(module, taken, sum(issubclass(warning.category, TracerWarning) for warning in caught))


def compare(
    model: EarlyExitNet, program: Program, traced: Traced, images: Tensor, labels: Tensor, progress: Progress
) -> Comparison:
    """The outcomes of all three, each image run on its own."""
    eager, compiled, tracing = [], [], []
    with torch.inference_mode(), _exits_of(model) as last_exit:
        for number, image in enumerate(torch.split(images, 1)):
            progress(number, len(images))
            eager.append((model(image), last_exit()))
            compiled.append(_run_compiled(program, image))
            tracing.append((traced.module(image), traced.exit))
    return Comparison(labels, len(model.exits), _outcomes(eager), _outcomes(compiled), _outcomes(tracing))


@contextmanager
def _exits_of(model: EarlyExitNet) -> Iterator[Callable[[], int]]:
    """A function that gives the exit of the last image: the last one of the model's exits that ran."""
    ran = -1
    numbers = {exit: number for number, exit in enumerate(model.exits)}

    def note(exit: nn.Module, inputs: object, output: object) -> None:
        nonlocal ran
        ran = numbers[exit]

    handles = [exit.register_forward_hook(note) for exit in model.exits]
    try:
        yield lambda: ran
    finally:
        for handle in handles:
            handle.remove()


def _run_compiled(program: Program, image: Tensor) -> tuple[Tensor, int]:
    """The compiled program's logits and exit: the number of times that its path decided to go on."""
    run = program.trace(image)
    assert isinstance(run.outputs, Tensor)
    return run.outputs, sum(not decision.outcome for decision in run.path.decisions)


def _outcomes(runs: list[tuple[Tensor, int]]) -> Outcomes:
    return Outcomes(torch.cat([logits for logits, _ in runs]), torch.tensor([number for _, number in runs]))


def _differing(first: Tensor, second: Tensor) -> int:
    return int((first != second).sum())
