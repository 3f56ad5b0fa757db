"""Each model is equal to eager PyTorch over a row of calls, or refused; and compiling leaves everything as it was."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
import torch
from torch import nn

import dycl
from tests.comparison import assert_same
from tests.surroundings import models
from tests.surroundings.everything import assert_unchanged, everything_around
from tests.surroundings.models import containers

_ONES = torch.ones(2)
_CALLS = (_ONES, -_ONES, _ONES, _ONES, -_ONES, -_ONES, _ONES)


def _models() -> Iterator[tuple[str, type[nn.Module]]]:
    for found in pkgutil.iter_modules(models.__path__):
        module = importlib.import_module(f"{models.__name__}.{found.name}")
        for name, value in vars(module).items():
            own = isinstance(value, type) and issubclass(value, nn.Module) and value.__module__ == module.__name__
            if own and not name.startswith("_"):
                yield f"{found.name}-{name}", value


_MODELS = dict(_models())


def test_a_list_that_is_only_added_to_is_noted() -> None:
    notes = dycl.explain(containers.Collected().eval(), _ONES).notes
    assert {text for text, _ in notes} == {
        "`Collected.saved_actions` is added to and never read: what it collects is left out",
        "`Collected.rewards` is added to and never read: what it collects is left out",
    }


@pytest.mark.parametrize("cls", _MODELS.values(), ids=_MODELS)
def test_surroundings(cls: type[nn.Module]) -> None:
    """Calls in a row give what eager PyTorch gives, or the model is refused."""
    model = cls().eval()
    before = everything_around(model)
    identifier = getattr(cls, "refused", None)
    if identifier is not None:
        with pytest.raises(dycl.CompileError, match=identifier):
            dycl.compile(model, _ONES.clone())
        assert_unchanged(before, everything_around(model))
        return
    program = dycl.compile(model, _ONES.clone())
    assert_unchanged(before, everything_around(model))
    results = [program(x.clone()) for x in _CALLS]
    try:
        for x, result in zip(_CALLS, results, strict=True):
            with torch.no_grad():
                assert_same(model(x.clone()), result)
    finally:
        getattr(cls, "reset", lambda: None)()
