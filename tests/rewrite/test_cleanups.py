"""Errors that pass a `finally` or a `with`: no decisions where these only clean up, exact where they do more."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import dycl
from dycl.hcfg.nodes import Branch

_GOOD, _BAD = torch.tensor([1, 0]), torch.tensor([7, 0])


class _Looks(nn.Module):
    """Looks words up, which fails where there is no such word."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(3, 4)
        self.settings: Any = type("Settings", (), {})()
        self.settings.scale = 1
        self.failures = 0


class Restores(_Looks):
    def forward(self, x: Tensor) -> Any:
        before = self.settings.scale
        self.settings.scale = 2
        try:
            found = self.words(x) * self.settings.scale
        finally:
            if before is not None:
                self.settings.scale = before
        return found


class WithoutDerivatives(_Looks):
    def forward(self, x: Tensor) -> Any:
        with torch.no_grad():
            return self.words(x)


class OfAGenerator(_Looks):
    @contextmanager
    def scaled(self, scale: int) -> Iterator[None]:
        before = self.settings.scale
        self.settings.scale = scale
        try:
            yield
        finally:
            self.settings.scale = before

    def forward(self, x: Tensor) -> Any:
        with self.scaled(3):
            return self.words(x) * self.settings.scale


class Counts(_Looks):
    def forward(self, x: Tensor) -> Any:
        count = self.failures
        try:
            return self.words(x) + count
        finally:
            self.failures = count + 1


class CountsFailures(_Looks):
    def forward(self, x: Tensor) -> Any:
        failed = True
        try:
            found = self.words(x) + self.failures
            failed = False
        finally:
            if failed:
                self.failures += 1
        return found


class CountsFailuresOfAttribute(_Looks):
    def forward(self, x: Tensor) -> Any:
        self.settings.done = 0
        try:
            found = self.words(x) + self.failures
            self.settings.done = 1
        finally:
            if self.settings.done == 0:
                self.failures += 1
        return found


class Swallows(_Looks):
    def forward(self, x: Tensor) -> Any:
        found = torch.zeros(2, 4)
        try:
            found = self.words(x)
        finally:
            return found  # noqa: B012


class SwallowedByManager(_Looks):
    @contextmanager
    def forgiven(self) -> Iterator[None]:
        try:
            yield
        except IndexError:
            self.settings.scale = 1

    def forward(self, x: Tensor) -> Any:
        found = torch.zeros(2, 4)
        with self.forgiven():
            found = self.words(x)
        return found + 1


_ONLY_CLEAN_UP = (Restores, WithoutDerivatives, OfAGenerator)
_DO_MORE = (Counts, CountsFailures, CountsFailuresOfAttribute, Swallows, SwallowedByManager)


def _given(called: Any, x: Tensor) -> Any:
    try:
        with torch.no_grad():
            return called(x).tolist()
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("cls", (*_ONLY_CLEAN_UP, *_DO_MORE))
def test_calls_in_a_row_are_as_in_eager(cls: type[nn.Module]) -> None:
    """Results, errors and what is kept after an error are PyTorch's."""
    model = cls().eval()
    program = dycl.compile(model, (_GOOD,))
    for x in (_GOOD, _BAD, _GOOD, _BAD, _BAD, _GOOD):
        assert _given(program, x) == _given(model, x)


@pytest.mark.parametrize("cls", _ONLY_CLEAN_UP)
def test_what_only_cleans_up_decides_nothing(cls: type[nn.Module]) -> None:
    """An error that nobody does anything about is a check."""
    program = dycl.compile(cls().eval(), (_GOOD,))
    assert not any(isinstance(block.terminator, Branch) for block in program.hcfg.blocks.values())
