"""What Python says of what cannot be spread, and of names that a module does not have."""

from typing import Any

from torch import Tensor


def _kept(*args: Any, **kwargs: Any) -> Any:
    return args, kwargs


def several_variables(x: Tensor) -> Any:
    source: Any = 5 if x.sum() > 0 else (1, 2)
    try:
        first, second = source
    except TypeError as error:
        return str(error)
    return first, second


def nested_variables(x: Tensor) -> Any:
    source: Any = (None, 1) if x.sum() > 0 else ((1, 2), 3)
    try:
        (first, *rest), last = source
    except TypeError as error:
        return str(error)
    return first, rest, last


def in_displays(x: Tensor) -> Any:
    source: Any = None if x.sum() > 0 else (1, 2)
    found = []
    for make in (lambda: [*source], lambda: (*source,), lambda: [*[1], *source], lambda: len({*source})):
        try:
            found.append(make())
        except TypeError as error:
            found.append(str(error))
    return found


def in_calls(x: Tensor) -> Any:
    source: Any = None if x.sum() > 0 else (1, 2)
    found = []
    for make in (lambda: max(*source), lambda: _kept(*source), lambda: _kept(0, *source), lambda: _kept(*source, a=1)):
        try:
            found.append(make())
        except TypeError as error:
            found.append(str(error))
    return found


def what_is_no_name_of_a_module(x: Tensor) -> Any:
    found: list[Any] = []
    if x.sum() > 0:
        try:
            from math import nothing  # type: ignore[attr-defined]

            found.append(nothing)
        except ModuleNotFoundError:
            found.append("no module")
        except ImportError as error:
            found.append((error.name, str(error)[:33]))
    try:
        from collections import abc, nobody  # type: ignore[attr-defined]

        found.append((abc, nobody))
    except ImportError as error:
        found.append((type(error).__name__, error.name, str(error)[:40]))
    return found


def submodules_are_names(x: Tensor) -> Any:
    if x.sum() > 0:
        from torch.nn import functional

        return functional.relu(x)
    return x


def no_such_module(x: Tensor) -> Any:
    try:
        from tests.python_rules import nothing_here  # type: ignore[attr-defined]

        return nothing_here
    except ImportError as error:
        return (type(error).__name__, error.name) if x.sum() > 0 else x
