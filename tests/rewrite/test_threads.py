"""Compiling in one thread changes nothing that another thread can see; two compilations do not disturb each other."""

import random
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

import dycl
from tests.comparison import assert_same


class Counting(nn.Module):
    """Decides, and sets attributes while it does."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.layer = nn.Linear(3, 3)
        self.calls = 0

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, int]:
        self.calls = self.calls + 1
        self.last = x
        if self.layer(x).sum() > 0:
            return self.last * self.scale, self.calls
        return x - self.scale, self.calls


class Neighbour:
    """Another thread, which does something again and again while the main thread compiles."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.work = work
        self.rounds = 0
        self.error: BaseException | None = None
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            while not self.done.is_set():
                self.work()
                self.rounds += 1
        except BaseException as error:
            self.error = error

    def __enter__(self) -> "Neighbour":
        self.thread.start()
        while not self.rounds and self.error is None:
            time.sleep(0.001)
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()
        if self.error is not None:
            raise self.error


def _check(program: dycl.Program, model: nn.Module) -> None:
    for value in (1.0, -1.0, 2.0):
        x = torch.full((3,), value)
        with torch.no_grad():
            assert_same(model(x), program(x))


def _compiled(scale: float) -> None:
    torch.manual_seed(0)
    model = Counting(scale).eval()
    _check(dycl.compile(model, torch.ones(3)), model)


def test_a_thread_that_draws_sets_attributes_and_compiles() -> None:
    other = nn.Linear(2, 2)

    def work() -> None:
        assert 0 <= random.random() < 1
        assert random.choice([1, 2]) in (1, 2)
        setattr(other, "note", number := random.randint(0, 9))  # noqa: B010
        assert getattr(other, "note") == number  # noqa: B009
        delattr(other, "note")
        assert repr(torch.rand(2)).startswith("tensor")
        torch._check(True)
        _compiled(3.0)

    with Neighbour(work) as neighbour:
        for _ in range(50):
            _compiled(2.0)
    assert neighbour.rounds


def test_draws_of_another_thread_are_not_the_models() -> None:
    with Neighbour(lambda: [random.random() for _ in range(100)]):
        _compiled(2.0)


class Draws(nn.Module):
    """Draws by a function that it got hold of before."""

    def __init__(self, draw: Callable[[], float]) -> None:
        super().__init__()
        self.draw = draw

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.draw() if x.sum() > 0 else x


@pytest.mark.parametrize("draw", [random.random, np.random.rand], ids=["random", "numpy"])
def test_a_draw_is_refused_while_other_threads_draw_too(draw: Callable[[], float]) -> None:
    hidden = [draw]

    def native() -> float:
        return float(hidden[0]())

    with Neighbour(random.random), pytest.raises(dycl.CompileError, match="DY00"):
        dycl.compile(Draws(native).eval(), torch.ones(3))


def test_another_thread_sees_the_model_as_it_is() -> None:
    model = Counting(2.0).eval()
    seen: set[object] = set()

    def look() -> None:
        seen.add((model.calls, hasattr(model, "last"), model.scale))

    with Neighbour(look):
        dycl.compile(model, torch.ones(3), check=False)
    assert seen == {(0, False, 2.0)}
    assert vars(model).keys() >= {"calls", "scale"} and "last" not in vars(model)
