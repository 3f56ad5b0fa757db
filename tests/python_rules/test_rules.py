"""Every rule is followed, or what needs it is refused."""

import importlib
import pkgutil
import types
from collections.abc import Iterator

import pytest

from tests.python_rules import rules
from tests.python_rules.rule import Forward, assert_follows, assert_refuses


def _programs() -> Iterator[tuple[str, Forward]]:
    for found in pkgutil.iter_modules(rules.__path__):
        module = importlib.import_module(f"{rules.__name__}.{found.name}")
        for name, value in vars(module).items():
            if isinstance(value, types.FunctionType) and value.__module__ == module.__name__ and name[0] != "_":
                yield f"{found.name}-{name}", value


_PROGRAMS = dict(_programs())


@pytest.mark.parametrize("forward", _PROGRAMS.values(), ids=_PROGRAMS)
def test_rule(forward: Forward) -> None:
    """Eager PyTorch and the program agree."""
    identifier = getattr(forward, "refused", None)
    if identifier is None:
        assert_follows(forward)
    else:
        assert_refuses(forward, identifier)
