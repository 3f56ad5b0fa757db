"""docs/constructs.md, made of the rows."""

import inspect
from collections import Counter
from types import ModuleType

from tests.constructs.construct import Base, Construct
from tests.constructs.groups import (
    builtin_functions,
    calls,
    conditions,
    contexts,
    data_shapes,
    dynamic_shapes,
    exceptions,
    generators,
    in_place,
    loops,
    numbers,
    numpy_arrays,
    objects,
    open_lists,
    outside,
    signatures,
    state,
    switches,
    values,
)

GROUPS = (
    conditions,
    loops,
    values,
    calls,
    switches,
    state,
    data_shapes,
    dynamic_shapes,
    numbers,
    builtin_functions,
    numpy_arrays,
    in_place,
    open_lists,
    exceptions,
    contexts,
    generators,
    objects,
    signatures,
    outside,
)

_HEAD = """\
# Constructs

What a model may do with a value that only the input determines: {supported} constructs are supported, {bounded} are
bounded, {refused} are refused. Each row is a test: a model in [tests/constructs](../tests/constructs/groups) that is
compiled and compared with PyTorch call by call, or refused at the very line. `make constructs` writes this page.

- **supported**: the program does what the model does in eager PyTorch, on every path.
- **bounded**: so it does within the limit that the row names.
- **DYxxx**: refused while compiling, with this error, at your own source line. The last column says what to write
  instead.

Code that meets no such value is not restricted: it runs as it is, once, while compiling.
"""


def rows(group: ModuleType) -> list[Construct]:
    """The constructs of a group in the order of its source."""
    models = [value for value in vars(group).values() if isinstance(value, type) and issubclass(value, Base)]
    own = [model for model in models if model.__module__ == group.__name__ and "construct" in vars(model)]
    return [model.construct for model in own]


def page() -> str:
    """The whole page."""
    counts = Counter[str](construct.status for group in GROUPS for construct in rows(group))
    return "\n".join([_HEAD.format(**counts), *map(_section, GROUPS)])


def _section(group: ModuleType) -> str:
    title = (inspect.getdoc(group) or "").rstrip(".")
    lines = [f"## {title}", "", "| construct | | |", "|---|---|---|"]
    return "\n".join([*lines, *map(_line, rows(group)), ""])


def _line(construct: Construct) -> str:
    identifiers = dict.fromkeys(identifier for identifier, _ in construct.refusals)
    links = ", ".join(f"[{identifier}](errors/{identifier}.md)" for identifier in identifiers)
    cells = (construct.name.replace("|", "\\|"), links or construct.status, construct.remark.replace("|", "\\|"))
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")
