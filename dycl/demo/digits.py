"""Scikit-learn's 1,797 handwritten digits of 8 by 8 pixels, split in three."""

from dataclasses import dataclass

import numpy as np
import torch
from sklearn.datasets import load_digits  # type: ignore[import-untyped]
from torch import Tensor

VALIDATION_IMAGES = 297
TEST_IMAGES = 500


@dataclass(frozen=True, slots=True)
class Digits:
    """Images of shape (count, 1, 8, 8) with values from 0 to 1, and the digit that each shows."""

    images: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, slots=True)
class Split:
    """The digits to learn from, to choose the threshold with, and to judge by."""

    train: Digits
    validation: Digits
    test: Digits


def split_digits() -> Split:
    """The same split every time."""
    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.target))
    images = torch.from_numpy(data.images[order].astype(np.float32) / 16).unsqueeze(1)
    labels = torch.from_numpy(data.target[order].astype(np.int64))
    sizes = [len(labels) - VALIDATION_IMAGES - TEST_IMAGES, VALIDATION_IMAGES, TEST_IMAGES]
    return Split(*map(Digits, torch.split(images, sizes), torch.split(labels, sizes)))
