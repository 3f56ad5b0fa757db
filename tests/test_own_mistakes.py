"""Whatever goes wrong inside DyCL ends in a CompileError that says whose fault it is."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import dycl
from dycl import compiler
from dycl.rewrite.explore import exploration, states
from dycl.rewrite.semantics import registry


class _Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            return x * 2
        return x


def _broken(*args: Any, **kwargs: Any) -> Any:
    raise ZeroDivisionError("broken on purpose")


def _forgets_a_name(*args: Any, **kwargs: Any) -> Any:
    return no_such_name  # type: ignore[name-defined]  # noqa: F821


_PLACES = [
    (states.States, "enter", "if x.sum() > 0:"),
    (exploration, "result_structure", "return x * 2"),
    (compiler, "verify_module", "def forward(self, x: Tensor) -> Tensor:"),
    (compiler, "optimize", "def forward(self, x: Tensor) -> Tensor:"),
    (compiler, "lower", "def forward(self, x: Tensor) -> Tensor:"),
    (compiler, "store", "def forward(self, x: Tensor) -> Tensor:"),
]


@pytest.mark.parametrize(("owner", "name", "line"), _PLACES, ids=[name for _, name, _ in _PLACES])
def test_an_error_inside_is_told_as_one(owner: Any, name: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the place in the model where it came up, with the error as its cause."""
    monkeypatch.setattr(owner, name, _broken)
    with pytest.raises(dycl.CompileError, match="DY016") as raised:
        dycl.compile(_Model().eval(), torch.ones(2))
    assert "broken on purpose" in str(raised.value)
    assert line in str(raised.value)
    assert raised.value.__cause__ is not None


def test_a_mistake_of_ours_is_not_blamed_on_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same error in the model's own code would be the model's."""
    _forgets_a_name.__globals__["__name__"], name = registry.__name__, __name__
    monkeypatch.setattr(registry.RULES[0].__class__, "apply", _forgets_a_name, raising=False)
    try:
        with pytest.raises(dycl.CompileError, match="DY016"):
            dycl.compile(_Model().eval(), torch.ones(2))
    finally:
        _forgets_a_name.__globals__["__name__"] = name


class _NeedsValues(nn.Module):
    def __init__(self, wrong: str) -> None:
        super().__init__()
        self.wrong = wrong

    def forward(self, x: Tensor) -> Any:
        if self.wrong == "assert":
            assert x.sum() > 0, x.sum().item()
        if self.wrong == "raise":
            number = int(x.sum().item())
            if number > 3:
                raise KeyError(number)
        if self.wrong == "set":
            return {x, x + 1}
        return x


@pytest.mark.parametrize("wrong", ["assert", "raise", "set"])
def test_no_signal_of_ours_leaves_the_compiler(wrong: str) -> None:
    """The model is compiled or refused."""
    try:
        program = dycl.compile(_NeedsValues(wrong).eval(), torch.ones(2))
    except dycl.CompileError as error:
        assert "DY016" not in str(error)
    else:
        assert torch.equal(program(torch.ones(2)), torch.ones(2))
