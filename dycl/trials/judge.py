"""Whether what a backend gives is what PyTorch gives, as far as rounding lets one tell.

PyTorch computes each sub-DNN in single and in double precision, on inputs nudged by a little, and choosing otherwise
among equal elements. Where these differ, so may a backend: a sum that cancels, a comparison of equals, the place of the
largest among equals. What it gives must lie within some times their difference.
"""

from collections.abc import Sequence
from functools import cached_property

import torch

from dycl.hcfg.subnet import SubnetGraph
from dycl.trials.reference import NoReference, chooses, computed, computed_wider, computed_with_other_choices
from dycl.trials.samples import nudged

_RELATIVE = 1e-4
_OF_LARGEST = 2e-5
_TIMES = 16.0
_SEEDS = (1, 2)
_HALF = {torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}


class Expected:
    """What PyTorch gives for one set of inputs of a sub-DNN, computed when it is first asked for."""

    def __init__(self, graph: SubnetGraph, inputs: Sequence[torch.Tensor], weights: Sequence[torch.Tensor]) -> None:
        self.inputs = inputs
        self._graph, self._weights = graph, weights

    @cached_property
    def is_computed(self) -> bool:
        """Whether PyTorch takes these inputs."""
        try:
            return self._plain is not None
        except NoReference:
            return False

    def disagreement(self, given: Sequence[torch.Tensor]) -> str | None:
        """What is wrong with the outputs that a backend gives, in words; None if nothing is, or nobody can tell."""
        if not self.is_computed or _first_difference(given, self._plain, ()) is None:
            return None
        return _first_difference(given, self._plain, self._others)

    @cached_property
    def _plain(self) -> list[torch.Tensor]:
        return computed(self._graph, self.inputs, self._weights)

    @cached_property
    def _others(self) -> list[list[torch.Tensor]]:
        """What it gives in other ways that are as good."""
        graph, weights = self._graph, self._weights
        others = [computed_wider(graph, self.inputs, weights)]
        others += [computed(graph, nudged(self.inputs, seed), weights) for seed in _SEEDS]
        if chooses(graph):
            others += computed_with_other_choices(graph, self.inputs, weights)
        return others


def _first_difference(
    given: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor], others: Sequence[Sequence[torch.Tensor]]
) -> str | None:
    """What is wrong with the first output that is not as wanted, as far as the other ways agree about it."""
    for place, (got, want) in enumerate(zip(given, wanted, strict=True)):
        told = _difference(got, want, [other[place] for other in others])
        if told is not None:
            return told if len(wanted) == 1 else f"output {place}: {told}"
    return None


def _difference(given: torch.Tensor, wanted: torch.Tensor, others: Sequence[torch.Tensor]) -> str | None:
    if any(other.shape != wanted.shape for other in others):
        return None  # a size hangs on a comparison that rounding decides
    if given.dtype != wanted.dtype or given.shape != wanted.shape:
        return f"{_told(given)} in the place of {_told(wanted)}"
    if not wanted.is_floating_point():
        wrong = given != wanted
        for other in others:
            wrong &= other == wanted
        return _first(given, wanted, wrong)
    got, want = given.double(), wanted.double()
    wider = [other.double() for other in others]
    certain = torch.ones_like(want, dtype=torch.bool)
    for other in wider:
        certain &= _alike(other, want)
    exact = (got == want) | (got.isnan() & want.isnan())
    close = torch.where(want.isfinite(), (got - want).abs() <= _slack(want, wider, wanted.dtype), exact)
    return _first(given, wanted, ~close & certain)


def _slack(want: torch.Tensor, others: Sequence[torch.Tensor], dtype: torch.dtype) -> torch.Tensor:
    """By how much each element may differ."""
    largest = _largest(want)
    slack = _RELATIVE * want.abs().nan_to_num(0, 0, 0) + (_OF_LARGEST + _TIMES * _HALF.get(dtype, 0.0)) * largest
    if not others:
        return slack
    apart = [torch.where(want.isfinite() & other.isfinite(), (want - other).abs(), 0.0) for other in others]
    return slack + _TIMES * (torch.stack(apart).amax(0) + _largest(apart[0]))


def _largest(tensor: torch.Tensor) -> float:
    """The size of its largest finite element."""
    finite = tensor.abs().nan_to_num(0, 0, 0)
    return float(finite.max()) if finite.numel() else 0.0


def _alike(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Where two tensors are both finite, both NaN, or the same infinity."""
    return torch.where(one.isfinite(), other.isfinite(), (one == other) | (one.isnan() & other.isnan()))


def _first(given: torch.Tensor, wanted: torch.Tensor, wrong: torch.Tensor) -> str | None:
    count = int(wrong.sum())
    if not count:
        return None
    place = int(wrong.reshape(-1).to(torch.int8).argmax())
    told, right = (tensor.reshape(-1)[place].item() for tensor in (given, wanted))
    return f"{told:.6g} in the place of {right:.6g}, {count} of {wanted.numel()} elements differ"


def _told(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
