"""Trains the demo's model: all exits at once, then the threshold."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.nn import functional as F

from dycl.demo.digits import Digits
from dycl.demo.model import EarlyExitNet

BATCH = 32
PEAK_LEARNING_RATE = 1e-2
LEAST_SHARE = 0.04
"""The share of validation images that every exit should get."""

CANDIDATES = tuple(number / 100 for number in range(50, 100))


def train(model: EarlyExitNet, digits: Digits, epochs: int, progress: Callable[[int, int], None]) -> None:
    """Nothing; `model` has learnt to classify at every exit afterwards, and is in evaluation mode."""
    batches = -(-len(digits) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK_LEARNING_RATE, total_steps=epochs * batches)
    model.train()
    for epoch in range(epochs):
        for number, chosen in enumerate(torch.split(torch.randperm(len(digits)), BATCH)):
            progress(epoch * batches + number, epochs * batches)
            labels = digits.labels[chosen]
            losses = [F.cross_entropy(logits, labels) for logits in model.all_exits(digits.images[chosen])]
            optimizer.zero_grad()
            torch.stack(losses).sum().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
    model.eval()


@dataclass(frozen=True, slots=True)
class Choice:
    """A threshold, and what it leads to on the validation images."""

    threshold: float
    accuracy: float
    least_share: float


def choose_threshold(model: EarlyExitNet, digits: Digits) -> Choice:
    """The most accurate threshold that uses every exit; of equally accurate ones the lowest, which is the fastest.

    If every threshold leaves some exit nearly idle, the one that uses its rarest exit most.
    """
    with torch.inference_mode():
        probabilities = model.all_exits(digits.images).softmax(-1)
    confidences, predictions = probabilities.max(-1)
    choices = []
    for threshold in CANDIDATES:
        leaves = confidences > threshold
        leaves[-1] = True
        exits = leaves.int().argmax(0)
        right = predictions.gather(0, exits[None])[0] == digits.labels
        shares = exits.bincount(minlength=len(probabilities)) / len(digits)
        choices.append(Choice(threshold, right.float().mean().item(), shares.min().item()))
    balanced = [choice for choice in choices if choice.least_share >= LEAST_SHARE]
    if not balanced:
        return max(choices, key=lambda choice: choice.least_share)
    return max(balanced, key=lambda choice: (choice.accuracy, -choice.threshold))
