"""The error that a compilation ends with: every problem of the model in one report."""

from collections.abc import Sequence

from dycl.rewrite.explore.diagnostics import Problem
from dycl.runtime.errors import DyclError


class CompileError(DyclError):
    """The model cannot be compiled; `problems` says why, one entry a place."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems[0].reason, help=problems[0].help, identifier=problems[0].identifier)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        count = len(self.problems)
        heading = f"the model cannot be compiled: {count} problem{'s' if count > 1 else ''}"
        return "\n\n".join((heading, *map(str, self.problems)))
