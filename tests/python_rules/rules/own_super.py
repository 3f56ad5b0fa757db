"""`super()` is a call of whatever has that name: Python's own knows whose class it stands in."""

import functools
import types
from typing import Any

from torch import Tensor

from tests.python_rules.rule import refused


super = functools.partial(types.SimpleNamespace, scale=2.0)  # noqa: A001


class _Calls:
    def scaled(self, x: Tensor) -> Any:
        return super().scale * x if x.sum() > 0 else x


@refused("DY002")
def another_function_called_super(x: Tensor) -> Any:
    return _Calls().scaled(x)


def an_argument_called_super(x: Tensor) -> Any:
    def scaled(super: Any) -> Any:  # noqa: A002
        return super() * x if x.sum() > 0 else x

    return scaled(lambda: 3)
