"""Adjusts what training would have adjusted, on random inputs.

Random weights leave a deep network either blind to its input or out of bounds. Taking the statistics of batch
normalisation from inputs cures both. After that, a decision falls differently for different inputs if the number it
compares with lies in the midst of what the inputs give.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from dycl.zoo.network import Inputs

OPEN = 1.0


def settle(model: nn.Module, inputs: Sequence[Inputs]) -> None:
    """Nothing; every batch normalisation that runs holds the mean statistics of the inputs afterwards.

    Its bias is raised so that most rectifiers behind it are open, as after training: where half of them are closed,
    every layer adds to a difference in rounding.
    """
    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        nn.init.constant_(norm.bias, OPEN)
        norm.train()
        norm.momentum = None  # the mean of all inputs, not a moving one
        norm.reset_running_stats()
    with torch.no_grad():
        for given in inputs:
            model(*given)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.eval()
        norm.momentum = momentum


def results(model: nn.Module, modules: Sequence[nn.Module], inputs: Sequence[Inputs]) -> list[list[Tensor]]:
    """What each of these modules of a model gives, over all the inputs."""
    return _watch(model, modules, inputs, lambda given, output: output)


def arguments(model: nn.Module, modules: Sequence[nn.Module], inputs: Sequence[Inputs]) -> list[list[Tensor]]:
    """What each of these modules of a model is given as its first argument, over all the inputs."""
    return _watch(model, modules, inputs, lambda given, output: given[0])


def _watch(
    model: nn.Module,
    modules: Sequence[nn.Module],
    inputs: Sequence[Inputs],
    look: Callable[[Inputs, Tensor], Tensor],
) -> list[list[Tensor]]:
    seen: list[list[Tensor]] = [[] for _ in modules]

    def keep_in(row: list[Tensor]) -> Callable[[nn.Module, Inputs, Tensor], None]:
        return lambda module, given, output: row.append(look(given, output))

    handles = [module.register_forward_hook(keep_in(row)) for module, row in zip(modules, seen, strict=True)]
    with torch.no_grad():
        for given in inputs:
            model(*given)
    for handle in handles:
        handle.remove()
    return seen


def spread(layer: nn.Module, values: Tensor, deviation: float) -> Tensor:
    """What a layer with a bias, which gave these values (inputs x features), gives from now on.

    Its features lie around 0, and deviate by `deviation`.
    """
    centre = values.mean(0)
    scale = deviation / (values - centre).std().clamp_min(1e-6)
    with torch.no_grad():
        layer.get_parameter("bias").sub_(centre).mul_(scale)
        layer.get_parameter("weight").mul_(scale)
    return (values - centre) * scale


def leave_when_sure(
    model: nn.Module, classifiers: Sequence[nn.Linear], inputs: Sequence[Inputs], thresholds: Tensor
) -> None:
    """Nothing; an equal share of the inputs leaves at each classifier afterwards.

    An input leaves at the first classifier whose confidence, the largest softmax, passes its threshold. What a class
    looks like is a random mixture of every second input, so that the classifiers look at what tells inputs apart; the
    others, which they are not made of, set the thresholds.
    """
    generator = torch.Generator().manual_seed(0)
    confidences = []
    for classifier, given in zip(classifiers, arguments(model, classifiers, inputs), strict=True):
        mixed, others = torch.cat(given[::2]), torch.cat(given[1::2])
        mixture = torch.randn(classifier.out_features, len(mixed), generator=generator)
        with torch.no_grad():
            classifier.weight.copy_(mixture @ (mixed - mixed.mean(0)))
            logits = spread(classifier, classifier(others), 2.5)
        confidences.append(logits.softmax(-1).amax(-1))
    leave_evenly(torch.stack(confidences[: len(thresholds)]).T.tolist(), thresholds)


def leave_evenly(scores: Sequence[Sequence[float]], thresholds: Tensor) -> None:
    """Nothing; each exit lets the same number of inputs go afterwards, and as many stay to the end.

    `scores` has a row for each input and in it the score of each exit, which lets those go that score more than its
    threshold. The threshold lies halfway between the last that goes and the first that stays.
    """
    staying = list(scores)
    exits = len(thresholds)
    for exit in range(exits):
        ordered = sorted((row[exit] for row in staying), reverse=True)
        going = round(len(ordered) / (exits - exit + 1))
        thresholds[exit] = (ordered[going - 1] + ordered[going]) / 2
        staying = [row for row in staying if row[exit] < thresholds[exit]]
